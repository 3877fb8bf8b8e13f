import type { IncomingRequest } from '../../http/message.ts';
import type { Scope } from '../../principal.ts';
import { boundKey, type JwtMembers } from '../../schemes/jwt/jwt.ts';
import type { Client } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import type { TokenDraft } from '../records.ts';
import type { TokenSigner } from './token-signer.ts';

/** An access token to be issued. */
interface AccessTokenParts {
  readonly issuer: string;
  readonly client: string;
  readonly user?: string | undefined;
  readonly scopes: readonly Scope[];
  /** Expiry time (ms). */
  readonly expires: number;
  /** The audience that was requested. Default: the first known resource, otherwise the issuer. */
  readonly audience?: readonly string[] | undefined;
  /** When the user was authenticated (ms). */
  readonly authenticated?: number | undefined;
  /** The thumbprint of the key to which it is bound (RFC 9449). Default: that of `claims`, if they have one. */
  readonly key?: string | undefined;
  /** Further claims, which take precedence. Default: none. */
  readonly claims?: JwtMembers | undefined;
}

/** Returns the issuer of a response. */
export function issuerFor(
  { settings, origins }: Pick<OAuthContext, 'settings' | 'origins'>,
  request: IncomingRequest,
): string {
  return settings.issuer ?? origins.forLinks(request);
}

/** Returns the lifetime (ms) of a token of a client. */
export function lifetimeOf(
  { lifetimes: own = {} }: Client,
  { lifetimes }: OAuthContext,
  kind: 'access' | 'refresh',
): number {
  const seconds = own[kind];
  return seconds === undefined ? lifetimes[kind] : seconds * 1000;
}

/** Returns the draft of an access token: of random text, or of a JWT with the claims of its user. */
export async function draftAccessToken(
  context: OAuthContext,
  { issuer, audience, authenticated, claims = {}, key = boundKey(claims), ...parts }: AccessTokenParts,
): Promise<TokenDraft> {
  const { settings, signer, random } = context;
  const draft: TokenDraft = {
    ...parts,
    mechanism: 'oauth2',
    kind: 'access',
    details: {
      ...(audience === undefined ? {} : { audience: audience.join(' ') }),
      ...(authenticated === undefined ? {} : { auth_time: String(authenticated) }),
      ...(key === undefined ? {} : { jkt: key }),
    },
  };
  const signing = settings.accessTokens === 'jwt' ? signer() : undefined;
  if (signing === undefined) return draft;
  const own = await userClaims(context, signing, parts.user);
  const [first] = settings.resources;
  return {
    ...draft,
    write: (issued) =>
      signing.accessToken({
        ...parts,
        issuer,
        audience: audience ?? [first ?? issuer],
        user: parts.user,
        authenticated,
        issued,
        id: Buffer.from(random(16)).toString('base64url'),
        claims: { ...own, ...(key === undefined ? {} : { cnf: { jkt: key } }), ...claims },
      }),
  };
}

/** Returns the claims of a user that tokens carry. */
export async function userClaims(
  { accounts, settings }: OAuthContext,
  signer: TokenSigner,
  user: string | undefined,
): Promise<JwtMembers> {
  const account = user === undefined ? undefined : await accounts.find(user);
  return signer.claims(account?.claims, settings.claims);
}
