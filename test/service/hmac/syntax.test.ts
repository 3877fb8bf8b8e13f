import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { open } from '../../support/net/wire.ts';
import { article } from '../../support/service/open-service.ts';
import {
  computeSignature,
  date,
  formatOutcome,
  formatRequest,
  fullLines,
  fullSignature,
  openTestServer,
  outcome,
  secrets,
  signed,
  target,
} from '../../support/service/test-server.ts';

const testServer = await openTestServer();
after(() => testServer.close());

const badDigest = '401 credentials-refused';

test('names of schemes and fields are accepted in any case, and Authorization may contain hmac', async () => {
  for (const [name, scheme] of [
    ['AUTHENTICATION', 'HMAC'],
    ['authentication', 'Hmac'],
    ['Authorization', 'hmac'],
    ['aUTHORIZATION', 'hMAC'],
  ]) {
    const nonce = testServer.freshNonce();
    const lines = [`${name}: ${scheme} ann:${nonce}:${fullSignature({ nonce })}`, `Date: ${date}`];
    assert.equal(await outcome(testServer.port, formatRequest({ lines })), '200');
  }
});

test('several spaces may follow the scheme (RFC 9110 §11.4)', async () => {
  const nonce = testServer.freshNonce();
  const lines = [`Authentication: hmac   ann:${nonce}:${fullSignature({ nonce })}`, `Date: ${date}`];
  assert.equal(await outcome(testServer.port, formatRequest({ lines })), '200');
});

test('a target in absolute form is signed as it is sent', async () => {
  const absolute = `http://localhost${target}`;
  assert.equal(
    await outcome(testServer.port, signed({ target: absolute, nonce: testServer.freshNonce() })),
    '200',
  );
});

test('credentials are verified for HTTP/1.0 as for HTTP/1.1', async () => {
  const nonce = testServer.freshNonce();
  const sending = (lines: readonly string[]) => formatRequest({ version: '1.0', lines });
  assert.equal(await outcome(testServer.port, sending([])), '401 authentication-required');
  const wrong = [`Authentication: hmac ann:${nonce}:${computeSignature('GET')}`, `Date: ${date}`];
  assert.equal(await outcome(testServer.port, sending(wrong)), badDigest);
  assert.equal(await outcome(testServer.port, sending(fullLines({ nonce }))), '200');
  assert.equal(await outcome(testServer.port, sending(fullLines({ nonce }))), '401 nonce-replayed');
});

test('the name of a user matches only in its declared Unicode normalization', async (context) => {
  const server = await openTestServer({
    users: { ann: { secret: secrets.ann }, 'b\u00e4r': { secret: secrets.bob } },
  });
  context.after(() => server.close());
  const as = (user: string, nonce: string): string =>
    signed({ user: Buffer.from(user).toString('latin1'), nonce, secret: secrets.bob, target: '/articles' });
  assert.equal(await outcome(server.port, as('b\u00e4r', 'n1')), '200');
  assert.equal(await outcome(server.port, as('ba\u0308r', 'n2')), badDigest);
});

test('credentials in the trailer section of chunked content are ignored', async () => {
  const nonce = testServer.freshNonce();
  const before = await testServer.state();
  const put = { verb: 'PUT', target: '/articles/1', nonce };
  const head = formatRequest({
    ...put,
    lines: ['Content-Type: application/xml', 'Transfer-Encoding: chunked', 'Trailer: Authentication, Date'],
  });
  const content = article('Trailer');
  const body = `${content.length.toString(16)}\r\n${content}\r\n0\r\n${fullLines(put).join('\r\n')}\r\n\r\n`;
  assert.equal(await outcome(testServer.port, head + body), '401 authentication-required');
  assert.equal(await testServer.state(), before);
});

test('the content of a refused request is not read as the next request', async () => {
  const before = await testServer.state();
  const inner = signed({ verb: 'DELETE', target: '/articles/1', nonce: testServer.freshNonce() });
  const wire = await open(testServer.port);
  const lines = [`Authentication: hmac ann:n:${computeSignature('no')}`, `Date: ${date}`];
  await wire.send(formatRequest({ verb: 'PUT', target: '/articles/1', lines, content: inner }));
  wire.finish();
  assert.deepEqual((await wire.rest()).map(formatOutcome), [badDigest]);
  assert.equal(await testServer.state(), before);
});
