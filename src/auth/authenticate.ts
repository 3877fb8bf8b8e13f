import type { FieldLine } from '../http/fields.ts';
import { type Credentials, parseCredentials } from '../http/headers/authorization.ts';
import type { Connection, IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import { describeMisnamed, type ExpectedNames } from './explain/related-names.ts';
import { createLocationTable } from './locations.ts';
import type { RefusedNonce } from './nonce-claim.ts';
import { type RateLimiter, tooManyFailures } from './rate-limit.ts';
import type { BadVerdict, RefuseNonce, Scheme, Verdict } from './scheme.ts';
import { SchemeLimits } from './scheme-limits.ts';
import { type AuthenticationTrace, findTrace } from './trace.ts';

/** Receives how a request is refused if its nonce is claimed with its change, and then refused. */
export interface DeferredNonce {
  /** Returns the Problem, and counts the failure. Undefined if the nonce was claimed, or there is none. */
  refuseNonce?: ((claimed: RefusedNonce) => Problem) | undefined;
}

/** Authenticates requests with the scheme that their credentials name. */
export interface Authenticator {
  /**
   * Returns the principal, synchronously if possible; undefined if there are no credentials. Throws or rejects with a Problem:
   * 400 for malformed or several credentials, which count as failures of the peer; 401 with every challenge for wrong ones;
   * 403 for credentials that require TLS; 429 after too many failures.
   *
   * @param authTrace Records the checks, if given.
   * @param allowed The names of the schemes that the resource accepts. Credentials of others are refused with 401. Default: all.
   * @param deferred If given, the nonce may be claimed with the change of the request. Default: it is claimed at once.
   */
  authenticate(
    request: IncomingRequest,
    authTrace?: AuthenticationTrace,
    allowed?: readonly string[],
    deferred?: DeferredNonce,
  ): Principal | undefined | Promise<Principal | undefined>;
  /**
   * Returns `WWW-Authenticate` with the challenge of each scheme that is offered on this connection, and further fields of the
   * schemes. With `allowed`, only of these schemes.
   */
  challenges(connection: Connection, allowed?: readonly string[]): FieldLine[];
  /**
   * Returns the user, or the id of the key, that the credentials of a request name, valid or not. Undefined if they name none, as a
   * token does, or are malformed.
   */
  claimedName?(request: IncomingRequest): string | undefined;
  /** The fields beside `Authorization` and `Authentication` that can have credentials, in lower case. Default: none. */
  readonly credentialFields?: readonly string[];
  /** Returns whether a query parameter belongs to the credentials of a scheme. Default: none does. */
  isCredentialParameter?(name: string): boolean;
  /**
   * Returns the fields that the schemes read, in lower case: all schemes, or those that `allowed` lists. Default: `authorization`
   * alone.
   */
  requestHeaders?(allowed?: readonly string[]): readonly string[];
  /** Returns the Problem for a request that needs credentials and has none, with every challenge. */
  missing(detail: string, request: IncomingRequest, allowed?: readonly string[]): Problem;
  /** Returns the challenge for a principal whose token lacks the scope `needed`. */
  scopeChallenge(scheme: string, needed: string): FieldLine[];
}

/** The credentials of a request. */
interface Presented {
  /** Those in `Authorization` or `Authentication`. */
  readonly credentials: Credentials | undefined;
  /** The scheme whose credentials are in another place that it declares. */
  readonly located: Scheme | undefined;
  /** The schemes whose credentials are, or may be, in the target or the content. */
  readonly others: readonly Scheme[];
}

/** A request to authenticate. */
interface Attempt {
  readonly request: IncomingRequest;
  readonly authTrace: AuthenticationTrace | undefined;
  /** The schemes that the resource accepts; undefined for all. */
  readonly allowed: readonly string[] | undefined;
  /** If given, the nonce may be claimed with the change of the request. */
  readonly deferred: DeferredNonce | undefined;
}

/** Schemes whose credentials an eavesdropper could use. Over plain HTTP they are refused without being read. */
const overTlsOnly: ReadonlySet<string> = new Set(['basic', 'bearer', 'oauth']);

/** Creates an authenticator. The first scheme of a name in `Authorization` is used. With `explain`, errors explain themselves. */
export function createAuthenticator(
  schemes: readonly Scheme[],
  rateLimiter: RateLimiter,
  limits: SchemeLimits = new SchemeLimits(),
  explain = false,
): Authenticator {
  const byName = new Map<string, Scheme>();
  for (const scheme of schemes)
    for (const name of scheme.authorizationNames ?? [scheme.name])
      if (!byName.has(name)) byName.set(name, scheme);
  const locations = createLocationTable(schemes);
  const schemesElsewhere = schemes.filter(({ elsewhere }) => elsewhere !== undefined);

  const challenges = (
    connection: Connection,
    allowed: readonly string[] | undefined,
    refusing?: Scheme,
    own?: string,
  ): FieldLine[] => {
    const offered = allowed === undefined ? schemes : schemes.filter((scheme) => isAllowed(scheme, allowed));
    const lines = joinChallenges(
      offered.map((scheme) =>
        scheme === refusing && own !== undefined ? own : scheme.challenge(connection),
      ),
    );
    for (const scheme of offered) lines.push(...(scheme.challengeFields?.(connection) ?? []));
    return lines;
  };

  /** Returns the Problem for several credentials, with the challenges of their schemes; without challenges over plain HTTP. */
  const severalCredentials = (
    { headers: fields, connection }: IncomingRequest,
    more: readonly Scheme[] = [],
  ): Problem => {
    const lines = [...fields.getAll('authorization'), ...fields.getAll('authentication')];
    const names = new Set(lines.map((line) => parseCredentials(line)?.scheme));
    const sent = schemes.filter((scheme) => names.has(scheme.name) || more.includes(scheme));
    const located = more.some(({ locations }) => locations !== undefined);
    const detail = located
      ? 'The request has credentials of several schemes. Send those of one.'
      : 'Send one Authorization or Authentication field, once.';
    return new Problem('several-credentials', detail, {
      headers: connection.secure ? joinChallenges(sent.map((scheme) => scheme.severalChallenge?.())) : [],
    });
  };

  /** Returns the Problem of a refusal, and counts the failure. */
  const countRefusal = (verdict: BadVerdict, { request, allowed }: Attempt, scheme: Scheme): Problem => {
    const { connection } = request;
    const { problem, claimed, challenge } = verdict;
    if (problem.status !== 401) {
      if (isMalformedAttempt(problem)) rateLimiter.fail(connection.peer, undefined);
      return challenge === undefined ? problem : problem.with([['WWW-Authenticate', challenge]]);
    }
    const blocked = claimed !== undefined && rateLimiter.blocksUser(claimed);
    rateLimiter.fail(connection.peer, claimed);
    return blocked
      ? tooManyFailures(rateLimiter, 'user')
      : problem.with(challenges(connection, allowed, scheme, challenge));
  };

  const createLateRefusal =
    (refuse: RefuseNonce, attempt: Attempt, scheme: Scheme) =>
    (claimed: RefusedNonce): Problem => {
      const problem = countRefusal(refuse(claimed), attempt, scheme);
      attempt.authTrace?.refused(problem);
      return problem;
    };

  const requirePrincipal = (verdict: Verdict, attempt: Attempt, scheme: Scheme): Principal => {
    if (verdict.outcome === 'bad') throw countRefusal(verdict, attempt, scheme);
    const { principal, refuse } = verdict;
    const { deferred } = attempt;
    const only = limits.violated(principal);
    if (only !== undefined) {
      const problem = notPermitted(principal.scheme, only);
      throw countRefusal({ outcome: 'bad', problem, claimed: principal.name }, attempt, scheme);
    }
    if (refuse !== undefined && deferred !== undefined)
      deferred.refuseNonce = createLateRefusal(refuse, attempt, scheme);
    return principal;
  };

  // Always a promise of this realm, so that no caller takes a promise of another realm for a principal.
  const awaitPrincipal = async (
    verdict: Promise<Verdict>,
    attempt: Attempt,
    scheme: Scheme,
  ): Promise<Principal> => requirePrincipal(await verdict, attempt, scheme);

  const principalElsewhere = async (
    others: readonly Scheme[],
    attempt: Attempt,
  ): Promise<Principal | undefined> => {
    const { request, authTrace, deferred } = attempt;
    for (const scheme of others) {
      const verdict = await scheme.authenticateElsewhere?.(request, authTrace, deferred !== undefined);
      if (verdict === undefined) continue;
      if (authTrace !== undefined) authTrace.scheme = scheme.name;
      return requirePrincipal(verdict, attempt, scheme);
    }
    return undefined;
  };

  const present = ({ request, authTrace, allowed }: Attempt): Presented => {
    const credentials = readCredentials(request);
    if (credentials === 'several') throw severalCredentials(request);
    const places = locations.find(request, allowed);
    const located = places[0];
    if (authTrace !== undefined) authTrace.scheme = credentials?.scheme ?? located?.name;
    if (located !== undefined && (credentials !== undefined || places.length > 1))
      throw severalCredentials(request, places);
    const field = credentials === undefined ? undefined : byName.get(credentials.scheme);
    if ((located ?? field)?.tlsOnly === true && !request.connection.secure) throw tlsRequired();
    const others =
      schemesElsewhere.length === 0
        ? none
        : findElsewhere(request, credentials?.scheme ?? located?.name, schemesElsewhere);
    if ((credentials !== undefined || located !== undefined) && others.length > 0)
      throw severalCredentials(request, others);
    return { credentials, located, others };
  };

  /** Reads the credentials. Counts malformed ones as a failure of the peer, because no user is known. */
  const presentAndCount = (attempt: Attempt): Presented => {
    try {
      return present(attempt);
    } catch (error) {
      const { peer } = attempt.request.connection;
      if (!(error instanceof Problem) || !isMalformedAttempt(error)) throw error;
      if (rateLimiter.blocksPeer(peer)) throw tooManyFailures(rateLimiter, 'peer');
      rateLimiter.fail(peer, undefined);
      throw error;
    }
  };

  /** Returns what is misnamed, for the trace and, if errors explain themselves, for the client. */
  const explainMissing = (
    request: IncomingRequest,
    allowed: readonly string[] | undefined,
  ): { readonly hint?: string } => {
    const authTrace = findTrace(request);
    if (!explain && authTrace === undefined) return {};
    const accepted = schemes.filter((scheme) => allowed === undefined || isAllowed(scheme, allowed));
    const hint = describeMisnamed(request, listExpectedNames(accepted));
    if (hint === undefined) return {};
    authTrace?.fail('scheme', { hint });
    return explain ? { hint } : {};
  };

  const express = (
    problem: Problem,
    request: IncomingRequest,
    allowed: readonly string[] | undefined,
  ): Problem => {
    const own = schemes.find(
      (scheme) => scheme.express !== undefined && (allowed === undefined || isAllowed(scheme, allowed)),
    );
    return own?.express?.(problem, request) ?? problem;
  };

  const refuseOthers = ({ request, allowed }: Attempt, scheme: Scheme | undefined): void => {
    const { connection } = request;
    if (scheme === undefined) {
      const problem = notOffered(challenges(connection, allowed), explainMissing(request, allowed));
      throw express(problem, request, allowed);
    }
    if (allowed !== undefined && !isAllowed(scheme, allowed)) {
      const problem = notAllowed(scheme.name, allowed, challenges(connection, allowed));
      throw express(problem, request, allowed);
    }
  };

  const authenticate = (attempt: Attempt): ReturnType<Authenticator['authenticate']> => {
    const { request, authTrace, allowed, deferred } = attempt;
    const { credentials, located, others } = presentAndCount(attempt);
    const { peer } = request.connection;
    const inField = credentials !== undefined || located !== undefined;
    if (!inField && others.length === 0) return undefined;
    if (rateLimiter.blocksPeer(peer)) throw tooManyFailures(rateLimiter, 'peer');
    if (!inField) {
      const accepted = others.filter((other) => allowed === undefined || isAllowed(other, allowed));
      if (accepted.length > 0) return principalElsewhere(accepted, attempt);
      const inTarget = others.find((other) => other.elsewhere?.(request) === 'target');
      if (inTarget !== undefined) refuseOthers(attempt, inTarget);
      return undefined;
    }
    const scheme = located ?? byName.get(credentials?.scheme ?? '');
    refuseOthers(attempt, scheme);
    if (scheme === undefined) return undefined;
    if (authTrace !== undefined) authTrace.scheme = scheme.name;
    const rest = credentials?.rest ?? '';
    const isBlocked = (): boolean => rateLimiter.blocksPair(peer, scheme.claimedUser?.(rest, request));
    // The name is parsed only if the peer has failed, so that other requests do not parse it twice.
    if (rateLimiter.hasFailures(peer) && isBlocked()) throw tooManyFailures(rateLimiter, 'peer-and-user');
    const verdict = scheme.authenticate(request, rest, authTrace, deferred !== undefined);
    return 'outcome' in verdict
      ? requirePrincipal(verdict, attempt, scheme)
      : awaitPrincipal(verdict, attempt, scheme);
  };

  return {
    authenticate: (request, authTrace, allowed, deferred) =>
      authTrace === undefined
        ? authenticate({ request, authTrace, allowed, deferred })
        : completeTrace({ request, authTrace, allowed, deferred }, authTrace, authenticate),
    challenges: (connection, allowed) => challenges(connection, allowed),
    missing(detail, request, allowed) {
      const fields = challenges(request.connection, allowed);
      const members = explainMissing(request, allowed);
      return express(
        new Problem('authentication-required', detail, { headers: fields, members }),
        request,
        allowed,
      );
    },
    claimedName(request) {
      const { headers: fields } = request;
      const value = fields.getAll('authorization')[0] ?? fields.getAll('authentication')[0];
      const credentials = value === undefined ? undefined : parseCredentials(value);
      const scheme =
        credentials === undefined ? locations.find(request, undefined)[0] : byName.get(credentials.scheme);
      return scheme?.claimedUser?.(credentials?.rest ?? '', request);
    },
    credentialFields: locations.fields,
    isCredentialParameter: (name) =>
      locations.hasParameter(name) || schemes.some((scheme) => scheme.ownsParameter?.(name) === true),
    requestHeaders: (allowed) => [
      ...new Set(
        schemes.filter((scheme) => allowed === undefined || isAllowed(scheme, allowed)).flatMap(fieldsReadBy),
      ),
    ],
    scopeChallenge(name, needed) {
      const challenge = byName.get(name)?.scopeChallenge?.(needed);
      return challenge === undefined ? [] : [['WWW-Authenticate', challenge]];
    },
  };
}

function isAllowed({ name }: Scheme, allowed: readonly string[]): boolean {
  return allowed.includes(name);
}

function fieldsReadBy({ authorizationNames, locations = [], requestHeaders = [] }: Scheme): string[] {
  const places = locations.flatMap((location) => ('field' in location ? [location.field] : []));
  return [...(authorizationNames?.length === 0 ? [] : ['authorization']), ...places, ...requestHeaders];
}

/**
 * Returns the challenges in one field line (RFC 9110 §11.6.1), because some clients read only the first line; no line if there
 * are none.
 */
function joinChallenges(challenges: readonly (string | undefined)[]): FieldLine[] {
  const present = challenges.filter((challenge) => challenge !== undefined);
  return present.length === 0 ? [] : [['WWW-Authenticate', present.join(', ')]];
}

/** Authenticates, and records the Problem in the trace if the scheme recorded no failed check. */
async function completeTrace(
  attempt: Attempt,
  authTrace: AuthenticationTrace,
  authenticate: (attempt: Attempt) => ReturnType<Authenticator['authenticate']>,
): Promise<Principal | undefined> {
  try {
    return await authenticate(attempt);
  } catch (error) {
    if (error instanceof Problem) authTrace.refused(error);
    throw error;
  }
}

/**
 * Returns the schemes that have, or may have, credentials in the target or the content. If there are credentials of the scheme
 * `presented` in a field too, returns only different schemes that have some in the target. Throws 403 over plain HTTP.
 */
function findElsewhere(
  request: IncomingRequest,
  presented: string | undefined,
  schemes: readonly Scheme[],
): readonly Scheme[] {
  const found: Scheme[] = [];
  for (const scheme of schemes) {
    const place = scheme.elsewhere?.(request);
    if (place === undefined) continue;
    if (presented !== undefined) {
      // A scheme itself refuses its credentials in two places. The content is not examined for further ones.
      if (place === 'target' && presented !== scheme.name) return [scheme];
      continue;
    }
    if (request.connection.secure || !overTlsOnly.has(scheme.name)) found.push(scheme);
    else if (place === 'target') throw tlsRequired();
  }
  return found;
}

const none: readonly Scheme[] = [];

/** Returns the credentials in the fields, or `several`. Throws a Problem if they are malformed or require TLS. */
function readCredentials({
  headers: fields,
  connection,
}: IncomingRequest): Credentials | 'several' | undefined {
  const authorization = fields.get('authorization');
  const authentication = fields.get('authentication');
  const value = authorization ?? authentication;
  if (value === undefined) return undefined;
  if (authorization !== undefined && authentication !== undefined) return 'several';
  if (fields.repeated && fields.getAll('authorization').length + fields.getAll('authentication').length > 1)
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

function notOffered(fields: readonly FieldLine[], members: { readonly hint?: string }): Problem {
  const detail = 'The authentication scheme is not supported here.';
  return new Problem('scheme-not-offered', detail, { headers: fields, members });
}

/** Returns where schemes have their credentials. */
function listExpectedNames(schemes: readonly Scheme[]): ExpectedNames {
  const locations = schemes.flatMap((scheme) => scheme.locations ?? []);
  return {
    fields: locations.flatMap((location) => ('field' in location ? [location.field] : [])),
    parameters: locations.flatMap((location) => ('query' in location ? [location.query] : [])),
    authorization: schemes.flatMap(({ name, authorizationNames = [name] }) => authorizationNames),
  };
}

/** Only the holder of valid credentials receives this Problem. */
function notPermitted(name: string, permitted: readonly string[]): Problem {
  const detail = `The user cannot authenticate with the scheme ${name}. Permitted: ${permitted.join(', ') || 'none'}.`;
  return new Problem('scheme-not-offered', detail);
}

function notAllowed(name: string, allowed: readonly string[], fields: readonly FieldLine[]): Problem {
  const detail = `The scheme ${name} is not accepted here. Accepted: ${allowed.join(', ')}.`;
  return new Problem('scheme-not-offered', detail, { headers: fields });
}
