import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { openConsole } from '../../support/double/control-client.ts';

const get = (target: string, ...lines: string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: a.example', ...lines, '', ''].join('\r\n');

function decodeText({ response }: { response: string }): string {
  return Buffer.from(response, 'base64').toString('latin1');
}

test('exactly the given bytes are sent, and the bytes of the response and its entry are returned', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  await double.fetch('/articles');
  const sent = await control.send('POST', '/send', { text: get('/articles', 'x-ODD:  spaced ') });
  assert.equal(sent.ended, 'complete');
  assert.equal(sent.entry, 2);
  assert.match(decodeText(sent), /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n/s);
  const entry = double.journal.last();
  assert.deepEqual(
    entry?.request?.headers.find(([name]) => name === 'x-ODD'),
    ['x-ODD', 'spaced'],
  );
  assert.equal(entry?.aborted, false);
});

test('bytes that are not a valid request are also sent', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  const bytes = Buffer.from('GET /\xff\x00 nonsense\r\n\r\n', 'latin1').toString('base64');
  const sent = await control.send('POST', '/send', { bytes });
  assert.match(decodeText(sent), /^HTTP\/1\.1 400 /);
  assert.equal(double.journal.last()?.number, sent.entry);
  assert.ok(double.journal.last()?.received !== undefined);
});

test('requests are sent over TLS if secure is true', async () => {
  await using double = await startDouble();
  const control = await openConsole(double);
  const sent = await control.send('POST', '/send', { text: get('/articles'), secure: true });
  assert.match(decodeText(sent), /^HTTP\/1\.1 200 /);
  assert.equal(double.journal.last()?.request?.secure, true);
});

test('the request of an entry is sent again with its credentials and its content', async () => {
  await using double = await startDouble({ https: false, users: { ann: { secret: 'the-secret-of-ann' } } });
  const control = await openConsole(double);
  const body = JSON.stringify({ title: 'Tea', price: { value: '1.00', currency: 'EUR' } });
  const headers = {
    ...(await double.as('ann').signRequest({ method: 'POST', url: '/articles' })),
    'Content-Type': 'application/json',
  };
  assert.equal((await fetch(`${double.url}/articles`, { method: 'POST', headers, body })).status, 201);
  const sent = await control.send('POST', '/send', { entry: 1 });
  assert.equal(double.journal.last()?.problem?.type, 'nonce-replayed');
  assert.equal(sent.entry, 2);
  const anonymous = await double.fetch('/articles', { method: 'POST', body });
  assert.equal(anonymous.status, 401);
  await control.send('POST', '/send', { entry: 3 });
  assert.equal(double.journal.last()?.request?.body, double.journal.all()[2]?.request?.body);
  assert.ok(!decodeText(sent).includes('the-secret-of-ann'));
});

test('chunked content is sent again as chunks', async () => {
  await using double = await startDouble({ https: false });
  double.resource('/echo', { POST: { access: 'anyone', handle: () => ({ status: 204 }) } });
  const control = await openConsole(double);
  const head = 'POST /echo HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n';
  const first = await control.send('POST', '/send', { text: `${head}3\r\nabc\r\n0\r\n\r\n` });
  assert.match(decodeText(first), /^HTTP\/1\.1 204 /);
  const again = await control.send('POST', '/send', { entry: first.entry });
  assert.match(decodeText(again), /^HTTP\/1\.1 204 /);
});

test('a broken connection and a timeout are reported', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  double.faults.next({ path: '/articles' }, { reset: 'before' });
  const broken = await control.send('POST', '/send', { text: get('/articles') });
  assert.ok(['failed', 'closed'].includes(broken.ended), broken.ended);
  assert.equal(broken.response, '');
  double.faults.next({ path: '/articles' }, { truncate: 5 });
  const cut = await control.send('POST', '/send', { text: get('/articles') });
  assert.equal(cut.ended, 'closed');
  const partial = await control.send('POST', '/send', { text: 'GET / HTTP/1.1\r\nHost: a', timeout: 20 });
  assert.deepEqual([partial.ended, partial.response, partial.entry], ['timeout', '', undefined]);
});

test('a response to HEAD ends after its header section', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  const sent = await control.send('POST', '/send', {
    text: 'HEAD /articles HTTP/1.1\r\nHost: a.example\r\n\r\n',
  });
  assert.equal(sent.ended, 'complete');
  assert.ok(decodeText(sent).endsWith('\r\n\r\n'));
});

test('content that is not exactly one request is rejected', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  const refused: [content: object, status: number][] = [
    [{}, 422],
    [{ text: 'a', bytes: 'YQ==' }, 422],
    [{ text: '' }, 422],
    [{ bytes: 'not base64' }, 422],
    [{ text: 'a'.repeat(4 * 1024 * 1024 + 1) }, 422],
    [{ text: 'a', timeout: 60_001 }, 422],
    [{ text: 'a', secure: true }, 422],
    [{ entry: 99 }, 404],
  ];
  for (const [content, status] of refused) await control.refused(status, 'POST', '/send', content);
  assert.equal(double.journal.length, 0);
});

test('an entry with incompletely recorded content is rejected with 422', async () => {
  await using double = await startDouble({ https: false, journal: { body: 4 } });
  double.resource('/echo', {
    POST: {
      access: 'anyone',
      handle: () => ({ status: 204 }),
      reads: [{ type: 'text/plain', decoder: () => ({ write() {}, end: () => undefined }) }],
    },
  });
  const control = await openConsole(double);
  await double.fetch('/echo', {
    method: 'POST',
    body: 'longer than four',
    headers: { 'Content-Type': 'text/plain' },
  });
  await control.refused(422, 'POST', '/send', { entry: 1 });
});
