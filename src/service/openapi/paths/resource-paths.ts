/** The operations of resources in code, as far as their actions describe them. */
import type { Resource } from '../../../pipeline/resource.ts';
import { pascalCase } from '../components.ts';
import { type JsonSchema, type PathItem, pathParameters } from '../document.ts';
import {
  changePreconditions,
  headerParameter,
  preconditionParameter,
  type ResponseField,
  readPreconditions,
} from '../header-fields.ts';
import { ofChanges, ofItemContent, ofPreconditions } from '../problem-types.ts';
import {
  buildNotModified,
  buildOperation,
  type DocumentContext,
  listDescribedMethods,
  type OperationMethod,
  response,
} from './operation.ts';

/** Returns the path item of a resource. Its content and its successful statuses are unknown. */
export function resourcePath(template: string, resource: Resource, context: DocumentContext): PathItem {
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
      id: method.toLowerCase() + formatName(template),
      summary: `${method} ${template}`,
      method,
      access,
      allowed: resource.schemes,
      tag: parseTag(template),
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

/** Returns the words of a template: `WeatherCity` for `/weather/{city}`. */
function formatName(template: string): string {
  return pascalCase(template) || 'Root';
}

/** Returns the first segment of a template, such as `weather`. */
function parseTag(template: string): string {
  return template.split('/')[1] || 'root';
}
