/** The parts that all operations of a document have. */

import type { ProblemType } from '../../http/problem-types.ts';
import type { Access, DocumentFormat } from '../../pipeline/resource.ts';
import type { AuthScheme } from '../../schemes/auth-scheme.ts';
import type { AcceptedSchemes } from '../../schemes/verifier.ts';
import type { Components } from './components.ts';
import type { JsonSchema } from './document.ts';
import { buildHeaders, problemFields, type ResponseField } from './header-fields.ts';
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
