import type { FieldLine } from '../http/fields.ts';
import { type Credentials, parseCredentials } from '../http/headers/authorization.ts';
import { type Connection, type IncomingRequest, isConfidential } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { andThen } from '../maybe-promise.ts';
import type { NonceClaim, Principal } from '../principal.ts';
import {
  authorizationNamesOf,
  credentialsInFields,
  describeAccepted,
  type FoundCredentials,
  findCredentials,
  isAccepted,
  listAlternatives,
  mergePrincipals,
  overTlsOnly,
  requiresTls,
} from './accepted-credentials.ts';
import { describeMisnamed, displayName, type ExpectedNames } from './explain/related-names.ts';
import { describeMisplacedKey, describeMisplacedToken } from './explain/sent-keys.ts';
import { createLocationTable } from './locations.ts';
import type { RefusedNonce } from './nonce-claim.ts';
import { type RateLimiter, tooManyFailures } from './rate-limit.ts';
import { SchemeLimits } from './scheme-limits.ts';
import { type AuthenticationTrace, findTrace } from './trace.ts';
import type { AcceptedSchemes, BadVerdict, RefuseNonce, Verdict, Verifier } from './verifier.ts';
import { refuseScheme } from './verifier.ts';

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
   * @param accepted The schemes that the resource accepts. The first alternative of which the request has all credentials is
   *   verified, and other credentials are left alone. If it has only others, it is refused with 401. Default: all, one in a request.
   * @param deferred If given, the nonce may be claimed with the change of the request. Default: it is claimed at once.
   */
  authenticate(
    request: IncomingRequest,
    authTrace?: AuthenticationTrace,
    accepted?: AcceptedSchemes,
    deferred?: DeferredNonce,
  ): Principal | undefined | Promise<Principal | undefined>;
  /**
   * Returns `WWW-Authenticate` with the challenge of each scheme that is offered on this connection, and further fields of the
   * schemes. With `accepted`, only of these schemes.
   */
  challenges(connection: Connection, accepted?: AcceptedSchemes): FieldLine[];
  /**
   * Returns the user, or the id of the key, that the credentials of a request name, valid or not. Undefined if they name none, as a
   * token does, or are malformed.
   */
  claimedName?(request: IncomingRequest): string | undefined;
  /** Returns the scheme of the credentials of a request, valid or not; undefined if it has none outside the content. */
  claimedScheme?(request: IncomingRequest): string | undefined;
  /** The fields beside `Authorization` and `Authentication` on which authentication depends. Default: none. */
  readonly credentialFields?: readonly string[];
  /** Returns whether a query parameter belongs to the credentials of a scheme. Default: none does. */
  isCredentialParameter?(name: string): boolean;
  /**
   * Returns the fields that the schemes read, in lower case: all schemes, or those that are accepted. Default: `authorization`
   * alone.
   */
  requestHeaders?(accepted?: AcceptedSchemes): readonly string[];
  /** Returns the Problem for a request that needs credentials and has none, with every challenge. */
  missing(detail: string, request: IncomingRequest, accepted?: AcceptedSchemes): Problem;
  /** Returns the challenge for a principal whose token lacks the scope `needed`. */
  scopeChallenge(scheme: string, needed: string): FieldLine[];
}

/** Returns whether schemes sign for one sender whose key is rotated. */
function areRotated([first, ...others]: readonly (Verifier | undefined)[]): boolean {
  const rotation = first?.rotation;
  return rotation !== undefined && others.every((other) => other?.rotation === rotation);
}

/** Returns whether alternatives are one signature each, for one sender whose key is rotated. */
function isRotation(alternatives: readonly (readonly FoundCredentials[])[]): boolean {
  return (
    alternatives.length > 1 &&
    alternatives.every(({ length }) => length === 1) &&
    areRotated(alternatives.map(([only]) => only?.scheme))
  );
}

