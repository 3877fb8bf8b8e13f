import type { HeaderLine, OutgoingRequest, Transport } from './attempt.ts';
import { lineOf, without } from './attempt.ts';
import type { RequestSigner, SigningChanges } from './signers.ts';

/** Creates requests for attempts from the good request and its signer, and determines what the signature covers. */
export interface Forger {
  /** The good request before it is signed. */
  readonly plain: OutgoingRequest;
  /** The date of good requests, in ms. */
  readonly now: number;
  /** How far a date may differ, in ms. */
  readonly window: number;
  readonly user: string | undefined;
  /** Another user of the server. */
  readonly otherUser: string | undefined;
  /** Whether the request is permitted without credentials. */
  readonly open: boolean;
  /** The transport that the good request requires. */
  readonly needs: Transport | undefined;
  /** Whether the signature depends on the nonce, so that a request is valid only once. */
  readonly once: boolean;
  /** Whether the signature depends on the date. */
  readonly dated: boolean;
  /** Whether the signature depends on the request, and not only on the user. */
  readonly signs: boolean;
  /** Returns a new nonce of lower-case letters, digits and one hyphen. */
  nonce(): string;
  /** Returns the good request, signed with a new nonce. */
  good(): OutgoingRequest;
  /** Signs a request with these changes. Undefined if the signer cannot, or if a change makes no difference. */
  signed(changes: SigningChanges, request?: OutgoingRequest): OutgoingRequest | undefined;
  /** Returns `changed` with the signature of `original`. Undefined if that signature is also valid for `changed`. */
  sentAs(changed: OutgoingRequest, original?: OutgoingRequest): OutgoingRequest | undefined;
}

/** The options of `createForger`. */
export interface ForgerOptions {
  readonly plain: OutgoingRequest;
  readonly signer: RequestSigner;
  readonly now: number;
  readonly window: number;
  readonly otherUser: string | undefined;
  readonly open: boolean;
  readonly random: (size: number) => Uint8Array;
}

type Fields = Readonly<Record<string, string>>;

/**
 * Creates a forger. Throws RangeError if the signer does not sign the good request, or signs it differently for equal
 * dates and nonces.
 */
export function createForger({ plain, signer, now, window, random, ...shared }: ForgerOptions): Forger {
  const nonce = (): string => {
    const digits = Buffer.from(random(12)).toString('hex');
    return `n${digits.slice(0, 12)}-${digits.slice(12)}`;
  };
  const fixed = { date: now, nonce: nonce() };
  const base = signer(plain, fixed);
  const again = signer(plain, fixed);
  // The promise of an asynchronous signer has no fields either.
  if (base === undefined || again === undefined || Object.keys(base).length === 0)
    throw new RangeError('the signer must return the fields of the good request synchronously');
  if (!equalFields(base, again))
    throw new RangeError('the signer must return equal fields for equal requests, dates and nonces');
  const dependsOn = (changes: SigningChanges): boolean => {
    const fields = signer(plain, { ...fixed, ...changes });
    return fields !== undefined && !equalFields(fields, base);
  };
  const signed: Forger['signed'] = (changes, request = plain) => {
    // A nonce always changes the signature. Each other change must do so on its own.
    const { nonce: _, ...others } = changes;
    if (!Object.entries(others).every(([name, value]) => dependsOn({ [name]: value }))) return undefined;
    const fields = signer(request, { date: now, nonce: nonce(), ...changes });
    return fields === undefined ? undefined : withFields(request, fields);
  };
  const good = (): OutgoingRequest => withFields(plain, signer(plain, { date: now, nonce: nonce() }) ?? base);
  const sentAs: Forger['sentAs'] = (changed, original = plain) => {
    const dateAndNonce = { date: now, nonce: nonce() };
    const [fields, own] = [signer(original, dateAndNonce), signer(changed, dateAndNonce)];
    if (fields === undefined || (own !== undefined && equalFields(fields, own))) return undefined;
    return withFields(changed, fields);
  };
  const signs = sentAs({ ...plain, method: plain.method === 'GET' ? 'PUT' : 'GET' }) !== undefined;
  return {
    ...shared,
    plain,
    now,
    window,
    user: signer.user,
    needs: (signer.tlsOnly ?? !signs) ? 'tls' : undefined,
    once: dependsOn({ nonce: nonce() }),
    dated: dependsOn({ date: now + 1000 }),
    signs,
    nonce,
    good,
    signed,
    sentAs,
  };
}

function equalFields(one: Fields, other: Fields): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
}

function withFields(request: OutgoingRequest, fields: Fields): OutgoingRequest {
  const others = without(request.headers, ...Object.keys(fields));
  return { ...request, headers: [...others, ...Object.entries(fields)] };
}

/** Returns the line that contains the credentials. Undefined if the scheme uses an unknown field. */
export function credentialsOf({ headers }: OutgoingRequest): HeaderLine | undefined {
  return lineOf(headers, 'Authentication', 'Authorization', 'Signature', 'X-Signature');
}

/** The fields in which schemes send dates. The first one present counts. */
const dateFields = ['X-Date', 'Date', 'X-Amz-Date', 'X-Timestamp'] as const;

/** Returns the line with the date that counts. */
export function dateLineOf({ headers }: OutgoingRequest): HeaderLine | undefined {
  return dateFields.map((name) => lineOf(headers, name)).find((line) => line !== undefined);
}

/** Removes all date fields. */
export function undated(request: OutgoingRequest): OutgoingRequest {
  return { ...request, headers: without(request.headers, ...dateFields) };
}

/** Credentials, split at their proof (digest, signature, password or token). */
export interface Credentials {
  readonly name: string;
  readonly before: string;
  readonly proof: string;
  readonly after: string;
}

/** Splits credentials at their proof: the parameter `signature`, or the last part. */
export function splitCredentials(request: OutgoingRequest): Credentials | undefined {
  const line = credentialsOf(request);
  const found =
    /^(.*signature=")([^"]+)(".*)$/i.exec(line?.[1] ?? '') ??
    /^(.*[\s:",])?([^\s:",]+)()$/.exec(line?.[1] ?? '');
  if (line === undefined || found === null) return undefined;
  const [, before = '', proof = '', after = ''] = found;
  return { name: line[0], before, proof, after };
}
