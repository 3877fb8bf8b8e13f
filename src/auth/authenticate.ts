import { parseCredentials } from '../http/authorization.ts';
import type { Connection, FieldLine, Request } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import type { Scheme } from './scheme.ts';
import type { Throttle } from './throttle.ts';

/** Who is asking: the credentials of a request judged by the scheme that they name. */
export interface Authenticator {
  /**
   * The principal; undefined when there are no credentials. Throws a Problem: 400 for malformed or several ones,
   * 401 with every challenge for bad ones, 403 for those that must not come in the clear, 429 after too many.
   */
  authenticate(request: Request): Promise<Principal | undefined>;
  /** `WWW-Authenticate` with the challenge of each scheme that works on this connection. */
  challenges(connection: Connection): FieldLine[];
}

/** What opens a resource to whoever reads it on the way; it is refused in the clear without being read. */
const overTlsOnly: ReadonlySet<string> = new Set(['basic', 'bearer', 'oauth']);

/** Makes an authenticator of schemes. */
export function createAuthenticator(schemes: readonly Scheme[], throttle: Throttle): Authenticator {
  const byName = new Map(schemes.map((scheme) => [scheme.name, scheme]));

  const challenges = (connection: Connection): FieldLine[] =>
    schemes
      .map((scheme) => scheme.challenge(connection))
      .filter((challenge) => challenge !== undefined)
      .map((challenge) => ['WWW-Authenticate', challenge]);

  const judge = async (request: Request, credentials: Credentials): Promise<Principal> => {
    const { connection } = request;
    if (throttle.blocksPeer(connection.peer)) throw tooMany(throttle);
    const scheme = byName.get(credentials.scheme);
    if (scheme === undefined) throw notOffered(challenges(connection));
    const verdict = await scheme.authenticate(request, credentials.rest);
    if (verdict.outcome === 'good') return verdict.principal;
    if (verdict.problem.status !== 401) throw verdict.problem;
    const blocked = verdict.claimed !== undefined && throttle.blocksUser(verdict.claimed);
    throttle.fail(connection.peer, verdict.claimed);
    if (blocked) throw tooMany(throttle);
    throw verdict.problem.with(challenges(connection));
  };

  return {
    async authenticate(request) {
      const credentials = credentialsOf(request);
      return credentials === undefined ? undefined : judge(request, credentials);
    },
    challenges,
  };
}

interface Credentials {
  readonly scheme: string;
  readonly rest: string;
}

/** The one set of credentials that the request carries. Nothing of it is compared with anything here. */
function credentialsOf(request: Request): Credentials | undefined {
  const { fields } = request;
  if (!fields.has('authorization') && !fields.has('authentication')) return undefined;
  const authorization = fields.lines('authorization');
  const authentication = fields.lines('authentication');
  if (authorization.length + authentication.length > 1) {
    throw new Problem('several-credentials', 'Send one Authorization or Authentication field, once.');
  }
  const credentials = parseCredentials(authorization[0] ?? authentication[0] ?? '');
  if (credentials === undefined) throw malformed('A scheme and its credentials are expected.');
  if (authentication.length > 0 && credentials.scheme !== 'hmac') {
    throw malformed('Authentication carries the scheme hmac only.');
  }
  if (overTlsOnly.has(credentials.scheme) && !request.connection.secure) {
    throw new Problem('tls-required', 'These credentials came over plain HTTP. They were not read.');
  }
  return credentials;
}

function malformed(detail: string): Problem {
  return new Problem('malformed-credentials', detail);
}

function notOffered(fields: readonly FieldLine[]): Problem {
  return new Problem('scheme-not-offered', 'The credentials are of a scheme that does not work here.', {
    fields,
  });
}

function tooMany(throttle: Throttle): Problem {
  return new Problem('too-many-failures', 'Too many authentications failed within this minute.', {
    fields: [['Retry-After', String(throttle.retryAfter())]],
  });
}
