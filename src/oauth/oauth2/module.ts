import type { IncomingRequest } from '../../http/message.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { Principal } from '../../principal.ts';
import { createBearerVerifier } from '../../schemes/bearer.ts';
import { looksLikeJwt } from '../../schemes/jwt/jwt.ts';
import type { OAuthContext } from '../context.ts';
import { lazily, type OAuthModule, routesTo } from '../module.ts';
import { signsTokens } from '../oauth2-options.ts';
import { openidMetadataPath, resourceMetadataPath } from '../paths.ts';
import type { Reason } from '../reasons.ts';
import { findPrincipal } from '../token-holder.ts';
import { issuerFor } from './access-tokens.ts';
import { authorizationResource } from './authorization.ts';
import { createClientAuthentication } from './client-authentication.ts';
import { createProofs, type Proofs } from './dpop.ts';
import { introspectionResource, revocationResource } from './issued-tokens.ts';
import { metadataResource, protectedResource } from './metadata.ts';
import { keysResource, logoutResource, userinfoResource } from './openid.ts';
import { accessReason, findAnyToken } from './reasons.ts';
import { tokenResource } from './token.ts';

/**
 * Creates OAuth 2.0: its endpoints and the scheme of bearer tokens. The endpoints are not offered while no client is registered; the
 * scheme is, if other issuers are trusted.
 */
export function createOAuth2(context: OAuthContext): OAuthModule {
  const { settings, origins } = context;
  const open = (): boolean => context.clients.size > 0;
  const proofs = settings.dpop === 'off' ? undefined : createProofs(context);
  const hasIssuers = Object.keys(settings.issuers).length > 0;
  const bearer = createBearerVerifier({
    realm: context.realm,
    offered: () => hasIssuers || open(),
    findPrincipal: (token, request) => findBearer(context, token, request),
    findReason: (token, request) => bearerReason(context, token, request),
    explain: context.explain,
    bodyLimit: context.bodyLimit,
    proofs,
    parameters: (connection) =>
      hasIssuers ? [['resource_metadata', origins.own(connection) + resourceMetadataPath]] : [],
  });
  const endpoints = lazily(open, () => createEndpoints(context, proofs));
  const routes = routesTo(endpoints, servedPaths(context), open);
  if (!hasIssuers) return { schemes: [bearer], routes };
  const described = { template: resourceMetadataPath, resource: protectedResource(context, proofs) };
  return { schemes: [bearer], routes: [...routes, described] };
}

/** Returns the principal of a token: of one that was issued here, or of one of another issuer. */
async function findBearer(
  context: OAuthContext,
  token: string,
  request: IncomingRequest,
): Promise<Principal | undefined> {
  const own = await findPrincipal(context, token, (audience) => isForThisApi(context, audience, request));
  if (own !== undefined) return own;
  const foreign = await context.issuers()?.verify(token);
  return foreign !== undefined && 'name' in foreign ? foreign : undefined;
}

/** Returns the identifiers of this API: the known resources or, without any, the issuer. */
function listAudiences(context: OAuthContext, request: IncomingRequest): readonly string[] {
  const { resources } = context.settings;
  return resources.length > 0 ? resources : [issuerFor(context, request)];
}

function isForThisApi(context: OAuthContext, audience: string, request: IncomingRequest): boolean {
  const own = listAudiences(context, request);
  return audience.split(' ').some((each) => own.includes(each));
}

/** Returns why a bearer token is not valid. */
async function bearerReason(context: OAuthContext, token: string, request: IncomingRequest): Promise<Reason> {
  const found = await context.grants.find(token, 'oauth2', 'access');
  const audience = found?.token.details['audience'];
  if (audience !== undefined && !isForThisApi(context, audience, request)) {
    const own = listAudiences(context, request).join(' or ');
    return { check: 'aud', hint: `the audience is ${audience.replaceAll(' ', ', ')}; this API is ${own}` };
  }
  const isKnown = found !== undefined || (await findAnyToken(context, token)) !== undefined;
  const jwt = isKnown ? undefined : await jwtReason(context, token, request);
  return jwt ?? accessReason(context, found, token);
}

/** Returns why a JWT that was not issued here is refused; undefined if the token is none. */
async function jwtReason(
  context: OAuthContext,
  token: string,
  request: IncomingRequest,
): Promise<Reason | undefined> {
  if (!looksLikeJwt(token)) return undefined;
  const { settings, clock } = context;
  const issuer = settings.accessTokens === 'jwt' ? issuerFor(context, request) : undefined;
  const foreign = await context.issuers()?.verify(token, issuer);
  if (foreign !== undefined && 'check' in foreign) return foreign;
  if (issuer === undefined)
    return {
      check: 'token',
      hint: 'a JWT was sent; the access tokens of this service are opaque, and oauth2.issuers names no other issuer',
    };
  const rules = {
    issuer,
    audiences: listAudiences(context, request),
    now: clock.now(),
    here: context.here,
  };
  return context.signer()?.findFault(token, rules);
}

/** Returns the paths of the endpoints. */
function servedPaths({ settings }: OAuthContext): readonly string[] {
  const { paths, issuer, openid } = settings;
  const { metadata, authorize, token, revoke, introspect, jwks, userinfo, logout } = paths;
  const ofIssuer = issuer === undefined ? '' : new URL(issuer).pathname.replace(/\/$/, '');
  return [
    ...[metadata, authorize, token, revoke, introspect],
    ...(signsTokens(settings) ? [jwks] : []),
    ...(openid ? [openidMetadataPath, userinfo, logout] : []),
    // RFC 8414 §3.1 inserts the well-known path before that of the issuer, and OpenID Connect appends it.
    ...(ofIssuer === '' ? [] : [metadata + ofIssuer]),
    ...(ofIssuer === '' || !openid ? [] : [ofIssuer + openidMetadataPath]),
  ];
}

function createEndpoints(context: OAuthContext, proofs: Proofs | undefined): ReadonlyMap<string, Resource> {
  const { paths } = context.settings;
  const authenticate = createClientAuthentication(context);
  const metadata = metadataResource(context, proofs);
  const listed = servedPaths(context).map((path): [string, Resource] => [path, metadata]);
  return new Map([
    ...listed,
    [paths.authorize, authorizationResource(context)],
    [paths.token, tokenResource({ ...context, proofs }, authenticate)],
    [paths.revoke, revocationResource(context, authenticate)],
    [paths.introspect, introspectionResource(context, authenticate)],
    [paths.jwks, keysResource(context)],
    [paths.userinfo, userinfoResource(context)],
    [paths.logout, logoutResource(context)],
  ]);
}
