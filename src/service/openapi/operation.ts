/** The parts that all operations of a document have. */

import type { ProblemType } from '../../http/problem-types.ts';
import type { Access, DocumentFormat } from '../../pipeline/resource.ts';
import type { AuthScheme } from '../../schemes/auth-scheme.ts';
import type { AcceptedSchemes } from '../../schemes/verifier.ts';
import type { Components, JsonSchema } from './document.ts';
import { listProblemTypes, type ProblemForm, problemResponses } from './problems.ts';
import { accessDescription, buildSecurity, type OfferedScheme, selectAcceptedSchemes } from './security.ts';

/** The methods of operations. OPTIONS is not described, and HEAD only if its access rule is not that of GET. */
export type OperationMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';

/** What the operations of a document have in common. */
export interface DocumentContext {
  readonly components: Components;
  readonly offered: readonly OfferedScheme[];
  readonly schemes: readonly AuthScheme[];
  readonly form: ProblemForm;
  /** Whether the requests of users or peers are limited. */
  readonly quota: boolean;
  /** Whether unknown and repeated query parameters of lists are rejected. */
  readonly strictQuery: boolean;
  /** The format of responses to clients that accept both. */
  readonly defaultFormat: DocumentFormat;
  /** The paths of the collections to whose items others refer. */
  readonly referred: ReadonlySet<string>;
}

/** The parts of one operation. */
export interface OperationParts {
  readonly id: string;
  readonly summary: string;
  readonly tag: string;
  readonly method: OperationMethod;
  readonly access: Access;
  /** The names of the schemes that the resource accepts; undefined for all. */
  readonly allowed: AcceptedSchemes | undefined;
  /** Whether it reads content. */
  readonly reads: boolean;
  readonly parameters: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  /** The responses that are not problems, by status. */
  readonly responses: Readonly<Record<string, JsonSchema>>;
  /** The problem types beside those of every such operation. */
  readonly problems: readonly ProblemType[];
}

/** Returns an operation object. */
export function buildOperation(parts: OperationParts, context: DocumentContext): JsonSchema {
  const { id, summary, tag, method, access, allowed, reads, parameters, requestBody, responses } = parts;
  const { components, offered, form, quota } = context;
  const accepted = selectAcceptedSchemes(offered, allowed);
  const types = listProblemTypes({
    access,
    reads,
    method,
    quota,
    further: [...accepted.flat().flatMap(({ problems }) => problems), ...parts.problems],
  });
  const description = accessDescription(access);
  return {
    operationId: components.operationIds.take(id),
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security: buildSecurity(method, access, accepted),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: { ...responses, ...problemResponses(types, form, components) },
  };
}

/** Returns a response that is not a problem. */
export function response(
  description: string,
  fields: readonly ResponseField[],
  content: JsonSchema | undefined,
  { components, form }: DocumentContext,
): JsonSchema {
  const headers = { ...buildHeaders(fields, components), ...form.fields };
  return {
    description,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(content !== undefined && { content }),
  };
}

/** Returns the response 304. */
export function buildNotModified(context: DocumentContext): JsonSchema {
  const description = 'The representation that the client has is current';
  const { components } = context;
  return components.add(
    'responses',
    'NotModified',
    response(description, ['ETag', 'Last-Modified'], undefined, context),
  );
}

/** The methods of operations, in the order of a path item. */
const methods: readonly OperationMethod[] = ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE'];

/** Returns the methods that someone may use, with their access rules. HEAD is implied by GET if both have the same rule. */
export function listDescribedMethods(
  findRule: (method: OperationMethod) => Access | undefined,
): readonly (readonly [OperationMethod, Access])[] {
  const ofGet = JSON.stringify(findRule('GET'));
  return methods.flatMap((method) => {
    const rule = findRule(method);
    if (rule === undefined || rule === 'nobody' || rule.length === 0) return [];
    return method === 'HEAD' && JSON.stringify(rule) === ofGet ? [] : [[method, rule] as const];
  });
}

/** Creates the form of the problems of a document. */
export function createProblemForm(
  common: readonly ResponseField[],
  schemes: readonly AuthScheme[],
  basePath: string,
  components: Components,
): ProblemForm {
  return {
    basePath,
    foreign: schemes.some(({ express }) => express !== undefined),
    fields: buildHeaders(common, components),
    buildFields: (status) => buildHeaders(problemFields(status, schemes), components),
  };
}

// The header fields of requests and responses.

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
function buildHeaders(names: readonly ResponseField[], components: Components): JsonSchema {
  return Object.fromEntries(
    names.map((name) => [
      name,
      components.add('headers', name, { description: responseFields[name], schema: text }),
    ]),
  );
}

/** Returns the names of the fields of a response with a problem of this status. */
function problemFields(status: number, schemes: readonly AuthScheme[]): ResponseField[] {
  switch (status) {
    case 401:
      return [
        'WWW-Authenticate',
        ...schemes.flatMap((scheme) => scheme.challengeFields?.().map(([name]) => name) ?? []),
      ];
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
