import { DeclarationError } from '../../collections/fields/error.ts';
import { readJson } from '../../collections/formats/json/content-reader.ts';
import { Problem } from '../../http/problem.ts';
import { problemTypes } from '../../http/problem-types.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import {
  type Action,
  type ActionResponse,
  action,
  type Call,
  json,
  type Parameters,
  type Resource,
} from '../../pipeline/resource.ts';
import { jsonContent, pathParameters } from '../../service/openapi/document.ts';
import { problemContent, problemSchema } from '../../service/openapi/problems.ts';
import { serverContent, serverDocuments, serverParameters } from '../../service/openapi/server-paths.ts';
import type { JsonSchema, Shape } from '../../shape/shape.ts';
import type { DoubleApi } from '../api.ts';
import type { Core } from '../compose.ts';
import type { State } from '../state/state.ts';
import { readContent } from './content.ts';

/** What a control interface controls. */
export interface Controlled extends Omit<DoubleApi, 'fetch'> {
  readonly core: Core;
  readonly addresses: ControlledAddresses;
  /** Returns the state of the store. Undefined if the store cannot fail. */
  readonly health?: () => MaybePromise<ControlledHealth | undefined>;
  /** The metrics of the server: their media type, and a function that returns them. Undefined for a double. */
  readonly metrics?: { readonly type: string; text(): string };
}

/** The addresses on which the controlled service listens. */
export interface ControlledAddresses {
  readonly url: string | undefined;
  readonly secureUrl: string | undefined;
  /** The certificate in PEM that clients must trust for `secureUrl`, if known. */
  readonly certificate: string | undefined;
}

/** The health of a store. */
export interface ControlledHealth {
  readonly state: 'well' | 'full' | 'failed' | 'unreachable';
  readonly reason: string | undefined;
}

/** The name of the principal that holds the token. */
export const controller = 'controller';

/** Returns the state as a whole. Throws a Problem `memory-only` if some of it is not in memory. */
export function requireMemory({ core: { memory } }: Pick<Controlled, 'core'>): State {
  if (memory !== undefined) return memory;
  throw new Problem('memory-only', 'This server has a data directory. Start it with --memory.');
}

/** The methods of operations. */
export type OperationMethod = 'GET' | 'PUT' | 'POST' | 'DELETE';

/** The description of an operation, without its implementation. */
interface Described {
  /** What the operation does: one short sentence without a full stop. */
  readonly summary: string;
  /** Further sentences. */
  readonly description?: string;
  /** Whether it requires no token. Default: false. */
  readonly open?: boolean;
  /** Whether it requires a server that holds everything in memory. Default: false. */
  readonly memoryOnly?: boolean;
  /** The media type of a response that `run` returns as text. Default: the result of `run` is written as JSON. */
  readonly media?: string;
  /** The status of a response with content. Default: 200. */
  readonly status?: 200 | 201;
  /** Descriptions of further error responses, by status. */
  readonly errors?: Readonly<Record<string, string>>;
}

/** An operation of the control interface. Its resource and its entry in the OpenAPI document are derived from this declaration. */
export interface Operation extends Described {
  readonly method: OperationMethod;
  /** A path template. Its parameters are strings. */
  readonly path: string;
  /** The operationId in the OpenAPI document, such as `advanceClock`. */
  readonly id: string;
  /** The schema of the request's content. Undefined if it has none. */
  readonly accepts: JsonSchema | undefined;
  /** The schema of the response. Undefined if it has no content (204). */
  readonly returns: JsonSchema | undefined;
  run(content: unknown, parameters: Parameters, call: Call): unknown;
}

/** A value that is written as JSON, without its members that are undefined. */
type Written<T> = T extends readonly (infer Each)[]
  ? readonly Written<Each>[]
  : T extends object
    ? { readonly [Name in keyof T]: Written<T[Name]> | (object extends Pick<T, Name> ? undefined : never) }
    : T;

/** The declaration of an operation: the shape of its content, a function, and the shape of its response. */
interface Declared<Content, Result> extends Described {
  /** Default: no content. */
  readonly accepts?: Shape<Content>;
  /** Default: no content. */
  readonly returns?: Shape<Result>;
  /** Performs the operation and returns the response's content. RangeError, TypeError and DeclarationError become 422. */
  run(content: Content, parameters: Parameters, call: Call): MaybePromise<Written<NoInfer<Result>>>;
}

/** Declares an operation, with or without content. */
export function operation<Content, Result = unknown>(
  method: OperationMethod,
  path: string,
  id: string,
  declared: Declared<Content, Result> & { readonly accepts: Shape<Content> },
): Operation;
export function operation<Result = unknown>(
  method: OperationMethod,
  path: string,
  id: string,
  declared: Declared<undefined, Result>,
): Operation;
export function operation(
  method: OperationMethod,
  path: string,
  id: string,
  { accepts, returns, run, ...described }: Declared<unknown, unknown>,
): Operation {
  return {
    ...described,
    method,
    path,
    id,
    accepts: accepts?.schema,
    returns: returns?.schema,
    run: (content, parameters, call) =>
      run(accepts === undefined ? undefined : readContent(accepts, content), parameters, call),
  };
}

/** Returns the resources of operations by path template. */
export function createResources(operations: readonly Operation[]): Readonly<Record<string, Resource>> {
  const resources: Record<string, Partial<Record<OperationMethod, Action>>> = {};
  for (const each of operations)
    resources[each.path] = { ...resources[each.path], [each.method]: createAction(each) };
  return resources;
}

function createAction({ open = false, accepts, run, status = 200, media }: Operation): Action {
  return action(
    open ? 'anyone' : [controller],
    async (call): Promise<ActionResponse> => {
      rejectQuery(call);
      const value = await withContentErrors(async () =>
        run(accepts === undefined ? undefined : call.body, call.parameters, call),
      );
      // Responses may contain secrets, so they must not be stored.
      if (value === undefined) return { status: 204, noStore: true };
      const representation = media === undefined ? json(value) : { type: media, body: String(value) };
      return { status, representation, noStore: true };
    },
    accepts === undefined ? {} : { reads: [readJson] },
  );
}

/** No operation has query parameters. Ignored ones could be taken for a filter. */
function rejectQuery({ query }: Call): void {
  if (query.size > 0)
    throw new Problem(
      'malformed-query',
      'This operation has no query parameters: its arguments are JSON content.',
    );
}

/** Converts an error about the arguments to a Problem about the content that contained them (422). */
async function withContentErrors<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError || error instanceof DeclarationError)
      throw new Problem('invalid-content', error.message);
    throw error;
  }
}

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
