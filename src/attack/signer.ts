// The signers of the adversary: the signers of the clients, with changes that the clients do not permit.
import { randomBytes } from 'node:crypto';
import { type SignableScheme, signerOf } from '../client/schemes/signer.ts';
import { systemClock } from '../clock.ts';
import { hasPrivateKey } from '../signature/declared/asymmetric.ts';
import type { MessageKey } from '../signature/message-signatures/algorithms.ts';
import type { Signature, SigningIdentity, SigningOverrides, UnsignedRequest } from '../signature/signing.ts';
import type { AttackRequest, HeaderLine } from './attempt.ts';
import { bytesOf, splitUrl } from './target.ts';

/** Changes to what the signer would sign by default. */
export interface SigningChanges {
  /** The date: ms since 1970-01-01T00:00:00Z, or the literal value of the date field. */
  readonly date?: number | string;
  readonly nonce?: string;
  /** The name of another user, or the id of another key. Secret, password, token or private key stay the same. */
  readonly user?: string;
  /** Another secret, password or token. The user stays the same. */
  readonly secret?: string;
}

/** Header fields by name. */
export type SignedFields = Readonly<Record<string, string>>;

/** What signs a request if a part of it stands in the query. */
export interface SignedQuery {
  readonly headers: SignedFields;
  /** The parameters that are appended to the query. */
  readonly query: string;
}

/** What the signer adds to a request. */
export interface SignedParts {
  readonly headers: SignedFields;
  /** '' if nothing is added to the query. */
  readonly query: string;
}

/**
 * Returns the header fields that sign a request, or fields and parameters of the query. It ignores changes that its scheme
 * does not have: a bearer token has no nonce. It returns undefined for a change that it cannot sign, such as a date as text.
 * It must be synchronous, and return equal fields for equal requests, dates and nonces.
 */
export interface Signer {
  (request: AttackRequest, changes: SigningChanges): SignedFields | SignedQuery | undefined;
  /** The user as whom it signs, if there is one. */
  readonly user?: string;
  /** Whether its credentials require TLS, as a password does. Default: true unless it signs the method. */
  readonly tlsOnly?: boolean;
  /** What the signed fields do not show. Default: as in the schemes that need no configuration. */
  readonly traits?: SignerTraits;
}

/** Properties of a scheme that the signed fields do not show. */
export interface SignerTraits {
  readonly place: CredentialPlace;
  /** The field that contains the date. Default: none. */
  readonly dateField?: string;
  /**
   * Whether the server accepts a signature only once although it has no nonce. Then each good request gets a date of its own.
   * Default: false.
   */
  readonly acceptedOnce?: boolean;
  /** The number of seconds for which a signature is valid, if not for the window. */
  readonly lifetime?: number;
}

/** Where the credentials of a scheme are. */
export interface CredentialPlace {
  /** The field, or the parameter of the query, that contains the proof. */
  readonly in: { readonly field: string } | { readonly query: string };
  /** Other fields of the credentials. */
  readonly otherFields?: readonly string[];
  /** Matches the value, with a group each for what precedes the proof, the proof, and what follows it. */
  readonly form: RegExp;
  /** Whether several values are a list of which one must be valid. Default: false. */
  readonly isList?: boolean;
  /** Whether base64 may be unpadded, as in structured fields (RFC 9651 §4.2.7). Default: false. */
  readonly isPaddingOptional?: boolean;
}

/** Returns the signed fields and parameters as one form. Undefined if the request was not signed. */
export function partsOf(signed: SignedFields | SignedQuery | undefined): SignedParts | undefined {
  if (signed === undefined) return undefined;
  return isSignedQuery(signed) ? signed : { headers: signed, query: '' };
}

function isSignedQuery(signed: SignedFields | SignedQuery): signed is SignedQuery {
  return typeof signed['headers'] === 'object';
}

/** A scheme with the identity that signs. */
export interface Signing {
  readonly scheme: SignableScheme;
  readonly identity: SigningIdentity;
  /** What every good request has. */
  readonly choices: SigningOverrides;
}

/** Signs a request with changes and overrides. Undefined if that is impossible. */
export type Resign = (
  request: AttackRequest,
  changes: SigningChanges,
  overrides: SigningOverrides,
) => SignedParts | undefined;

/** What the signers that were created here sign with. */
const signings = new WeakMap<Signer, Signing & { readonly resign: Resign }>();

/** Returns what a signer signs with. Undefined for a signer from elsewhere. */
export function signingOf(signer: Signer): (Signing & { readonly resign: Resign }) | undefined {
  return signings.get(signer);
}

/** Creates a signer for attempts. Throws RangeError if the identity lacks something. */
export function createSchemeSigner(
  signing: Signing,
  properties: Pick<Signer, 'user' | 'tlsOnly' | 'traits'>,
): Signer {
  const { scheme, identity, choices } = signing;
  if (choices.key === undefined) signerOf(scheme).check(identity, choices);
  const resign = createResign(signing);
  const sign: Signer = (request, changes) => {
    const signed = resign(request, changes, {});
    return signed?.query === '' ? signed.headers : signed;
  };
  const signer = Object.assign(sign, properties);
  signings.set(signer, { ...signing, resign });
  return signer;
}

