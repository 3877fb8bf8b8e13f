/** The header fields of requests and responses. */
import type { AuthScheme } from '../../schemes/auth-scheme.ts';
import type { Components } from './components.ts';
import type { JsonSchema } from './document.ts';

const text: JsonSchema = { type: 'string' };

/** The request fields with preconditions (RFC 9110 §13.1). */
const preconditions = {
  'If-Match': 'Entity tags, one of which must be current, or *; otherwise 412',
  'If-None-Match': 'Entity tags, none of which may be current, or *; otherwise 304 or 412',
  'If-Modified-Since': 'An HTTP date; 304 unless the resource was changed later',
  'If-Unmodified-Since': 'An HTTP date; 412 if the resource was changed later',
} as const;

/** The name of a request field with a precondition. */
type Precondition = keyof typeof preconditions;

/** The preconditions of GET and HEAD, which are all of them. */
export const readPreconditions: readonly Precondition[] = [
  ...(['If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'] as const),
];

/** The preconditions of a change. If-Modified-Since is ignored (RFC 9110 §13.1.3). */
export const changePreconditions: readonly Precondition[] = [
  ...(['If-Match', 'If-None-Match', 'If-Unmodified-Since'] as const),
];

/** Returns the parameter of a precondition. */
export function preconditionParameter(name: Precondition, components: Components): JsonSchema {
  return headerParameter(name, preconditions[name], components);
}

/** Returns the parameter of a request field. */
export function headerParameter(name: string, description: string, components: Components): JsonSchema {
  return components.add('parameters', name, { name, in: 'header', description, schema: text });
}

/** Returns the parameter Prefer (RFC 7240). */
export function preferParameter(components: Components): JsonSchema {
  return headerParameter('Prefer', 'With return=minimal, the response has no content (RFC 7240)', components);
}

/** The response fields that operations have, with their descriptions. */
const responseFields = {
  ETag: 'The entity tag of the representation, for If-Match and If-None-Match',
  'Last-Modified': 'The time of the last change, for If-Unmodified-Since and If-Modified-Since',
  Location: 'The path of the new item',
  'Content-Location': 'The path of the item that is in the content',
  Link: 'The first page, and the next one if there are more items (rel="first", rel="next")',
  Allow: 'The methods that the principal may use',
  'Retry-After': 'Seconds after which to send the request again',
  'Preference-Applied': 'The preference in Prefer that was applied (RFC 7240)',
  'WWW-Authenticate': 'The challenges of the accepted schemes',
  'Accept-Signature': 'The components that a signature must cover (RFC 9421)',
  'Accept-Post': 'The accepted media types',
  'Accept-Encoding': 'The accepted content codings',
  RateLimit: 'The remaining requests of the window, and the seconds until its end',
  'RateLimit-Policy': 'The quotas',
  'X-Request-Id': 'The id of the request in the log',
} as const;

/** The name of a response field. */
export type ResponseField = keyof typeof responseFields;

/** Returns the headers of a response, by name. */
export function buildHeaders(names: readonly ResponseField[], components: Components): JsonSchema {
  return Object.fromEntries(
    names.map((name) => [
      name,
      components.add('headers', name, { description: responseFields[name], schema: text }),
    ]),
  );
}

function listChallengeFields(scheme: AuthScheme): ResponseField[] {
  return scheme.challengeFields?.().map(([name]) => name) ?? [];
}

/** Returns the names of the fields of a response with a problem of this status. */
export function problemFields(status: number, schemes: readonly AuthScheme[]): ResponseField[] {
  switch (status) {
    case 401:
      return ['WWW-Authenticate', ...schemes.flatMap(listChallengeFields)];
    case 403:
      return ['WWW-Authenticate'];
    case 405:
      return ['Allow'];
    case 415:
      return ['Accept-Post', 'Accept-Encoding'];
    case 429:
    case 503:
      return ['Retry-After'];
    default:
      return [];
  }
}
