import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { type DoubleOptions, startDouble } from '../../../src/double/index.ts';
import { root } from '../../support/documents/markdown.ts';
import { ordersDocument } from '../../support/double/orders-document.ts';
import { missingPackage } from '../../support/packages.ts';

const users = { ann: { secret: 's3cret of ann', password: 'pw of ann' } };
const json = { 'Content-Type': 'application/json' };
const now = '2026-03-01T12:00:00Z';

function start(options: DoubleOptions = {}) {
  return startDouble({ users, partner: ordersDocument(), randomSeed: 1, now, onError: () => {}, ...options });
}

/** Returns the JSON of a response. */
async function read(response: Response) {
  return JSON.parse(await response.text());
}

/** Returns the errors of a problem, each with its member and its rule. */
async function errorsIn(response: Response): Promise<readonly string[]> {
  const { errors }: { errors: readonly { field: string; rule: string }[] } = await read(response);
  return errors.map(({ field, rule }) => `${field} ${rule}`);
}

test('an operation returns the smallest value of its schema, determined by the seed', async () => {
  await using double = await start();
  const { status, headers } = await double.fetch('/orders/ord_1');
  assert.deepEqual([status, headers.get('content-type')], [200, 'application/json']);
  const order = await read(await double.fetch('/orders/ord_1'));
  assert.deepEqual(Object.keys(order), ['id', 'total', 'createdAt']);
  assert.match(order.id, /^ord_\d$/);
  assert.deepEqual([order.total, order.createdAt], [1, '2026-03-01T12:00:00.000Z']);
  await using same = await start();
  assert.deepEqual(await (await same.fetch('/orders/ord_2')).json(), order);
  await using other = await start({ randomSeed: 5 });
  assert.notDeepEqual(await (await other.fetch('/orders/ord_2')).json(), order);
});

test('paths are found at the root and below the path of the server, with text beside parameters', async () => {
  await using double = await start();
  assert.equal((await double.fetch('/v1/orders/ord_1')).status, 200);
  assert.equal((await double.fetch('/v2/orders/ord_1')).status, 404);
  const report = await double.fetch('/reports/2026-01-01..2026-02-01.csv');
  assert.deepEqual([report.status, await report.text()], [200, 'day,total\n']);
  const wrong = await double.fetch('/reports/2026-01-01..soon.csv');
  assert.deepEqual(
    [wrong.status, (await errorsIn(wrong)).map((each) => each.split(' ')[0])],
    [400, ['path.to']],
  );
  const deleted = await double.fetch('/orders/ord_1', { method: 'DELETE' });
  assert.deepEqual([deleted.status, deleted.headers.get('allow')], [405, 'HEAD, GET, OPTIONS']);
  assert.equal((await double.fetch('/orders/ord_1', { method: 'HEAD' })).status, 200);
});

test('OAuth 2.0 tokens are issued at the documented path, and require the scopes of the operation', async () => {
  const client = { secret: 'client secret', grants: ['client_credentials'] } as const;
  await using double = await start({ clients: { app: client } });
  const tokenFor = async (scope: string): Promise<string> => {
    const response = await double.fetch(`${double.secureUrl}/connect/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa('app:client secret')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
    });
    assert.equal(response.status, 200, await response.clone().text());
    return (await read(response)).access_token;
  };
  const create = async (token: string): Promise<Response> =>
    double.fetch(`${double.secureUrl}/orders`, {
      method: 'POST',
      headers: { ...json, Authorization: `Bearer ${token}` },
      body: JSON.stringify({ sku: 'tea', payment: { kind: 'Transfer' } }),
    });
  assert.equal((await create(await tokenFor('orders:read orders:write'))).status, 201);
  const refused = await create(await tokenFor('orders:read'));
  assert.equal(refused.status, 403);
  assert.match(refused.headers.get('www-authenticate') ?? '', /scope="orders:write"/);
  assert.equal(
    (await create((await double.oauth2.issueToken()).accessToken)).status,
    201,
    'all scopes by default',
  );
  const unknown = await double.fetch(`${double.secureUrl}/connect/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa('app:client secret')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'orders:delete' }),
  });
  assert.equal((await read(unknown)).error, 'invalid_scope');
});

