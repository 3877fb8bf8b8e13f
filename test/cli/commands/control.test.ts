import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { signRequest } from '../../../src/client/sign.ts';
import { call, startServer } from '../../support/cli/command.ts';
import { createConsole } from '../../support/double/control-client.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const token = 'a-token-for-this-test-alone';
const ports = ['--port', '0', '--control-port', '0', '--log', 'off'];
const environment = { COUNTERSIGN_CONTROL_TOKEN: token };

test('the ready line ends with the control address, and the generated token is printed once', async () => {
  const server = await startServer(['--memory', ...ports]);
  const drawn = /control token, shown only once: (\S+)\n/.exec(
    await server.awaitStderr(/shown only once: \S+\n/),
  )?.[1];
  const control = createConsole({ url: server.controlUrl, token: drawn ?? '' });
  assert.equal((await control.send('GET', '/server')).keeps, 'memory');
  const { status, stdout } = await server.stop();
  assert.equal(status, 0);
  assert.match(stdout, /^Countersign is ready: http:\S+ https:\S+ control=http:\/\/127\.0\.0\.1:[0-9]+\n$/);
});

test('an invalid control token or a control port in use prevents the start', async () => {
  const short = await call(['--memory', ...ports], {
    environment: { COUNTERSIGN_CONTROL_TOKEN: 'too-short' },
  });
  assert.equal(short.status, 2);
  assert.match(short.stderr, /^countersign: COUNTERSIGN_CONTROL_TOKEN: [^\n]+16 characters[^\n]+\n$/);
  assert.ok(!short.stderr.includes('too-short'));
  const server = await startServer(['--memory', ...ports], { environment });
  const taken = ['--memory', '--port', '0', '--control-port', new URL(server.controlUrl).port];
  const { status, stdout, stderr } = await call(taken, { environment });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /in use/);
  assert.ok(!stderr.includes(token));
});

test('neither a wait for a journal entry nor a delayed response prevents the server from stopping', async () => {
  const server = await startServer(['--memory', ...ports], { environment });
  const control = createConsole({ url: server.controlUrl, token });
  await control.send('POST', '/faults', { fault: { delay: 100_000 } });
  const delayed = fetch(server.url).catch(() => undefined);
  await control.send('POST', '/journal/find', {});
  const waiting = control.exchange('POST', '/journal/wait', { match: { path: '/never' }, timeout: 60_000 });
  waiting.catch(() => {}); // it may be cut off
  await control.send('GET', '/health');
  assert.equal((await server.stop()).status, 0);
  await Promise.allSettled([delayed, waiting]);
});

