// Errors in the form of a partner's document.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';

const content = (schema: object, more = {}) => ({
  description: 'an error',
  content: { 'application/json': { schema, ...more } },
});
const error = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'code'],
      properties: {
        message: { type: 'string' },
        code: { type: 'integer' },
        kind: { enum: ['api', 'card'] },
      },
    },
  },
};
const list = {
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', required: ['detail', 'status'], properties: { detail: {}, status: {} } },
    },
  },
};
const operation = (responses: object) => ({
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } },
      },
    },
  },
  responses: { 201: { description: 'created' }, ...responses },
});
const document = {
  openapi: '3.1.0',
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  security: [{ key: [] }],
  paths: {
    '/default': { post: operation({ default: content(error) }) },
    '/own': {
      post: operation({
        401: content({}, { example: { message: 'Unauthorized', status: 401, docs: 'https://docs.example' } }),
        422: content(list, { example: { errors: [{ detail: 'wrong', status: '422' }] } }),
      }),
    },
    '/fixed': { post: operation({ '4XX': content({ const: { message: 'no' } }) }) },
    '/long': {
      post: operation({
        401: content({}, { example: Array.from({ length: 500 }, () => ({ message: 'no' })) }),
      }),
    },
    '/only': { post: { responses: { default: content({ const: { id: 7 } }) } } },
    '/none': { post: operation({ 401: { description: 'no content' } }) },
    '/any': { post: operation({ 401: { description: 'any type', content: { '*/*': { schema: error } } } }) },
    '/headers': {
      post: operation({
        401: {
          ...content(error),
          headers: { 'X-Trace': { schema: { type: 'string', const: 'abc' } } },
        },
      }),
    },
  },
};
const key = 'the-key-of-the-shop';

async function open(more: object = {}): Promise<Double> {
  const options: DoubleOptions = {
    https: false,
    users: { shop: { secret: key } },
    partner: { document, ...more },
  };
  const double = await startDouble(options);
  after(() => double.close());
  return double;
}