test('a scheme of the options replaces the documented one', async () => {
  const schemes = {
    key: {
      message: '{timestamp}.{body}',
      signature: { field: 'X-Sig' },
      user: 'ann',
      timestamp: { field: 'X-Time' },
    },
  };
  await using double = await start({ schemes });
  assert.equal((await double.as('ann', { scheme: 'key' }).fetch('/orders')).status, 200);
  const plain = await double.fetch(`${double.secureUrl}/orders`, {
    headers: { 'X-API-Key': users.ann.secret },
  });
  assert.equal(plain.status, 401);
});

test('a key of API Gateway with the type awsSigv4 is verified as AWS Signature Version 4', async () => {
  const sigv4 = {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    'x-amazon-apigateway-authtype': 'awsSigv4',
  };
  const partner = {
    openapi: '3.0.1',
    components: { securitySchemes: { sigv4Reference: sigv4 } },
    paths: {
      '/shipments': {
        get: { security: [{ sigv4Reference: [] }], responses: { 204: { description: 'None' } } },
      },
    },
  };
  await assert.rejects(startDouble({ partner: { document: partner, strict: true }, users }), {
    message: /sigv4Reference.*AWS Signature Version 4.*schemes: \{ aws4/,
  });
  const schemes = { aws4: { region: 'eu-central-1', service: 'execute-api' } };
  await using double = await startDouble({ partner, users, schemes });
  assert.equal((await double.as('ann', { scheme: 'aws4' }).fetch('/shipments')).status, 204);
  assert.equal(
    (await double.fetch('/shipments', { headers: { Authorization: users.ann.secret } })).status,
    401,
  );
});

test('invalid content is rejected with 422 and the paths of the member and of the rule', async () => {
  await using double = await start();
  const client = double.as('ann', { scheme: 'key' });
  const send = (body: unknown, headers: Record<string, string> = json) =>
    client.fetch('/orders', {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const good = { sku: 'tea', payment: { kind: 'card', number: '4242' } };
  assert.equal((await send(good)).status, 201);
  const wrong = await send(
    { count: 0, colour: 'red', payment: { kind: 'card' } },
    { ...json, Prefer: 'problem' },
  );
  assert.equal(wrong.status, 422);
  const schema = '#/components/schemas/NewOrder';
  assert.deepEqual(await errorsIn(wrong), [
    `/sku ${schema}/required`,
    `/count ${schema}/properties/count/minimum`,
    `/colour ${schema}/additionalProperties`,
    '/payment/number #/components/schemas/Card/required',
  ]);
  assert.match(String(double.journal.last()), /422, invalid-content, step 15 .*\/sku is missing/);
  assert.equal((await send({ ...good, payment: { kind: 'cash' } })).status, 422);
  assert.equal((await send('{')).status, 400);
  assert.equal((await client.fetch('/orders', { method: 'POST' })).status, 415);
  assert.equal((await send('sku=tea', { 'Content-Type': 'application/x-www-form-urlencoded' })).status, 415);
});

test('Prefer chooses the status, the example and drawn values, and Preference-Applied names them', async () => {
  await using double = await start();
  const client = double.as('ann', { scheme: 'key' });
  const body = JSON.stringify({ sku: 'tea', payment: { kind: 'Transfer' } });
  const prefer = async (value: string): Promise<unknown> => {
    const response = await client.fetch('/orders', {
      method: 'POST',
      headers: { ...json, Prefer: value },
      body,
    });
    const { code } = await read(response);
    return [response.status, response.headers.get('preference-applied'), code];
  };
  assert.deepEqual(await prefer('code=409'), [409, 'code=409', 'taken']);
  assert.deepEqual(await prefer('code=409, example=closed'), [409, 'code=409, example=closed', 'closed']);
  assert.deepEqual(await prefer('code=418'), [201, null, undefined]);
  assert.deepEqual(await prefer('example=lost'), [201, null, undefined]);
  const drawn = await double.fetch('/orders/ord_1', { headers: { Prefer: 'dynamic=true' } });
  assert.equal(drawn.headers.get('preference-applied'), 'dynamic=true');
  const order = await read(drawn);
  assert.deepEqual(Object.keys(order), ['id', 'total', 'createdAt', 'note', 'replaces']);
  assert.notDeepEqual(
    await (await double.fetch('/orders/ord_1', { headers: { Prefer: 'dynamic=true' } })).json(),
    order,
  );
});

test('respond names the operations and the statuses that there are', async () => {
  await using double = await start();
  const { respond } = double.partner;
  respond('GET /reports/{from}..{to}.csv', { status: 204 });
  assert.equal((await double.fetch('/reports/2026-01-01..2026-02-01.csv')).status, 204);
  assert.throws(() => respond('getOrders', 404), /did you mean "getOrder"/);
  assert.throws(() => respond('pay', 404), /has no operation "pay"; the document has listOrders, /);
  assert.throws(() => respond('getOrder', 409), /no response with status 409; the document has 200, 404/);
  assert.throws(() => respond('getOrder', 404, { times: 0 }), /times must be an integer from 1/);
});

test('a collection precedes the document', async () => {
  await using double = await start({
    collections: {
      '/orders': {
        element: 'orders',
        item: 'order',
        fields: { title: { type: 'text' } },
        access: { read: 'authenticated' },
      },
    },
  });
  const { status, headers } = await double.as('ann').fetch('/orders');
  assert.deepEqual([status, headers.get('content-type')], [200, 'application/xml; charset=utf-8']);
  const created = await double.as('ann').fetch('/orders/ord_1');
  assert.equal(created.status, 404, 'the item is one of the collection');
});

test('the coverage counts operations, statuses and parameters, and outlasts a reset', async () => {
  await using double = await start();
  const begun = double.snapshot();
  const client = double.as('ann', { scheme: 'key' });
  await client.fetch('/orders?limit=5');
  await double.fetch('/orders');
  await double.fetch('/orders/ord_1');
  const coverage = double.partner.coverage();
  assert.deepEqual(coverage.uncovered, ['createOrder', 'GET /reports/{from}..{to}.csv']);
  const [list, , get] = coverage.operations;
  assert.deepEqual(list?.statuses, { 200: 1 });
  assert.deepEqual(list?.undocumented, { 401: 1 });
  assert.deepEqual(list?.parameters, {
    'query.limit': 1,
    'query.state': 0,
    'query.filter': 0,
    'header.X-Trace': 0,
  });
  assert.deepEqual(get?.statuses, { 200: 1, 404: 0 });
  assert.match(String(coverage), /^2 of 4 operations, 2 of 6 statuses, 2 of 7 parameters\n/);
  assert.match(String(coverage), /getOrder \(GET \/orders\/\{order-id\}\): 200 × 1; not used: 404/);
  assert.deepEqual(JSON.parse(JSON.stringify(coverage)).uncovered, coverage.uncovered);
  double.restore(begun);
  double.reset();
  assert.equal(double.partner.coverage().uncovered.length, 2, 'it is that of the whole test suite');
});

test('a document is read from a file, and an error names the file and the place', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'partner-'));
  const file = join(folder, 'partner.json');
  writeFileSync(file, JSON.stringify(ordersDocument()));
  await using double = await start({ partner: file });
  assert.equal((await double.fetch('/orders/ord_1')).status, 200);
  const faults: readonly (readonly [document: object | string, message: RegExp])[] = [
    ['{', /partner\.json: #: is not JSON/],
    [{}, /#\/openapi: must be 3\.0, 3\.1 or 3\.2, is missing/],
    [{ swagger: '2.0' }, /#\/swagger: is Swagger; convert/],
    [[], /partner\.json: #: must be an object, is an array/],
  ];
  for (const [document, message] of faults) {
    writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document));
    await assert.rejects(startDouble({ partner: file }), message);
  }
  await assert.rejects(
    startDouble({ partner: join(folder, 'none.json') }),
    /none\.json: cannot be read: ENOENT/,
  );
});

const good = { get: { responses: { 204: { description: 'Done' } } } };
const lost = { $ref: '#/components/schemas/Lost' };
const jsonOf = (schema: unknown) => ({ content: { 'application/json': { schema } } });

/** Paths with a mistake, and the place of it. */
const mistakes: readonly (readonly [
  what: string,
  paths: object,
  place: RegExp,
  requests?: readonly string[],
])[] = [
  ['a path without a slash', { orders: {} }, /#\/paths\/orders: must begin with a slash/, []],
  ['no list of parameters', { '/a': { get: { parameters: {} } } }, /~1a\/get\/parameters: must be an array/],
  ['null for parameters', { '/a': { get: { parameters: null } } }, /~1a\/get\/parameters: must be an array/],
  [
    'a path in another file',
    { '/a': { $ref: 'other.json' } },
    /~1a: \$ref "other\.json" leads to another file, and the document was not read from one/,
    ['GET /a', 'POST /a'],
  ],
  [
    'a reference to nothing',
    { '/a': { get: { responses: { 200: { $ref: '#/x' } } } } },
    /\$ref "#\/x" leads nowhere: # has no x/,
  ],
  ['a malformed status', { '/a': { get: { responses: { two: {} } } } }, /responses\/two: is not a status/],
  ['an unknown scheme', { '/a': { get: { security: [{ key: [] }] } } }, /there is no security scheme "key"/],
  [
    'null for scopes',
    { '/a': { get: { security: [{ key: null }] } } },
    /security\/0\/key: must be an array, is null/,
  ],
  [
    'a lost schema deep in a response',
    { '/a': { get: { responses: { 200: { description: '', ...jsonOf({ items: lost }) } } } } },
    /has no Lost/,
  ],
  [
    'a lost schema behind a reference',
    {
      '/a': {
        get: { responses: { 200: { description: '', ...jsonOf({ $ref: '#/components/schemas/Using' }) } } },
      },
    },
    /has no Lost/,
  ],
  [
    'a lost schema in a parameter of the path',
    { '/a': { parameters: [{ name: 'p', in: 'query', schema: lost }], ...good } },
    /has no Lost/,
  ],
  [
    'examples beside media types',
    {
      '/a': {
        post: { requestBody: { content: { 'application/json': {}, examples: { one: { value: 1 } } } } },
      },
    },
    /content\/examples: is not a media type/,
    ['POST /a'],
  ],
  ['a parameter twice in a path', { '/a/{b}/{b}': good }, /has the parameter b twice/, ['GET /a/1/2']],
  [
    'a reference in a circle',
    {
      '/a': {
        get: { responses: { 200: { description: '', ...jsonOf({ $ref: '#/components/schemas/Circle' }) } } },
      },
    },
    /circle of references/,
  ],
];

for (const [what, paths, place, requests = ['GET /a']] of mistakes)
  test(`a document with ${what} starts, and only what uses it answers 501 with the place`, async () => {
    const schemas = {
      Using: { properties: { a: lost, good: { $ref: '#/components/schemas/Good' } } },
      Good: { type: 'object' },
      Circle: { $ref: '#/components/schemas/Circle' },
    };
    const using = {
      get: { responses: { 200: { description: '', ...jsonOf({ $ref: '#/components/schemas/Good' }) } } },
    };
    const partner = {
      openapi: '3.1.0',
      paths: { '/good': good, '/using': using, ...paths },
      components: { schemas },
    };
    const errors: unknown[] = [];
    await using double = await startDouble({
      partner,
      https: false,
      onError: (error) => void errors.push(error),
    });
    assert.equal((await double.fetch('/good')).status, 204);
    assert.equal((await double.fetch('/using')).status, 200);
    for (const request of requests) {
      const [method = '', path = ''] = request.split(' ');
      const response = await double.fetch(path, { method });
      assert.equal(response.status, 501, request);
      assert.match((await read(response)).detail, place);
    }
    assert.match(double.partner.faults.join('\n'), place);
    assert.match(String(errors), place);
    await assert.rejects(startDouble({ partner: { document: partner, strict: true } }), {
      name: 'DeclarationError',
    });
  });

test('paths with a query or a fragment, and templates of one shape, are all found', async () => {
  const returningText = (text: string, parameters: readonly object[] = []) => ({
    get: {
      parameters,
      responses: { 200: { description: text, content: { 'text/plain': { example: text } } } },
    },
  });
  const parameter = (name: string, schema: object) => ({ name, in: 'path', required: true, schema });
  const target = { in: 'header', name: 'X-Target', required: true };
  const paths = {
    '/r': returningText('plain'),
    '/r?beta=true': returningText('beta'),
    '/r?alpha': returningText('alpha'),
    '/s#folders': returningText('folders'),
    '/t#One': returningText('one', [{ ...target, schema: { enum: ['One'] } }]),
    '/t#Two': returningText('two', [{ ...target, schema: { enum: ['Two'] } }]),
    '/f/{id}': returningText('by id', [parameter('id', { type: 'string', format: 'uuid' })]),
    '/f/{name}': returningText('by name', [parameter('name', { type: 'string' })]),
    '/f/{page}.pdf': returningText('page', [parameter('page', { type: 'integer' })]),
    '/f/mine': { delete: good.get },
  };
  await using double = await startDouble({ partner: { openapi: '3.0.3', paths }, https: false });
  const textAt = async (path: string, headers = {}) => (await double.fetch(path, { headers })).text();
  assert.equal(await textAt('/r'), 'plain');
  assert.equal(await textAt('/r?beta=true'), 'beta');
  assert.equal(await textAt('/r?alpha=1'), 'alpha');
  assert.equal(await textAt('/s'), 'folders');
  assert.equal(await textAt('/t', { 'X-Target': 'One' }), 'one');
  assert.equal(await textAt('/t', { 'X-Target': 'Two' }), 'two');
  assert.equal(await textAt('/f/0198f2a0-0000-7000-8000-000000000000'), 'by id');
  assert.equal(await textAt('/f/7.pdf'), 'page');
  assert.equal(await textAt('/f/report.pdf'), 'by name');
  assert.equal(await textAt('/f/mine'), 'by name', 'the nearer template has no GET');
  assert.equal((await double.fetch('/f/mine', { method: 'DELETE' })).status, 204);
  assert.equal((await double.fetch('/f/other', { method: 'DELETE' })).status, 405);
  const counted = double.partner
    .coverage()
    .operations.map(({ operationId, requests }) => [operationId, requests]);
  assert.deepEqual(counted.slice(0, 4), [
    ['GET /r', 1],
    ['GET /r?beta=true', 1],
    ['GET /r?alpha', 1],
    ['GET /s#folders', 1],
  ]);
});

test('dynamic sends all members by default, and Prefer and respond choose otherwise', async () => {
  const schema = { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer' } } };
  const document = documentOf({ get: { operationId: 'list', ...returning(schema) } });
  await using double = await start({ partner: { document, dynamic: true } });
  const names = async (headers = {}) => Object.keys(await read(await double.fetch('/x', { headers })));
  assert.deepEqual(await names(), ['name', 'size']);
  assert.deepEqual(await names({ Prefer: 'dynamic=false' }), []);
  double.partner.respond('list', 200, { dynamic: false, times: 1 });
  assert.deepEqual(await names(), []);
  await assert.rejects(start({ partner: { document, dynamics: true } }), /dynamics/);
});

test('a documented token endpoint answers as documented, unless the request is a form that it has, too', async () => {
  const body = { properties: { grant_type: { type: 'string' } } };
  const post = (...types: readonly string[]) => ({
    security: [],
    requestBody: {
      content: Object.fromEntries(types.map((type) => [type, { schema: { type: 'object', ...body } }])),
    },
    responses: {
      200: {
        description: 'OK',
        content: { 'application/json': { example: { access_token: 'documented' } } },
      },
    },
  });
  const form = 'application/x-www-form-urlencoded';
  const flows = { clientCredentials: { tokenUrl: 'https://partner.example/oauth2/token', scopes: {} } };
  const client = { secret: 'client secret', grants: ['client_credentials'] } as const;
  const tokenFrom = async (types: readonly string[], type: string): Promise<unknown> => {
    const partner = {
      openapi: '3.0.3',
      paths: { '/oauth2/token': { post: post(...types) } },
      components: { securitySchemes: { o: { type: 'oauth2', flows } } },
    };
    await using double = await start({ partner, clients: { app: client } });
    const response = await double.fetch(`${double.secureUrl}/oauth2/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa('app:client secret')}`, 'Content-Type': type },
      body: type === form ? 'grant_type=client_credentials' : '{"grant_type":"client_credentials"}',
    });
    assert.equal(response.status, 200, await response.clone().text());
    return (await read(response)).access_token;
  };
  assert.equal(await tokenFrom(['application/json'], 'application/json'), 'documented');
  assert.equal(await tokenFrom(['application/json', form], 'application/json'), 'documented');
  assert.notEqual(await tokenFrom(['application/json', form], form), 'documented');
  assert.notEqual(await tokenFrom([form], form), 'documented');
});

for (const name of ['yaml', 'js-yaml'])
  test(`YAML is read with ${name} of the project, and dates stay texts`, {
    skip: missingPackage(name),
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'partner-'));
    const file = join(folder, 'partner.yaml');
    writeFileSync(file, yamlDocument);
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(root, 'test/node_modules', name), join(folder, 'node_modules', name));
    await using double = await startDouble({ partner: file, https: false });
    assert.deepEqual(await read(await double.fetch('/x')), { day: '2024-01-31', no: 'no', size: 1 });
    writeFileSync(file, 'openapi: [');
    await assert.rejects(startDouble({ partner: file }), /partner\.yaml: is not YAML: /);
  });

