import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { call, startServer } from '../../support/cli/command.ts';
import { ordersDocument } from '../../support/double/orders-document.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const plain = ['--memory', '--no-tls', '--port', '0', '--log', 'off'];

function fileWith(document: unknown): string {
  const file = join(temporaryDirectory(), 'partner.json');
  writeFileSync(file, JSON.stringify(document));
  return file;
}

test('check --partner prints the number of operations, and each example that the schema does not allow', async () => {
  const document = ordersDocument();
  const file = fileWith(document);
  const good = await call(['check', ...plain, '--partner', file]);
  assert.deepEqual([good.status, good.stderr], [0, '']);
  assert.match(good.stdout, /^partner {6}.*partner\.json: 4 operations$/m);
  assert.match(good.stdout, /^schemes {6}key$/m);
  assert.match(good.stdout, /^collections {2}none$/m);
  const { paths } = document;
  Object.assign(paths['/orders'].post.responses[201].content['application/json'], { example: { id: 7 } });
  const { status, stderr } = await call(['check', ...plain, '--partner', fileWith(document)]);
  assert.equal(status, 0);
  assert.match(
    stderr,
    /201\/content\/application~1json\/example is not sent by default: \/total is missing \(#\/components\/schemas\/Order\/required\)/,
  );
});

test('check exits with 1 for a document with a mistake and prints its place, and serve serves the rest', async () => {
  const { paths, ...others } = ordersDocument();
  const file = fileWith({ ...others, paths: { ...paths, '/bad': { get: { security: [{ lost: [] }] } } } });
  const place = /#\/paths\/~1bad\/get\/security: there is no security scheme "lost"/;
  const checked = await call(['check', ...plain, '--partner', file]);
  assert.equal(checked.status, 1);
  assert.match(checked.stderr, place);
  const server = await startServer([...plain, '--partner', file]);
  assert.equal((await fetch(`${server.url}/v1/orders/ord_1`)).status, 200);
  const bad = await fetch(`${server.url}/bad`);
  assert.equal(bad.status, 501);
  assert.match(JSON.parse(await bad.text()).detail, place);
  assert.match((await server.stop()).stderr, place, 'the start lists the mistake');
  for (const command of ['check', 'serve']) {
    const strict = await call([command, ...plain, '--partner', file, '--strict']);
    assert.notEqual(strict.status, 0);
    assert.match(strict.stderr, place);
    assert.equal(strict.stdout, '');
  }
});

test('--strict without a document is ignored with a warning', async () => {
  const { status, stderr } = await call(['check', ...plain, '--strict']);
  assert.equal(status, 0);
  assert.match(stderr, /--strict is ignored because there is no --partner/);
});

test('a file that is no OpenAPI document prevents the start', async () => {
  const file = fileWith({ openapi: '2.0' });
  for (const command of ['check', 'serve']) {
    const { stderr } = await call([command, ...plain, '--partner', file]);
    assert.match(stderr, /--partner: .*partner\.json: #\/openapi: must be 3\.0, 3\.1 or 3\.2, is "2\.0"/);
  }
});

/** Returns a document with one operation that requires this security scheme. */
function documentWith(scheme: object, security: object = { own: ['read'] }): object {
  const responses = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } };
  return {
    openapi: '3.1.0',
    info: { title: 'partner', version: '1' },
    security: [security],
    paths: { '/x': { get: { responses } } },
    components: { securitySchemes: { own: scheme } },
  };
}

const bearerSchemes: readonly [what: string, scheme: object][] = [
  ['http bearer', { type: 'http', scheme: 'bearer' }],
];
for (const [what, scheme] of bearerSchemes)
  test(`without clients, a document with ${what} accepts the secrets of users`, async () => {
    const file = fileWith(documentWith(scheme));
    const { status, stdout, stderr } = await call(['check', ...plain, '--partner', file]);
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^schemes {6}own$/m);
  });

