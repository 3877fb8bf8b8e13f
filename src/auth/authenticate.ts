import type { FieldLine } from '../http/fields.ts';
import { type Credentials, parseCredentials } from '../http/headers/authorization.ts';
import type { Connection, Request } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import { type RateLimiter, tooManyFailures } from './rate-limit.ts';
import type { Scheme, Verdict } from './scheme.ts';
import type { AuthenticationTrace } from './trace.ts';

/** Who is asking: the credentials of a request judged by the scheme that they name. */
export interface Authenticator {
  /**
   * The principal, at once where nothing has to be waited for; undefined when there are no credentials. Throws or
   * rejects with a Problem: 400 for malformed or several ones, which count as failures of the peer, 401 with every challenge for bad ones, 403 for those
   * that must not come in the clear, 429 after too many. What is checked is told to `story` where there is one.
   */
  authenticate(
    request: Request,
    authTrace?: AuthenticationTrace,
  ): Principal | undefined | Promise<Principal | undefined>;
  /** `WWW-Authenticate` with the challenge of each scheme that works on this connection. */
  challenges(connection: Connection): FieldLine[];
  /** The challenge for a principal whose token's scope lacks this one. */
  scopeChallenge(scheme: string, needed: string): FieldLine[];
}

/** The credentials of a request: in a field, or of a scheme that finds them elsewhere. */
interface Presented {
  readonly credentials: Credentials | undefined;
  readonly other: Scheme | undefined;
}

/** What opens a resource to whoever reads it on the way; it is refused in the clear without being read. */
const overTlsOnly: ReadonlySet<string> = new Set(['basic', 'bearer', 'oauth']);

/** Makes an authenticator of schemes. */
export function createAuthenticator(schemes: readonly Scheme[], rateLimiter: RateLimiter): Authenticator {
  const byName = new Map(schemes.map((scheme) => [scheme.name, scheme]));

  const roaming = schemes.filter(({ elsewhere }) => elsewhere !== undefined);

  const challenges = (connection: Connection, judge?: Scheme, said?: string): FieldLine[] =>
    inOneLine(
      schemes.map((scheme) => (scheme === judge && said !== undefined ? said : scheme.challenge(connection))),
    );

  /** What each scheme says of which there are credentials, in the clear none; those of no scheme here say nothing. */
  const severalCredentials = ({ fields, connection }: Request, more: readonly Scheme[] = []): Problem => {
    const lines = [...fields.lines('authorization'), ...fields.lines('authentication')];
    const names = new Set(lines.map((line) => parseCredentials(line)?.scheme));
    const sent = schemes.filter((scheme) => names.has(scheme.name) || more.includes(scheme));
    return new Problem('several-credentials', 'Send one Authorization or Authentication field, once.', {
      fields: connection.secure ? inOneLine(sent.map((scheme) => scheme.severalChallenge?.())) : [],
    });
  };

  const principalOf = (verdict: Verdict, connection: Connection, scheme: Scheme): Principal => {
    if (verdict.outcome === 'good') return verdict.principal;
    const { problem, claimed, challenge } = verdict;
    if (problem.status !== 401) {
      if (isMalformedAttempt(problem)) rateLimiter.fail(connection.peer, undefined);
      throw challenge === undefined ? problem : problem.with([['WWW-Authenticate', challenge]]);
    }
    const blocked = claimed !== undefined && rateLimiter.blocksUser(claimed);
    rateLimiter.fail(connection.peer, claimed);
    throw blocked ? tooManyFailures(rateLimiter) : problem.with(challenges(connection, scheme, challenge));
  };

  // A promise of this realm whatever the scheme gave, so that nobody takes it for a principal.
  const principalLater = async (
    verdict: Promise<Verdict>,
    connection: Connection,
    scheme: Scheme,
  ): Promise<Principal> => principalOf(await verdict, connection, scheme);

  const principalElsewhere = async (
    scheme: Scheme,
    request: Request,
    authTrace: AuthenticationTrace | undefined,
  ): Promise<Principal | undefined> => {
    const verdict = await scheme.authenticateElsewhere?.(request, authTrace);
    if (authTrace !== undefined && verdict !== undefined) authTrace.scheme = scheme.name;
    return verdict === undefined ? undefined : principalOf(verdict, request.connection, scheme);
  };

  const present = (request: Request, authTrace: AuthenticationTrace | undefined): Presented => {
    const credentials = credentialsOf(request);
    if (credentials === 'several') throw severalCredentials(request);
    if (authTrace !== undefined) authTrace.scheme = credentials?.scheme;
    const other = roaming.length === 0 ? undefined : schemeElsewhere(request, credentials, roaming);
    if (credentials !== undefined && other !== undefined) throw severalCredentials(request, [other]);
    return { credentials, other };
  };

  /** Counts an attempt that cannot be read against its peer: no user is known for it. */
  const countingMalformed = (request: Request, authTrace: AuthenticationTrace | undefined): Presented => {
    try {
      return present(request, authTrace);
    } catch (error) {
      const { peer } = request.connection;
      if (!(error instanceof Problem) || !isMalformedAttempt(error)) throw error;
      if (rateLimiter.blocksPeer(peer)) throw tooManyFailures(rateLimiter);
      rateLimiter.fail(peer, undefined);
      throw error;
    }
  };

  const judge = (
    request: Request,
    authTrace?: AuthenticationTrace,
  ): ReturnType<Authenticator['authenticate']> => {
    const { credentials, other } = countingMalformed(request, authTrace);
    const { connection } = request;
    if (credentials === undefined && other === undefined) return undefined;
    if (rateLimiter.blocksPeer(connection.peer)) throw tooManyFailures(rateLimiter);
    if (credentials === undefined) return other && principalElsewhere(other, request, authTrace);
    const scheme = byName.get(credentials.scheme);
    if (scheme === undefined) throw notOffered(challenges(connection));
    const verdict = scheme.authenticate(request, credentials.rest, authTrace);
    return 'outcome' in verdict
      ? principalOf(verdict, connection, scheme)
      : principalLater(verdict, connection, scheme);
  };

  return {
    authenticate: (request, authTrace) =>
      authTrace === undefined ? judge(request) : tellOf(authTrace, request, judge),
    challenges: (connection) => challenges(connection),
    scopeChallenge(name, needed) {
      const challenge = byName.get(name)?.scopeChallenge?.(needed);
      return challenge === undefined ? [] : [['WWW-Authenticate', challenge]];
    },
  };
}

