import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import * as attack from '../../src/attack/index.ts';
import * as client from '../../src/client/index.ts';
import { DeclarationError } from '../../src/collections/fields/error.ts';
import { type Double, type DoubleOptions, startDouble } from '../../src/double/index.ts';
import * as root from '../../src/index.ts';
import * as postgres from '../../src/postgres/index.ts';
import * as redis from '../../src/redis/index.ts';
import { storeContract } from '../../src/store/contract/index.ts';

const users = { ann: { secret: 'the secret of ann', password: 'the password of ann' } };
const credentials = { user: 'ann', secret: 'the secret of ann' };
const url = 'http://127.0.0.1:1/';
const signer = attack.createSigner(credentials);
const partner = {
  openapi: '3.1.0',
  paths: { '/documented': { get: { operationId: 'get', responses: { 200: { description: 'ok' } } } } },
};
const ok = root.action('anyone', () => root.text('tea'));

/** Calls a function with arguments that its types do not permit. */
function call(method: object, ...values: readonly unknown[]): unknown {
  assert.ok(typeof method === 'function');
  return Reflect.apply(method, undefined, values);
}

/** Adds a resource with an action that returns this, and returns the error that a request to it causes. */
async function returning(result: unknown): Promise<void> {
  let caught: unknown;
  await using double = await startDouble({
    https: false,
    onError: (error) => {
      caught = error;
    },
  });
  double.resource('/r', { GET: Object.assign({}, ok, { handle: () => result }) });
  assert.equal((await double.fetch('/r')).status, 500);
  throw caught;
}

async function closing(given: unknown, open: () => Promise<object & AsyncDisposable>): Promise<void> {
  await using opened = await open();
  await Reflect.get(opened, 'close').call(opened, given);
}

const openDouble = () => startDouble({ https: false });
const openService = async () => root.createService({});

