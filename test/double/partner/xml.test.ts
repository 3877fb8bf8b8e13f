// Contents in XML, by the member `xml` of their schemas.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type DoubleOptions, startDouble } from '../../../src/double/index.ts';

const text = { type: 'string' };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const xml = (schema: object, more: object = {}) => ({ content: { 'application/xml': { schema, ...more } } });

const schemas = {
  Order: {
    type: 'object',
    required: ['id', 'total', 'lines'],
    xml: { name: 'order', namespace: 'https://orders.example', prefix: 'o' },
    properties: {
      id: { type: 'integer', example: 7, xml: { attribute: true } },
      total: { type: 'number', example: 1.5, xml: { name: 'sum' } },
      paid: { type: 'boolean', example: true },
      note: { ...text, nullable: true, example: null },
      tags: { type: 'array', items: { ...text, xml: { name: 'tag' } }, example: ['a', 'b & c'] },
      lines: {
        type: 'array',
        minItems: 1,
        xml: { wrapped: true },
        items: { ...ref('Line'), xml: { name: 'ignored' } },
        example: [{ sku: 'tea' }],
      },
    },
  },
  Line: {
    type: 'object',
    required: ['sku'],
    xml: { name: 'line' },
    properties: { sku: text, count: { type: 'integer' } },
  },
  Fault: {
    type: 'object',
    required: ['code', 'message'],
    xml: { name: 'fault' },
    properties: { code: { type: 'integer' }, message: text },
  },
};

const fault = { description: 'A fault', ...xml(ref('Fault')) };
const document = {
  openapi: '3.0.3',
  paths: {
    '/orders': {
      post: {
        requestBody: { required: true, ...xml(ref('Order')) },
        responses: { 200: { description: 'OK', ...xml(ref('Order')) }, 400: fault, 422: fault },
      },
    },
    '/named': {
      get: {
        responses: {
          200: { description: 'OK', ...xml(ref('Line'), { example: '<line><sku>a</sku></line>' }) },
        },
      },
    },
    '/list': {
      get: {
        responses: {
          200: {
            description: 'OK',
            ...xml({ type: 'array', minItems: 2, items: ref('Line'), xml: { name: 'lines' } }),
          },
        },
      },
    },
  },
  components: { schemas },
};

const sent = (inner: string, root = 'order') => `<${root} id="1"><sum>2</sum>${inner}</${root}>`;
const lines = '<lines><line><sku>a</sku></line></lines>';

async function post(body: string, options: DoubleOptions = {}) {
  await using double = await startDouble({ partner: document, https: false, ...options });
  const response = await double.fetch('/orders', {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body,
  });
  const problem = double.journal.last().problem;
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    text: await response.text(),
    problem,
  };
}

describe('responses in XML', () => {
  const bodyOf = (answer: string): string => answer.replace(/^<\?xml[^>]*>\s*/, '');

  test('have names, attributes, namespaces and wrapped lists of the schema', async () => {
    const { status, type, text: answer } = await post(sent(lines));
    assert.deepEqual([status, type], [200, 'application/xml']);
    assert.equal(
      bodyOf(answer),
      '<o:order xmlns:o="https://orders.example" id="7"><sum>1.5</sum><paid>true</paid>' +
        '<note xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>' +
        '<tag>a</tag><tag>b &amp; c</tag><lines><line><sku>tea</sku></line></lines></o:order>',
    );
  });

  test('are an example as it is written', async () => {
    await using double = await startDouble({ partner: document, https: false });
    assert.equal(await (await double.fetch('/named')).text(), '<line><sku>a</sku></line>');
  });

  test('have the items of a list in its element', async () => {
    await using double = await startDouble({ partner: document, https: false });
    const answer = await (await double.fetch('/list')).text();
    assert.equal(bodyOf(answer), '<lines><line><sku/></line><line><sku/></line></lines>');
  });

  test('of a stub are compared with the schema', async () => {
    await using double = await startDouble({ partner: document, https: false, onError: () => {} });
    const anyone = { access: 'anyone' } as const;
    const stub = { status: 200, headers: { 'Content-Type': 'application/xml' } };
    double.stub({ path: '/named' }, { ...stub, body: '<line><count>x</count></line>' }, anyone);
    await double.fetch('/named');
    assert.match(double.journal.last().warnings.join('\n'), /\/sku is missing.*\n\/count must be integer/);
    double.stub({ path: '/named' }, { ...stub, body: '<line><sku>a</sku><count>2</count></line>' }, anyone);
    await double.fetch('/named');
    assert.deepEqual(double.journal.last().warnings, []);
  });
});

describe('requests in XML', () => {
  const accepted: Readonly<Record<string, string>> = {
    'a list in its element': sent(lines),
    'an empty list of other elements': sent(`<note/>${lines}`),
    'a repeated element and a prefix': `<x:order xmlns:x="urn:x" id="1"><x:sum>2</x:sum><tag>a</tag><tag>b</tag>${lines}</x:order>`,
    'null as xsi:nil': sent(
      `<note xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>${lines}`,
    ),
    'text in CDATA': sent(`<note><![CDATA[<a>]]></note>${lines}`),
  };
  for (const [what, body] of Object.entries(accepted))
    test(`${what}: accepted`, async () => {
      const { status, problem } = await post(body);
      assert.deepEqual([status, problem], [200, undefined]);
    });

  const refused: Readonly<Record<string, readonly [body: string, status: number, detail: RegExp]>> = {
    'a member is missing': [sent(''), 422, /\/lines is missing/],
    'an attribute is missing': [`<order><sum>2</sum>${lines}</order>`, 422, /\/id is missing/],
    'a number is none': [sent(lines).replace('2', 'two'), 422, /\/total must be number, is a string/],
    'a member of an item is missing': [sent('<lines><line/></lines>'), 422, /\/lines\/0\/sku is missing/],
    'an item has another name': [
      sent('<lines><row><sku>a</sku></row></lines>'),
      422,
      /\/lines\/0\/sku is missing/,
    ],
    'the root has another name': [
      sent(lines, 'purchase'),
      422,
      /The root element is purchase, and must be order/,
    ],
    'it is malformed': ['<order>', 400, /order/],
    'it has a document type': [`<!DOCTYPE order>${sent(lines)}`, 400, /DOCTYPE|document type/i],
  };
  for (const [what, [body, status, detail]] of Object.entries(refused))
    test(`${what}: refused with ${status}, in the form of the partner`, async () => {
      const answer = await post(body);
      assert.equal(answer.status, status);
      assert.match(answer.problem?.detail ?? '', detail);
      assert.equal(answer.type, 'application/xml');
      assert.match(answer.text, new RegExp(`<fault><code>${status}</code><message>.+</message></fault>`));
    });

  test('a problem document is sent if the option or the client asks for it', async () => {
    const { type } = await post(sent(''), { partner: { document, errors: 'problem' } });
    assert.match(type ?? '', /^application\/problem\+/);
  });
});