const yamlDocument = `openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /x:
    get:
      responses:
        200:
          description: ok
          content:
            application/json:
              example: { day: 2024-01-31, no: no, size: 1 }
`;

/** Writes a document that consists of several files, and returns its path. */
function writeFiles(files: Readonly<Record<string, object>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-'));
  for (const [name, value] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), JSON.stringify(value));
  }
  return join(folder, 'partner.json');
}

test('a document may consist of several files, whose references are relative to each', async () => {
  const price = { type: 'object', required: ['amount'], properties: { amount: { const: 7 } } };
  const file = writeFiles({
    'partner.json': documentOf({ $ref: 'paths/x.json' }),
    'paths/x.json': { get: returning({ $ref: '../schemas/order.json#/definitions/Order' }) },
    'schemas/order.json': {
      definitions: {
        Order: {
          type: 'object',
          required: ['id', 'price', 'next'],
          properties: {
            id: { $ref: '#/definitions/Id' },
            price: { $ref: 'price%20list.json' },
            next: { $ref: '../partner.json#/components/schemas/Next' },
          },
        },
        Id: { const: 'o-1' },
      },
    },
    'schemas/price list.json': price,
  });
  const document = JSON.parse(readFileSync(file, 'utf8'));
  document.components.schemas.Next = { const: null };
  writeFileSync(file, JSON.stringify(document));
  await using double = await startDouble({ partner: file, https: false });
  assert.deepEqual(await read(await double.fetch('/x')), { id: 'o-1', price: { amount: 7 }, next: null });
});