for (const type of ['oauth2', 'openIdConnect'])
  test(`check exits with 1 for a document with ${type} while no clients are registered`, async () => {
    const scheme = { type, flows: {}, openIdConnectUrl: 'https://partner.example/.well-known' };
    const { status, stderr } = await call(['check', ...plain, '--partner', fileWith(documentWith(scheme))]);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /"own" requires tokens of OAuth 2\.0, and no clients are registered.*: add one, such as clients: \{"app":/,
    );
    const optional = { ...documentWith(scheme), security: [{ own: [] }, {}] };
    assert.equal((await call(['check', ...plain, '--partner', fileWith(optional)])).status, 0);
    const client = { app: { secret: 'secret-of-app-0123456789', grants: ['client_credentials'] } };
    const config = fileWith({ clients: client });
    const file = fileWith(documentWith(scheme));
    const registered = await call(['check', '--memory', '--config', config, '--partner', file]);
    assert.doesNotMatch(registered.stderr, /no clients/);
  });

describe('the client that is missing is named, and with it requests are accepted', () => {
  const flow = { tokenUrl: 'https://partner.example/token', scopes: { 'orders.read': 'reads' } };
  const login = { ...flow, authorizationUrl: 'https://partner.example/authorize' };
  const documentFor = (flows: object): object => ({
    ...documentWith({ type: 'oauth2', flows }),
    security: [{ own: ['orders.read'] }],
  });

  for (const [flows, flags] of [
    [{ clientCredentials: flow, authorizationCode: login }, '--grant client_credentials'],
    [
      { authorizationCode: login },
      '--redirect-uri http://localhost:3000/callback --grant authorization_code --grant refresh_token',
    ],
  ] as const)
    test(`by the command: ${flags}`, async () => {
      const data = join(temporaryDirectory(), 'data');
      const partner = fileWith(documentFor(flows));
      const { status, stderr } = await call(['check', '--data', data, '--partner', partner]);
      assert.equal(status, 1);
      const command = /or run: countersign (.*)$/m.exec(stderr)?.[1] ?? '';
      assert.equal(command, `client add app ${flags} --scope orders.read --data ${data}`);
      assert.equal((await call(command.split(' '))).status, 0);
      const registered = await call(['check', '--data', data, '--partner', partner]);
      assert.deepEqual([registered.status, registered.stderr.includes('no clients')], [0, false]);
    });

  test('by the option', async () => {
    const partner = documentFor({ clientCredentials: flow });
    const said: string[] = [];
    await using without = await startDouble({ partner, onError: (error) => said.push(String(error)) });
    const clients = JSON.parse(/clients: (.*), or a scheme/.exec(said.join())?.[1] ?? '');
    await using double = await startDouble({ partner, clients });
    const body = new URLSearchParams({
      ...{ grant_type: 'client_credentials', client_id: 'app', client_secret: clients.app.secret },
    });
    const issued = await (await fetch(`${double.url}/oauth2/token`, { method: 'POST', body })).text();
    const headers = { Authorization: `Bearer ${JSON.parse(issued).access_token}` };
    assert.equal((await fetch(`${double.url}/x`, { headers })).status, 200);
    assert.equal((await fetch(`${without.url}/x`, { headers })).status, 401);
  });

  test('a start warns of it', async () => {
    const partner = fileWith(documentFor({ clientCredentials: flow }));
    const server = await startServer([...plain, '--partner', partner]);
    const { stderr } = await server.stop();
    assert.match(stderr, /^countersign: #.* add one, such as clients: .*"grants":\["client_credentials"\]/m);
    assert.doesNotMatch(stderr, /client add app|^ +at /m);
  });
});

test('openapi --partner prints the security schemes of the document', async () => {
  const file = fileWith(documentWith({ type: 'http', scheme: 'bearer' }));
  const { status, stdout, stderr } = await call(['openapi', '--memory', '--partner', file]);
  assert.equal(status, 0, stderr);
  const { components } = JSON.parse(stdout);
  const { type, in: place, name } = components.securitySchemes.own ?? {};
  assert.deepEqual([type, place, name], ['apiKey', 'header', 'Authorization'], stdout);
});

test('serve --partner returns the responses of the document, also with a control interface', async () => {
  const file = fileWith(ordersDocument());
  const server = await startServer([...plain, '--partner', file]);
  const order = await fetch(`${server.url}/v1/orders/ord_1`);
  assert.deepEqual([order.status, order.headers.get('content-type')], [200, 'application/json']);
  assert.equal((await fetch(`${server.url}/orders`)).status, 401);
  assert.equal((await fetch(`${server.url}/articles`)).status, 404);
  await server.stop();
  const token = 'token-of-the-control-interface';
  const controlled = await startServer([...plain, '--partner', file, '--control-port', '0'], {
    environment: { COUNTERSIGN_CONTROL_TOKEN: token },
  });
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(controlled.controlUrl + path, {
      ...init,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    });
  const body = JSON.stringify({ operationId: 'getOrder', response: 404, times: 1 });
  assert.equal((await send('/partner/respond', { method: 'POST', body })).status, 204);
  assert.equal((await fetch(`${controlled.url}/orders/ord_1`)).status, 404);
  assert.equal((await fetch(`${controlled.url}/orders/ord_1`)).status, 200);
  assert.equal((await send('/partner/respond', { method: 'POST', body })).status, 204);
  assert.equal((await send('/partner/respond', { method: 'DELETE' })).status, 204);
  assert.equal((await fetch(`${controlled.url}/orders/ord_1`)).status, 200);
  const coverage = JSON.parse(await (await send('/partner/coverage')).text());
  assert.match(coverage.text, /getOrder .*: 200 × 2, 404 × 1/);
  await controlled.stop();
});

/** Returns the status of a request with a bearer token over plain HTTP. */
async function sendToken(url: string): Promise<number> {
  return (await fetch(`${url}/x`, { headers: { Authorization: 'Bearer the-secret-of-ann' } })).status;
}

describe('--tls', () => {
  const file = fileWith(documentWith({ type: 'http', scheme: 'bearer' }, { own: [] }));
  const config = fileWith({ users: { ann: { secret: 'the-secret-of-ann' } } });
  const flags = [...plain, '--partner', file, '--config', config];
  const expected = { required: 403, assumed: 200 };

  for (const [tls, status] of Object.entries(expected))
    for (const [title, further] of Object.entries({ '': [], ' and a control port': ['--control-port', '0'] }))
      test(`a bearer token over plain HTTP gets ${status} with --tls ${tls}${title}`, async () => {
        const server = await startServer([...flags, '--tls', tls, ...further]);
        assert.equal(await sendToken(server.url), status);
        await server.stop();
      });

  test('TLS is required by default, also with a control port', async () => {
    const server = await startServer([...flags, '--control-port', '0']);
    assert.equal(await sendToken(server.url), 403);
    await server.stop();
  });

  test('assumed is refused on an address that other hosts reach', async () => {
    const { status, stderr } = await call(['serve', ...flags, '--tls', 'assumed', '--host', '0.0.0.0']);
    assert.equal(status, 2);
    assert.match(stderr, /--tls assumed requires a loopback address, and --host is 0\.0\.0\.0/);
  });

  test('assumed is refused without a document and without a control port', async () => {
    const { status, stderr } = await call(['serve', ...plain, '--tls', 'assumed']);
    assert.equal(status, 2);
    assert.match(stderr, /--tls assumed is for tests: it requires --partner or --control-port/);
  });
});

for (const [validation, status] of Object.entries({ on: 400, warn: 200, off: 200 }))
  test(`a request that the document does not allow gets ${status} with --validation ${validation}`, async () => {
    const server = await startServer([
      ...plain,
      '--partner',
      fileWith(documentWith({ type: 'http', scheme: 'bearer' }, {})),
      '--strict-query',
      '--validation',
      validation,
    ]);
    assert.equal((await fetch(`${server.url}/x?unknown=1`)).status, status);
    await server.stop();
  });

test('--validation without a document is ignored with a warning', async () => {
  const { stderr } = await call(['check', ...plain, '--validation', 'off']);
  assert.match(stderr, /--validation is ignored because there is no --partner/);
});
