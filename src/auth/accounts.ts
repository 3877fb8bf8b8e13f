import type { KeyObject } from 'node:crypto';
import { keyOf } from '../signature/hmac.ts';

/** A secret of a user, and until when it is valid. */
export interface Secret {
  readonly key: KeyObject;
  /** Milliseconds since 1970-01-01T00:00:00Z; left out, it does not expire. */
  readonly until?: number;
}

/** Somebody who can authenticate. */
export interface Account {
  readonly name: string;
  /** During a rotation there are two. */
  readonly secrets: readonly Secret[];
}

/** Where accounts are looked up; asynchronous, so that a directory on another machine can stand behind it. */
export interface Accounts {
  /** The account of that name, unless there is none or it is disabled. */
  find(name: string): Promise<Account | undefined>;
}

/** A user as configuration and files have it. */
export interface UserDeclaration {
  readonly secrets: readonly { readonly secret: string; readonly until?: number | undefined }[];
  readonly disabled?: boolean | undefined;
}

/** Makes accounts out of users. Throws RangeError on an empty secret. */
export function createAccounts(users: ReadonlyMap<string, UserDeclaration>): Accounts {
  const accounts = new Map<string, Account>();
  for (const [name, user] of users) {
    if (user.disabled !== true) accounts.set(name, { name, secrets: user.secrets.map(secretOf) });
  }
  return {
    async find(name) {
      return accounts.get(name);
    },
  };
}

function secretOf({ secret, until }: { secret: string; until?: number | undefined }): Secret {
  return until === undefined ? { key: keyOf(secret) } : { key: keyOf(secret), until };
}
