import type { FieldLine } from '../http/fields.ts';
import { type Credentials, parseCredentials } from '../http/headers/authorization.ts';
import type { Connection, Request } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import { type RateLimiter, tooManyFailures } from './rate-limit.ts';
import type { Scheme, Verdict } from './scheme.ts';
import type { AuthenticationTrace } from './trace.ts';

/** Authenticates requests with the scheme that their credentials name. */
export interface Authenticator {
  /**
   * Returns the principal, synchronously if possible; undefined if there are no credentials. Throws or rejects with a Problem:
   * 400 for malformed or several credentials, which count as failures of the peer; 401 with every challenge for wrong ones;
   * 403 for credentials that require TLS; 429 after too many failures.
   *
   * @param authTrace Records the checks, if given.
   */
  authenticate(
    request: Request,
    authTrace?: AuthenticationTrace,
  ): Principal | undefined | Promise<Principal | undefined>;
  /** Returns `WWW-Authenticate` with the challenge of each scheme that is offered on this connection. */
  challenges(connection: Connection): FieldLine[];
  /** Returns the challenge for a principal whose token lacks the scope `needed`. */
  scopeChallenge(scheme: string, needed: string): FieldLine[];
}

/** The credentials of a request. */
interface Presented {
  /** Those in a field. */
  readonly credentials: Credentials | undefined;
  /** The scheme whose credentials are in the target or the content. */
  readonly other: Scheme | undefined;
}

/** Schemes whose credentials an eavesdropper could use. Over plain HTTP they are refused without being read. */
const overTlsOnly: ReadonlySet<string> = new Set(['basic', 'bearer', 'oauth']);

/** Creates an authenticator. */
export function createAuthenticator(schemes: readonly Scheme[], rateLimiter: RateLimiter): Authenticator {
  const byName = new Map(schemes.map((scheme) => [scheme.name, scheme]));

  const schemesElsewhere = schemes.filter(({ elsewhere }) => elsewhere !== undefined);

  const challenges = (connection: Connection, refusing?: Scheme, own?: string): FieldLine[] =>
    inOneLine(
      schemes.map((scheme) =>
        scheme === refusing && own !== undefined ? own : scheme.challenge(connection),
      ),
    );

  /** Returns the Problem for several credentials, with the challenges of their schemes; without challenges over plain HTTP. */
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
    throw blocked
      ? tooManyFailures(rateLimiter, 'user')
      : problem.with(challenges(connection, scheme, challenge));
  };

  // Always a promise of this realm, so that no caller takes a promise of another realm for a principal.
  const awaitPrincipal = async (
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
    const other =
      schemesElsewhere.length === 0 ? undefined : schemeElsewhere(request, credentials, schemesElsewhere);
    if (credentials !== undefined && other !== undefined) throw severalCredentials(request, [other]);
    return { credentials, other };
  };

  /** Reads the credentials. Counts malformed ones as a failure of the peer, because no user is known. */
  const presentAndCount = (request: Request, authTrace: AuthenticationTrace | undefined): Presented => {
    try {
      return present(request, authTrace);
    } catch (error) {
      const { peer } = request.connection;
      if (!(error instanceof Problem) || !isMalformedAttempt(error)) throw error;
      if (rateLimiter.blocksPeer(peer)) throw tooManyFailures(rateLimiter, 'peer');
      rateLimiter.fail(peer, undefined);
      throw error;
    }
  };

  const authenticate = (
    request: Request,
    authTrace?: AuthenticationTrace,
  ): ReturnType<Authenticator['authenticate']> => {
    const { credentials, other } = presentAndCount(request, authTrace);
    const { connection } = request;
    if (credentials === undefined && other === undefined) return undefined;
    if (rateLimiter.blocksPeer(connection.peer)) throw tooManyFailures(rateLimiter, 'peer');
    if (credentials === undefined) return other && principalElsewhere(other, request, authTrace);
    const scheme = byName.get(credentials.scheme);
    if (scheme === undefined) throw notOffered(challenges(connection));
    const isBlocked = (): boolean =>
      rateLimiter.blocksPair(connection.peer, scheme.claimedUser?.(credentials.rest, request));
    // The name is parsed only if the peer has failed, so that other requests do not parse it twice.
    if (rateLimiter.hasFailures(connection.peer) && isBlocked())
      throw tooManyFailures(rateLimiter, 'peer-and-user');
    const verdict = scheme.authenticate(request, credentials.rest, authTrace);
    return 'outcome' in verdict
      ? principalOf(verdict, connection, scheme)
      : awaitPrincipal(verdict, connection, scheme);
  };

  return {
    authenticate: (request, authTrace) =>
      authTrace === undefined ? authenticate(request) : completeTrace(authTrace, request, authenticate),
    challenges: (connection) => challenges(connection),
    scopeChallenge(name, needed) {
      const challenge = byName.get(name)?.scopeChallenge?.(needed);
      return challenge === undefined ? [] : [['WWW-Authenticate', challenge]];
    },
  };
}

