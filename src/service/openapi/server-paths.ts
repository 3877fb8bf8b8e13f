/** The documents that every service has: the index, and the problem types. */
import { problemTypes } from '../../http/problem-types.ts';
import { type JsonSchema, jsonContent, pathParameters } from './document.ts';

/** A document of the server. */
export interface ServerDocument {
  readonly id: string;
  readonly summary: string;
  readonly schema: JsonSchema;
}

const text: JsonSchema = { type: 'string' };

/** Returns the schema of an object with these members, all of which are required. */
function record(properties: Readonly<Record<string, JsonSchema>>, xml: string): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), xml: { name: xml } };
}

function buildList(items: JsonSchema): JsonSchema {
  return { type: 'array', items, xml: { wrapped: true } };
}

const status: JsonSchema = { type: 'integer', minimum: 400, maximum: 599 };

/** The documents of the server by path template, in the form in which src/collections/ writes them. */
export const serverDocuments: Readonly<Record<'/' | '/problems' | '/problems/{name}', ServerDocument>> = {
  '/': {
    id: 'index',
    summary: 'Lists the resources',
    schema: record(
      {
        resources: buildList(
          record({ href: text, methods: buildList({ ...text, xml: { name: 'method' } }) }, 'resource'),
        ),
      },
      'index',
    ),
  },
  '/problems': {
    id: 'problemTypes',
    summary: 'Lists the problem types',
    schema: record({ problems: buildList(record({ href: text, status, title: text }, 'problem')) }, 'index'),
  },
  '/problems/{name}': {
    id: 'problemType',
    summary: 'Explains a problem type and how to solve the problem',
    schema: record({ type: text, title: text, status, explanation: text }, 'problem-type'),
  },
};

/** Returns the parameters of a document of the server. */
export function serverParameters(template: string): JsonSchema[] {
  const names = { type: 'string', enum: Object.keys(problemTypes) };
  return pathParameters(template).map((parameter) => ({ ...parameter, schema: names }));
}

/** Returns the content of a document of the server, in every format. */
export function serverContent(schema: JsonSchema): JsonSchema {
  return { 'application/xml': { schema }, 'text/xml': { schema }, ...jsonContent(schema) };
}
