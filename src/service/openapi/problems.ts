/**
 * The problem types that an operation can have, and the responses that are problem documents (RFC 9457), in the form in which
 * collections/formats/server-documents.ts writes them.
 */

import { type ProblemType, problemTypes } from '../../http/problem-types.ts';
import type { Access } from '../../pipeline/resource.ts';
import { type Components, type JsonSchema, pascalCase } from './document.ts';

type Types = readonly ProblemType[];

/** Problems of any request, found before the resource or in any step. */
const ofEveryRequest: Types = [
  ...(['malformed-request', 'malformed-host', 'repeated-field', 'malformed-field'] as const),
  ...(['malformed-target', 'content-incomplete', 'content-too-large', 'digest-mismatch'] as const),
  ...(['request-timeout', 'expectation-failed', 'header-too-large', 'internal-error'] as const),
  ...(['transfer-coding-not-implemented', 'stopping', 'full', 'store-unavailable'] as const),
  ...(['target-too-long', 'version-not-supported'] as const),
];

/** Problems of credentials of any scheme. */
const ofCredentials: Types = [
  ...(['malformed-credentials', 'several-credentials', 'scheme-not-offered', 'credentials-refused'] as const),
  ...(['tls-required', 'too-many-failures'] as const),
];

/** Problems of content that is read. */
const ofContent: Types = [
  ...(['unsupported-media-type', 'unsupported-content-coding', 'unsupported-charset'] as const),
  ...(['content-missing', 'content-coding-broken'] as const),
];

/** Further problems of content that is an item. */
export const ofItemContent: Types = [
  ...(['xml-malformed', 'limit-exceeded', 'doctype-refused', 'json-malformed', 'invalid-content'] as const),
];

/** Problems of preconditions. */
export const ofPreconditions: Types = ['precondition-failed'];

/** Problems of a change of stored data. */
export const ofChanges: Types = ['store-full'];

/** An operation whose problems are determined. */
interface ProblemSource {
  readonly access: Access;
  /** Whether it reads content. */
  readonly reads: boolean;
  readonly method: string;
  /** Whether the requests of users or peers are limited. */
  readonly quota: boolean;
  /** The types beside those that follow from the other members. */
  readonly further: Types;
}

/** Returns the problem types that an operation can have, each once. */
export function listProblemTypes(source: ProblemSource): Types {
  const { access, reads, method, quota, further } = source;
  return [
    ...new Set<ProblemType>([
      ...ofEveryRequest,
      ...ofCredentials,
      ...(access === 'anyone' ? [] : (['authentication-required', 'forbidden'] as const)),
      ...(reads ? ofContent : []),
      ...(method === 'PUT' ? (['content-range-on-put'] as const) : []),
      ...(quota ? (['quota-exceeded'] as const) : []),
      ...further,
    ]),
  ];
}

/** The schema of a problem in JSON. */
export const problemSchema: JsonSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: 'path of the problem type’s description' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'path of the request' },
    field: { type: 'string', description: 'path of the invalid member in the content' },
    line: { type: 'integer', minimum: 1 },
    column: { type: 'integer', minimum: 1 },
    errors: {
      type: 'array',
      description: 'all errors in the content, at most 20',
      items: {
        type: 'object',
        required: ['field', 'rule', 'detail'],
        properties: {
          field: { type: 'string' },
          rule: { type: 'string' },
          detail: { type: 'string' },
          line: { type: 'integer', minimum: 1 },
          column: { type: 'integer', minimum: 1 },
        },
        xml: { name: 'i' },
      },
      xml: { wrapped: true },
    },
  },
  xml: { name: 'problem', namespace: 'urn:ietf:rfc:7807' },
};

/** The content of a problem in JSON, if the schema is the component `Problem`. */
export function problemContent(): JsonSchema {
  return { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
}

/** The parts of a service that the form of its problems depends on. */
export interface ProblemForm {
  /** The path prefix that a proxy removes. */
  readonly basePath: string;
  /** Whether a scheme writes errors in the form of another API, in XML. */
  readonly foreign: boolean;
  /** The fields of every response, by name. */
  readonly fields: JsonSchema;
  /** The further fields of a response with a status. */
  buildFields(status: number): JsonSchema;
}

/** Statuses that any request can have, and that clients seldom handle one by one. */
const inDefault: ReadonlySet<number> = new Set([408, 414, 417, 431, 500, 501, 505]);

/** Returns the responses with problems, by status. The rarest ones are together in `default`. */
export function problemResponses(
  types: readonly ProblemType[],
  form: ProblemForm,
  components: Components,
): Readonly<Record<string, JsonSchema>> {
  const byStatus = new Map<string, ProblemType[]>();
  for (const type of types) {
    const { status } = problemTypes[type];
    const key = inDefault.has(status) ? 'default' : String(status);
    byStatus.set(key, [...(byStatus.get(key) ?? []), type]);
  }
  const entries = [...byStatus].sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    entries.map(([status, those]) => [status, problemResponse(status, those, form, components)]),
  );
}

/** Returns the response with problems of these types. All of them have the status, or it is `default`. */
export function problemResponse(
  status: string,
  types: readonly ProblemType[],
  form: ProblemForm,
  components: Components,
): JsonSchema {
  const [only] = types;
  const single = types.length === 1 ? only : undefined;
  const name = single === undefined ? `Problem${pascalCase(status)}` : pascalCase(single);
  const schema = components.add('schemas', name, {
    allOf: [
      components.add('schemas', 'Problem', problemSchema),
      {
        type: 'object',
        properties: {
          type: { type: 'string', enum: types.map((type) => `${form.basePath}/problems/${type}`) },
          status: statusSchema(types),
        },
      },
    ],
    xml: problemSchema['xml'],
  });
  const foreign = form.foreign ? { 'application/xml': {}, 'text/xml': {} } : {};
  const headers = { ...form.fields, ...(status === 'default' ? {} : form.buildFields(Number(status))) };
  return components.add('responses', name, {
    description: single === undefined ? formatDescription(status, types) : problemTypes[single].title,
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { 'application/problem+json': { schema }, 'application/problem+xml': { schema }, ...foreign },
  });
}

function statusSchema(types: readonly ProblemType[]): JsonSchema {
  const statuses = [...new Set(types.map((type): number => problemTypes[type].status))];
  return { type: 'integer', enum: statuses.sort((one, other) => one - other) };
}

function formatDescription(status: string, types: readonly ProblemType[]): string {
  const titles = types.map((type) => problemTypes[type].title);
  return status === 'default' ? `Any other error: ${titles.join('; ')}` : titles.join('; ');
}
