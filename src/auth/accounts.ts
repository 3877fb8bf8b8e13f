import type { KeyObject } from 'node:crypto';
import { keyOf } from '../signature/hmac.ts';

/** A secret of a user, and until when it is valid. */
export interface Secret {
  readonly key: KeyObject;
  /** Milliseconds since 1970-01-01T00:00:00Z; left out, it does not expire. */
  readonly until?: number;
}

/** What a password is judged by: its scrypt hash where it is kept, or itself where configuration has it. */
export type KnownPassword = { readonly hash: string } | { readonly plain: string };

/** Somebody who can authenticate. */
export interface Account {
  readonly name: string;
  /** During a rotation there are two. */
  readonly secrets: readonly Secret[];
  /** Undefined where the user has none, and so only signs. */
  readonly password: KnownPassword | undefined;
}

/** Where accounts are looked up; asynchronous, so that a directory on another machine can stand behind it. */
export interface Accounts {
  /** The account of that name, unless there is none or it is disabled. */
  find(name: string): Promise<Account | undefined>;
}

/** Accounts in memory. */
export interface AccountsInMemory extends Accounts {
  /** Puts these users in the place of all that were there: at once, for every request that is not judged yet. */
  replace(users: ReadonlyMap<string, UserDeclaration>): void;
}

/** A user as configuration and files have it. */
export interface UserDeclaration {
  readonly secrets: readonly { readonly secret: string; readonly until?: number | undefined }[];
  readonly password?: KnownPassword | undefined;
  readonly disabled?: boolean | undefined;
}

/** Makes accounts out of users. Throws RangeError on an empty secret. */
export function createAccounts(users: ReadonlyMap<string, UserDeclaration>): AccountsInMemory {
  let accounts = accountsOf(users);
  return {
    async find(name) {
      return accounts.get(name);
    },
    replace(others) {
      accounts = accountsOf(others);
    },
  };
}

function accountsOf(users: ReadonlyMap<string, UserDeclaration>): ReadonlyMap<string, Account> {
  const accounts = new Map<string, Account>();
  for (const [name, { secrets, password, disabled }] of users) {
    if (disabled !== true) accounts.set(name, { name, secrets: secrets.map(secretOf), password });
  }
  return accounts;
}

function secretOf({ secret, until }: { secret: string; until?: number | undefined }): Secret {
  return until === undefined ? { key: keyOf(secret) } : { key: keyOf(secret), until };
}