async function post(
  double: Double,
  path: string,
  headers: Record<string, string> = { 'X-Key': key },
  body = '{}',
): Promise<{ status: number; type: string | null; body: unknown; headers: Headers }> {
  const response = await fetch(double.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
  const text = await response.text();
  const type = response.headers.get('Content-Type');
  return { status: response.status, type, body: JSON.parse(text), headers: response.headers };
}

describe('an error of an operation', () => {
  test('has the form of `default`, with the reason and the status where the schema permits them', async () => {
    const double = await open();
    const refused = await post(double, '/default', {});
    assert.deepEqual([refused.status, refused.type], [401, 'application/json']);
    assert.match(refused.headers.get('WWW-Authenticate') ?? '', /realm=/);
    const { problem } = double.journal.last();
    assert.deepEqual(refused.body, { error: { message: problem?.detail, code: 401 } });
    assert.equal(problem?.type, 'authentication-required');
    const invalid = await post(double, '/default');
    assert.deepEqual(invalid.body, { error: { message: double.journal.last().problem?.detail, code: 422 } });
  });

  test('has the example of its own status, with what the partner adds', async () => {
    const double = await open();
    const refused = await post(double, '/own', { 'X-Key': 'wrong' });
    assert.deepEqual(refused.body, {
      message: double.journal.last().problem?.detail,
      status: 401,
      docs: 'https://docs.example',
    });
    const invalid = await post(double, '/own');
    assert.deepEqual(invalid.body, {
      errors: [{ detail: double.journal.last().problem?.detail, status: '422' }],
    });
  });

  test('has the nearest form of its class if its status has none', async () => {
    const double = await open();
    const malformed = await post(double, '/own', { 'X-Key': key }, '{"sku":');
    assert.equal(malformed.status, 400);
    assert.deepEqual(Object.keys(malformed.body as object), ['message', 'status', 'docs']);
  });

  test('has the reason also where any type is documented', async () => {
    const double = await open();
    const { type, body } = await post(double, '/any', {});
    const message = double.journal.last().problem?.detail;
    assert.deepEqual([type, body], ['application/json', { error: { message, code: 401 } }]);
  });

  test('keeps what the schema does not permit to change', async () => {
    assert.deepEqual((await post(await open(), '/fixed', {})).body, { message: 'no' });
  });

  test('has the reason in the first members of a long list only, since each is a check of the whole', async () => {
    const double = await open();
    const { body } = await post(double, '/long', {});
    const { problem } = double.journal.last();
    assert.ok(Array.isArray(body) && body.length === 500);
    assert.deepEqual(body.at(0), { message: problem?.detail });
    assert.deepEqual(body.at(-1), { message: 'no' });
  });

  test('has the documented header fields beside those of the refusal', async () => {
    const { headers } = await post(await open(), '/headers', {});
    assert.equal(headers.get('X-Trace'), 'abc');
    assert.match(headers.get('WWW-Authenticate') ?? '', /realm=/);
  });

  test('is a problem in JSON if no error has content in the document, or the client or the option wants one', async () => {
    const double = await open();
    const isProblem = async (sent: ReturnType<typeof post>): Promise<void> => {
      const { type, body } = await sent;
      assert.equal(type, 'application/problem+json');
      assert.match((body as { type: string }).type, /authentication-required$/);
    };
    await isProblem(post(double, '/none', {}));
    await isProblem(post(double, '/only', {}));
    await isProblem(post(double, '/default', { Prefer: 'problem' }));
    await isProblem(post(await open({ errors: 'problem' }), '/default', {}));
  });
});

describe('the reason of an error', () => {
  const text = { type: 'string' };
  const forms = {
    'a text named error, alone': [{ error: text }, (reason: string) => ({ error: reason })],
    'error beside its description': [
      { error: text, error_description: text },
      (reason: string) => ({ error: 'authentication-required', error_description: reason }),
    ],
    'err beside the status': [
      { status: { type: 'number' }, err: text },
      (reason: string) => ({ status: 401, err: reason }),
    ],
    'members that are not required, without those of fixed values': [
      {
        extensions: { type: 'object' },
        detail: text,
        status: { type: 'integer' },
        kind: { enum: ['a'] },
        code: { enum: ['b'] },
      },
      (reason: string) => ({ extensions: {}, detail: reason, status: 401 }),
      ['extensions'],
    ],
    'the item of a list that may be empty': [
      { errors: { type: 'array', items: { type: 'object', properties: { title: text, detail: text } } } },
      (reason: string) => ({ errors: [{ title: 'Authentication is required', detail: reason }] }),
    ],
    'nothing where no item is permitted': [
      { errors: { type: 'array', items: text, maxItems: 0 } },
      () => ({ errors: [] }),
    ],
    'a list of texts': [
      { errors: { type: 'array', minItems: 1, items: text } },
      (reason: string) => ({ errors: [reason] }),
    ],
  } as const;
  for (const [what, [properties, expected, required = Object.keys(properties)]] of Object.entries(forms))
    test(`stands in ${what}`, async () => {
      const schema = { type: 'object', required, properties };
      const paths = { '/x': { post: operation({ 401: content(schema) }) } };
      await using double = await startDouble({ partner: { document: { ...document, paths } } });
      const { body } = await post(double, '/x', {});
      assert.deepEqual(body, expected(double.journal.last().problem?.detail ?? ''));
    });
});

test('errors within errors end after a few', async () => {
  const errors = { type: 'array', items: { $ref: '#/components/schemas/Fault' } };
  const properties = { errors, message: { type: 'string' } };
  const fault = { type: 'object', required: ['errors'], properties };
  const paths = { '/x': { post: operation({ 401: content({ $ref: '#/components/schemas/Fault' }) }) } };
  const components = { ...document.components, schemas: { Fault: fault } };
  await using double = await startDouble({ partner: { document: { ...document, paths, components } } });
  const text = await (await fetch(`${double.url}/x`, { method: 'POST', body: '{}' })).text();
  assert.equal(JSON.parse(text).message, double.journal.last().problem?.detail);
  assert.ok(text.split('errors').length < 6, text);
});

test('another form of errors is rejected with the known ones', async () => {
  await assert.rejects(
    startDouble({ partner: { document, errors: 'problems' } as object }),
    /errors.*did you mean "problem"/,
  );
});

describe('what no operation answers', () => {
  const get = {
    responses: {
      200: { description: 'OK', content: { 'application/json': { schema: { type: 'object' } } } },
      '4XX': content({ type: 'object', required: ['message'], properties: { message: { type: 'string' } } }),
    },
  };
  const partner = { openapi: '3.1.0', paths: { '/x': { get } } };
  const requests = {
    'another method': {
      init: { method: 'DELETE' },
      status: 405,
      allow: 'HEAD, GET, OPTIONS',
      reason: /DELETE/,
    },
    'another type': {
      init: { headers: { Accept: 'text/csv' } },
      status: 406,
      allow: null,
      reason: /application\/json/,
    },
  };
  for (const [what, { init, status, allow, reason }] of Object.entries(requests))
    test(`${what} gets ${status} in the documented form`, async () => {
      await using double = await startDouble({ partner });
      const response = await double.fetch('/x', init);
      assert.deepEqual(
        [response.status, response.headers.get('allow'), response.headers.get('content-type')],
        [status, allow, 'application/json'],
      );
      const { message, ...others } = JSON.parse(await response.text());
      assert.match(message, reason);
      assert.deepEqual(others, {});
    });

  test('HEAD gets the fields of an error without its content', async () => {
    await using double = await startDouble({ partner });
    const response = await double.fetch('/x', { method: 'HEAD', headers: { Accept: 'text/csv' } });
    assert.deepEqual([response.status, response.headers.get('content-type')], [406, 'application/json']);
    assert.equal(await response.text(), '');
  });
});
