import type { HeaderLine, OutgoingRequest, Transport } from './attempt.ts';
import { lineOf, without } from './attempt.ts';
import type { RequestSigner, SigningChanges } from './signers.ts';

/** Makes requests for attempts, from the good request and its signer, and knows what the signature covers. */
export interface Forger {
  /** The good request before it is signed. */
  readonly plain: OutgoingRequest;
  /** The time by which good requests are dated, in ms. */
  readonly now: number;
  /** How far a date may be off, in ms. */
  readonly window: number;
  readonly user: string | undefined;
  /** Another user that the server knows. */
  readonly otherUser: string | undefined;
  /** Whether strangers are answered as well. */
  readonly open: boolean;
  /** What the good request needs. */
  readonly needs: Transport | undefined;
  /** Whether the signature is another one for another nonce: then a request is good once. */
  readonly once: boolean;
  /** Whether the signature is another one at another time. */
  readonly dated: boolean;
  /** Whether anything of the request is signed, and not just who sends it. */
  readonly signs: boolean;
  /** A nonce that was not there before, of small letters, digits and one hyphen. */
  nonce(): string;
  /** A good request, with a nonce of its own. */
  good(): OutgoingRequest;
  /** The request signed with these changes; undefined where the signer cannot, or where one of them makes no difference. */
  signed(changes: SigningChanges, request?: OutgoingRequest): OutgoingRequest | undefined;
  /** `changed` with the fields that sign `original`; undefined where they would sign it as well. */
  sentAs(changed: OutgoingRequest, original?: OutgoingRequest): OutgoingRequest | undefined;
}

/** What a forge goes by. */
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

/** Makes a forge. Throws RangeError where the signer does not sign the good request, or never twice the same. */
export function createForger({ plain, signer, now, window, random, ...told }: ForgerOptions): Forger {
  const nonce = (): string => {
    const drawn = Buffer.from(random(12)).toString('hex');
    return `n${drawn.slice(0, 12)}-${drawn.slice(12)}`;
  };
  const fixed = { date: now, nonce: nonce() };
  const base = signer(plain, fixed);
  const again = signer(plain, fixed);
  // A promise, from an asynchronous signer, has no fields either.
  if (base === undefined || again === undefined || Object.keys(base).length === 0)
    throw new RangeError('the signer does not sign the request that is to be good, or not at once');
  if (!same(base, again))
    throw new RangeError('the signer must give the same fields for the same request, date and nonce');
  const heeds = (changes: SigningChanges): boolean => {
    const fields = signer(plain, { ...fixed, ...changes });
    return fields !== undefined && !same(fields, base);
  };
  const signed: Forger['signed'] = (changes, request = plain) => {
    // A nonce always changes the signature; each of the other changes has to do so by itself.
    const { nonce: _, ...others } = changes;
    if (!Object.entries(others).every(([name, value]) => heeds({ [name]: value }))) return undefined;
    const fields = signer(request, { date: now, nonce: nonce(), ...changes });
    return fields === undefined ? undefined : carrying(request, fields);
  };
  const good = (): OutgoingRequest => carrying(plain, signer(plain, { date: now, nonce: nonce() }) ?? base);
  const sentAs: Forger['sentAs'] = (changed, original = plain) => {
    const mark = { date: now, nonce: nonce() };
    const [fields, others] = [signer(original, mark), signer(changed, mark)];
    if (fields === undefined || (others !== undefined && same(fields, others))) return undefined;
    return carrying(changed, fields);
  };
  const signs = sentAs({ ...plain, method: plain.method === 'GET' ? 'PUT' : 'GET' }) !== undefined;
  return {
    ...told,
    plain,
    now,
    window,
    user: signer.user,
    needs: (signer.tlsOnly ?? !signs) ? 'tls' : undefined,
    once: heeds({ nonce: nonce() }),
    dated: heeds({ date: now + 1000 }),
    signs,
    nonce,
    good,
    signed,
    sentAs,
  };
}

function same(one: Fields, other: Fields): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
}

function carrying(request: OutgoingRequest, fields: Fields): OutgoingRequest {
  const own = without(request.headers, ...Object.keys(fields));
  return { ...request, headers: [...own, ...Object.entries(fields)] };
}

/** The line that says who sends the request and proves it; undefined where a scheme has another one. */
export function credentialsOf({ headers }: OutgoingRequest): HeaderLine | undefined {
  return lineOf(headers, 'Authentication', 'Authorization', 'Signature', 'X-Signature');
}

/** The fields in which schemes put their dates; the first one that is there counts. */
const dateFields = ['X-Date', 'Date', 'X-Amz-Date', 'X-Timestamp'] as const;

/** The line that carries the date which counts. */
export function dateLineOf({ headers }: OutgoingRequest): HeaderLine | undefined {
  return dateFields.map((name) => lineOf(headers, name)).find((line) => line !== undefined);
}

/** The request without any date. */
export function undated(request: OutgoingRequest): OutgoingRequest {
  return { ...request, headers: without(request.headers, ...dateFields) };
}

/** Credentials with what proves them (digest, signature, password or token) set apart. */
export interface Proven {
  readonly name: string;
  readonly before: string;
  readonly proof: string;
  readonly after: string;
}

/** Takes credentials apart at their proof: a parameter that is called so, or what stands last. */
export function provenOf(request: OutgoingRequest): Proven | undefined {
  const line = credentialsOf(request);
  const found =
    /^(.*signature=")([^"]+)(".*)$/i.exec(line?.[1] ?? '') ??
    /^(.*[\s:",])?([^\s:",]+)()$/.exec(line?.[1] ?? '');
  if (line === undefined || found === null) return undefined;
  const [, before = '', proof = '', after = ''] = found;
  return { name: line[0], before, proof, after };
}
