// Creates the OpenAPI document from the compiled collections, the resources in code and the read schemes. The schemas of items are
// as `formats/` writes them. The problem types of an operation follow from what its steps can throw: a test fails if a type is in no
// document.
import { listReferences } from '../../collections/reference-fields.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { readinessPath } from '../health.ts';
import { collectionPaths } from './collection-paths.ts';
import {
  Components,
  type JsonSchema,
  jsonContent,
  type OpenApiDocument,
  openApiPath,
  type PathItem,
  pascalCase,
  pathParameters,
  type ServedApi,
} from './document.ts';
import {
  buildNotModified,
  buildOperation,
  changePreconditions,
  createProblemForm,
  type DocumentContext,
  headerParameter,
  listDescribedMethods,
  type OperationMethod,
  preconditionParameter,
  type ResponseField,
  readPreconditions,
  response,
} from './operation.ts';
import { ofChanges, ofItemContent, ofPreconditions, problemResponse } from './problems.ts';
import { addSecuritySchemes } from './security.ts';
import { type ServerDocument, serverContent, serverDocuments, serverParameters } from './server-paths.ts';

/**
 * Creates the OpenAPI document of a service from its declarations.
 * @param origins the origins of the service, such as `http://127.0.0.1:8080`. Default: that of the option `publicUrl`, or the one
 * from which a client obtains the document
 */
export function createOpenApi(served: ServedApi, origins: readonly string[] = []): OpenApiDocument {
  const { options, collections, resources } = served;
  const { basePath = '', publicUrl } = options;
  const components = new Components();
  const context = buildContext(served, components);
  const paths = new Map<string, PathItem>();
  for (const [template, document] of Object.entries(serverDocuments))
    paths.set(template, serverPath(template, document, context));
  for (const [template, item] of listOwnPaths(served, context)) paths.set(template, item);
  for (const collection of collections)
    for (const [template, item] of collectionPaths(collection, context)) paths.set(template, item);
  // A stub of a double can add methods to a collection.
  for (const [template, resource] of Object.entries(resources))
    paths.set(template, { ...paths.get(template), ...resourcePath(template, resource, context) });
  problemResponse('405', ['method-not-allowed'], context.form, components);
  const base = publicUrl === undefined ? origins : [publicUrl.replace(/\/$/, '')];
  const servers = base.length === 0 ? [basePath || '/'] : base.map((origin) => origin + basePath);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version: '1',
      description:
        'Resources in XML and JSON. HEAD is a GET without content, and has the same access rule unless it is listed. OPTIONS lists the methods that a principal may use. A method that a path does not list has the response MethodNotAllowed.',
    },
    servers: servers.map((url) => ({ url })),
    tags: listTags(paths.values()).map((name) => ({ name })),
    paths: Object.fromEntries(paths),
    components: components.all(),
  };
}

function buildContext(served: ServedApi, components: Components): DocumentContext {
  const { schemes, quota, oauth2, oauth1, scopes, options, collections } = served;
  const { strictQuery = false, defaultFormat = 'xml', basePath = '', requestId = false } = options;
  const endpoints = (options.publicUrl?.replace(/\/$/, '') ?? '') + basePath;
  const common: readonly ResponseField[] = [
    ...(quota ? (['RateLimit', 'RateLimit-Policy'] as const) : []),
    ...(requestId ? (['X-Request-Id'] as const) : []),
  ];
  return {
    components,
    offered: addSecuritySchemes({ schemes, oauth2, oauth1, scopes, endpoints }, components),
    form: createProblemForm(common, schemes, basePath, components),
    schemes,
    quota,
    strictQuery,
    defaultFormat,
    referred: new Set(collections.flatMap(({ shape }) => listReferences(shape).map(({ to }) => to))),
  };
}

/** Yields the paths of the document itself and of health and readiness checks, if they are served. */
function* listOwnPaths(
  { options }: ServedApi,
  context: DocumentContext,
): Generator<readonly [string, PathItem]> {
  const { openapi = false, health } = options;
  if (openapi) {
    const document = { id: 'openapi', summary: 'Returns this document', schema: { type: 'object' } };
    yield [openApiPath, { get: buildReadOperation(document, jsonContent(document.schema), context) }];
  }
  if (health === undefined) return;
  const schema = { type: 'object', properties: { status: { const: 'ready' } }, required: ['status'] };
  const checks = [
    [health.path, 'health', 'Returns whether the service is healthy'],
    [readinessPath(health), 'readiness', 'Returns whether the service and its store can be reached'],
  ] as const;
  for (const [path, id, summary] of checks) {
    const check = { id, summary, schema };
    yield [path, { get: buildReadOperation(check, jsonContent(schema), context, ['not-healthy']) }];
  }
}

