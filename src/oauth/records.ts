import type { Scope } from '../principal.ts';
import type { Entry, RecordValue } from '../store/store.ts';
import { knownScopes } from './scopes.ts';

/** Which protocol a grant or token belongs to; neither knows anything of the other's. */
export type Mechanism = 'oauth1' | 'oauth2';

/** What a token is for. A `ticket` stands for a consent page, a `request` is a request token of OAuth 1.0a. */
export type TokenKind = 'ticket' | 'code' | 'access' | 'refresh' | 'request';

/** What somebody allowed a client. */
export interface Grant {
  readonly id: string;
  readonly mechanism: Mechanism;
  readonly client: string;
  /** Undefined where the client comes for itself. */
  readonly user: string | undefined;
  readonly scopes: readonly Scope[];
  /** When it was given (ms). */
  readonly issued: number;
  /** When it ends (ms): until then its used codes and refresh tokens are remembered. */
  readonly ends: number;
  readonly revoked: boolean;
}

/** A token to be drawn. */
export interface TokenDraft {
  readonly mechanism: Mechanism;
  readonly kind: TokenKind;
  readonly client: string;
  readonly user?: string | undefined;
  readonly scopes: readonly Scope[];
  /** When it can be used no more (ms). */
  readonly expires: number;
  /** What goes with it: a redirect URI, a challenge, a callback. No secret in the clear. */
  readonly details?: Readonly<Record<string, string>>;
}

/** A token as it is kept: by its digest, never itself. */
export interface Token extends TokenDraft {
  /** Its SHA-256 in base64url. */
  readonly digest: string;
  /** Undefined for what is used before anything is granted. */
  readonly grant: string | undefined;
  readonly issued: number;
  /** Whether it was a code that was spent, or a refresh token that was replaced. */
  readonly used: boolean;
  readonly details: Readonly<Record<string, string>>;
}

/** What happened to grants and tokens, for who watches. No token is in it. */
export interface GrantEvent {
  readonly kind: 'issued' | 'reuse_detected' | 'revoked';
  readonly mechanism: Mechanism;
  readonly client: string;
  readonly user: string | undefined;
  /** Of what was issued or used twice; undefined for a whole grant. */
  readonly token: TokenKind | undefined;
}

/** Where the store keeps tokens, by their digests. */
export const tokensCollection = 'oauth:tokens';
/** Where it keeps grants, by their ids. */
export const grantsCollection = 'oauth:grants';

const mechanisms: readonly Mechanism[] = ['oauth1', 'oauth2'];
const kinds: readonly TokenKind[] = ['ticket', 'code', 'access', 'refresh', 'request'];

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
  const [scopes, details] = [scopesIn(value), detailsIn(value)];
  return { digest: id, mechanism, kind, client, user, grant, issued, expires, used, scopes, details };
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function scopesIn({ scopes: kept }: RecordValue): readonly Scope[] {
  return Array.isArray(kept) ? knownScopes.filter((scope) => kept.includes(scope)) : [];
}

function detailsIn({ details }: RecordValue): Readonly<Record<string, string>> {
  if (typeof details !== 'object' || Array.isArray(details)) return {};
  const texts = Object.entries(details).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return Object.fromEntries(texts);
}
