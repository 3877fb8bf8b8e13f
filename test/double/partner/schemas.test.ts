// How a double checks and creates values of schemas, through requests.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const readOnlyId = { properties: { id: { ...text, readOnly: true } } };

/** Returns a document with the operation `POST /x`, whose request content has a schema. */
function requesting(schema: Schema, schemas: Schema = {}, openapi = '3.0.3') {
  return {
    openapi,
    info: { title: 'Partner', version: '1' },
    paths: {
      '/x': {
        post: {
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: { 204: { description: 'Done' } },
        },
      },
    },
    components: { schemas },
  };
}

const requests: readonly (readonly [
  what: string,
  document: object,
  accepted: readonly unknown[],
  refused: readonly unknown[],
])[] = [
  [
    'a member that is readOnly in another part of allOf is not required',
    requesting({ allOf: [readOnlyId, { required: ['id', 'name'], properties: { name: text } }] }),
    [{ name: 'a' }, { id: '1', name: 'a' }],
    [{ id: '1' }, { id: 1, name: 'a' }],
  ],
  [
    'a member that is readOnly behind references and allOf is not required',
    requesting(
      { required: ['id'], allOf: [{ $ref: '#/components/schemas/Base' }] },
      {
        Base: { properties: { id: { allOf: [{ $ref: '#/components/schemas/Id' }] } } },
        Id: { ...text, readOnly: true },
      },
    ),
    [{}],
    [{ id: 1 }],
  ],
  [
    'readOnly beside a reference counts in 3.1',
    requesting(
      { required: ['id'], properties: { id: { $ref: '#/components/schemas/Id', readOnly: true } } },
      { Id: text },
      '3.1.0',
    ),
    [{}],
    [{ id: 1 }],
  ],
  [
    'the parts of a member know which of its members are readOnly',
    requesting({
      properties: { line: { allOf: [{ required: ['id'] }, { anyOf: [readOnlyId, { maxProperties: 0 }] }] } },
    }),
    [{ line: {} }],
    [{ line: { id: 1 } }],
  ],
  [
    'a member that is not readOnly stays required beside one of the same name that is',
    requesting({
      required: ['id', 'line'],
      properties: { id: text, line: { required: ['id'], ...readOnlyId } },
    }),
    [{ id: '1', line: {} }],
    [{ line: {} }],
  ],
];

describe('contents of requests', () => {
  for (const [what, partner, accepted, refused] of requests)
    test(what, async () => {
      await using double = await startDouble({ partner, https: false });
      const send = async (content: unknown): Promise<number> => {
        const headers = { 'Content-Type': 'application/json' };
        const init = { method: 'POST', headers, body: JSON.stringify(content) };
        return (await double.fetch('/x', init)).status;
      };
      for (const content of accepted) assert.equal(await send(content), 204, JSON.stringify(content));
      for (const content of refused) assert.equal(await send(content), 422, JSON.stringify(content));
    });
});