function serverPath(template: string, document: ServerDocument, context: DocumentContext): PathItem {
  const parameters = serverParameters(template);
  const schema = context.components.add('schemas', pascalCase(document.id), document.schema);
  const further = parameters.length > 0 ? (['not-found'] as const) : [];
  return {
    ...(parameters.length > 0 && { parameters }),
    get: buildReadOperation(document, serverContent(schema), context, further),
  };
}

/** Returns the operation that reads a document which anyone can read. */
function buildReadOperation(
  { id, summary }: ServerDocument,
  content: JsonSchema,
  context: DocumentContext,
  further: readonly ('not-found' | 'not-healthy')[] = [],
): JsonSchema {
  const { components } = context;
  const parts = {
    ...({ id, summary, tag: 'server', method: 'GET', access: 'anyone', allowed: undefined } as const),
    reads: false,
    parameters: readPreconditions.map((name) => preconditionParameter(name, components)),
    responses: {
      200: response('Success', ['ETag'], content, context),
      304: buildNotModified(context),
    },
    problems: ['not-acceptable', ...ofPreconditions, ...further] as const,
  };
  return buildOperation(parts, context);
}

function tagsIn(operation: PathItem[string]): readonly string[] {
  const tags: unknown = 'tags' in operation ? operation['tags'] : [];
  return Array.isArray(tags) ? tags.map(String) : [];
}

/** Returns the tags of all operations, each once. */
function listTags(items: Iterable<PathItem>): string[] {
  const tags = new Set<string>();
  for (const item of items)
    for (const operation of Object.values(item)) for (const tag of tagsIn(operation)) tags.add(tag);
  return [...tags];
}

/** Returns the path item of a resource. Its content and its successful statuses are unknown. */
function resourcePath(template: string, resource: Resource, context: DocumentContext): PathItem {
  const parameters = pathParameters(template);
  const operations = listDescribedMethods((method) => findRule(resource, method)).map(([method, access]) => {
    const action = method === 'HEAD' ? resource.GET : resource[method];
    const reads = (action?.reads ?? []).map(({ type }) => type);
    const own = (resource.requestHeaders ?? []).map((name) =>
      headerParameter(name, 'A field that the resource reads', context.components),
    );
    const isRead = method === 'GET' || method === 'HEAD';
    const preconditions = isRead ? readPreconditions : changePreconditions;
    const parts = {
      // `getWeatherCity` for `/weather/{city}`.
      id: method.toLowerCase() + (pascalCase(template) || 'Root'),
      summary: `${method} ${template}`,
      method,
      access,
      allowed: resource.schemes,
      tag: template.split('/')[1] || 'root',
      reads: reads.length > 0,
      parameters: [...preconditions.map((name) => preconditionParameter(name, context.components)), ...own],
      ...(reads.length > 0 && {
        requestBody: { required: action?.bodyOptional !== true, content: buildUnknownContent(reads) },
      }),
      responses: successes(resource, method, context),
      problems: [
        ...ofPreconditions,
        ...(['not-found', 'malformed-query'] as const),
        ...(isRead ? (['not-acceptable'] as const) : ofChanges),
        ...(reads.length > 0 ? ofItemContent : []),
      ],
    };
    return [method.toLowerCase(), buildOperation(parts, context)];
  });
  return { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(operations) };
}

function findRule(resource: Resource, method: OperationMethod) {
  if (method !== 'HEAD') return resource[method]?.access;
  return resource.GET === undefined ? undefined : (resource.headAccess ?? resource.GET.access);
}

function successes(
  resource: Resource,
  method: OperationMethod,
  context: DocumentContext,
): Readonly<Record<string, JsonSchema>> {
  const isRead = method === 'GET' || method === 'HEAD';
  const fields: readonly ResponseField[] = isRead ? ['ETag', 'Last-Modified'] : ['Location'];
  const types = (resource.produces ?? [{ type: '*/*' }]).map(({ type }) => type.replace(/;.*/, '').trim());
  const content = method === 'HEAD' ? undefined : buildUnknownContent(types);
  return {
    '2XX': response('Success', fields, content, context),
    ...(isRead && { 304: buildNotModified(context) }),
  };
}

/** Returns content of which only the media types are known. */
function buildUnknownContent(types: readonly string[]): JsonSchema {
  return Object.fromEntries(types.map((type) => [type, {}]));
}