test('the control interface supports a server with a data directory', async (context) => {
  const data = join(temporaryDirectory(), 'data');
  const server = await startServer(['--data', data, ...ports], { environment });
  const control = createConsole({ url: server.controlUrl, token });
  const secret =
    /COUNTERSIGN_SECRET=(\S+)/.exec(await server.awaitStderr(/COUNTERSIGN_SECRET=\S+\n/))?.[1] ?? '';
  const get = (target: string, headers?: Record<string, string>): Promise<Response> =>
    fetch(server.url + target, headers && { headers });
  const signatureFields = (date?: string): Record<string, string> =>
    signRequest({
      method: 'GET',
      url: `${server.url}/users/demo/financialrecords`,
      user: 'demo',
      secret,
      ...(date !== undefined && { date }),
    });

  await context.test('readiness, time, faults and the journal are as in memory', async () => {
    assert.deepEqual(await control.send('GET', '/health'), { status: 'ready' });
    assert.equal((await control.send('GET', '/server')).keeps, 'data');
    assert.equal((await get('/users/demo/financialrecords', signatureFields())).status, 200);
    await control.send('POST', '/clock/advance', { by: '11m' });
    assert.equal((await get('/users/demo/financialrecords', signatureFields())).status, 401);
    await control.send('POST', '/clock/follow');
    const last = await control.send('GET', '/journal/last');
    assert.equal(last.problem.type, 'date-out-of-window');
    assert.ok(!JSON.stringify(await control.send('GET', '/journal')).includes(secret));
    await control.send('POST', '/faults', { fault: { nonceSeen: true } });
    await control.send('POST', '/nonces/burn', { times: 1 });
    const statuses = [];
    for (let at = 0; at < 3; at++)
      statuses.push((await get('/users/demo/financialrecords', signatureFields())).status);
    assert.deepEqual(statuses, [401, 401, 200]);
  });

  await context.test('users, tokens, collections and items are listed without secrets', async () => {
    const { users } = await control.send('GET', '/users');
    assert.equal(users[0].name, 'demo');
    assert.ok(!JSON.stringify(users).includes(secret));
    assert.deepEqual(await control.send('GET', '/tokens'), { tokens: [] });
    const { collections } = await control.send('GET', '/collections');
    assert.deepEqual(
      collections.map(({ path }: { path: string }) => path),
      ['/articles', '/users/{username}/financialrecords'],
    );
    const url = `${server.url}/articles`;
    const signature = signRequest({ method: 'POST', url, user: 'demo', secret });
    const headers = { ...signature, 'Content-Type': 'application/json', Accept: 'application/json' };
    const body = '{"title":"Tea","price":{"value":"3.50","currency":"EUR"}}';
    const created = await fetch(url, { method: 'POST', headers, body });
    const { items } = await control.send('POST', '/items', { collection: '/articles' });
    assert.equal(items.at(-1).json, await created.text());
    assert.equal(items.at(-1).tags.json, created.headers.get('etag'));
  });

  await context.test('a request is signed with a secret of its own, not with that of the user', async () => {
    const content = { user: 'demo', method: 'GET', url: '/', secret: 'a-secret', nonce: 'n1' };
    const { headers } = await control.send('POST', '/sign', content);
    assert.match(headers['Authentication'], /^hmac demo:n1:/);
  });

  await context.test('what would take away or replace what is kept is refused, and says so', async () => {
    const cases: readonly [method: string, path: string, content?: unknown][] = [
      ['POST', '/snapshot'],
      ['POST', '/restore', { snapshot: '1' }],
      ['POST', '/reset'],
      ['POST', '/sign', { user: 'demo', method: 'GET', url: '/' }],
      ['GET', '/users/demo'],
      ['PUT', '/users/demo', {}],
      ['DELETE', '/users/demo'],
    ];
    const { paths } = await control.send('GET', '/openapi.json');
    for (const [method, path, content] of cases) {
      const problem = await control.refused(409, method, path, content);
      assert.match(String(problem['detail']), /--memory/);
      const told = paths[path.replace('/demo', '/{name}')][method.toLowerCase()];
      assert.match(told.description, /Requires a server in memory/, `${method} ${path}`);
      assert.ok(told.responses['409'] !== undefined);
    }
    assert.equal((await get('/users/demo/financialrecords', signatureFields())).status, 200);
  });

  await context.test(
    'items and collections are added to the data that is kept, and none is replaced',
    async () => {
      const declaration = { element: 'notes', item: 'note', fields: { text: { type: 'text' } } };
      const access = { read: 'anyone' };
      await control.send('POST', '/collections', { path: '/notes', declaration: { ...declaration, access } });
      await control.send('POST', '/seed', { '/notes': [{ text: 'first' }, { text: 'second' }] });
      assert.equal(await (await get('/notes/2', { Accept: 'application/json' })).text(), '{"text":"second"}');
      await control.refused(422, 'POST', '/seed', { '/notes': [{ text: 'third' }, { text: 1 }] });
      assert.equal((await get('/notes/3')).status, 404);
      for (const path of ['/notes', '/articles'])
        await control.refused(409, 'POST', '/collections', { path, declaration });
    },
  );

  await context.test('stubs answer beside the data that is kept', async () => {
    const { number } = await control.send('POST', '/stubs', {
      match: { path: '/rates' },
      response: { body: { rate: '1.08' } },
      access: 'anyone',
      times: 2,
    });
    assert.deepEqual(await (await get('/rates')).json(), { rate: '1.08' });
    assert.equal((await control.send('GET', '/stubs')).stubs[0].remaining, 1);
    await control.send('DELETE', `/stubs/${number}`);
    assert.equal((await get('/rates')).status, 404);
  });

  await context.test('a secret can be rotated, and again by a fault', async () => {
    const path = '/users/demo/financialrecords';
    const rotated = 'a rotated secret of demo';
    await control.send('POST', '/users/demo/rotate', { secret: rotated });
    assert.equal((await get(path, signatureFields())).status, 401);
    const sign = () => signRequest({ url: `${server.url}${path}`, user: 'demo', secret: rotated });
    assert.equal((await get(path, sign())).status, 200);
    await control.send('POST', '/faults', { fault: { rotatedSecret: true } });
    assert.equal((await get(path, sign())).status, 401);
    await control.send('POST', '/users/demo/rotate', { secret });
    assert.equal((await get(path, signatureFields())).status, 200);
  });

  await context.test(
    'a nonce that comes again is told as an event, and attempts are made with a secret that is given',
    async () => {
      await control.send('POST', '/nonces/burn', { times: 1 });
      assert.equal((await get('/users/demo/financialrecords', signatureFields())).status, 401);
      const replay = await control.send('POST', '/events/wait', { type: 'nonce-replayed', user: 'demo' });
      assert.equal(typeof replay.number, 'number');
      const request = { url: 'https://partner.example/' };
      const signer = { scheme: 'hmac', user: 'demo' };
      await control.refused(409, 'POST', '/adversary', { request, signer });
      const { attempts } = await control.send('POST', '/adversary', {
        request,
        signer: { ...signer, secret: 's' },
      });
      assert.ok(attempts.length > 10);
    },
  );

  await context.test('users whom the command changes are known to it', async () => {
    const rotated = await call(['user', 'rotate', 'demo', '--grace', '0', '--data', data]);
    assert.equal(rotated.status, 0, rotated.stderr);
    // The command ends when the file is written; the server sees it a moment later.
    let status = 0;
    for (let tries = 0; tries < 500 && status !== 401; tries++)
      status = (await get('/users/demo/financialrecords', signatureFields())).status;
    assert.equal(status, 401);
  });
});
