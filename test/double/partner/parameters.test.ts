// How a double reads parameters and forms, as the document says that they are written (OpenAPI 3.1.1, Style Values; RFC 6570 §3.2).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';

type Parameter = Readonly<Record<string, unknown>>;

const list = { type: 'array', minItems: 2, maxItems: 2, items: { type: 'integer' } };
const one = { type: 'array', minItems: 1, maxItems: 1, items: { type: 'string' } };
const colour = {
  type: 'object',
  required: ['R', 'G'],
  properties: { R: { type: 'integer' }, G: { type: 'integer' } },
  additionalProperties: false,
};
const free = { type: 'object', minProperties: 1, additionalProperties: { type: 'integer' } };

/** Returns a document with `GET /x` or, if there is a parameter in the path, `GET /x/{p}`. */
function withParameters(parameters: readonly Parameter[]) {
  const path = parameters.some((each) => each['in'] === 'path') ? '/x/{p}' : '/x';
  return {
    openapi: '3.1.0',
    paths: { [path]: { get: { parameters, responses: { 204: { description: 'Done' } } } } },
  };
}

const inPath = { name: 'p', in: 'path', required: true };
const inQuery = { name: 'p', in: 'query', required: true };
const inHeader = { name: 'X-P', in: 'header', required: true };
const inCookie = { name: 'p', in: 'cookie', required: true };

const targets: readonly (readonly [
  what: string,
  parameters: readonly Parameter[],
  accepted: readonly string[],
  refused: readonly string[],
])[] = [
  [
    'an empty text, the only item of a list (RFC 6570 §3.2.8)',
    [{ ...inQuery, schema: { type: 'array', items: { type: 'string' }, minItems: 1 } }],
    ['/x?p=', '/x?p=a'],
    ['/x'],
  ],
  [
    'an empty text, an empty list where no item is a text',
    [{ ...inQuery, schema: { type: 'array', items: { type: 'integer' } } }],
    ['/x?p=', '/x?p=1'],
    ['/x?p=a'],
  ],
  ['simple list in a path', [{ ...inPath, schema: list }], ['/x/1,2'], ['/x/1%2C2', '/x/1', '/x/1,2,3']],
  ['an encoded comma in a path', [{ ...inPath, schema: one }], ['/x/a%2Cb', '/x/a'], ['/x/a,b']],
  ['simple object', [{ ...inPath, schema: colour }], ['/x/R,1,G,2'], ['/x/R,1', '/x/R=1,G=2']],
  ['simple object, explode', [{ ...inPath, explode: true, schema: colour }], ['/x/R=1,G=2'], ['/x/R,1,G,2']],
  ['label', [{ ...inPath, style: 'label', schema: { type: 'integer' } }], ['/x/.5'], ['/x/.a']],
  ['label list', [{ ...inPath, style: 'label', schema: list }], ['/x/.1,2', '/x/.1.2'], ['/x/.1', '/x/.1.a']],
  [
    'label list, explode',
    [{ ...inPath, style: 'label', explode: true, schema: list }],
    ['/x/.1.2'],
    ['/x/.1'],
  ],
  [
    'label object, explode',
    [{ ...inPath, style: 'label', explode: true, schema: colour }],
    ['/x/.R=1.G=2'],
    ['/x/.R=1.G=a', '/x/.R.1.G.2'],
  ],
  [
    'label object',
    [{ ...inPath, style: 'label', schema: colour }],
    ['/x/.R,1,G,2', '/x/.R.1.G.2'],
    ['/x/.R,1'],
  ],
  ['matrix', [{ ...inPath, style: 'matrix', schema: { type: 'integer' } }], ['/x/;p=5'], ['/x/;p=a']],
  ['matrix list', [{ ...inPath, style: 'matrix', schema: list }], ['/x/;p=1,2'], ['/x/;p=1']],
  [
    'matrix list, explode',
    [{ ...inPath, style: 'matrix', explode: true, schema: list }],
    ['/x/;p=1;p=2'],
    ['/x/;p=1', '/x/;p=1;p=a'],
  ],
  ['matrix object', [{ ...inPath, style: 'matrix', schema: colour }], ['/x/;p=R,1,G,2'], ['/x/;p=R,1']],
  [
    'matrix object, explode',
    [{ ...inPath, style: 'matrix', explode: true, schema: colour }],
    ['/x/;R=1;G=2'],
    ['/x/;R=1'],
  ],
  [
    'form list, explode',
    [{ ...inQuery, schema: list }],
    ['/x?p=1&p=2', '/x?p[]=1&p[]=2'],
    ['/x?p=1,2', '/x'],
  ],
  ['form list', [{ ...inQuery, explode: false, schema: list }], ['/x?p=1,2'], ['/x?p=1%2C2', '/x?p=1']],
  [
    'an encoded comma in a query',
    [{ ...inQuery, explode: false, schema: one }],
    ['/x?p=a%2Cb', '/x?p=a+b'],
    ['/x?p=a,b'],
  ],
  ['form object', [{ ...inQuery, explode: false, schema: colour }], ['/x?p=R,1,G,2'], ['/x?R=1&G=2']],
  ['form object, explode', [{ ...inQuery, schema: colour }], ['/x?R=1&G=2'], ['/x?R=1', '/x?R=1&G=2&B=3']],
  [
    'pipes and spaces, which are encoded',
    [{ ...inQuery, style: 'pipeDelimited', explode: false, schema: list }],
    ['/x?p=1%7C2', '/x?p=1|2'],
    ['/x?p=1'],
  ],
  [
    'spaces',
    [{ ...inQuery, style: 'spaceDelimited', explode: false, schema: list }],
    ['/x?p=1%202', '/x?p=1+2'],
    ['/x?p=1'],
  ],
  ['deepObject', [{ ...inQuery, style: 'deepObject', schema: colour }], ['/x?p[R]=1&p[G]=2'], ['/x?p[R]=1']],
  [
    'an empty value with allowEmptyValue',
    [{ ...inQuery, allowEmptyValue: true, schema: { type: 'integer' } }],
    ['/x?p=', '/x?p', '/x?p=1'],
    ['/x?p=a', '/x'],
  ],
  ['an empty value', [{ ...inQuery, schema: { type: 'integer' } }], ['/x?p=1'], ['/x?p=', '/x?p']],
  [
    'a query of any names beside a listed one',
    [
      { ...inQuery, name: 'limit', required: false, schema: { type: 'integer' } },
      { ...inQuery, schema: free },
    ],
    ['/x?a=1&limit=2', '/x?a=1&b=2'],
    ['/x?a=x', '/x?limit=2', '/x?a=1&limit=x'],
  ],
];