/** A request to authenticate. */
interface Attempt {
  readonly request: IncomingRequest;
  readonly authTrace: AuthenticationTrace | undefined;
  /** The schemes that the resource accepts; undefined for all. */
  readonly accepted: AcceptedSchemes | undefined;
  /** If given, the nonce may be claimed with the change of the request. */
  readonly deferred: DeferredNonce | undefined;
}

/**
 * Creates an authenticator. The first scheme of a name in `Authorization` is used. With `explain`, errors explain themselves.
 *
 * @param storeNonce Stores a nonce of credentials that are not those of the principal. Default: none has to be stored.
 */
export function createAuthenticator(
  schemes: readonly Verifier[],
  rateLimiter: RateLimiter,
  limits: SchemeLimits = new SchemeLimits(),
  explain = false,
  storeNonce: (claim: NonceClaim) => Promise<void> | undefined = () => undefined,
): Authenticator {
  const byName = new Map<string, Verifier>();
  for (const scheme of schemes)
    for (const name of authorizationNamesOf(scheme)) if (!byName.has(name)) byName.set(name, scheme);
  const locations = createLocationTable(schemes);
  const schemesElsewhere = schemes.filter(({ elsewhere }) => elsewhere !== undefined);

  const challenges = (
    connection: Connection,
    accepted: AcceptedSchemes | undefined,
    refusing?: Verifier,
    own?: string,
  ): FieldLine[] => {
    const offered = schemes.filter((scheme) => isAccepted(scheme, accepted));
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
    more: readonly Verifier[] = [],
  ): Problem => {
    const lines = [...fields.getAll('authorization'), ...fields.getAll('authentication')];
    const names = new Set(lines.map((line) => parseCredentials(line)?.scheme));
    const sent = schemes.filter((scheme) => names.has(scheme.name) || more.includes(scheme));
    const located = more.some(({ locations }) => locations !== undefined);
    const detail = located
      ? 'The request has credentials of several schemes. Send those of one.'
      : 'Send one Authorization or Authentication field, once.';
    return new Problem('several-credentials', detail, {
      headers: isConfidential(connection)
        ? joinChallenges(sent.map((scheme) => scheme.severalChallenge?.()))
        : [],
    });
  };

  /** Returns the Problem of a refusal, and counts the failure. */
  const countRefusal = (verdict: BadVerdict, { request, accepted }: Attempt, scheme: Verifier): Problem => {
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
      : problem.with(challenges(connection, accepted, scheme, challenge));
  };

  const createLateRefusal =
    (refuse: RefuseNonce, attempt: Attempt, scheme: Verifier) =>
    (claimed: RefusedNonce): Problem => {
      const problem = countRefusal(refuse(claimed), attempt, scheme);
      attempt.authTrace?.refused(problem);
      return problem;
    };

  const requirePrincipal = (verdict: Verdict, attempt: Attempt, scheme: Verifier): Principal => {
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
    scheme: Verifier,
  ): Promise<Principal> => requirePrincipal(await verdict, attempt, scheme);

  const verify = ({ scheme, rest }: FoundCredentials, attempt: Attempt): Principal | Promise<Principal> => {
    const { request, authTrace, deferred } = attempt;
    if (authTrace !== undefined) authTrace.scheme = scheme.name;
    const verdict = scheme.authenticate(request, rest, authTrace, deferred !== undefined);
    return 'outcome' in verdict
      ? requirePrincipal(verdict, attempt, scheme)
      : awaitPrincipal(verdict, attempt, scheme);
  };

  /** Verifies credentials that are required together. */
  const verifyTogether = async (
    found: readonly FoundCredentials[],
    given: Attempt,
  ): Promise<Principal | undefined> => {
    // Each nonce is claimed at once, because only one could be claimed with the change.
    const attempt = { ...given, deferred: undefined };
    const principals: Principal[] = [];
    for (const each of found) principals.push(await verify(each, attempt));
    const merged = mergePrincipals(principals);
    if (merged === undefined) throw refuseDifferentUsers(found, principals, attempt);
    for (const { nonce } of principals)
      if (nonce !== undefined && nonce !== merged.nonce) await storeNonce(nonce);
    return merged;
  };

  const refuseDifferentUsers = (
    [first]: readonly FoundCredentials[],
    [principal]: readonly Principal[],
    attempt: Attempt,
  ): Problem => {
    const problem = new Problem('credentials-refused', 'The credentials are those of different users.');
    if (first === undefined) return problem;
    return countRefusal({ outcome: 'bad', problem, claimed: principal?.name }, attempt, first.scheme);
  };

  const verifyAll = (found: readonly FoundCredentials[], attempt: Attempt): Authenticated => {
    const [first, another] = found;
    if (first === undefined) return undefined;
    return another === undefined ? verify(first, attempt) : verifyTogether(found, attempt);
  };

  /** Verifies signatures of which one valid one is enough. All are verified, because the nonces of all valid ones are claimed. */
  const verifyAny = async (found: readonly FoundCredentials[], given: Attempt): Promise<Principal> => {
    const { request, authTrace } = given;
    const attempt = { ...given, deferred: undefined };
    let admitted: (FoundCredentials & { readonly verdict: Verdict }) | undefined;
    for (const each of found) {
      const { scheme, rest } = each;
      const verdict = await scheme.authenticate(request, rest);
      // Otherwise a repeated request would be admitted by its next signature.
      if (verdict.outcome === 'bad' && verdict.problem.type === 'nonce-replayed')
        return verify(each, attempt);
      if (verdict.outcome === 'bad') continue;
      const { nonce } = verdict.principal;
      if (admitted === undefined) admitted = { ...each, verdict };
      else if (nonce !== undefined) await storeNonce(nonce);
    }
    const [first] = found;
    if (first === undefined) throw new RangeError('there are no credentials');
    if (admitted === undefined) return verify(first, attempt);
    if (authTrace !== undefined) authTrace.scheme = admitted.scheme.name;
    return requirePrincipal(admitted.verdict, attempt, admitted.scheme);
  };

  /** Verifies the first alternative whose credentials are all there, some of them perhaps in the content. */
  const verifyFirst = (
    alternatives: readonly (readonly FoundCredentials[])[],
    attempt: Attempt,
  ): Authenticated => {
    const [first = []] = alternatives;
    if (isRotation(alternatives)) return verifyAny(alternatives.flat(), attempt);
    return first.some(({ isPossible }) => isPossible)
      ? verifyFirstInContent(alternatives, attempt)
      : verifyAll(first, attempt);
  };

  const verifyFirstInContent = async (
    alternatives: readonly (readonly FoundCredentials[])[],
    attempt: Attempt,
  ): Promise<Principal | undefined> => {
    for (const found of alternatives) {
      let isComplete = true;
      for (const { scheme, isPossible } of found)
        if (isPossible) isComplete &&= (await scheme.isInContent?.(attempt.request)) === true;
      if (isComplete) return verifyAll(found, attempt);
    }
    return undefined;
  };

  /** Finds the credentials of a request that may have those of one scheme, in one place. */
  const findOnly = (attempt: Attempt): readonly (readonly FoundCredentials[])[] => {
    const { request, authTrace } = attempt;
    const credentials = readCredentials(request, byName);
    if (credentials === 'several') throw severalCredentials(request);
    const located = locations.find(request);
    const [first, second] = located;
    const named = credentials?.scheme ?? first?.name;
    if (authTrace !== undefined) authTrace.scheme = named;
    if (credentials === undefined && second !== undefined && areRotated(located))
      return located.map((scheme) => [{ scheme, rest: undefined, isPossible: false }]);
    if (first !== undefined && (credentials !== undefined || second !== undefined))
      throw severalCredentials(request, located);
    const scheme = first ?? byName.get(credentials?.scheme ?? '');
    if (scheme?.tlsOnly === true && !isConfidential(request.connection)) throw tlsRequired();
    const others = schemesElsewhere.length === 0 ? none : findElsewhere(request, named, schemesElsewhere);
    if (named === undefined)
      // In which of them they are shows when the content is read.
      return others.map((each) => [
        { scheme: each, rest: undefined, isPossible: each.elsewhere?.(request) === 'content' },
      ]);
    if (others.length > 0) throw severalCredentials(request, others);
    if (scheme !== undefined) return [[{ scheme, rest: credentials?.rest, isPossible: false }]];
    requireUnblocked(request);
    throw refuse(
      refuseScheme(challenges(request.connection, undefined), explainMissing(request)).problem,
      attempt,
    );
  };

  /** Finds the alternatives of which a request has, or may have, all credentials. */
  const findAccepted = (
    { request }: Attempt,
    accepted: AcceptedSchemes,
  ): readonly (readonly FoundCredentials[])[] => {
    const alternatives = listAlternatives(accepted).filter((names) => names.length > 0);
    if (alternatives.length === 0) return [];
    const places = { inFields: credentialsInFields(request), located: locations.find(request) };
    const found = alternatives.flatMap((names) => {
      const all: FoundCredentials[] = [];
      for (const name of names) {
        const scheme = schemes.find((each) => each.name === name);
        const own = scheme && findCredentials(scheme, request, places);
        if (own === undefined) return [];
        if (own === 'several') throw severalCredentials(request);
        all.push(own);
      }
      return [all];
    });
    const usable = isConfidential(request.connection)
      ? found
      : found.filter((all) => !all.some(({ scheme }) => requiresTls(scheme)));
    if (usable.length === 0 && found.length > 0) throw tlsRequired();
    return usable;
  };

  /** Refuses a request that has only credentials that are not accepted. Returns undefined if it has none. */
  const refuseOthers = (attempt: Attempt, accepted: AcceptedSchemes): undefined => {
    const { request, authTrace } = attempt;
    const alternatives = listAlternatives(accepted);
    if (alternatives.some((names) => names.length === 0)) return;
    const inFields = credentialsInFields(request);
    const usesFields = schemes.some(
      (scheme) => isAccepted(scheme, accepted) && authorizationNamesOf(scheme).length > 0,
    );
    if (inFields.length === 0 && usesFields) readCredentials(request, byName);
    const known = [
      ...inFields.flatMap(({ scheme }) => byName.get(scheme) ?? []),
      ...locations.find(request),
      ...schemesElsewhere.filter((scheme) => scheme.elsewhere?.(request) === 'target'),
    ];
    const [first] = known;
    const sent = inFields[0]?.scheme ?? first?.name;
    if (sent === undefined) return;
    if (authTrace !== undefined) authTrace.scheme = sent;
    const fields = challenges(request.connection, accepted);
    const partial = known.filter((scheme) => isAccepted(scheme, accepted));
    if (partial.length > 0) throw refuse(incomplete(partial, alternatives, fields), attempt);
    if (first === undefined)
      throw refuse(refuseScheme(fields, explainMissing(request, accepted)).problem, attempt);
    throw refuse(notAccepted(first.name, accepted, fields), attempt);
  };

  const requireUnblocked = ({ connection: { peer } }: IncomingRequest): void => {
    if (rateLimiter.blocksPeer(peer)) throw tooManyFailures(rateLimiter, 'peer');
  };

  /** Counts malformed credentials as a failure of the peer, because no user is known. */
  const countMalformed = <Found>(request: IncomingRequest, find: () => Found): Found => {
    try {
      return find();
    } catch (error) {
      if (!(error instanceof Problem) || !isMalformedAttempt(error)) throw error;
      requireUnblocked(request);
      rateLimiter.fail(request.connection.peer, undefined);
      throw error;
    }
  };

  /** Returns what is misnamed, for the trace and, if errors explain themselves, for the client. */
  const explainMissing = (
    request: IncomingRequest,
    accepted?: AcceptedSchemes,
  ): { readonly hint?: string } => {
    const authTrace = findTrace(request);
    if (!explain && authTrace === undefined) return {};
    const expected = schemes.filter((scheme) => isAccepted(scheme, accepted));
    const hint =
      describeMisnamed(request, listExpectedNames(expected)) ??
      describeMisplacedKey(request, listKeyPlaces(expected), authTrace?.knowledge?.secrets ?? []) ??
      (expected.some(isBearerOffered) ? describeMisplacedToken(request) : undefined);
    if (hint === undefined) return {};
    authTrace?.fail('scheme', { hint });
    return explain ? { hint } : {};
  };

  const express = (
    problem: Problem,
    request: IncomingRequest,
    accepted: AcceptedSchemes | undefined,
  ): Problem => {
    const own = schemes.find((scheme) => scheme.express !== undefined && isAccepted(scheme, accepted));
    return own?.express?.(problem, request) ?? problem;
  };

  const refuse = (problem: Problem, { request, accepted }: Attempt): Problem =>
    express(problem, request, accepted);

  const authenticate = (attempt: Attempt): Authenticated => {
    const { request, accepted } = attempt;
    const found = countMalformed(request, () =>
      accepted === undefined ? findOnly(attempt) : findAccepted(attempt, accepted),
    );
    if (found.length === 0 && accepted === undefined) return undefined;
    if (found.length > 0) requireUnblocked(request);
    const principal = verifyFirst(found, attempt);
    if (accepted === undefined) return principal;
    return andThen(
      principal,
      (verified) => verified ?? countMalformed(request, () => refuseOthers(attempt, accepted)),
    );
  };

  return {
    authenticate: (request, authTrace, accepted, deferred) =>
      authTrace === undefined
        ? authenticate({ request, authTrace, accepted, deferred })
        : completeTrace({ request, authTrace, accepted, deferred }, authTrace, authenticate),
    challenges: (connection, accepted) => challenges(connection, accepted),
    missing(detail, request, accepted) {
      const fields = challenges(request.connection, accepted);
      const members = explainMissing(request, accepted);
      return express(
        new Problem('authentication-required', detail, { headers: fields, members }),
        request,
        accepted,
      );
    },
    claimedName(request) {
      for (const { scheme, rest } of credentialsInFields(request)) {
        const claimed = byName.get(scheme)?.claimedUser?.(rest, request);
        if (claimed !== undefined) return claimed;
      }
      return locations.find(request)[0]?.claimedUser?.('', request);
    },
    claimedScheme(request) {
      const [inField] = credentialsInFields(request);
      if (inField === undefined) return locations.find(request)[0]?.name;
      return byName.get(inField.scheme)?.name ?? inField.scheme;
    },
    credentialFields: listInspectedFields(schemes, locations.fields),
    isCredentialParameter: (name) =>
      locations.hasParameter(name) || schemes.some((scheme) => scheme.ownsParameter?.(name) === true),
    requestHeaders: (accepted) => [
      ...new Set(schemes.filter((scheme) => isAccepted(scheme, accepted)).flatMap(fieldsReadBy)),
    ],
    scopeChallenge(name, needed) {
      const challenge = byName.get(name)?.scopeChallenge?.(needed);
      return challenge === undefined ? [] : [['WWW-Authenticate', challenge]];
    },
  };
}