/**
 * The challenges in a list (RFC 9110 §11.6.1), for some who read them look at the first line of a field alone; no line where
 * there are none.
 */
function inOneLine(challenges: readonly (string | undefined)[]): FieldLine[] {
  const said = challenges.filter((challenge) => challenge !== undefined);
  return said.length === 0 ? [] : [['WWW-Authenticate', said.join(', ')]];
}

/** Judges, and sees to it that the story has its end where no scheme told it. */
async function tellOf(
  authTrace: AuthenticationTrace,
  request: Request,
  judge: Authenticator['authenticate'],
): Promise<Principal | undefined> {
  try {
    return await judge(request, authTrace);
  } catch (error) {
    if (error instanceof Problem) authTrace.refused(error);
    throw error;
  }
}

/**
 * The scheme whose credentials stand elsewhere than in a field, or may; where there are credentials in a field as well, one
 * whose own are certainly there too. Throws 403 in the clear.
 */
function schemeElsewhere(
  request: Request,
  credentials: Credentials | undefined,
  schemes: readonly Scheme[],
): Scheme | undefined {
  for (const scheme of schemes) {
    const place = scheme.elsewhere?.(request);
    if (place === undefined) continue;
    if (credentials !== undefined) {
      // Its own in two places are the scheme's to refuse; content is not looked at for more.
      if (place === 'target' && credentials.scheme !== scheme.name) return scheme;
      continue;
    }
    if (request.connection.secure) return scheme;
    if (place === 'target') throw inTheClear();
  }
  return undefined;
}

/** The one set of credentials that the request carries, or that there are several. Nothing of it is compared with anything here. */
function credentialsOf({ fields, connection }: Request): Credentials | 'several' | undefined {
  const authorization = fields.get('authorization');
  const authentication = fields.get('authentication');
  const value = authorization ?? authentication;
  if (value === undefined) return undefined;
  if (authorization !== undefined && authentication !== undefined) return 'several';
  if (fields.repeated && fields.lines('authorization').length + fields.lines('authentication').length > 1)
    return 'several';
  const credentials = parseCredentials(value);
  if (credentials === undefined) throw malformed('A scheme and its credentials are expected.');
  if (authentication !== undefined && credentials.scheme !== 'hmac') {
    throw malformed('Authentication carries the scheme hmac only.');
  }
  if (!connection.secure && overTlsOnly.has(credentials.scheme)) {
    throw inTheClear();
  }
  return credentials;
}

/** Returns whether a refusal is one of malformed credentials. Content that broke off shows nothing about them. */
function isMalformedAttempt({ status, close }: Problem): boolean {
  return status === 400 && !close;
}

function inTheClear(): Problem {
  return new Problem('tls-required', 'These credentials came over plain HTTP. They were not read.');
}

function malformed(detail: string): Problem {
  return new Problem('malformed-credentials', detail);
}

function notOffered(fields: readonly FieldLine[]): Problem {
  return new Problem('scheme-not-offered', 'The credentials are of a scheme that does not work here.', {
    fields,
  });
}