test('an operation can stand in a file of its own, and so can a description, which is not read', async () => {
  const file = writeFiles({
    'partner.json': {
      ...documentOf({ get: { $ref: 'operations/get.json' } }),
      tags: [{ name: 'orders', description: { $ref: 'texts/orders.md' } }],
    },
    'operations/get.json': returning({ $ref: '../order.json' }),
    'order.json': { const: { id: 7 } },
  });
  await using double = await startDouble({ partner: { document: file, strict: true }, https: false });
  assert.deepEqual(await (await double.fetch('/x')).json(), { id: 7 });
});

test('a file that cannot be read, and a URL, cost the operations that use them', async () => {
  const file = writeFiles({
    'partner.json': {
      ...documentOf({ get: returning({ $ref: 'missing.json' }) }),
      paths: {
        '/missing': { get: returning({ $ref: 'missing.json#/Order' }) },
        '/url': { get: returning({ $ref: 'https://example.com/order.json' }) },
        '/other': { get: returning({ $ref: '/etc/passwd' }) },
        '/above': { get: returning({ $ref: 'a/../../secret.json' }) },
        '/escaped': { get: returning({ $ref: '%2e%2e/secret.json' }) },
        '/text': { get: returning({ $ref: 'notes.txt' }) },
        '/nowhere': { get: returning({ $ref: 'schemas.json#/Ordr' }) },
        '/good': { get: returning({ $ref: 'schemas.json#/Order' }) },
      },
    },
    'schemas.json': { Order: { const: 1 } },
  });
  await using double = await startDouble({ partner: file, https: false });
  assert.equal((await double.fetch('/good')).status, 200);
  for (const path of ['/missing', '/url', '/other', '/above', '/escaped', '/text', '/nowhere'])
    assert.equal((await double.fetch(path)).status, 501, path);
  const reasons = [
    /"missing\.json#\/Order" .*missing\.json: cannot be read: ENOENT/,
    /"https:\/\/example\.com\/order\.json" is not relative: .* no URLs/,
    /"\/etc\/passwd" is not relative/,
    /"a\/\.\.\/\.\.\/secret\.json" leads out of the folder of the document/,
    /"%2e%2e\/secret\.json" leads out of the folder of the document/,
    /"notes\.txt" .* names no file that ends in \.json/,
    /"schemas\.json#\/Ordr" leads nowhere: schemas\.json# has no Ordr/,
  ];
  for (const reason of reasons)
    assert.equal(double.partner.faults.filter((fault) => reason.test(fault)).length, 1, String(reason));
  assert.equal(double.partner.faults.length, reasons.length);
});