/**
 * Returns the challenges in one field line (RFC 9110 §11.6.1), because some clients read only the first line; no line if there
 * are none.
 */
function inOneLine(challenges: readonly (string | undefined)[]): FieldLine[] {
  const present = challenges.filter((challenge) => challenge !== undefined);
  return present.length === 0 ? [] : [['WWW-Authenticate', present.join(', ')]];
}

/** Authenticates, and records the Problem in the trace if the scheme recorded no failed check. */
async function completeTrace(
  authTrace: AuthenticationTrace,
  request: Request,
  authenticate: Authenticator['authenticate'],
): Promise<Principal | undefined> {
  try {
    return await authenticate(request, authTrace);
  } catch (error) {
    if (error instanceof Problem) authTrace.refused(error);
    throw error;
  }
}

/**
 * Returns the scheme that has, or may have, credentials in the target or the content. If there are credentials in a field too,
 * returns only a different scheme that has some in the target. Throws 403 over plain HTTP.
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
      // A scheme itself refuses its credentials in two places. The content is not examined for further ones.
      if (place === 'target' && credentials.scheme !== scheme.name) return scheme;
      continue;
    }
    if (request.connection.secure) return scheme;
    if (place === 'target') throw tlsRequired();
  }
  return undefined;
}

/** Returns the credentials in the fields, or `several`. Throws a Problem if they are malformed or require TLS. */
function credentialsOf({ fields, connection }: Request): Credentials | 'several' | undefined {
  const authorization = fields.get('authorization');
  const authentication = fields.get('authentication');
  const value = authorization ?? authentication;
  if (value === undefined) return undefined;
  if (authorization !== undefined && authentication !== undefined) return 'several';
  if (fields.repeated && fields.lines('authorization').length + fields.lines('authentication').length > 1)
    return 'several';
  const credentials = parseCredentials(value);
  if (credentials === undefined) throw malformed('The value must be a scheme and its credentials.');
  if (authentication !== undefined && credentials.scheme !== 'hmac') {
    throw malformed('The Authentication field supports only the scheme hmac.');
  }
  if (!connection.secure && overTlsOnly.has(credentials.scheme)) {
    throw tlsRequired();
  }
  return credentials;
}

/** Returns whether a Problem is about malformed credentials. Incomplete content (`close`) says nothing about them. */
function isMalformedAttempt({ status, close }: Problem): boolean {
  return status === 400 && !close;
}

function tlsRequired(): Problem {
  return new Problem(
    'tls-required',
    'These credentials require TLS. They were sent over plain HTTP and not read.',
  );
}

function malformed(detail: string): Problem {
  return new Problem('malformed-credentials', detail);
}

function notOffered(fields: readonly FieldLine[]): Problem {
  return new Problem('scheme-not-offered', 'The authentication scheme is not supported here.', {
    fields,
  });
}