/** Calls with an argument that is unknown or wrong, and the sentence of the error. */
const cases: Readonly<Record<string, readonly [run: (double: Double) => unknown, message: RegExp]>> = {
  'startDouble with items that are no list': [
    () => startDouble(JSON.parse('{ "https": false, "seed": { "/articles": {} } }')),
    /^seed\.\/articles: must be an array of items, is an object$/,
  ],
  'seed()': [(double) => call(double.seed), /^seed: must be an object, is missing$/],
  'as()': [(double) => call(double.as), /^the user of as must be text, is missing$/],
  'createAttempts without a signer': [
    () => call(attack.createAttempts, { url }),
    /^the signer must be an object with a function sign, as createSigner returns$/,
  ],
  'createSigner without a secret': [
    () => call(attack.createSigner, { user: 'ann' }),
    /^credentials\.secret must be non-empty text, is missing$/,
  ],
  'createSigner({ secert })': [
    () => call(attack.createSigner, { user: 'ann', secert: 'a secret' }),
    /^secert is not a member of credentials; did you mean "secret"\?$/,
  ],
  'clock.set(null)': [
    ({ clock }) => call(clock.set, null),
    /^null is not a time such as '2026-03-01T12:00:00Z', a Date or ms since 1970$/,
  ],
  'fetch()': [
    (double) => call(double.fetch),
    /^the URL of a request must be a path, a URL or a Request, is missing$/,
  ],
  'createMemoryStore({ storeid })': [
    () => call(root.createMemoryStore, { storeid: 'a' }),
    /^storeid is not an option of a store in memory; did you mean "storeId"\?$/,
  ],
  'createMemoryStore({ storeId: 1 })': [
    () => call(root.createMemoryStore, { storeId: 1 }),
    /^storeId of a store in memory must be text$/,
  ],
  'attackOAuth1({ timout })': [
    () => call(attack.attackOAuth1, { timout: 1 }),
    /^timout is not an option of attackOAuth1; did you mean "timeout"\?$/,
  ],
  'attackOAuth2({ resorce })': [
    () => call(attack.attackOAuth2, { resorce: url }),
    /^resorce is not an option of attackOAuth2; did you mean "resource"\?$/,
  ],
  'close(0)': [
    () => closing(0, openDouble),
    /^the options of close must be an object such as \{ grace: '2s' \}, is 0$/,
  ],
  'close({ grce })': [
    () => closing({ grce: 1 }, openDouble),
    /^grce is not an option of close; did you mean "grace"\?$/,
  ],
  'close({ grace: -1 })': [
    () => closing({ grace: -1 }, openDouble),
    /^grace must be a number of ms or text such as 2s, is -1$/,
  ],
  'service.close({ grce })': [() => closing({ grce: 1 }, openService), /did you mean "grace"/],
  'control.close({ grce })': [
    (double) => closing({ grce: 1 }, () => double.openControl()),
    /did you mean "grace"/,
  ],
  'service.listen({ prot })': [
    async () => call((await openService()).listen, { prot: 1 }),
    /^prot is not an option of listen; did you mean "port"\?$/,
  ],
  'service.listen({ port })': [
    async () => call((await openService()).listen, { port: '1' }),
    /^port must be an integer from 0 to 65535, is a string$/,
  ],
  'fetch(…, { secrue })': [
    (double) => call(double.fetch, '/x', { secrue: true }),
    /^secrue is not an option of fetch; did you mean "secure"\?$/,
  ],
  'service.fetch(…, { methd })': [
    async () => call((await openService()).fetch, '/x', { methd: 'PUT' }),
    /"method"/,
  ],
  'as().fetch(…, { secrue })': [(double) => call(double.as('ann').fetch, '/x', { secrue: true }), /"secure"/],
  'signedFetch(…, { methd })': [
    () => call(client.signedFetch, url, { ...credentials, methd: 'PUT' }),
    /^methd is not a member of options; did you mean "method"\?$/,
  ],
  'signedFetch(url)': [() => call(client.signedFetch, url), /^options must be an object, is missing$/],
  'createAttempts({ content })': [
    () => call(attack.createAttempts, { url, content: 'tea' }, signer),
    /^content is not a member of the good request; known are method, url, headers, body$/,
  ],
  'attack(…, { timout })': [
    (double) => call(attack.attack, double, [], { timout: 1 }),
    /^timout is not an option of attack; did you mean "timeout"\?$/,
  ],
  'stub with schemes as text': [
    (double) => call(double.stub, { path: '/x' }, {}, { schemes: 'carrier' }),
    /^schemes of the stub for any method \/x must be a list of names, such as \['.*'\]$/,
  ],
  'an action with reads as text': [
    (double) => call(double.resource, '/x', { POST: { ...ok, reads: 'text/xml' } }),
    /^POST\.reads of the resource at \/x must be a list of readers of content, such as \[readBytes\], is a string$/,
  ],
  'an action with scopes as text': [
    (double) => call(double.resource, '/x', { POST: { ...ok, scopes: 'read' } }),
    /^POST\.scopes of the resource at \/x must be a list of lists of scopes, such as \[\['read'\]\], is a string$/,
  ],
  'a resource with produces as text': [
    (double) => call(double.resource, '/x', { GET: ok, produces: 'text/xml' }),
    /^produces of the resource at \/x must be a list of variants/,
  ],
  'an action with { raeds }': [
    (double) => call(double.resource, '/x', { POST: { ...ok, raeds: [] } }),
    /^raeds is not a member of POST of the resource at \/x; did you mean "reads"\?$/,
  ],
  'a result with { fields }': [
    () => returning({ status: 200, fields: {} }),
    /^fields is not a member of the response of an action; known are status, headers/,
  ],
  'a result with { heders }': [() => returning({ status: 200, heders: {} }), /did you mean "headers"\?$/],
  'a representation without a type': [() => returning({ body: 'tea' }), /must have a type and a body/],
  'a representation with { content }': [
    () => returning({ status: 200, representation: { type: 'text/plain', content: 'tea' } }),
    /^content is not a member of the representation of an action/,
  ],
  'a result that is undefined': [() => returning(undefined), /^an action must return a response/],
  "new Problem('not-fund')": [
    () => Reflect.construct(root.Problem, ['not-fund', 'gone']),
    /^"not-fund" is not the type of a problem; did you mean "not-found"\?$/,
  ],
  'new Problem(…, { heders })': [
    () => Reflect.construct(root.Problem, ['not-found', 'gone', { heders: {} }]),
    /^heders is not an option of a problem; did you mean "headers"\?$/,
  ],
  'openPostgresStore(…, { shcema })': [
    () => call(postgres.openPostgresStore, {}, { shcema: 'x' }),
    /^shcema is not an option of a store on PostgreSQL; did you mean "schema"\?$/,
  ],
  'createRedisNonceStore(…, { prefx })': [
    () => call(redis.createRedisNonceStore, { sendCommand: () => undefined }, { prefx: 'x' }),
    /^prefx is not an option of nonces in Redis; did you mean "prefix"\?$/,
  ],
  'initializeRedisNonceStore(…, { prefx })': [
    () => call(redis.initializeRedisNonceStore, { sendCommand: () => undefined }, { prefx: 'x' }),
    /did you mean "prefix"\?$/,
  ],
  'run(…, { reopn }) of a contract': [
    () => call(storeContract[0]?.run ?? {}, () => undefined, { reopn: () => undefined }),
    /^reopn is not an option of a check; did you mean "reopen"\?$/,
  ],
  'faults.times without a count': [
    (double) => call(double.faults.times, {}, { status: 503 }),
    /^the number of requests for a fault must be a positive integer, is an object; such as times\(2, /,
  ],
  'faults.times without a match': [
    (double) => call(double.faults.times, 2, { status: 503 }),
    /such as times\(2, \{\}, \{ status: 503 \}\)$/,
  ],
  'faults.always without a match': [
    (double) => call(double.faults.always, { status: 503 }),
    /such as always\(\{\}, \{ status: 503 \}\)$/,
  ],
  'staleCertificate without HTTPS': [
    (double) => call(double.faults.next, {}, { staleCertificate: true }),
    /^staleCertificate requires HTTPS, which is disabled$/,
  ],
  'faults.next with close and reset': [
    (double) => call(double.faults.next, {}, { close: true, reset: 'before' }),
    /^reset and close exclude each other in a fault$/,
  ],
  'partner.respond(…, { tims })': [
    (double) => call(double.partner.respond, 'get', 200, { tims: 1 }),
    /did you mean "times"\?$/,
  ],
};

test('an unknown or wrong argument is rejected with a sentence that names it', async (context) => {
  await using double = await startDouble({ https: false, users, partner });
  for (const [name, [run, message]] of Object.entries(cases))
    await context.test(name, () =>
      assert.rejects(
        async () => run(double),
        (error) => {
          assert.ok(error instanceof RangeError || error instanceof DeclarationError, String(error));
          assert.match(error.message, message);
          return true;
        },
      ),
    );
});

test('fetch and close ignore what client libraries and test frameworks pass for themselves', async () => {
  const double = await startDouble({ https: false });
  const init = { next: { revalidate: 60 }, agent: undefined, cache: 'no-store', keepalive: true };
  assert.equal(
    await Promise.resolve(call(double.fetch, '/articles', init)).then((response) =>
      Reflect.get(Object(response), 'status'),
    ),
    200,
  );
  await call(double.close, { id: '1', name: 'a suite', type: 'suite', tasks: [] });
});

test('a double is shown, copied and written as JSON with any options, without secrets', async () => {
  const variants: readonly DoubleOptions[] = [{}, { https: false }, { https: false, partner }, { partner }];
  for (const options of variants) {
    await using double = await startDouble({ users, ...options });
    await double.as('ann').fetch('/articles');
    const shown = [JSON.stringify(double), inspect(double), `${JSON.stringify({ double })}`];
    for (const text of shown) {
      assert.ok(text.includes(double.url), text);
      assert.doesNotMatch(text, /the secret of|the password of/);
    }
    const copy = { ...double };
    assert.deepEqual([copy.url, 'secureUrl' in copy], [double.url, options.https !== false]);
    assert.equal('partner' in copy, options.partner !== undefined);
    if (options.https === false) assert.throws(() => double.secureUrl, /HTTPS is disabled/);
    if (options.partner === undefined) assert.throws(() => double.partner, /no document of a partner/);
  }
});