function createResign(signing: Signing): Resign {
  const { scheme, choices } = signing;
  const signer = signerOf(scheme);
  const remembered = rememberSignatures();
  return (request, changes, overrides) => {
    const { date = systemClock.now(), nonce } = changes;
    const changed = changeIdentity(signing, changes);
    if (changed === undefined || (typeof date === 'string' && scheme.kind !== 'hmac')) return undefined;
    const unsigned = toUnsigned(request, scheme.kind);
    const options = {
      random: randomBytes,
      ...choices,
      ...(typeof date === 'string' ? { date, now: 0 } : { now: date }),
      ...(hasNonce(scheme) && { nonce }),
      ...(changed.key !== undefined && { key: changed.key }),
      ...overrides,
    };
    const signature = withoutRangeError(() => signer.sign(unsigned, changed.identity, options));
    // A field value has no white space at its ends (RFC 9110 §5.5), so such a name cannot be sent.
    if (signature === undefined || signature.fields.some(([, value]) => /^[\t ]|[\t ]$/.test(value)))
      return undefined;
    const fields = Object.fromEntries(remembered(signature, options).fields);
    return { headers: fields, query: addedQuery(unsigned.target, signature.target) };
  };
}

/** Returns the parameters that were appended to a target. A scheme in code may also replace some. */
function addedQuery(target: string, signed: string): string {
  return signed.startsWith(target) ? signed.slice(target.length + 1) : '';
}

function hasNonce(scheme: SignableScheme): boolean {
  return scheme.kind !== 'message-signatures' || scheme.options.nonce !== 'off';
}

/** Returns undefined for what cannot be signed: a secret that is not encoded as declared, a component that is absent. */
function withoutRangeError<Value>(compute: () => Value): Value | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function toUnsigned(request: AttackRequest, kind: SignableScheme['kind']): UnsignedRequest {
  const { target } = splitUrl(request.url);
  // A server need not require that other fields are signed, and If-Match is added after signing.
  const isSigned = ([name]: HeaderLine): boolean =>
    kind !== 'aws4' || /^(?:host|content-type|x-amz-.*)$/i.test(name);
  const fields = request.headers.filter(isSigned);
  return { method: request.method, url: new URL(request.url), target, fields, content: bytesOf(request) };
}

/** Returns who signs. Undefined if the scheme has no secret. */
function changeIdentity(
  { scheme, identity, choices: { key } }: Signing,
  { user, secret }: SigningChanges,
): { readonly identity: SigningIdentity; readonly key?: MessageKey } | undefined {
  if (key !== undefined) {
    const named = { ...key, id: user ?? key.id };
    if (secret === undefined) return { identity, key: named };
    if (named.algorithm !== 'hmac-sha256') return undefined;
    return { identity, key: { ...named, secret: toSignable(secret, scheme) } };
  }
  const { consumer, token } = identity;
  if (consumer !== undefined && token !== undefined)
    return {
      identity: {
        consumer: { ...consumer, key: user ?? consumer.key },
        token: { ...token, tokenSecret: secret ?? token.tokenSecret },
      },
    };
  // A private key has no other secret.
  const hasSecret = scheme.kind !== 'declared' || !hasPrivateKey(scheme.options.algorithm);
  if (secret !== undefined && !hasSecret) return undefined;
  return {
    identity: {
      ...identity,
      user: user ?? identity.user,
      secret: secret === undefined ? identity.secret : toSignable(secret, scheme),
    },
  };
}

/** Returns the secret, or one equivalent to an empty secret, which signers reject: keys are padded with zeros (RFC 2104 §2). */
function toSignable(secret: string, scheme: SignableScheme): string {
  if (secret !== '') return secret;
  switch (scheme.kind) {
    case 'declared':
      return (scheme.options.keyPrefix ?? '') + { utf8: '\0', hex: '00', base64: 'AA==' }[scheme.options.key];
    case 'hmac':
    case 'aws4':
    case 'message-signatures':
    case 'defined':
      return '\0';
    default:
      return secret;
  }
}

/** Returns the function that makes equal bases have equal signatures, although those of some algorithms are random. */
function rememberSignatures(): (signature: Signature, options: SigningOverrides) => Signature {
  const known = new Map<string, string>();
  return (signature, { key, label }) => {
    // An HMAC is not random, and depends on a secret that may differ.
    if (key === undefined || key.algorithm === 'hmac-sha256') return signature;
    const base = [key.algorithm, key.privateKey.export({ format: 'jwk' }), label, signature.parts];
    const name = JSON.stringify(base);
    const fields = signature.fields.map(([field, value]) => {
      if (field !== 'Signature') return [field, value] as const;
      const first = known.get(name) ?? value;
      known.set(name, first);
      return [field, first] as const;
    });
    return { ...signature, fields };
  };
}
