import { didYouMean } from '../../did-you-mean.ts';
import type { Found, Grants } from '../../oauth/grants.ts';
import type { Mechanism, TokenKind } from '../../oauth/records.ts';
import { hashSha256 } from '../../oauth/sha256.ts';
import { object, optional, read, type ShapesOf, text, word } from '../../shape/shape.ts';

/** Selects tokens. A token matches if it matches every member that is present. */
export interface TokenFilter {
  /** The client's id, or the consumer's key. */
  readonly client?: string;
  /** The user whom the token represents. */
  readonly user?: string;
  /** The kind of the token: `access`, `refresh`, `code`, `request` or `ticket`. */
  readonly kind?: TokenKind;
  /** The SHA-256 of the token's value, in base64url. */
  readonly fingerprint?: string;
}

/** The members of a filter. */
export const filterMembers = {
  client: optional(text('the client’s id, or the consumer’s key')),
  user: optional(text()),
  kind: optional(word(['access', 'refresh', 'code', 'request', 'ticket'] satisfies readonly TokenKind[])),
  fingerprint: optional(text('the fingerprint of a token, as GET /tokens lists it')),
} satisfies ShapesOf<TokenFilter>;

const filterShape = object(filterMembers, undefined, { expected: "an object such as { client: 'app' }" });

/**
 * Throws RangeError if a choice is neither text nor a valid filter, which would choose all tokens, or if it contains an unknown
 * name, which would choose none.
 * @param clients the ids of clients and the keys of consumers
 */
export function checkChoice(choice: TokenChoice, users: readonly string[], clients: readonly string[]): void {
  if (typeof choice === 'string') return;
  read(filterShape, choice, 'a token filter');
  checkKnown('client', choice.client, clients);
  checkKnown('user', choice.user, users);
}

function checkKnown(what: string, name: string | undefined, known: readonly string[]): void {
  if (name === undefined || known.includes(name)) return;
  throw new RangeError(`the double has no ${what} ${name}${didYouMean(name, known)}`);
}

/** A token's value, or a filter. */
export type TokenChoice = string | TokenFilter;

/** Revokes a token, or the whole grant of a code or a refresh token. */
export async function revokeFound(grants: Grants, found: Found): Promise<void> {
  const { grant, kind } = found.token;
  if (grant !== undefined && (kind === 'refresh' || kind === 'code')) await grants.revokeGrant(grant);
  else await grants.revokeToken(found);
}

/** Returns the chosen tokens. `checkChoice` must accept the choice. */
export async function findTokens(
  grants: Grants,
  choice: TokenChoice,
  mechanism: Mechanism,
): Promise<Found[]> {
  const filter: TokenFilter = typeof choice === 'string' ? { fingerprint: hashSha256(choice) } : choice;
  const found: Found[] = [];
  for await (const each of grants.all()) {
    const { token } = each;
    const { client = token.client, user = token.user, kind = token.kind } = filter;
    const { fingerprint = token.digest } = filter;
    const matches = token.client === client && token.user === user && token.kind === kind;
    if (matches && token.digest === fingerprint && mechanism === token.mechanism) found.push(each);
  }
  return found;
}
