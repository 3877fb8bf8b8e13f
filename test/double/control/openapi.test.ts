import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { defaultCollections } from '../../../src/collections/declaration.ts';
import { startDouble } from '../../../src/double/index.ts';
import { root } from '../../support/cli/command.ts';
import { createConsole } from '../../support/double/control-client.ts';
import { ordersDocument } from '../../support/double/orders-document.ts';
import { missingPackage, resolvePackage } from '../../support/packages.ts';

type Json = Readonly<Record<string, unknown>>;
interface Told {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

async function opened() {
  const double = await startDouble({
    partner: ordersDocument(),
    collections: defaultCollections(),
    users: ['ann'],
    clients: { app: { redirectUris: ['https://client.example/cb'], scopes: ['read'] } },
    consumers: { printer: { secret: 'a-secret-of-the-printer', callbacks: ['oob'] } },
  });
  const control = await double.openControl();
  const send = createConsole(control);
  const document = await send.send('GET', '/openapi.json');
  return { double, control, send, document, [Symbol.asyncDispose]: () => double.close() };
}

/** Every operation of a document with its path and method. */
function listOperations(document: { paths: Readonly<Record<string, Readonly<Record<string, Told>>>> }) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, told]) => ({ path, method: method.toUpperCase(), told })),
  );
}

