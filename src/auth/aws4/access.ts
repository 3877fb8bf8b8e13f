import { createHmac, timingSafeEqual } from 'node:crypto';
import { andThen } from '../../maybe-promise.ts';
import type { Aws4Credentials } from '../../signature/aws4/credentials.ts';
import {
  createSigningKeyCache,
  deriveKey,
  scopeText,
  signingKeyOf,
} from '../../signature/aws4/signing-key.ts';
import { keyOf } from '../../signature/hmac.ts';
import type { Account, Accounts, Secret } from '../accounts.ts';

/** An account, and the secrets of the access key that was found. */
export interface Access {
  readonly account: Account;
  readonly secrets: readonly Secret[];
}

/** Returns the secrets of an access key: those of the user of this name, or the key of this id. */
export function findAccess(accounts: Accounts, id: string): Access | undefined | Promise<Access | undefined> {
  return andThen(accounts.find(id), (account) =>
    account === undefined ? findByKey(accounts, id) : { account, secrets: account.secrets },
  );
}

function findByKey(accounts: Accounts, id: string): Access | undefined | Promise<Access | undefined> {
  return andThen(accounts.findKey?.(id), (found) => {
    if (found?.key.algorithm !== 'aws4') return undefined;
    const { secret: key, until } = found.key;
    return { account: found.account, secrets: [until === undefined ? { key } : { key, until }] };
  });
}

/** The result of a check: `expired` if the signature is that of an expired secret. */
export type Checked = 'good' | 'expired' | 'wrong';

/** Checks the signature of a string to sign with the secrets of an access key. */
export type CheckSignature = (
  credentials: Aws4Credentials,
  stringToSign: string,
  secrets: readonly Secret[],
  now: number,
) => Checked;

/** A refusal tries this many secrets at least, because a user has two during a rotation. */
export const minSecrets = 2;

/** Used in place of a missing secret, so that every refusal takes the same time. It is never valid. */
export const createDummySecret = (): Secret => ({
  key: keyOf('no one has this secret'),
  until: Number.NEGATIVE_INFINITY,
});

/**
 * Creates a check that stores the signing keys of accepted requests. First the stored keys are tried. Then all are derived, also
 * the stored ones: a refusal costs the same for every access key, whether or not it exists and has been used.
 */
export function createSignatureCheck(): CheckSignature {
  const cache = createSigningKeyCache();
  const dummySecret = createDummySecret();
  const dummyKey = keyOf('no one has this key');
  return ({ scope, signature }, stringToSign, secrets, now) => {
    const given = Buffer.from(signature, 'hex');
    const digest = given.toString('base64');
    const message = [stringToSign];
    const scoped = scopeText(scope);
    const count = Math.max(secrets.length, minSecrets);
    for (let at = 0; at < count; at += 1) {
      const { key, until } = secrets[at] ?? dummySecret;
      const stored = cache.find(key, scoped);
      const isSigned = (stored ?? dummyKey).signs(message, digest);
      if (isSigned && stored !== undefined && isValid(until, now)) return 'good';
    }
    let result: Checked = 'wrong';
    for (let at = 0; at < count; at += 1) {
      const { key, until } = secrets[at] ?? dummySecret;
      const derived = key.derive((bytes) => deriveKey(bytes, scope));
      if (!isSignedWith(derived, stringToSign, given)) continue;
      if (isValid(until, now)) {
        cache.store(key, scoped, signingKeyOf(derived));
        return 'good';
      }
      if (at < secrets.length) result = 'expired';
    }
    return result;
  };
}

/** Returns whether a signature is that of a key that is used once, for which preparing it would not pay. */
function isSignedWith(key: Buffer, stringToSign: string, given: Buffer): boolean {
  return timingSafeEqual(createHmac('sha256', key).update(stringToSign, 'latin1').digest(), given);
}

function isValid(until: number | undefined, now: number): boolean {
  return until === undefined || now < until;
}
