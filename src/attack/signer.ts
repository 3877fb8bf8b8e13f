// The signers of the adversary: the signers of the clients, with changes that the clients do not permit.

import { randomBytes } from 'node:crypto';
import type { KnownScheme } from '../client/read-declaration.ts';
import { systemClock } from '../clock.ts';
import { parseForm } from '../http/form.ts';
import { findQuery } from '../http/target.ts';
import type { AuthScheme, SchemeTraits } from '../schemes/auth-scheme.ts';
import type { SignedParts } from '../schemes/defined/definition.ts';
import { nameAndOctets } from '../schemes/message.ts';
import type { Signature, SigningIdentity, SigningOverrides, UnsignedRequest } from '../schemes/signing.ts';
import type { AttackRequest, HeaderLine } from './attempt.ts';
import { contentBytes, targetOf } from './target.ts';

/** Changes to what the signer would sign by default. */
export interface SigningChanges {
  /** The date: ms since 1970-01-01T00:00:00Z, or the literal value of the date field. */
  readonly date?: number | string;
  /** The nonce. Default: a new one. */
  readonly nonce?: string;
  /** The name of another user, or the id of another key. Secret, password, token or private key stay the same. */
  readonly user?: string;
  /** Another secret, password or token. The user stays the same. */
  readonly secret?: string;
}

/**
 * Signs the requests of attempts. `createSigner` returns one for each scheme of this package; for your own scheme, write one. It must
 * return equal parts for equal requests, dates and nonces.
 * @example
 * const signer: Signer = {
 *   sign({ method, url }, { date = clock.now(), nonce = randomUUID(), secret = ours }) {
 *     const signature = hmac(secret, [method, new URL(url).pathname, date, nonce].join('\n'));
 *     return { headers: { 'X-Timestamp': String(date), 'X-Nonce': nonce, 'X-Signature': signature } };
 *   },
 * };
 */
export interface Signer {
  /**
   * Returns the header fields and the parameters of the query that sign a request. Synchronous. It ignores changes that its scheme does
   * not have: a bearer token has no nonce. It returns undefined for a change that it cannot sign, such as a date as text.
   */
  sign(request: AttackRequest, changes: SigningChanges): SignedParts | undefined;
  /** The user as whom it signs. Default: none, or unknown. */
  readonly user?: string | undefined;
  /** Whether its credentials require TLS, as a password does. Default: true unless it signs the method. */
  readonly tlsOnly?: boolean | undefined;
  /** What the signed parts do not show. Default: as in the schemes that need no configuration. */
  readonly traits?: SchemeTraits | undefined;
}

/** What a signature adds to a request, as it is sent. */
export interface AddedParts {
  readonly headers: Readonly<Record<string, string>>;
  /** The parameters of the query, percent-encoded; '' if there are none. */
  readonly query: string;
}

/** Signs a request with the signer of a test. Undefined if it does not sign. */
export function signByOwn(
  signer: Signer,
  request: AttackRequest,
  changes: SigningChanges,
): AddedParts | undefined {
  const signed = signer.sign(request, changes);
  if (signed === undefined) return undefined;
  const { headers = {}, query = {} } = signed;
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return { headers, query: pairs.join('&') };
}

/** A scheme with the identity that signs. */
export interface Signing {
  readonly scheme: KnownScheme;
  readonly identity: SigningIdentity;
  /** What every good request has. */
  readonly choices: SigningOverrides;
}

/** Signs a request with changes and overrides. Undefined if that is impossible. */
type Resign = (
  request: AttackRequest,
  changes: SigningChanges,
  overrides: SigningOverrides,
) => AddedParts | undefined;

/** What the signers that were created here sign with. */
const signings = new WeakMap<Signer, Signing & { readonly resign: Resign }>();

/** Returns what a signer signs with. Undefined for a signer from elsewhere. */
export function findSigning(signer: Signer): (Signing & { readonly resign: Resign }) | undefined {
  return signings.get(signer);
}

/** Creates a signer for attempts. */
export function createSchemeSigner(
  signing: Signing,
  properties: Pick<Signer, 'user' | 'tlsOnly' | 'traits'>,
): Signer {
  const resign = createResign(signing);
  const signer: Signer = {
    ...properties,
    sign(request, changes) {
      const { headers, query } = resign(request, changes, {}) ?? {};
      if (headers === undefined || query === undefined) return undefined;
      return query === '' ? { headers } : { headers, query: Object.fromEntries(parseForm(query) ?? []) };
    },
  };
  signings.set(signer, { ...signing, resign });
  return signer;
}