test('double.partner throws without a document, and the error lists the existing paths', async () => {
  await using double = await startDouble({ https: false });
  assert.throws(
    () => double.partner,
    /no document of a partner; start it with the option partner\. It serves .*\/articles/,
  );
});

/** A document with one path, `/x`. */
function documentOf(item: Record<string, unknown>, schemas: Record<string, unknown> = {}) {
  return { openapi: '3.1.0', paths: { '/x': item }, components: { schemas } };
}

/** An operation that responds with a value of a schema. */
function returning(schema: Record<string, unknown>, more: Record<string, unknown> = {}) {
  return { responses: { 200: { description: 'OK', content: { 'application/json': { schema, ...more } } } } };
}

test('a HEAD operation is served, and HEAD of an operation with GET has its parameters', async () => {
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } };
  const fields = { 'X-Count': { schema: { type: 'integer', example: 7 } } };
  const head = {
    operationId: 'count',
    parameters: [limit],
    responses: { 200: { description: 'OK', headers: fields }, 404: { description: 'None' } },
  };
  for (const item of [{ head }, { get: returning({ type: 'object' }), head }]) {
    await using double = await start({ partner: documentOf(item) });
    const send = (query: string) => double.fetch(`/x${query}`, { method: 'HEAD' });
    const counted = await send('?limit=1');
    assert.deepEqual([counted.status, counted.headers.get('x-count')], [200, '7']);
    assert.equal((await send('?limit=a')).status, 400);
    assert.equal((await send('?size=1')).status, 400);
    double.partner.respond('count', 404, { times: 1 });
    assert.deepEqual([(await send('')).status, (await send('')).status], [404, 200]);
    const [counts] = double.partner.coverage().operations.filter(({ method }) => method === 'HEAD');
    assert.deepEqual([counts?.requests, counts?.parameters], [5, { 'query.limit': 2 }]);
    const options = await double.fetch('/x', { method: 'OPTIONS' });
    assert.equal(options.headers.get('allow'), 'get' in item ? 'HEAD, GET, OPTIONS' : 'HEAD, OPTIONS');
  }
  const get = { ...returning({ type: 'object' }), parameters: [limit] };
  await using double = await start({ partner: documentOf({ get }) });
  const statuses = ['?limit=1', '?limit=a', '?size=1'].map(async (query) => {
    const response = await double.fetch(`/x${query}`, { method: 'HEAD' });
    return response.status;
  });
  assert.deepEqual(await Promise.all(statuses), [200, 400, 400]);
});

