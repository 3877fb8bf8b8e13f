import type { Found, Grants } from '../../oauth/grants.ts';
import type { Mechanism, TokenKind } from '../../oauth/records.ts';
import { sha256 } from '../../oauth/sha256.ts';

/** Which tokens are meant: all that fit everything that is given. */
export interface TokenFilter {
  /** The client's id, or the consumer's key. */
  readonly client?: string;
  readonly user?: string;
  /** `access`, `refresh`, `code`, `request`, `ticket`. */
  readonly kind?: TokenKind;
}

/** A token itself, or which tokens are meant. */
export type TokenChoice = string | TokenFilter;

/** Makes the tokens that are meant expire now; gives how many there were. */
export async function expireTokens(
  grants: Grants,
  choice: TokenChoice,
  mechanism?: Mechanism,
): Promise<number> {
  const found = await chosen(grants, choice, mechanism);
  for (const each of found) await grants.expire(each);
  return found.length;
}

/** Ends the tokens that are meant, and with a code or a refresh token all of its grant; gives how many were meant. */
export async function revokeTokens(
  grants: Grants,
  choice: TokenChoice,
  mechanism: Mechanism,
): Promise<number> {
  const found = await chosen(grants, choice, mechanism);
  for (const each of found) {
    const { grant, kind } = each.token;
    if (grant !== undefined && (kind === 'refresh' || kind === 'code')) await grants.revokeGrant(grant);
    else await grants.revokeToken(each);
  }
  return found.length;
}

async function chosen(
  grants: Grants,
  choice: TokenChoice,
  mechanism: Mechanism | undefined,
): Promise<Found[]> {
  const filter: TokenFilter & { digest?: string } =
    typeof choice === 'string' ? { digest: sha256(choice) } : choice;
  const found: Found[] = [];
  for await (const each of grants.all()) {
    const { token } = each;
    const { client = token.client, user = token.user, kind = token.kind, digest = token.digest } = filter;
    const fits =
      token.client === client && token.user === user && token.kind === kind && token.digest === digest;
    if (fits && (mechanism ?? token.mechanism) === token.mechanism) found.push(each);
  }
  return found;
}
