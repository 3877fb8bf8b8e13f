import type { RateLimiter } from '../accounts/rate-limit.ts';
import { UserRights } from '../accounts/user-rights.ts';
import type { FieldLine } from '../http/fields.ts';
import type { Connection, IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { Principal } from '../principal.ts';
import { AbsentCredentials } from './absent-credentials.ts';
import { listAuthorizationNames, listOwnPlaces } from './auth-scheme.ts';
import { AuthFailures, Challenges } from './challenges.ts';
import {
  createLocationTable,
  type FoundCredentials,
  findAccepted,
  findOnly,
  isRotation,
  listAuthorization,
  readAuthorization,
  type Together,
} from './find-credentials.ts';
import { type VerifyOne, verifyAny, verifyTogether } from './together.ts';
import type { AuthenticationTrace } from './trace.ts';
import {
  type AcceptedSchemes,
  type Attempt,
  isAccepted,
  listAlternatives,
  type Verdict,
  type Verifier,
} from './verifier.ts';

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
   */
  authenticate(
    request: IncomingRequest,
    authTrace?: AuthenticationTrace,
    accepted?: AcceptedSchemes,
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

/** The principal; undefined if there are no credentials. */
type Authenticated = Principal | undefined | Promise<Principal | undefined>;

/** Creates an authenticator. The first scheme of a name in `Authorization` is used. With `explain`, errors explain themselves. */
export function createAuthenticator(
  schemes: readonly Verifier[],
  rateLimiter: RateLimiter,
  limits: UserRights = new UserRights(),
  explain = false,
): Authenticator {
  const table = createLocationTable(schemes);
  const challenges = new Challenges(schemes);
  const failures = new AuthFailures(rateLimiter, challenges);
  const absent = new AbsentCredentials(schemes, challenges, explain);
  const verify = createVerifyOne(limits, failures);

  /** Refuses a request that has only credentials that are not accepted. Returns undefined if it has none. */
  const refuseOthers = (attempt: Attempt, accepted: AcceptedSchemes): undefined => {
    const { request, authTrace } = attempt;
    if (listAlternatives(accepted).some((names) => names.length === 0)) return;
    const inAuthorization = listAuthorization(request);
    const usesField = schemes.some(
      (scheme) => isAccepted(scheme, accepted) && listAuthorizationNames(scheme).length > 0,
    );
    if (inAuthorization.length === 0 && usesField) readAuthorization(request, table, challenges);
    const sent = [
      ...inAuthorization.flatMap(({ scheme }) => table.named(scheme) ?? []),
      ...table.find(request),
    ];
    const [first] = inAuthorization;
    if (first === undefined && sent.length === 0) return;
    failures.requireUnblocked(request);
    if (authTrace !== undefined) authTrace.scheme = first ? table.nameIn(first) : sent[0]?.name;
    throw absent.notAccepted(request, sent, accepted);
  };

  const verifyFound = (found: Together, attempt: Attempt): Authenticated => {
    const [first, another] = found;
    if (first === undefined) return undefined;
    failures.requireUnblocked(attempt.request);
    return another === undefined ? verify(first, attempt) : verifyTogether(found, attempt, verify, failures);
  };

  const authenticate = (attempt: Attempt): Authenticated => {
    const { request, accepted } = attempt;
    const alternatives = failures.countMalformed(request, () =>
      accepted === undefined
        ? findOnly(attempt, table, challenges)
        : findAccepted(request, accepted, schemes, table, challenges),
    );
    if (alternatives === undefined) {
      failures.requireUnblocked(request);
      throw absent.unsupported(request, accepted);
    }
    if (isRotation(alternatives)) {
      failures.requireUnblocked(request);
      return verifyAny(alternatives.flat(), attempt, verify);
    }
    return andThen(selectPresent(alternatives, request), (found) => {
      if (found !== undefined) return verifyFound(found, attempt);
      if (accepted === undefined) return undefined;
      return failures.countMalformed(request, () => refuseOthers(attempt, accepted));
    });
  };

  return {
    authenticate: (request, authTrace, accepted) =>
      authTrace === undefined
        ? authenticate({ request, authTrace, accepted })
        : completeTrace({ request, authTrace, accepted }, authTrace, authenticate, absent),
    challenges: (connection, accepted) => challenges.offer(connection, accepted),
    missing: (detail, request, accepted) => absent.missing(detail, request, accepted),
    claimedName(request) {
      for (const { scheme, rest } of listAuthorization(request)) {
        const claimed = table.named(scheme)?.claimedUser?.(rest, request);
        if (claimed !== undefined) return claimed;
      }
      return table.find(request)[0]?.claimedUser?.('', request);
    },
    claimedScheme(request) {
      const [named] = listAuthorization(request);
      if (named === undefined) return table.find(request)[0]?.name;
      return table.named(named.scheme)?.name ?? table.nameIn(named);
    },
    credentialFields: listInspectedFields(schemes, table.fields),
    isCredentialParameter: (name) =>
      table.hasParameter(name) || schemes.some((scheme) => scheme.ownsParameter?.(name) === true),
    requestHeaders: (accepted) => [
      ...new Set(schemes.filter((scheme) => isAccepted(scheme, accepted)).flatMap(listFields)),
    ],
    scopeChallenge(name, needed) {
      const challenge = table.named(name)?.scopeChallenge?.(needed);
      return challenge === undefined ? [] : [['WWW-Authenticate', challenge]];
    },
  };
}

/** Returns the first alternative whose credentials are all there, some of them perhaps in the content; undefined if there is none. */
function selectPresent(
  alternatives: readonly Together[],
  request: IncomingRequest,
): MaybePromise<Together | undefined> {
  const [first] = alternatives;
  return first?.some(({ isPossible }) => isPossible) === true
    ? selectInContent(alternatives, request)
    : first;
}

async function selectInContent(
  alternatives: readonly Together[],
  request: IncomingRequest,
): Promise<Together | undefined> {
  for (const found of alternatives) {
    let isComplete = true;
    for (const { scheme, isPossible } of found)
      if (isPossible) isComplete &&= await hasInContent(scheme, request);
    if (isComplete) return found;
  }
  return undefined;
}

async function hasInContent({ content }: Verifier, request: IncomingRequest): Promise<boolean> {
  return (await content?.isPresent(request)) === true;
}

/** Creates the function that verifies the credentials of one scheme, and checks that the user may use it. */
function createVerifyOne(limits: UserRights, failures: AuthFailures): VerifyOne {
  const requirePrincipal = (verdict: Verdict, attempt: Attempt, scheme: Verifier): Principal => {
    if (verdict.outcome === 'bad') throw failures.count(verdict, attempt, scheme);
    const { principal } = verdict;
    const permitted = limits.violated(principal);
    if (permitted !== undefined) {
      const problem = notPermitted(principal.scheme, permitted);
      throw failures.count({ outcome: 'bad', problem, claimed: principal.name }, attempt, scheme);
    }
    return limits.addRoles(principal);
  };

  // Always a promise of this realm, so that no caller takes a promise of another realm for a principal.
  const awaitPrincipal = async (
    verdict: Promise<Verdict>,
    attempt: Attempt,
    scheme: Verifier,
  ): Promise<Principal> => requirePrincipal(await verdict, attempt, scheme);

  return ({ scheme, rest }: FoundCredentials, attempt: Attempt, known?: Verdict) => {
    const { request, authTrace } = attempt;
    if (authTrace !== undefined) authTrace.scheme = scheme.name;
    const verdict = known ?? scheme.authenticate(request, rest, authTrace);
    return 'outcome' in verdict
      ? requirePrincipal(verdict, attempt, scheme)
      : awaitPrincipal(verdict, attempt, scheme);
  };
}

/** Only the holder of valid credentials receives this Problem. */
function notPermitted(name: string, permitted: readonly string[]): Problem {
  const detail = `The user cannot authenticate with the scheme ${name}. Permitted: ${permitted.join(', ') || 'none'}.`;
  return new Problem('scheme-not-offered', detail);
}

/** Returns the fields that a scheme reads, in lower case. */
function listFields({ places, requestHeaders = [] }: Verifier): string[] {
  const fields = places.flatMap(({ in: kind, name }) => {
    if (kind === 'authorization') return ['authorization'];
    return kind === 'header' ? [name.toLowerCase()] : [];
  });
  return [...fields, ...requestHeaders];
}

/**
 * Returns the fields on which authentication depends beside Authorization: the places of credentials, and what is read with
 * credentials outside Authorization. Host belongs to the URL.
 */
function listInspectedFields(schemes: readonly Verifier[], places: readonly string[]): readonly string[] {
  const outside = schemes.filter(isOutside);
  const read = outside.flatMap(listFields);
  const common = ['authorization', 'authentication', 'accept', 'accept-encoding', 'host'];
  return [...new Set([...places, ...read])].filter((field) => !common.includes(field));
}

/** Returns whether a scheme may have credentials outside Authorization. */
function isOutside(scheme: Verifier): boolean {
  const { isInQuery, content } = scheme;
  const isPlaced = listOwnPlaces(scheme).some(({ in: kind }) => kind !== 'authorization');
  return isPlaced || isInQuery !== undefined || content !== undefined;
}

/** Authenticates, and records the Problem in the trace if the scheme recorded no failed check. */
async function completeTrace(
  attempt: Attempt,
  authTrace: AuthenticationTrace,
  authenticate: (attempt: Attempt) => Authenticated,
  absent: AbsentCredentials,
): Promise<Principal | undefined> {
  try {
    return await authenticate(attempt);
  } catch (error) {
    if (error instanceof Problem) {
      // A key may have been sent with a scheme that exists, but is not offered.
      if (error.type === 'scheme-not-offered') absent.traceMistake(attempt.request, attempt.accepted);
      authTrace.refused(error);
    }
    throw error;
  }
}