test('content of null is sent as null', async () => {
  for (const operation of [
    returning({ type: ['object', 'null'] }, { example: null }),
    returning({ type: 'null' }),
    returning({ enum: [null] }),
  ]) {
    await using double = await start({ partner: documentOf({ get: operation }) });
    assert.equal(await (await double.fetch('/x')).text(), 'null');
  }
});

test('a documented example is sent where the schema permits no value', async () => {
  const payment = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
  const closed = { $ref: '#/components/schemas/Payment', additionalProperties: false };
  const partner = {
    ...documentOf(
      { get: returning(closed, { examples: { one: { value: { id: 'p-1' } } } }) },
      { Payment: payment },
    ),
    openapi: '3.1.0',
  };
  await using double = await start({ partner });
  assert.deepEqual(await read(await double.fetch('/x')), { id: 'p-1' });
  assert.match(
    String(double.journal.last()),
    /no value of this schema was found: .*; the documented example is sent: \/id is not a known member \(/,
  );
});

test('brackets in names of forms and of deepObject are read, and malformed or deep ones are refused', async () => {
  const schema = { type: 'object', properties: { a: { type: 'object', additionalProperties: true } } };
  const filter = { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } };
  const post = {
    parameters: [filter],
    requestBody: { content: { 'application/x-www-form-urlencoded': { schema } } },
    responses: { 204: { description: 'Done' } },
  };
  await using double = await start({ partner: documentOf({ post }) });
  const statusOf = async (query: string, form: string): Promise<number> => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const response = await double.fetch(`/x${query}`, { method: 'POST', headers, body: form });
    return response.status;
  };
  const deep = (depth: number) => `a${'[b]'.repeat(depth)}=1`;
  const forms = ['a[b]=1&a[c][]=2&a[c][]=3', deep(32), deep(33), 'a[b=1', 'a[b]c=1', '['.repeat(10_000)];
  const statuses = forms.map((form) => statusOf('', form));
  assert.deepEqual(await Promise.all(statuses), [204, 204, 400, 400, 400, 400]);
  const queries = ['?filter[b]=1', '?filter[b=1', `?filter${'[b]'.repeat(33)}=1`, `?${'['.repeat(5000)}=1`];
  const refused = queries.map((query) => statusOf(query, 'a[b]=1'));
  assert.deepEqual(await Promise.all(refused), [204, 400, 400, 400]);
});