function createResign(signing: Signing): Resign {
  const { scheme, choices } = signing;
  const remembered = rememberSignatures();
  return (request, changes, overrides) => {
    const { date = systemClock.now(), nonce } = changes;
    const identity = changeIdentity(signing, changes);
    const isText = typeof date === 'string';
    if (identity === undefined || (isText && !scheme.choices.includes('date'))) return undefined;
    const unsigned = toUnsigned(request, scheme);
    const options = {
      random: randomBytes,
      ...choices,
      ...(isText ? { date, now: 0 } : { now: date }),
      ...(scheme.choices.includes('nonce') && { nonce }),
      ...overrides,
    };
    const signature = ignoreRangeError(() => scheme.sign(unsigned, identity, options));
    // A field value has no white space at its ends (RFC 9110 §5.5), so such a name cannot be sent.
    if (signature === undefined || signature.fields.some(([, value]) => /^[\t ]|[\t ]$/.test(value)))
      return undefined;
    const { fields, target } = remembered(signature, identity, options);
    return { headers: Object.fromEntries(fields), query: parseAddedQuery(unsigned.target, target) };
  };
}

/** Returns the parameters that were added to a target, or replaced in it, as a scheme in code may do. */
function parseAddedQuery(target: string, signed: string): string {
  if (signed.startsWith(target)) return signed.slice(target.length + 1);
  const [before, after] = [target, signed].map((each) => findQuery(each).split('&'));
  return after?.filter((pair) => !before?.includes(pair)).join('&') ?? '';
}

/** Returns undefined for what cannot be signed: a secret that is not encoded as declared, a component that is absent. */
function ignoreRangeError<Value>(compute: () => Value): Value | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function toUnsigned(request: AttackRequest, { signsAllFields = false }: AuthScheme): UnsignedRequest {
  // A server need not require that other fields are signed, and If-Match is added after signing.
  const isSigned = ([name]: HeaderLine): boolean =>
    !signsAllFields || /^(?:host|content-type|x-amz-.*)$/i.test(name);
  const fields = request.headers.filter(isSigned);
  const { method, url, body } = request;
  const content = body === undefined ? undefined : contentBytes(body);
  return { method, url: new URL(url), target: targetOf(url), fields, content };
}

/** Returns who signs. Undefined if there is no secret to change: a private key has no other one. */
function changeIdentity(
  { scheme, identity }: Signing,
  { user, secret }: SigningChanges,
): SigningIdentity | undefined {
  if (secret !== undefined && identity.privateKey !== undefined) return undefined;
  const { consumer, token } = identity;
  if (consumer !== undefined) {
    const named = { ...consumer, key: user ?? consumer.key };
    if (token === undefined)
      return { ...identity, consumer: { ...named, secret: secret ?? consumer.secret } };
    return { ...identity, consumer: named, token: { ...token, tokenSecret: secret ?? token.tokenSecret } };
  }
  return {
    ...identity,
    ...(user !== undefined && { user, keyId: undefined }),
    secret:
      secret === ''
        ? (scheme.emptySecret ?? (scheme.sentSecret === undefined ? '\0' : ''))
        : (secret ?? identity.secret),
  };
}

/** Returns the function that makes equal messages have equal signatures, although those of some algorithms are random. */
function rememberSignatures(): (
  signature: Signature,
  identity: SigningIdentity,
  options: SigningOverrides,
) => Signature {
  const known = new Map<string, Signature>();
  return (signature, { privateKey, ...identity }, { key, label }) => {
    const own = key === undefined ? privateKey : 'privateKey' in key ? key.privateKey : undefined;
    // An HMAC is not random.
    if (own === undefined) return signature;
    const { target, parts } = signature;
    const names = [identity, key?.id, key?.algorithm, label, own.export({ format: 'jwk' }), target];
    const name = JSON.stringify([...names, parts.map(nameAndOctets)]);
    const first = known.get(name) ?? signature;
    known.set(name, first);
    return first;
  };
}
