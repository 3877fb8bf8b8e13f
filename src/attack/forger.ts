import { removeParameters, splitPairs } from '../http/form.ts';
import type { SchemeTraits } from '../schemes/auth-scheme.ts';
import type { SigningOverrides } from '../schemes/signing.ts';
import { type AttackRequest, removeLines, type Transport } from './attempt.ts';
import { createLocator, type Locator } from './credentials.ts';
import {
  type AddedParts,
  findSigning,
  type Signer,
  type Signing,
  type SigningChanges,
  signByOwn,
} from './signer.ts';
import { appendParameters } from './target.ts';

/** The options of `createForger`. */
interface ForgerOptions {
  /** The good request before it is signed. */
  readonly plain: AttackRequest;
  readonly signer: Signer;
  /** The date of good requests, in ms. */
  readonly now: number;
  /** How far a date may differ, in ms. */
  readonly window: number;
  /** Another user of the server. */
  readonly otherUser: string | undefined;
  /** Whether the request is permitted without credentials. */
  readonly open: boolean;
  /** What is known of the issuer of a token. */
  readonly issuer: TokenIssuerOptions;
  readonly random: (size: number) => Uint8Array;
}

/** Creates requests for attempts from the good request and its signer, and determines what the signature covers. */
export interface Forger extends Locator, Omit<ForgerOptions, 'signer' | 'random'> {
  /** For how long a signature is valid, in ms. */
  readonly lifetime: number;
  readonly user: string | undefined;
  readonly traits: SchemeTraits | undefined;
  /** What the signer signs with. Undefined if the signer is not one of this package. */
  readonly signing: Signing | undefined;
  /** The transport that the good request requires. */
  readonly needs: Transport | undefined;
  /** Whether the signature depends on the nonce. */
  readonly hasNonce: boolean;
  /** Whether a request is valid only once. */
  readonly once: boolean;
  /** Whether the signature depends on the date. */
  readonly dated: boolean;
  /** Whether the signature depends on the request, and not only on the user. */
  readonly signs: boolean;
  /** Returns a new nonce of lower-case letters, digits and one hyphen. */
  nonce(): string;
  /** Returns a date and nonce that no request had, if signatures are valid only once. */
  fresh(): { readonly date: number; readonly nonce: string };
  /** Returns the good request, signed with a new nonce. */
  signGood(): AttackRequest;
  /** Signs a request with these changes. Undefined if the signer cannot, or if a change makes no difference. */
  signRequest(changes: SigningChanges, request?: AttackRequest): AttackRequest | undefined;
  /** Signs a request, by default the good one, with these overrides and changes. Undefined if that is impossible. */
  resignRequest(
    overrides: SigningOverrides,
    request?: AttackRequest,
    changes?: SigningChanges,
  ): AttackRequest | undefined;
  /** Returns `changed` with the signature of `original`. Undefined if that signature is also valid for `changed`. */
  sendAs(changed: AttackRequest, original?: AttackRequest): AttackRequest | undefined;
}

/**
 * Creates a forger. Throws RangeError if the signer does not sign the good request, or signs it differently for equal
 * dates and nonces.
 */
