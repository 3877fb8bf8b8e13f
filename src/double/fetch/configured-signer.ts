import type { KeyObject } from 'node:crypto';
import type { AsymmetricAlgorithm } from '../../auth/account-key.ts';
import type { ConfiguredScheme } from '../../auth/configured-schemes.ts';
import { isAsymmetric } from '../../auth/parse-account-key.ts';
import { targetSentByFetch } from '../../client/fetch-target.ts';
import { createSchemeSigner } from '../../client/schemes/create-signer.ts';
import { parsePrivateKey } from '../../client/schemes/private-key.ts';
import type { SchemeCredentials } from '../../client/schemes/scheme-signer.ts';
import type { Clock } from '../../clock.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { checkMembers, checkNumber, checkText, checkWord } from '../../service/argument-checks.ts';
import { type Moment, timeOf } from '../state/clock.ts';
import type { DoubleUsers } from '../state/users.ts';

/** The options of `double.as` for a scheme of the option `schemes`. */
export interface ConfiguredSchemeOptions {
  /** The name of the scheme. */
  readonly scheme: string;
  /**
   * The id of the user's key. Default: for HTTP Message Signatures, the key that `generateKey` added last; otherwise the user's
   * name and secret.
   */
  readonly keyId?: string;
  /** The private key, PEM (PKCS #8) or a key of node:crypto. Default: the one that `generateKey` generated. */
  readonly privateKey?: string | KeyObject;
  /** The algorithm of the private key. Default: that of the user's key with this id, or else of the type of the private key. */
  readonly algorithm?: AsymmetricAlgorithm;
  /** The secret. Default: that of the key or of the user. Another one makes the server refuse the request. */
  readonly secret?: string;
  /** The nonce of every request, if the scheme has one. Default: a new one for each. */
  readonly nonce?: string;
  /** The id of the message, if the scheme has one. Default: a new one for each. */
  readonly id?: string;
  /** The time of the signature. Default: that of the double's clock. */
  readonly date?: Moment;
  /** The covered components of HTTP Message Signatures. Default: those that the scheme requires. */
  readonly components?: readonly string[];
  /** Seconds for which a presigned URL of AWS is valid. Default: the signature is in Authorization. */
  readonly presign?: number;
  /** The session token of AWS. */
  readonly sessionToken?: string;
}

/** The names of the options. The type checks that the list is complete. */
const names: Readonly<Record<keyof ConfiguredSchemeOptions, true>> = {
  ...{ scheme: true, keyId: true, privateKey: true, algorithm: true, secret: true, nonce: true },
  ...{ id: true, date: true, components: true, presign: true, sessionToken: true },
};

const algorithms: Readonly<Record<AsymmetricAlgorithm, true>> = {
  ed25519: true,
  'ecdsa-p256-sha256': true,
  'ecdsa-p384-sha384': true,
  'rsa-pss-sha512': true,
  'rsa-v1_5-sha256': true,
};

/** The parts of a double that a configured scheme requires. */
export interface ConfiguredSigningParts {
  readonly users: DoubleUsers;
  readonly clock: Clock;
  readonly random: (size: number) => Uint8Array;
}

/** A request to sign. */
export interface Unsigned {
  readonly method: string;
  /** The absolute URL. */
  readonly url: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content: string | Uint8Array | undefined;
}

/** A signed request: the URL to send it to, and the fields to add. */
export interface Signed {
  readonly url: string;
  readonly headers: Record<string, string>;
}

/**
 * Creates a function that signs requests with a configured scheme.
 * @throws RangeError if an option is unknown or invalid, or credentials are missing
 */
export function signByScheme(
  scheme: ConfiguredScheme,
  user: string,
  options: ConfiguredSchemeOptions,
  parts: ConfiguredSigningParts,
): (request: Unsigned) => Signed {
  checkOptions(options);
  const { nonce, id, components, presign, sessionToken, date } = options;
  const choices = { nonce, id, components, presign, sessionToken };
  // Read for each request, since keys and secrets may have been replaced.
  const create = () => createSchemeSigner(scheme, credentialsOf(scheme, user, options, parts.users), choices);
  create();
  return ({ method, url, fields, content }) => {
    const parsed = new URL(url);
    const target = targetSentByFetch(url.slice(parsed.origin.length));
    const bytes = content === undefined ? undefined : Buffer.from(content);
    const now = date === undefined ? parts.clock.now() : timeOf(date);
    const unsigned = { method, url: parsed, target, fields, content: bytes };
    const signed = create()(unsigned, { now, random: parts.random });
    return { url: parsed.origin + signed.target, headers: Object.fromEntries(signed.fields) };
  };
}

function checkOptions(options: ConfiguredSchemeOptions): void {
  checkMembers(options, Object.keys(names), 'the options of as', 'such as { scheme: … }');
  for (const name of ['keyId', 'secret', 'nonce', 'id', 'sessionToken'] as const)
    checkText(options[name], name);
  checkWord(options.algorithm, Object.keys(algorithms), 'an algorithm with a private key');
  checkNumber(options.presign, 'presign', { least: 1, whole: true, unit: 'seconds' });
  if (options.date !== undefined) timeOf(options.date);
}

function credentialsOf(
  scheme: ConfiguredScheme,
  user: string,
  options: ConfiguredSchemeOptions,
  users: DoubleUsers,
): SchemeCredentials {
  const { keyId, algorithm } = options;
  if (options.privateKey !== undefined) {
    const privateKey = parsePrivateKey(options.privateKey, 'privateKey');
    return { user, keyId, privateKey, algorithm: algorithm ?? declaredAlgorithm(users, user, keyId) };
  }
  if (options.secret !== undefined) return { user, keyId, secret: options.secret };
  const id = keyId ?? (hasPublicKeys(scheme) ? generatedKey(users, user) : undefined);
  return id === undefined
    ? { user, secret: users.credentials(user).secret }
    : { user, ...keyOf(users, user, id) };
}

function hasPublicKeys(scheme: ConfiguredScheme): boolean {
  if (scheme.kind === 'defined') return scheme.options.verify !== undefined;
  return scheme.kind === 'message-signatures';
}

/** Returns the id of the key that was generated last; undefined if there is none. */
function generatedKey(users: DoubleUsers, user: string): string | undefined {
  const keys = Object.entries(users.keys(user));
  return keys.findLast(([, key]) => users.privateKeyOf(key) !== undefined)?.[0];
}

function keyOf(users: DoubleUsers, user: string, id: string): SchemeCredentials {
  const keys = users.keys(user);
  const key = Object.hasOwn(keys, id) ? keys[id] : undefined;
  if (key === undefined)
    throw new RangeError(`the user ${user} has no key ${id}${didYouMean(id, Object.keys(keys))}`);
  if ('secret' in key) return { keyId: id, secret: key.secret };
  const privateKey = users.privateKeyOf(key);
  if (privateKey !== undefined) return { keyId: id, privateKey, algorithm: key.algorithm };
  throw new RangeError(`the private key of ${id} is not known; use the option privateKey or generateKey`);
}

function declaredAlgorithm(
  users: DoubleUsers,
  user: string,
  id: string | undefined,
): AsymmetricAlgorithm | undefined {
  if (id === undefined || !users.all.has(user)) return undefined;
  const keys = users.keys(user);
  const named = Object.hasOwn(keys, id) ? keys[id]?.algorithm : undefined;
  return named !== undefined && isAsymmetric(named) ? named : undefined;
}
