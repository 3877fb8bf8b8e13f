import { mapOf, number, object, optional, text } from '../shape/shape.ts';
import { AccountFile } from './account-file.ts';

/** A stored key that signs tokens. */
export interface StoredSigningKey {
  /** The name of the algorithm: `ES256`. */
  readonly algorithm: string;
  /** The private key in PEM (PKCS #8). */
  readonly privateKey: string;
  /** The time when it was generated (ms since 1970-01-01T00:00:00Z). */
  readonly since: number;
  /** The time at which a newer key took its place; undefined for the key that signs. */
  readonly replaced?: number;
}

/** The file of the keys that sign tokens, by id. The newest key is the last one. */
export const signingKeyFile = new AccountFile<StoredSigningKey>({
  name: 'keys',
  one: 'key',
  sealedAs: 'signing key',
  shape: mapOf(
    object({
      algorithm: text(),
      privateKey: text(undefined, { min: 1, isSecret: true }),
      since: number({ whole: false }),
      replaced: optional(number({ whole: false })),
    }),
  ),
  times: ['since', 'replaced'],
  secrets: ['privateKey'],
});

/** How long (ms) a former key is stored: no access token is valid for longer than a year. */
const kept = 366 * 86_400_000;

/** Adds a key that signs from now on. Those before verify until their tokens are expired, and are then removed. */
export function replaceSigningKey(
  entries: Map<string, StoredSigningKey>,
  kid: string,
  key: StoredSigningKey,
): void {
  for (const [id, former] of entries) {
    const replaced = former.replaced ?? key.since;
    if (replaced + kept < key.since) entries.delete(id);
    else entries.set(id, { ...former, replaced });
  }
  entries.set(kid, key);
}
