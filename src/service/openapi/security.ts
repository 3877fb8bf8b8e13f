/** The security schemes of a document, and the security requirements of its operations. */

import type { ProblemType } from '../../http/problem-types.ts';
import { oauth1Paths, oauth2Paths } from '../../oauth/paths.ts';
import { itemOwnerField, ownerParameter } from '../../pipeline/access-rule.ts';
import { type Access, scopesInAccess, scopesNeeded } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import { type AuthScheme, listAuthorizationNames } from '../../schemes/auth-scheme.ts';
import { createHmacScheme } from '../../schemes/hmac/scheme.ts';
import { createOAuth1Scheme } from '../../schemes/oauth1/scheme.ts';
import { basicScheme, bearerScheme } from '../../schemes/sent-credentials.ts';
import type { AcceptedSchemes } from '../../schemes/verifier.ts';
import type { Components, JsonSchema } from './document.ts';

/** A scheme that clients can use. */
export interface OfferedScheme {
  /** Its name in configurations. */
  readonly name: string;
  /** The further problems of its credentials. */
  readonly problems: readonly ProblemType[];
  /** Whether its tokens have scopes. */
  readonly hasScopes: boolean;
  /** The names of the security schemes that a request needs together. */
  readonly components: readonly string[];
}

/** What determines the offered schemes. */
interface SecuritySource {
  readonly schemes: readonly AuthScheme[];
  /** Whether OAuth 2.0 and OAuth 1.0a are offered. */
  readonly oauth2: boolean;
  readonly oauth1: boolean;
  /** The scopes of OAuth 2.0. */
  readonly scopes: readonly Scope[];
  /** The URL or path that the paths of the endpoints follow. */
  readonly endpoints: string;
}

const meanings: ReadonlyMap<Scope, string> = new Map([
  ['read', 'GET, HEAD and OPTIONS'],
  ['write', 'all other methods'],
]);

/** Adds the security schemes to the components. Returns the offered schemes, in the order of their challenges. */
export function addSecuritySchemes(source: SecuritySource, components: Components): OfferedScheme[] {
  const { schemes, oauth2, oauth1, scopes, endpoints } = source;
  const replaced = schemes.flatMap(listAuthorizationNames);
  const add = ({ problems }: AuthScheme, name: string, scheme: JsonSchema): OfferedScheme[] => {
    if (replaced.includes(name)) return [];
    const added = components.addNamed('securitySchemes', name, scheme);
    return [{ name, problems, hasScopes: name === 'bearer', components: [added] }];
  };
  return [
    ...add(basicScheme, 'basic', {
      type: 'http',
      scheme: 'basic',
      description: 'User and password (RFC 7617), over TLS only',
    }),
    ...[createHmacScheme(), ...schemes].map((scheme) => buildOfferedScheme(scheme, components)),
    ...(oauth2 ? add(bearerScheme, 'bearer', oauth2Scheme(endpoints, scopes)) : []),
    ...(oauth1 ? add(createOAuth1Scheme(), 'oauth', oauth1Scheme(endpoints)) : []),
  ];
}

function buildOfferedScheme(scheme: AuthScheme, components: Components): OfferedScheme {
  const { name, problems, places } = scheme;
  const needed = places.filter(
    ({ description, isAlternative = false }) => description !== undefined && !isAlternative,
  );
  return {
    name,
    problems,
    hasScopes: false,
    components: needed.map(({ role, in: place, name: own, description }) =>
      components.addNamed('securitySchemes', role === '' ? name : `${name}.${role}`, {
        type: 'apiKey',
        in: place === 'authorization' ? 'header' : place,
        name: place === 'authorization' ? 'Authorization' : own,
        description,
      }),
    ),
  };
}

function oauth2Scheme(endpoints: string, existing: readonly Scope[]): JsonSchema {
  const scopes = Object.fromEntries(
    existing.map((scope) => [scope, meanings.get(scope) ?? 'as described by the operations']),
  );
  const tokenUrl = endpoints + oauth2Paths.token;
  return {
    type: 'oauth2',
    description: `A bearer token (RFC 6750), over TLS only. ${endpoints}${oauth2Paths.metadata} describes the authorization server (RFC 8414).`,
    flows: {
      authorizationCode: {
        authorizationUrl: endpoints + oauth2Paths.authorize,
        tokenUrl,
        refreshUrl: tokenUrl,
        scopes,
      },
      clientCredentials: { tokenUrl, scopes },
    },
  };
}

function oauth1Scheme(endpoints: string): JsonSchema {
  const { requestToken, authorize, accessToken } = oauth1Paths;
  const paths = [requestToken, authorize, accessToken].map((path) => endpoints + path).join(', ');
  return {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: `\`OAuth oauth_consumer_key="…", …\`: OAuth 1.0a (RFC 5849), over TLS only. A token is obtained at ${paths}.`,
  };
}

/** Returns the schemes that a resource accepts, by alternative. */
export function selectAcceptedSchemes(
  offered: readonly OfferedScheme[],
  allowed: AcceptedSchemes | undefined,
): readonly (readonly OfferedScheme[])[] {
  const alternatives = allowed ?? offered.map(({ name }) => name);
  return alternatives
    .map((names) => offered.filter(({ name }) => [names].flat().includes(name)))
    .filter((schemes) => schemes.length > 0);
}

/** Returns the security requirements of an operation: one of the alternatives, or none if anyone has access. */
export function buildSecurity(
  method: string,
  access: Access,
  accepted: readonly (readonly OfferedScheme[])[],
): readonly JsonSchema[] {
  const needed = scopesNeeded({ access }, method)[0] ?? [];
  const requirements = accepted.map((schemes) =>
    Object.fromEntries(
      schemes.flatMap(({ hasScopes, components }) =>
        components.map((name) => [name, hasScopes ? needed : []]),
      ),
    ),
  );
  return access === 'anyone' ? [{}, ...requirements] : requirements;
}

/** Describes an access rule. The names of users are not shown. */
export function accessDescription(access: Access): string | undefined {
  if (access === 'anyone') return undefined;
  if (access === 'authenticated') return 'Any authenticated principal has access.';
  const rules: readonly string[] = typeof access === 'string' ? [access] : access;
  const scopes = scopesInAccess(access);
  if (scopes.length > 0 && scopes.length === rules.length)
    return `Only tokens with the scope ${scopes.join(' or ')} have access.`;
  const owners = rules.flatMap((rule) => describeOwner(rule) ?? []);
  const users = owners.join(' and ');
  if (users === '') return 'Only certain users have access.';
  return owners.length === rules.length && owners.length === 1
    ? `Only ${users} has access.`
    : `Only ${users}${owners.length === rules.length ? '' : ' and certain other users'} have access.`;
}

/** Describes the users whom a rule permits by a name in the path or in an item. */
function describeOwner(rule: string): string | undefined {
  const parameter = ownerParameter(rule);
  if (parameter !== undefined) return `the user whom the path parameter ${parameter} names`;
  const field = itemOwnerField(rule);
  if (field !== undefined) return `the user whom the field ${field} of the item names`;
  return undefined;
}
