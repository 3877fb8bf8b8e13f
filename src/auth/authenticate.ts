import { type Credentials, parseCredentials } from '../http/authorization.ts';
import type { Connection, FieldLine, Request } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import type { Scheme, Verdict } from './scheme.ts';
import { type Throttle, tooManyFailures } from './throttle.ts';

/** Who is asking: the credentials of a request judged by the scheme that they name. */
export interface Authenticator {
  /**
   * The principal, at once where nothing has to be waited for; undefined when there are no credentials. Throws or
   * rejects with a Problem: 400 for malformed or several ones, 401 with every challenge for bad ones, 403 for those
   * that must not come in the clear, 429 after too many.
   */
  authenticate(request: Request): Principal | undefined | Promise<Principal>;
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

  const principalOf = (verdict: Verdict, connection: Connection): Principal => {
    if (verdict.outcome === 'good') return verdict.principal;
    const { problem, claimed } = verdict;
    if (problem.status !== 401) throw problem;
    const blocked = claimed !== undefined && throttle.blocksUser(claimed);
    throttle.fail(connection.peer, claimed);
    throw blocked ? tooManyFailures(throttle) : problem.with(challenges(connection));
  };

  // A promise of this realm whatever the scheme gave, so that nobody takes it for a principal.
  const principalLater = async (verdict: Promise<Verdict>, connection: Connection): Promise<Principal> =>
    principalOf(await verdict, connection);

  return {
    authenticate(request) {
      const credentials = credentialsOf(request);
      if (credentials === undefined) return undefined;
      const { connection } = request;
      if (throttle.blocksPeer(connection.peer)) throw tooManyFailures(throttle);
      const scheme = byName.get(credentials.scheme);
      if (scheme === undefined) throw notOffered(challenges(connection));
      const verdict = scheme.authenticate(request, credentials.rest);
      return 'outcome' in verdict ? principalOf(verdict, connection) : principalLater(verdict, connection);
    },
    challenges,
  };
}

/** The one set of credentials that the request carries. Nothing of it is compared with anything here. */
function credentialsOf({ fields, connection }: Request): Credentials | undefined {
  const authorization = fields.get('authorization');
  const authentication = fields.get('authentication');
  const value = authorization ?? authentication;
  if (value === undefined) return undefined;
  if (authorization !== undefined && authentication !== undefined) throw severalCredentials();
  if (fields.repeated && fields.lines('authorization').length + fields.lines('authentication').length > 1)
    throw severalCredentials();
  const credentials = parseCredentials(value);
  if (credentials === undefined) throw malformed('A scheme and its credentials are expected.');
  if (authentication !== undefined && credentials.scheme !== 'hmac') {
    throw malformed('Authentication carries the scheme hmac only.');
  }
  if (!connection.secure && overTlsOnly.has(credentials.scheme)) {
    throw new Problem('tls-required', 'These credentials came over plain HTTP. They were not read.');
  }
  return credentials;
}

function severalCredentials(): Problem {
  return new Problem('several-credentials', 'Send one Authorization or Authentication field, once.');
}

function malformed(detail: string): Problem {
  return new Problem('malformed-credentials', detail);
}

function notOffered(fields: readonly FieldLine[]): Problem {
  return new Problem('scheme-not-offered', 'The credentials are of a scheme that does not work here.', {
    fields,
  });
}