describe('parameters of targets', () => {
  for (const [what, parameters, accepted, refused] of targets)
    test(what, async () => {
      await using double = await startDouble({ partner: withParameters(parameters), https: false });
      for (const target of accepted) assert.equal((await double.fetch(target)).status, 204, target);
      for (const target of refused) assert.equal((await double.fetch(target)).status, 400, target);
    });
});

const lines = (...values: readonly string[]) => values.map((value): [string, string] => ['X-P', value]);
const cookie = (value: string) => [['Cookie', value] as [string, string]];

const fields: readonly (readonly [
  what: string,
  parameter: Parameter,
  accepted: readonly [string, string][][],
  refused: readonly [string, string][][],
])[] = [
  [
    'a list in a field, with white space, in several lines, with empty parts',
    { ...inHeader, schema: list },
    [lines('1,2'), lines('1 ,\t2'), lines('1', '2'), lines(', 1,, 2')],
    [lines('1'), lines('1, a'), lines('1', '2', '3')],
  ],
  ['an object in a field', { ...inHeader, schema: colour }, [lines('R, 1, G, 2')], [lines('R, 1')]],
  [
    'an object in a field, explode',
    { ...inHeader, explode: true, schema: colour },
    [lines('R=1, G=2'), lines('R=1', 'G=2')],
    [lines('R=1')],
  ],
  [
    'text in a field is not split',
    { ...inHeader, schema: { const: 'a, b' } },
    [lines('a, b')],
    [lines('a,b')],
  ],
  [
    'JSON in a field',
    { ...inHeader, content: { 'application/json': { schema: colour } } },
    [lines('{"R":1,"G":2}')],
    [lines('{"R":1}'), lines('R')],
  ],
  [
    'a list in a cookie',
    { ...inCookie, explode: false, schema: list },
    [cookie('p=1,2')],
    [cookie('p=1%2C2')],
  ],
  [
    'several cookies',
    { ...inCookie, schema: list },
    [cookie('p=1; p=2')],
    [cookie('p=1'), cookie('p=1; p=a')],
  ],
  ['members as cookies', { ...inCookie, schema: colour }, [cookie('G=2; R=1')], [cookie('R=1')]],
];

describe('parameters in fields', () => {
  for (const [what, parameter, accepted, refused] of fields)
    test(what, async () => {
      await using double = await startDouble({ partner: withParameters([parameter]), https: false });
      const statusOf = async (headers: [string, string][]) => (await double.fetch('/x', { headers })).status;
      for (const headers of accepted) assert.equal(await statusOf(headers), 204, JSON.stringify(headers));
      for (const headers of refused) assert.equal(await statusOf(headers), 400, JSON.stringify(headers));
    });
});

const json = (value: unknown) =>
  new Blob([typeof value === 'string' ? value : JSON.stringify(value)], { type: 'application/json' });
const meta = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
const file = (size: number) => new Blob([new Uint8Array(size).fill(0xe9)], { type: 'image/png' });

