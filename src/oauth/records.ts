import type { Scope } from '../principal.ts';
import type { StoredItem, StoredRecord } from '../store/store.ts';

/** The protocol that a grant or token belongs to. Tokens of one protocol are not valid in the other. */
export type Mechanism = 'oauth1' | 'oauth2';

/** The purpose of a token. A `ticket` identifies a consent page, a `request` is a request token of OAuth 1.0a. */
export type TokenKind = 'ticket' | 'code' | 'access' | 'refresh' | 'request';

/** A user's consent to a client. All tokens issued for it belong to it. */
export interface Grant {
  readonly id: string;
  readonly mechanism: Mechanism;
  readonly client: string;
  /** Undefined if the client acts on its own behalf. */
  readonly user: string | undefined;
  readonly scopes: readonly Scope[];
  /** Time of issue (ms). */
  readonly issued: number;
  /** End time (ms). Until then, used codes and refresh tokens are kept. */
  readonly ends: number;
  readonly revoked: boolean;
}

/** A token to be issued. */
export interface TokenDraft {
  readonly mechanism: Mechanism;
  readonly kind: TokenKind;
  readonly client: string;
  readonly user?: string | undefined;
  readonly scopes: readonly Scope[];
  /** Expiry time (ms). */
  readonly expires: number;
  /** Data that belongs to the token: a redirect URI, a challenge, a callback. Never a secret in plain text. */
  readonly details?: Readonly<Record<string, string>>;
  /** Returns the value of the token that is issued at this time (ms). Default: 256 random bits in base64url. */
  readonly write?: ((issued: number) => string) | undefined;
}

/** A stored token. Its digest is stored, never its value. */
export interface Token extends Omit<TokenDraft, 'write'> {
  /** The SHA-256 of its value in base64url. */
  readonly digest: string;
  /** Id of its grant; undefined for a token that is issued without a grant. */
  readonly grant: string | undefined;
  readonly issued: number;
  /** Whether it was used up: a code that was exchanged, or a refresh token that was replaced. */
  readonly used: boolean;
  readonly details: Readonly<Record<string, string>>;
}

/** An event about a grant or token. It contains no token value. */
export interface TokenEvent {
  /** The name of the event. */
  readonly type: 'token-issued' | 'token-revoked' | 'token-reused';
  /** The version of OAuth: `oauth1` or `oauth2`. */
  readonly mechanism: Mechanism;
  /** The id of the client, or the key of the consumer. */
  readonly client: string;
  /** The user whom the token represents; undefined if a client acts for itself. */
  readonly user: string | undefined;
  /** Kind of the token that was issued, revoked or reused; undefined for a whole grant. */
  readonly token: TokenKind | undefined;
}

/** The collection of tokens, by digest. */
export const tokensCollection = 'oauth:tokens';
/** The collection of grants, by id. */
export const grantsCollection = 'oauth:grants';

const mechanisms: readonly Mechanism[] = ['oauth1', 'oauth2'];
const kinds: readonly TokenKind[] = ['ticket', 'code', 'access', 'refresh', 'request'];

/** Returns the stored value of a grant. */
export function toGrantRecord({ id: _, user, ...grant }: Grant): StoredRecord {
  return user === undefined ? grant : { ...grant, user };
}

/** Reads a stored grant. Returns undefined if the entry is not a grant. */
export function readGrant({ id, value }: StoredItem): Grant | undefined {
  const mechanism = mechanisms.find((each) => each === value['mechanism']);
  const { client, user, issued, ends, revoked } = value;
  if (mechanism === undefined || typeof client !== 'string' || !isTextOrAbsent(user)) return undefined;
  if (typeof issued !== 'number' || typeof ends !== 'number' || typeof revoked !== 'boolean')
    return undefined;
  return { id, mechanism, client, user, scopes: scopesIn(value), issued, ends, revoked };
}

/** Returns the stored value of a token, whose id is its digest. */
export function toTokenRecord({ digest: _, grant, user, ...token }: Token): StoredRecord {
  return {
    ...token,
    ...(grant === undefined ? {} : { grant }),
    ...(user === undefined ? {} : { user }),
  };
}

/** Reads a stored token. Returns undefined if the entry is not a token. */
export function readToken({ id, value }: StoredItem): Token | undefined {
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

function scopesIn({ scopes }: StoredRecord): readonly Scope[] {
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [];
}

function detailsIn({ details }: StoredRecord): Readonly<Record<string, string>> {
  if (typeof details !== 'object' || Array.isArray(details)) return {};
  const texts = Object.entries(details).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return Object.fromEntries(texts);
}
