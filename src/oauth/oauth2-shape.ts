import { isScope, type Scope, scopePattern } from '../principal.ts';
import { signingAlgorithms } from '../schemes/jwt/algorithms.ts';
import { createFault } from '../shape/fault.ts';
import {
  anything,
  either,
  flag,
  listOf,
  mapOf,
  object,
  optional,
  refine,
  type Shape,
  type ShapesOf,
  text,
  textLike,
  word,
} from '../shape/shape.ts';
import { clientAuthenticationMethods, type IssuerDeclaration, type OAuth2Options } from './oauth2-options.ts';
import { oauth2Paths } from './paths.ts';

function isScopeText(value: string): value is Scope {
  return isScope(value);
}

const scope = textLike(
  { pattern: scopePattern },
  isScopeText,
  () => 'is not a scope of printable ASCII characters without spaces',
);

const filled = text(undefined, { min: 1 });

/** A text for which `findFault` returns no fault. */
function checked(description: string, findFault: (value: string) => string | undefined): Shape<string> {
  return refine(text(description, { min: 1 }), (value, path) => {
    const fault = findFault(value);
    return fault === undefined ? [] : [createFault(path, fault)];
  });
}

// RFC 8707 §2: an absolute URI without a fragment. A space would separate two of them.
const resource = checked('an absolute URI without a fragment', (value) =>
  /^[\x21\x22\x24-\x7e]+$/.test(value) && URL.canParse(value)
    ? undefined
    : 'is not an absolute URI without a fragment',
);

const pathShape = text('a path such as /oauth/token', { form: /^(?:\/[A-Za-z0-9._~-]+)+$/ });

const pathsShape = object(
  Object.fromEntries(Object.keys(oauth2Paths).map((name) => [name, optional(pathShape)])),
  'the paths of the endpoints',
);

const claimName = text('the name of a claim', { min: 1 });
const claimPath = text('the name of a claim, or a path of claims such as realm_access.roles', { min: 1 });

/** Names of this host, to which plain HTTP stays on it. */
const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Returns why a text cannot be an issuer: an `https` URL, or `http` of this host, without a query and a fragment (RFC 8414 §2). */
function issuerUrlFault(text: string): string | undefined {
  const fault = jwksUrlFault(text);
  return fault ?? (/[?#]/.test(text) ? 'is not a URL without a query and a fragment' : undefined);
}

/** Returns why keys must not be fetched from a URL, on whose way others could replace them. */
function jwksUrlFault(text: string): string | undefined {
  const expected = 'is not an https URL, or an http URL of this host';
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return expected;
  const { protocol, hostname, username } = new URL(text);
  if (username !== '') return 'contains credentials';
  if (protocol === 'https:') return undefined;
  return protocol === 'http:' && loopback.includes(hostname) ? undefined : expected;
}

const issuerShape = object(
  {
    audience: either(filled, listOf(filled, undefined, { min: 1 }), 'the identifier of this API in aud'),
    jwks: either(
      checked('the URL of the public keys', jwksUrlFault),
      object({ keys: listOf(mapOf(anything), 'public keys (RFC 7517)') }),
    ),
    user: optional(claimName),
    scopes: optional(claimPath),
    roles: optional(claimPath),
    type: optional(word(['at+jwt', 'JWT'], 'the type of its access tokens')),
  } satisfies ShapesOf<IssuerDeclaration>,
  'an authorization server whose access tokens are accepted',
);

const issuersShape = mapOf(issuerShape, 'other authorization servers, by issuer', {
  checkName(name, path) {
    const fault = issuerUrlFault(name);
    return fault === undefined ? [] : [createFault(path, fault)];
  },
});

/** Claims that the server itself computes. */
const ownClaims: readonly string[] = [
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'client_id', 'scope', 'cnf'],
  ...['nonce', 'auth_time', 'at_hash', 'azp'],
];

/** Describes the options of OAuth 2.0. */
export const oauth2Shape: Shape<OAuth2Options> = object(
  {
    scopes: optional(listOf(scope, 'the scopes that exist, which clients and access rules can name')),
    accessTokens: optional(word(['opaque', 'jwt'], 'the form of access tokens')),
    signing: optional(word(signingAlgorithms, 'the algorithm that signs JWTs')),
    claims: optional(
      listOf(
        checked('the name of a claim', (name) =>
          ownClaims.includes(name) ? `"${name}" is a claim that the server computes` : undefined,
        ),
        'claims of users that tokens carry',
      ),
    ),
    resources: optional(listOf(resource, 'resource indicators (RFC 8707); the first one is the default')),
    openid: optional(flag('whether OpenID Connect is offered')),
    pkce: optional(word(['required', 'optional'], 'whether confidential clients need PKCE')),
    clientAuthentication: optional(
      listOf(word(clientAuthenticationMethods), 'the methods with which clients can authenticate', {
        min: 1,
      }),
    ),
    dpop: optional(word(['off', 'optional', 'required'], 'whether tokens are bound to a key (RFC 9449)')),
    paths: optional(pathsShape),
    issuer: optional(checked('the issuer in metadata and tokens', issuerUrlFault)),
    issuers: optional(issuersShape),
  } satisfies ShapesOf<OAuth2Options>,
  'OAuth 2.0',
);