const forms: readonly (readonly [
  what: string,
  media: Readonly<Record<string, unknown>>,
  parts: readonly (readonly [name: string, value: string | Blob])[],
  status: number,
])[] = [
  ['a part of JSON', { properties: { meta } }, [['meta', json({ n: 1 })]], 204],
  ['a part of JSON with a wrong member', { properties: { meta } }, [['meta', json({ n: '1' })]], 422],
  ['a part of JSON as text', { properties: { meta } }, [['meta', '{"n":1}']], 204],
  ['a part that is not the JSON that it declares', { properties: { meta } }, [['meta', json('{')]], 400],
  ['a part of JSON with a member twice', { properties: { meta } }, [['meta', json('{"n":1,"n":2}')]], 400],
  [
    'several parts of JSON',
    { properties: { meta: { type: 'array', minItems: 2, items: meta } } },
    [
      ['meta', json({ n: 1 })],
      ['meta', json({ n: 2 })],
    ],
    204,
  ],
  [
    'one part of JSON with a list',
    { properties: { meta: { type: 'array', minItems: 2, items: meta } } },
    [['meta', json([{ n: 1 }, { n: 2 }])]],
    204,
  ],
  [
    'a file of the permitted length',
    { properties: { photo: { type: 'string', format: 'binary', minLength: 9, maxLength: 9 } } },
    [['photo', file(9)]],
    204,
  ],
  [
    'a file that is too long',
    { properties: { photo: { type: 'string', maxLength: 9 } } },
    [['photo', file(10)]],
    422,
  ],
];

describe('parts of multipart/form-data', () => {
  for (const [what, schema, parts, status] of forms)
    test(what, async () => {
      const content = { 'multipart/form-data': { schema: { type: 'object', ...schema } } };
      const post = { requestBody: { content }, responses: { 204: { description: 'Done' } } };
      await using double = await startDouble({
        partner: { openapi: '3.0.3', paths: { '/x': { post }, '/s': { post } } },
        https: false,
      });
      double.stub({ method: 'POST', path: '/s' }, { status: 204 }, { access: 'anyone' });
      for (const path of ['/x', '/s']) {
        const body = new FormData();
        for (const [name, value] of parts) body.append(name, value);
        const response = await double.fetch(path, { method: 'POST', body });
        assert.equal(response.status, status, `${path}: ${await response.text()}`);
      }
    });
});

const encoded: readonly (readonly [
  what: string,
  properties: Readonly<Record<string, unknown>>,
  encoding: Readonly<Record<string, unknown>>,
  accepted: readonly string[],
  refused: readonly string[],
])[] = [
  [
    'contentType JSON',
    { p: list },
    { p: { contentType: 'application/json' } },
    ['p=[1,2]'],
    ['p=["1",2]', 'p=[1]'],
  ],
  ['explode false', { p: list }, { p: { style: 'form', explode: false } }, ['p=1,2'], ['p=1&p=2&p=3', 'p=1']],
  ['pipes', { p: list }, { p: { style: 'pipeDelimited' } }, ['p=1|2'], ['p=1,2']],
  ['deepObject', { p: colour }, { p: { style: 'deepObject' } }, ['p[R]=1&p[G]=2'], ['p[R]=1']],
  [
    'an object in one text',
    { p: colour },
    { p: { style: 'form', explode: false } },
    ['p=R,1,G,2'],
    ['p=R,1'],
  ],
  [
    'names whose brackets are documented, as they stand',
    { 'p[q]': { type: 'string' }, 'ids[]': { type: 'array', items: { type: 'integer' } }, sort: colour },
    {},
    ['p[q]=tea&ids[]=1', 'p%5Bq%5D=tea&ids%5B%5D=1&ids%5B%5D=2&sort[R]=1&sort[G]=2'],
    ['ids[]=x', 'p[q]=tea&sort[R]=x&sort[G]=2'],
  ],
  ['no encoding', { p: list, q: colour }, {}, ['p=1&p=2', 'q={"R":1,"G":2}'], ['p=1,2', 'q={"R":1}']],
];

describe('the Encoding Object of a form', () => {
  for (const [what, properties, encoding, accepted, refused] of encoded)
    test(what, async () => {
      const type = 'application/x-www-form-urlencoded';
      const content = { [type]: { schema: { type: 'object', properties }, encoding } };
      const post = { requestBody: { content }, responses: { 204: { description: 'Done' } } };
      await using double = await startDouble({
        partner: { openapi: '3.0.3', paths: { '/x': { post } } },
        https: false,
      });
      const send = async (body: string) =>
        (await double.fetch('/x', { method: 'POST', headers: { 'Content-Type': type }, body })).status;
      for (const body of accepted) assert.equal(await send(body), 204, body);
      for (const body of refused) assert.equal(await send(body), 422, body);
    });
});
