// Finds the credentials of a request that a resource accepts. Others are left alone: they are neither read nor refused.
import { type Credentials, parseCredentials } from '../http/headers/authorization.ts';
import { type IncomingRequest, isConfidential } from '../http/message.ts';
import type { Principal } from '../principal.ts';
import type { AcceptedSchemes, Verifier } from './verifier.ts';

/** Credentials of a scheme that a request has, or may have. */
export interface FoundCredentials {
  readonly scheme: Verifier;
  /** The part of Authorization after the name of the scheme; undefined for credentials in another place. */
  readonly rest: string | undefined;
  /** Whether they may be in the content, which is not read yet. */
  readonly isPossible: boolean;
}

/** What a request shows of its credentials without being verified. */
interface Places {
  /** What Authorization and Authentication contain. */
  readonly inFields: readonly Credentials[];
  /** The schemes whose credentials are in other places that they declare. */
  readonly located: readonly Verifier[];
}

/** Schemes whose credentials an eavesdropper could use. Over plain HTTP they are refused without being read. */
export const overTlsOnly: ReadonlySet<string> = new Set(['basic', 'bearer', 'oauth']);

/** Returns the alternatives as lists of names. */
export function listAlternatives(accepted: AcceptedSchemes): readonly (readonly string[])[] {
  return accepted.map((names) => (typeof names === 'string' ? [names] : names));
}

/** Returns whether a scheme is accepted, alone or together with others. */
export function isAccepted({ name }: Verifier, accepted: AcceptedSchemes | undefined): boolean {
  return accepted === undefined || listAlternatives(accepted).some((names) => names.includes(name));
}

/** Returns the alternatives for a client: `aws4, key with hmac`. */
export function describeAccepted(accepted: AcceptedSchemes): string {
  const named = listAlternatives(accepted).filter((names) => names.length > 0);
  return [...new Set(named.map((names) => names.join(' with ')))].join(', ');
}

/** Returns the names of the credentials of a scheme in Authorization. */
export function authorizationNamesOf({ name, authorizationNames = [name] }: Verifier): readonly string[] {
  return authorizationNames;
}

/** Returns the well-formed values of Authorization, and of Authentication, which supports only `hmac`. */
export function credentialsInFields({ headers: fields }: IncomingRequest): readonly Credentials[] {
  const parse = (name: string): Credentials[] =>
    fields.getAll(name).flatMap((value) => parseCredentials(value) ?? []);
  return [...parse('authorization'), ...parse('authentication').filter(({ scheme }) => scheme === 'hmac')];
}

/**
 * Returns the credentials of a scheme; undefined if the request has none, and `several` if it has some in more than one place or line.
 */
export function findCredentials(
  scheme: Verifier,
  request: IncomingRequest,
  { inFields, located }: Places,
): FoundCredentials | 'several' | undefined {
  const names = authorizationNamesOf(scheme);
  const [own, another] = inFields.filter((each) => names.includes(each.scheme));
  const isLocated = located.includes(scheme);
  if (own !== undefined) {
    const isRepeated = another !== undefined || request.headers.getAll('authorization').length > 1;
    return isRepeated || isLocated ? 'several' : { scheme, rest: own.rest, isPossible: false };
  }
  const place = isLocated ? 'target' : scheme.elsewhere?.(request);
  if (place === undefined) return undefined;
  const isPossible = place === 'content';
  // Content that may have none is not refused unread.
  if (isPossible && !isConfidential(request.connection) && requiresTls(scheme)) return undefined;
  return { scheme, rest: undefined, isPossible };
}

/** Returns whether the credentials of a scheme are refused over plain HTTP. */
export function requiresTls(scheme: Verifier): boolean {
  return scheme.tlsOnly === true || (overTlsOnly.has(scheme.name) && scheme.readsPlain?.() !== true);
}

/**
 * Returns the principal of credentials that were sent together: the first that is a user's own or lent by one, otherwise the first,
 * with the rights of the token if one of them is a token. Returns undefined if they are those of different users.
 */
export function mergePrincipals(principals: readonly Principal[]): Principal | undefined {
  const ofUsers = principals.filter(({ lent }) => lent?.users === undefined);
  const [main = principals[0]] = ofUsers;
  if (main === undefined || ofUsers.some(({ name }) => name !== main.name)) return undefined;
  const token = principals.find(({ lent }) => lent !== undefined)?.lent;
  const lent = main.lent ?? (token && { ...token, users: undefined });
  const nonce = principals.find((each) => each.nonce !== undefined)?.nonce;
  return {
    name: main.name,
    scheme: main.scheme,
    ...(nonce !== undefined && { nonce }),
    ...(lent !== undefined && { lent }),
  };
}