test('a member for which no value is permitted has its own example', async () => {
  const email = { type: 'string', format: 'email', pattern: '^\\\\\\\\.$', example: 'ann@shop.example' };
  const schema = { type: 'object', required: ['email'], properties: { email } };
  await using double = await start({ partner: documentOf({ get: returning(schema) }) });
  assert.deepEqual(await read(await double.fetch('/x')), { email: 'ann@shop.example' });
  assert.match(double.journal.last().warnings.join(), /the nearest one is sent: \/email must match/);
});

test('a range with a suffix covers the types that end in it', async () => {
  const content = { 'application/*+json': { schema: { type: 'object' } } };
  const post = {
    requestBody: { required: true, content },
    responses: { 200: { description: 'OK', content } },
  };
  await using double = await start({ partner: documentOf({ post }) });
  const typeOf = async (type: string): Promise<string | number | null> => {
    const init = { method: 'POST', headers: { 'Content-Type': type }, body: '{}' };
    const response = await double.fetch('/x', init);
    return response.status === 200 ? response.headers.get('Content-Type') : response.status;
  };
  assert.equal(await typeOf('application/vnd.shop.v2+json'), 'application/json');
  assert.equal(await typeOf('application/vnd.shop.v2+xml'), 415);
});

test('a documented coding of the content is not sent, because the content has none', async () => {
  const headers = {
    'Content-Encoding': { schema: { type: 'string', example: 'gzip' } },
    'X-Trace': { schema: { type: 'string', example: 'abc' } },
  };
  const get = { responses: { 200: { ...returning({ type: 'object' }).responses[200], headers } } };
  await using double = await start({ partner: documentOf({ get }) });
  const response = await double.fetch('/x');
  assert.deepEqual(
    [response.headers.get('content-encoding'), response.headers.get('x-trace'), await response.text()],
    [null, 'abc', '{}'],
  );
});

test('a documented Prefer does not keep a request from choosing a response', async () => {
  const prefer = { name: 'Prefer', in: 'header', schema: { enum: ['return=minimal'] } };
  const get = {
    parameters: [prefer],
    responses: { 200: { description: 'OK' }, 404: { description: 'None' } },
  };
  await using double = await start({ partner: documentOf({ get }) });
  assert.equal((await double.fetch('/x', { headers: { Prefer: 'code=404' } })).status, 404);
});