export function createForger({ plain, signer, now, window, random, ...shared }: ForgerOptions): Forger {
  const { traits } = signer;
  const signing = findSigning(signer);
  const sign = (request: AttackRequest, changes: SigningChanges): AddedParts | undefined =>
    signing === undefined ? signByOwn(signer, request, changes) : signing.resign(request, changes, {});
  const nonce = (): string => {
    const digits = Buffer.from(random(12)).toString('hex');
    return `n${digits.slice(0, 12)}-${digits.slice(12)}`;
  };
  const fixed = { date: now, nonce: nonce() };
  const [base, again] = [sign(plain, fixed), sign(plain, fixed)];
  // The promise of an asynchronous signer has neither.
  if (base === undefined || again === undefined || isEmpty(base))
    throw new RangeError('the signer must return headers or a query for the good request, synchronously');
  if (!areEqual(base, again))
    throw new RangeError('the signer must return equal fields for equal requests, dates and nonces');
  const dependsOn = (changes: SigningChanges): boolean => {
    const parts = sign(plain, { ...fixed, ...changes });
    return parts !== undefined && !areEqual(parts, base);
  };
  const hasNonce = dependsOn({ nonce: nonce() });
  const fresh = createDating(now, window, nonce, !hasNonce && traits?.acceptedOnce === true);
  const signRequest: Forger['signRequest'] = (changes, request = plain) => {
    // A nonce always changes the signature. Each other change must do so on its own.
    const { nonce: _, ...others } = changes;
    if (!Object.entries(others).every(([name, value]) => dependsOn({ [name]: value }))) return undefined;
    const parts = sign(request, { ...fresh(), ...changes });
    return parts === undefined ? undefined : addParts(request, parts);
  };
  const signGood = (): AttackRequest => addParts(plain, sign(plain, fresh()) ?? base);
  const sendAs: Forger['sendAs'] = (changed, original = plain) => {
    const dateAndNonce = fresh();
    const [parts, own] = [sign(original, dateAndNonce), sign(changed, dateAndNonce)];
    if (parts === undefined || (own !== undefined && areEqual(parts, own))) return undefined;
    return addParts(changed, parts);
  };
  const resignRequest: Forger['resignRequest'] = (overrides, request = plain, changes = {}) => {
    const parts = signing?.resign(request, { ...fresh(), ...changes }, overrides);
    return parts && addParts(request, parts);
  };
  const signs = otherRequests(plain).some((other) => sendAs(other) !== undefined);
  return {
    ...shared,
    ...createLocator(plain, traits),
    plain,
    now,
    window,
    lifetime: traits?.lifetime === undefined ? window : traits.lifetime * 1000,
    user: signer.user,
    traits,
    needs: (signer.tlsOnly ?? !signs) ? 'tls' : undefined,
    hasNonce,
    once: hasNonce || traits?.acceptedOnce === true,
    dated: dependsOn({ date: now + 1000 }),
    signs,
    nonce,
    fresh,
    signGood,
    signing,
    signRequest,
    resignRequest,
    sendAs,
  };
}

/** Returns the function that creates dates and nonces. If signatures have no nonce, each date is a second after the last. */
function createDating(now: number, window: number, nonce: () => string, apart: boolean): Forger['fresh'] {
  let count = 0;
  return () => {
    if (apart) count += 1;
    return { date: now + ((count * 1000) % Math.max(window, 1000)), nonce: nonce() };
  };
}

/** Returns requests with another method, and with other content. */
function otherRequests(plain: AttackRequest): AttackRequest[] {
  return [
    { ...plain, method: plain.method === 'GET' ? 'PUT' : 'GET' },
    { ...plain, body: 'other content' },
  ];
}

function isEmpty({ headers: fields, query }: AddedParts): boolean {
  return Object.keys(fields).length === 0 && query === '';
}

function areEqual(one: AddedParts, other: AddedParts): boolean {
  return one.query === other.query && areFieldsEqual(one.headers, other.headers);
}

function areFieldsEqual(one: AddedParts['headers'], other: AddedParts['headers']): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
}

/** Returns a request with what signs it. */
function addParts(request: AttackRequest, { headers: fields, query }: AddedParts): AttackRequest {
  const others = removeLines(request.headers, ...Object.keys(fields));
  const headers = [...others, ...Object.entries(fields)];
  const names = splitPairs(query).map(([name]) => name);
  const url = appendParameters(removeParameters(request.url, names), query);
  return { ...request, url, headers };
}

/** What is known of the issuer of a bearer token that is a JWT. */
export interface TokenIssuerOptions {
  /** The public keys (RFC 7517), with which tokens are forged as if they were secrets. Default: none. */
  readonly keys?: readonly object[] | undefined;
  /**
   * The private key of an issuer of a test, in PEM. With it, the attempts with other claims have a valid signature. Default: none, and
   * they have that of the good token.
   */
  readonly privateKey?: string | undefined;
}