function fieldsReadBy({ authorizationNames, locations = [], requestHeaders = [] }: Verifier): string[] {
  const places = locations.flatMap((location) => ('field' in location ? [location.field] : []));
  return [...(authorizationNames?.length === 0 ? [] : ['authorization']), ...places, ...requestHeaders];
}

/**
 * Returns the fields on which authentication depends beside Authorization: the places of credentials, and what is read with
 * credentials outside Authorization. Host belongs to the URL.
 */
function listInspectedFields(schemes: readonly Verifier[], places: readonly string[]): readonly string[] {
  const outside = schemes.filter(
    ({ locations = [], elsewhere }) => locations.length > 0 || elsewhere !== undefined,
  );
  const read = outside.flatMap(({ requestHeaders = [] }) => requestHeaders);
  const common = ['authorization', 'authentication', 'accept', 'accept-encoding', 'host'];
  return [...new Set([...places, ...read])].filter((field) => !common.includes(field));
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
  schemes: readonly Verifier[],
): readonly Verifier[] {
  const found: Verifier[] = [];
  for (const scheme of schemes) {
    const place = scheme.elsewhere?.(request);
    if (place === undefined) continue;
    if (presented !== undefined) {
      // A scheme itself refuses its credentials in two places. The content is not examined for further ones.
      if (place === 'target' && presented !== scheme.name) return [scheme];
      continue;
    }
    if (isConfidential(request.connection) || !requiresTls(scheme)) found.push(scheme);
    else if (place === 'target') throw tlsRequired();
  }
  return found;
}

