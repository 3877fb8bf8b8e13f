import type { Scope } from '../principal.ts';
import type { Entry, RecordValue } from '../store/store.ts';
import type { Grant, Mechanism, Token, TokenKind } from './grants.ts';

/** Where the store keeps tokens, by their digests. */
export const tokensCollection = 'oauth:tokens';
/** Where it keeps grants, by their ids. */
export const grantsCollection = 'oauth:grants';

const mechanisms: readonly Mechanism[] = ['oauth1', 'oauth2'];
const kinds: readonly TokenKind[] = ['ticket', 'code', 'access', 'refresh', 'request'];
const scopes: readonly Scope[] = ['read', 'write'];

/** A grant as the store keeps it. */
export function grantValueOf({ id: _, user, ...grant }: Grant): RecordValue {
  return user === undefined ? grant : { ...grant, user };
}

/** Reads a grant as it is kept; undefined where it is none. */
export function readGrant({ id, value }: Entry): Grant | undefined {
  const mechanism = mechanisms.find((each) => each === value['mechanism']);
  const { client, user, issued, ends, revoked } = value;
  if (mechanism === undefined || typeof client !== 'string' || !isTextOrAbsent(user)) return undefined;
  if (typeof issued !== 'number' || typeof ends !== 'number' || typeof revoked !== 'boolean')
    return undefined;
  return { id, mechanism, client, user, scopes: scopesIn(value), issued, ends, revoked };
}

/** A token as the store keeps it, under its digest. */
export function tokenValueOf({ digest: _, grant, user, ...token }: Token): RecordValue {
  return {
    ...token,
    ...(grant === undefined ? {} : { grant }),
    ...(user === undefined ? {} : { user }),
  };
}

/** Reads a token as it is kept; undefined where it is none. */
export function readToken({ id, value }: Entry): Token | undefined {
  const mechanism = mechanisms.find((each) => each === value['mechanism']);
  const kind = kinds.find((each) => each === value['kind']);
  const { client, user, grant, issued, expires, used } = value;
  if (mechanism === undefined || kind === undefined || typeof client !== 'string') return undefined;
  if (!isTextOrAbsent(user) || !isTextOrAbsent(grant)) return undefined;
  if (typeof issued !== 'number' || typeof expires !== 'number' || typeof used !== 'boolean')
    return undefined;
  const known = { mechanism, kind, client, user, grant, issued, expires, used };
  return { ...known, digest: id, scopes: scopesIn(value), details: detailsIn(value) };
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function scopesIn({ scopes: kept }: RecordValue): readonly Scope[] {
  return Array.isArray(kept) ? scopes.filter((scope) => kept.includes(scope)) : [];
}

function detailsIn({ details }: RecordValue): Readonly<Record<string, string>> {
  if (typeof details !== 'object' || Array.isArray(details)) return {};
  const texts = Object.entries(details).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return Object.fromEntries(texts);
}
