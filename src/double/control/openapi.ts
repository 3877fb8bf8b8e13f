import { problemTypes } from '../../http/problem-types.ts';
import { type JsonSchema, jsonContent, pathParameters } from '../../service/openapi/document.ts';
import { problemContent, problemSchema } from '../../service/openapi/problems.ts';
import { serverContent, serverDocuments, serverParameters } from '../../service/openapi/server-paths.ts';
import type { Operation, OperationMethod } from './operation.ts';

/** The version of the interface (semantic versioning). */
export const version = '2.0.0';

/** Returns the OpenAPI 3.1 document of these operations and of the routes that every service has. */
export function buildOpenApi(operations: readonly Operation[]): JsonSchema {
  const paths: Record<string, Partial<Record<Lowercase<OperationMethod>, JsonSchema>>> = servicePaths();
  for (const each of operations) {
    const parameters = pathParameters(each.path);
    paths[each.path] = {
      ...(parameters.length > 0 && { parameters }),
      ...paths[each.path],
      [each.method.toLowerCase()]: buildOperation(each),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign control',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Controls a running Countersign server from a test in any language. Operations that require a server in memory are refused with 409 by a server with a data directory.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: [...new Set(operations.map(readTag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: problemSchema },
      responses: { Problem: { description: 'An error (RFC 9457)', content: problemContent() } },
    },
  };
}

/** Returns the operation object of an operation. */
function buildOperation(operation: Operation): JsonSchema {
  const { id, summary, description = '', accepts, open = false, memoryOnly = false } = operation;
  const sentences = [description, ...(memoryOnly ? ['Requires a server in memory.'] : [])];
  const text = sentences.filter((each) => each !== '').join(' ');
  return {
    operationId: id,
    summary,
    ...(text !== '' && { description: text }),
    tags: [readTag(operation)],
    ...(open && { security: [] }),
    ...(accepts !== undefined && { requestBody: { required: true, content: jsonContent(accepts) } }),
    responses: buildResponses(operation),
  };
}

function buildResponses({
  returns,
  status = 200,
  accepts,
  memoryOnly,
  open,
  errors = {},
  media = 'application/json',
}: Operation): JsonSchema {
  const success = returns === undefined ? '204' : String(status);
  const refusals: Record<string, string> = {
    ...(accepts !== undefined && {
      400: 'The content is not valid JSON.',
      415: 'The Content-Type is not application/json.',
      422: 'The content violates the schema or a rule; the detail names the member.',
    }),
    ...(open !== true && { 401: 'The token is missing or wrong.' }),
    ...(memoryOnly === true && { 409: problemTypes['memory-only'].title }),
    ...errors,
  };
  const problems = Object.entries(refusals).map(([code, description]) => [
    code,
    { description, content: problemContent() },
  ]);
  return {
    [success]: {
      description: 'Success',
      ...(returns !== undefined && { content: { [media]: { schema: returns } } }),
    },
    ...Object.fromEntries(problems),
    default: { $ref: '#/components/responses/Problem' },
  };
}

/** Returns the first segment of the path, such as `clock`. */
function readTag({ path }: Pick<Operation, 'path'>): string {
  return path.split('/')[1] ?? '';
}

/** Returns the paths that every service has: the index, and the problem types. */
function servicePaths(): Record<string, { readonly get: JsonSchema }> {
  return Object.fromEntries(
    Object.entries(serverDocuments).map(([path, { id, summary, schema }]) => {
      const parameters = serverParameters(path);
      const isIndex = path === '/';
      const responses = {
        200: {
          description: 'In XML, or in JSON if Accept prefers it',
          content: { ...serverContent(schema), ...(isIndex && { 'text/html': {} }) },
        },
        default: { $ref: '#/components/responses/Problem' },
      };
      const get = {
        operationId: id,
        summary: isIndex ? `${summary}; for browsers, the console` : summary,
        security: [],
        tags: ['problems'],
        responses,
      };
      return [path, { ...(parameters.length > 0 && { parameters }), get }];
    }),
  );
}