/** What each operation that reads is sent here, in the order in which they are called. */
const contents: Readonly<Record<string, (known: Json) => Json>> = {
  seed: () => ({ '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] }),
  restore: ({ snapshot }) => ({ snapshot }),
  advanceClock: () => ({ by: '90s' }),
  setClock: () => ({ to: '2026-03-01T12:00:00Z' }),
  freezeClock: () => ({}),
  skewServerDate: () => ({ by: 0 }),
  planFault: () => ({
    fault: { status: 503 },
    match: { method: ['PUT', 'POST'], user: 'ann', query: { limit: '1' }, headers: { 'X-Foo': 'bar' } },
    times: 2,
  }),
  findEntries: () => ({ method: 'GET', path: '/articles', status: 200, step: 16, text: '' }),
  listEntries: () => ({ after: 0, limit: 10 }),
  send: () => ({ text: 'GET /articles HTTP/1.1\r\nHost: a.example\r\n\r\n', secure: false, timeout: 5000 }),
  sign: () => ({ user: 'ann', method: 'GET', url: '/articles?limit=1' }),
  items: () => ({ collection: '/articles', after: 0, limit: 10 }),
  waitForEntry: () => ({ match: { path: '/articles' }, timeout: 10, after: 0 }),
  setUser: () => ({ secret: 'another', password: 'pw' }),
  addKey: () => ({ algorithm: 'hmac-sha256', secret: 'shared' }),
  rotateSecret: () => ({ secret: 'one more', grace: 1000 }),
  addStub: () => ({
    match: {
      method: ['PATCH', 'POST'],
      path: '/orders/{id}',
      query: { page: '1' },
      headers: { 'X-One': '1' },
    },
    response: { status: 201, headers: { Location: '/orders/2' }, body: { id: 2, notes: null } },
    access: ['ann'],
    schemes: ['hmac'],
    times: 2,
  }),
  respondAsPartner: () => ({ operationId: 'getOrder', response: 404, times: 1 }),
  addCollection: () => ({ path: '/notes', declaration: { element: 'notes', item: 'note', fields: {} } }),
  adversary: () => ({
    request: { url: 'https://partner.example/', method: 'PUT', body: 'x', headers: [['X-One', '1']] },
    signer: { scheme: 'hmac', user: 'ann', signBody: true },
  }),
  waitForEvent: () => ({ type: 'token-issued', client: 'app', timeout: 10, after: 0 }),
  burnNonces: () => ({ times: 0 }),
  issueToken: () => ({ user: 'ann', scope: 'read', expiresIn: 60, refresh: true }),
  issueOAuth1Token: () => ({ user: 'ann' }),
  expireTokens: () => ({ client: 'app', kind: 'access' }),
  revokeTokens: () => ({ user: 'ann' }),
};

test('the document contains every route with exactly its methods', async () => {
  await using server = await opened();
  const { send, control, document } = server;
  const listed = await fetch(control.url, { headers: { Accept: 'application/json' } });
  const { resources } = JSON.parse(await listed.text());
  const served = resources.map(({ href }: { href: string }) => href);
  assert.deepEqual(Object.keys(document.paths).sort(), ['/', '/problems/{name}', ...served].sort());
  for (const path of Object.keys(document.paths)) {
    const reply = await send.raw('OPTIONS', path.replace('{name}', 'ann'));
    const told = listOperations(document).filter((each) => each.path === path);
    const methods = new Set(['OPTIONS', ...told.map(({ method }) => method)]);
    if (methods.has('GET')) methods.add('HEAD');
    assert.deepEqual(reply.headers.get('allow')?.split(', ').sort(), [...methods].sort(), path);
  }
});

test('every operation returns a response of the document, and requires the token as the document states', async () => {
  await using server = await opened();
  const { double, control, document } = server;
  const { Ajv2020 } = missingPackage('ajv') ? {} : await import(resolvePackage('ajv/dist/2020.js'));
  const ajv = Ajv2020 && new Ajv2020({ strict: false, allErrors: true });
  let known: Json = {};
  const operations = listOperations(document).filter(({ told }) => told.operationId !== 'approve');
  // Those that take away go last.
  const order = ({ method, told }: (typeof operations)[number]): number =>
    ['removeUser', 'removeStubs'].includes(told.operationId) ? 2 : Number(method === 'DELETE');
  operations.sort((one, other) => order(one) - order(other));
  for (const { path, method, told } of operations) {
    const { operationId, responses, requestBody } = told;
    const content = contents[operationId]?.(known);
    assert.equal(content !== undefined, requestBody !== undefined, operationId);
    const place = path
      .replace('{name}', path.startsWith('/problems') ? 'not-found' : 'ann')
      .replace('{id}', 'key-1');
    const headers = { Accept: 'application/json', ...(content && { 'Content-Type': 'application/json' }) };
    const init = { method, ...(content && { body: JSON.stringify(content) }) };
    const without = await fetch(control.url + place, { ...init, headers });
    assert.equal(without.status === 401, told.security === undefined, operationId);
    await double.fetch('/articles'); // so that there is an entry
    const Authorization = `Bearer ${control.token}`;
    const numbered = place.replace(
      '{number}',
      place.startsWith('/stubs') ? '1' : String(double.journal.last().number),
    );
    const reply = await fetch(control.url + numbered, { ...init, headers: { ...headers, Authorization } });
    const text = await reply.text();
    const answer = responses[reply.status];
    assert.ok(reply.status < 300 && answer !== undefined, `${operationId}: ${reply.status} ${text}`);
    const schema = answer.content?.['application/json']?.schema;
    assert.equal(schema === undefined, text === '', operationId);
    if (schema === undefined) continue;
    const value = JSON.parse(text);
    known = { ...known, ...value };
    if (ajv === undefined) continue;
    assert.ok(ajv.validate(schema, value), `${operationId}: ${ajv.errorsText()}\n${text}`);
    const asked = requestBody?.content['application/json']?.schema;
    if (asked !== undefined) assert.ok(ajv.validate(asked, content), `${operationId}: ${ajv.errorsText()}`);
  }
});

test('a request without Accept gets a format that the document lists', async () => {
  await using server = await opened();
  const { control, document } = server;
  for (const { path, told } of listOperations(document).filter((each) => each.told.security !== undefined)) {
    const reply = await fetch(control.url + path.replace('{name}', 'not-found'));
    const type = reply.headers.get('content-type')?.split(';')[0] ?? '';
    assert.ok(Object.hasOwn(told.responses[reply.status]?.content ?? {}, type), `${path}: ${type}`);
  }
});

test('docs/control.md shows an answer of every operation that has one, and each conforms to the document', async () => {
  await using server = await opened();
  const page = readFileSync(join(root, 'docs/control.md'), 'utf8');
  const shown = new Map<string, unknown>();
  for (const [, operations = '', block = ''] of page.matchAll(
    /^(`(?:GET|PUT|POST) \/.*?)\n\n(?:```json\n(.*?)```)?/gms,
  ))
    for (const [, operation = ''] of operations.matchAll(/`((?:GET|PUT|POST) \/[^`]*)`/g))
      shown.set(operation, block === '' ? undefined : JSON.parse(block));
  const { Ajv2020 } = missingPackage('ajv') ? {} : await import(resolvePackage('ajv/dist/2020.js'));
  const ajv = Ajv2020 && new Ajv2020({ strict: false, allErrors: true });
  const elsewhere = [
    'GET /openapi.json',
    'GET /journal.har',
    'GET /',
    'GET /problems',
    'GET /problems/{name}',
  ];
  for (const { path, method, told } of listOperations(server.document)) {
    const name = `${method} ${path}`;
    const [answer] = Object.values(told.responses);
    const schema = answer?.content?.['application/json']?.schema;
    if (schema === undefined || elsewhere.includes(name)) continue;
    assert.ok(shown.has(name), `the page shows no answer of ${name}`);
    const value = shown.get(name);
    if (value === undefined || ajv === undefined) continue;
    assert.ok(ajv.validate(schema, value), `${name}: ${ajv.errorsText()}`);
  }
});

describe('an independent validator', { skip: missingPackage('@seriousme/openapi-schema-validator') }, () => {
  test('accepts the document, and rejects an invalid one', async () => {
    await using server = await opened();
    const { document } = server;
    const { Validator } = await import(resolvePackage('@seriousme/openapi-schema-validator'));
    const { valid, errors } = await new Validator().validate(document);
    assert.ok(valid, JSON.stringify(errors));
    const broken = { ...document, paths: { '/x': { get: { responses: [] } } } };
    assert.equal((await new Validator().validate(broken)).valid, false);
  });
});
