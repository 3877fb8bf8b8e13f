import { problemTypes } from '../../http/problem-types.ts';
import type { Operation, OperationMethod } from './operation.ts';
import type { JsonSchema } from './shape.ts';

/** The version of the interface: a first number that is higher says that something is otherwise. */
const version = '1.0.0';

/** The OpenAPI 3.1 document of these operations, and of what every service has of itself. */
export function openApiOf(operations: readonly Operation[]): JsonSchema {
  const paths: Record<string, Partial<Record<Lowercase<OperationMethod>, JsonSchema>>> = ownPaths();
  for (const each of operations)
    paths[each.path] = {
      ...parametersOf(each),
      ...paths[each.path],
      [each.method.toLowerCase()]: told(each),
    };
  return {
    openapi: '3.1.0',
    info: {
      ...{ title: 'Countersign control', version, license: { name: 'MIT', identifier: 'MIT' } },
      description:
        'Steers a running Countersign from a test in any language. What says that it needs memory is answered 409 by a server with a data directory.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: problemSchema },
      responses: { Problem: { description: 'A refusal, as RFC 9457 has it.', content: problemContent() } },
    },
  };
}

function told(operation: Operation): JsonSchema {
  const { id, summary, description = '', takes, open = false, memoryOnly = false } = operation;
  const words = [description, ...(memoryOnly ? ['Needs memory: 409 where there is a data directory.'] : [])];
  const whole = words.filter((each) => each !== '').join(' ');
  return {
    operationId: id,
    summary,
    ...(whole !== '' && { description: whole }),
    tags: [tagOf(operation)],
    ...(open && { security: [] }),
    ...(takes !== undefined && { requestBody: { required: true, content: jsonContent(takes) } }),
    responses: responsesOf(operation),
  };
}

function responsesOf({ gives, status = 200, takes, memoryOnly, open, refuses = {} }: Operation): JsonSchema {
  const done = gives === undefined ? '204' : String(status);
  const refusals: Record<string, string> = {
    ...(takes !== undefined && {
      400: 'What was sent is no JSON.',
      415: 'What was sent is said to be something else than JSON.',
      422: 'What was sent is not what it has to be; the detail says where.',
    }),
    ...(open !== true && { 401: 'The token is missing or wrong.' }),
    ...(memoryOnly === true && { 409: problemTypes['memory-only'].title }),
    ...refuses,
  };
  const problems = Object.entries(refusals).map(([code, description]) => [
    code,
    { description, content: problemContent() },
  ]);
  return {
    [done]:
      gives === undefined ? { description: 'Done.' } : { description: 'Done.', content: jsonContent(gives) },
    ...Object.fromEntries(problems),
    default: { $ref: '#/components/responses/Problem' },
  };
}

/** The first segment of the path: `clock`. */
function tagOf({ path }: Pick<Operation, 'path'>): string {
  return path.split('/')[1] ?? '';
}

function parametersOf({ path }: Operation): JsonSchema {
  const names = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
  if (names.length === 0) return {};
  return {
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  };
}

function jsonContent(schema: JsonSchema): JsonSchema {
  return { 'application/json': { schema } };
}

function problemContent(): JsonSchema {
  return { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
}

const problemSchema: JsonSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: 'where it is explained' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    field: { type: 'string', description: 'the place in what was sent' },
  },
};

/** What is here of every service: the index, and the problem types. */
function ownPaths(): Record<string, { readonly get: JsonSchema }> {
  const document = (operationId: string, summary: string): { readonly get: JsonSchema } => ({
    get: {
      ...{ operationId, summary, security: [], tags: ['problems'] },
      responses: {
        200: {
          description: 'In XML, or in JSON where Accept prefers that.',
          content: { 'application/xml': {}, ...jsonContent({ type: 'object' }) },
        },
        default: { $ref: '#/components/responses/Problem' },
      },
    },
  });
  const named = { parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }] };
  return {
    '/': document('index', 'What is here'),
    '/problems': document('problemTypes', 'Every type of problem'),
    '/problems/{name}': {
      ...named,
      ...document('problemType', 'What a problem means, and what to do about it'),
    },
  };
}