const none: readonly Verifier[] = [];

/** The principal; undefined if there are no credentials. */
type Authenticated = Principal | undefined | Promise<Principal | undefined>;

/** Returns the credentials in the fields, or `several`. Throws a Problem if they are malformed or require TLS. */
function readCredentials(
  { headers: fields, connection }: IncomingRequest,
  schemes: ReadonlyMap<string, Verifier>,
): Credentials | 'several' | undefined {
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
  const { scheme } = credentials;
  const owner = schemes.get(scheme);
  const needsTls = owner === undefined ? overTlsOnly.has(scheme) : requiresTls(owner);
  if (needsTls && !isConfidential(connection)) throw tlsRequired();
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

/** Returns where schemes have their credentials. */
function listExpectedNames(schemes: readonly Verifier[]): ExpectedNames {
  const locations = schemes.flatMap((scheme) => scheme.locations ?? []);
  return {
    fields: locations.flatMap((location) => ('field' in location ? [location.field] : [])),
    parameters: locations.flatMap((location) => ('query' in location ? [location.query] : [])),
    authorization: schemes.flatMap(({ name, authorizationNames = [name] }) => authorizationNames),
  };
}

function isBearerOffered({ name, challenge }: Verifier): boolean {
  return name === 'bearer' && challenge({ secure: true, peer: '' }) !== undefined;
}

/** Returns the places where keys are sent as they are, for hints. */
function listKeyPlaces(schemes: readonly Verifier[]): readonly string[] {
  return schemes
    .filter(({ tlsOnly }) => tlsOnly === true)
    .flatMap(({ locations = [], authorizationNames = [] }) => [
      ...authorizationNames.map((name) => `Authorization with ${displayName(name)}`),
      ...locations.map((place) => {
        if ('field' in place) return displayName(place.field);
        return 'query' in place ? `the query parameter ${place.query}` : `the cookie ${place.cookie}`;
      }),
    ]);
}

/** Only the holder of valid credentials receives this Problem. */
function notPermitted(name: string, permitted: readonly string[]): Problem {
  const detail = `The user cannot authenticate with the scheme ${name}. Permitted: ${permitted.join(', ') || 'none'}.`;
  return new Problem('scheme-not-offered', detail);
}

function notAccepted(name: string, accepted: AcceptedSchemes, fields: readonly FieldLine[]): Problem {
  const detail = `The scheme ${name} is not accepted here. Accepted: ${describeAccepted(accepted)}.`;
  return new Problem('scheme-not-offered', detail, { headers: fields });
}

/** Returns the Problem for some of the credentials that are required together. */
function incomplete(
  sent: readonly Verifier[],
  alternatives: readonly (readonly string[])[],
  fields: readonly FieldLine[],
): Problem {
  const has = (name: string): boolean => sent.some((scheme) => scheme.name === name);
  const missing = alternatives.find((names) => names.some(has))?.filter((name) => !has(name)) ?? [];
  const detail = `Credentials of ${missing.join(' and ')} are required beside those of ${sent.map(({ name }) => name).join(' and ')}.`;
  return new Problem('authentication-required', detail, { headers: fields });
}
