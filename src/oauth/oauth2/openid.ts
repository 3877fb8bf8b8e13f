// The endpoints of OpenID Connect beside authorization and token: keys, userinfo and logout.

import { parseTargetQuery } from '../../http/form.ts';
import { noOrigins } from '../../pipeline/cors-policy.ts';
import {
  type ActionResponse,
  action,
  type Call,
  json,
  type Resource,
  text,
} from '../../pipeline/resource.ts';
import { showRefusal } from '../consent/consent-page.ts';
import { pageVariants } from '../consent/html-page.ts';
import type { OAuthContext } from '../context.ts';
import { type FormContent, formReading } from '../form-body.ts';
import { openidScope } from '../oauth2-options.ts';
import { readParameters } from '../parameters.ts';
import { redirect } from '../redirect.ts';
import { issuerFor, userClaims } from './access-tokens.ts';

/** Creates the resource of the public keys (RFC 7517 §5). */
export function keysResource({ signer }: Pick<OAuthContext, 'signer'>): Resource {
  return {
    ownCredentials: true,
    GET: action('anyone', () =>
      json({
        keys:
          signer()
            ?.keys.published()
            .map(({ jwk }) => jwk) ?? [],
      }),
    ),
  };
}

/** Creates the resource with the claims of the user (OpenID Connect Core 1.0 §5.3). A token with the scope `openid` reads it. */
export function userinfoResource(context: OAuthContext): Resource {
  const read = action(`scope:${openidScope}`, async ({ principal }) => {
    const signer = context.signer();
    const user = principal?.lent?.users === undefined ? principal?.name : undefined;
    const claims = signer === undefined ? {} : await userClaims(context, signer, user);
    return json({ ...claims, sub: principal?.name });
  });
  return { schemes: ['bearer'], GET: read, POST: read };
}

const logoutParameters = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'];

/**
 * Creates the logout endpoint (OpenID Connect RP-Initiated Logout 1.0). There are no sessions, because every page asks for the password;
 * so it revokes the grants of the user to the client, if an ID token proves who they are.
 */
export function logoutResource(context: OAuthContext): Resource<unknown, FormContent> {
  const leave = (call: Call<unknown, FormContent>): Promise<ActionResponse> => logout(context, call);
  return {
    ownCredentials: true,
    cors: noOrigins,
    produces: pageVariants,
    GET: action('anyone', leave),
    POST: action('anyone', leave, { reads: [formReading] }),
  };
}

async function logout(
  context: OAuthContext,
  { incoming: request, method, body, variant }: Call<unknown, FormContent>,
): Promise<ActionResponse> {
  const form = method === 'POST' ? body : parseTargetQuery(request.target);
  if (form === undefined || typeof form === 'string') return showRefusal(malformedForm, variant);
  const { values, repeated } = readParameters(form, logoutParameters);
  const left = repeated.length > 0 ? malformedForm : readLogout(context, values, issuerFor(context, request));
  if (typeof left === 'string') return showRefusal(left, variant);
  const { client, user, uri } = left;
  if (user !== undefined && client !== undefined) await revokeGrants(context, user, client);
  if (uri === undefined) return { status: 200, noStore: true, representation: text('You are signed out.') };
  return redirect(uri, { state: values.get('state') });
}

const malformedForm = 'The parameters are not a valid form, or one of them occurs more than once.';

/** What a client asks for when a user leaves. */
interface Logout {
  readonly client: string | undefined;
  /** The user whom an ID token names. */
  readonly user: string | undefined;
  /** The registered URI to which the user returns. */
  readonly uri: string | undefined;
}

/** Reads the parameters of a logout. Returns the reason if they are refused. */
function readLogout(
  { signer, clients }: OAuthContext,
  values: ReadonlyMap<string, string>,
  issuer: string,
): Logout | string {
  const hint = values.get('id_token_hint');
  const claims = hint === undefined ? {} : signer()?.readIdToken(hint);
  if (claims === undefined || (hint !== undefined && claims['iss'] !== issuer))
    return 'The id_token_hint is not an ID token of this service.';
  const { aud, sub } = claims;
  const [named, hinted] = [values.get('client_id'), typeof aud === 'string' ? aud : undefined];
  if (named !== undefined && hinted !== undefined && named !== hinted)
    return 'The client_id is not that of the id_token_hint.';
  const client = named ?? hinted;
  const uri = values.get('post_logout_redirect_uri');
  const registered = client === undefined ? undefined : clients.find(client)?.postLogoutRedirectUris;
  if (uri !== undefined && registered?.includes(uri) !== true)
    return 'The post_logout_redirect_uri is not registered for the client.';
  return { client, user: typeof sub === 'string' ? sub : undefined, uri };
}

async function revokeGrants({ grants }: OAuthContext, user: string, client: string): Promise<void> {
  for (const grant of await grants.ofUser(user))
    if (grant.mechanism === 'oauth2' && grant.client === client) await grants.revokeGrant(grant.id);
}
