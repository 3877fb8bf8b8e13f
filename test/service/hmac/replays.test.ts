import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { exchange, open } from '../../support/net/wire.ts';
import {
  date,
  formatOutcome,
  formatRequest,
  fullLines,
  fullSignature,
  openTestServer,
  outcome,
  secrets,
  signed,
} from '../../support/service/test-server.ts';

const testServer = await openTestServer();
after(() => testServer.close());

const replayed = '401 nonce-replayed';

test('pipelined replays are refused in the order of the requests', async () => {
  const [one, two] = [testServer.freshNonce(), testServer.freshNonce()];
  const wire = await open(testServer.port);
  const [first, second] = [signed({ nonce: one }), signed({ nonce: two })];
  await wire.send(first + first + second + second + first);
  wire.finish();
  assert.deepEqual((await wire.rest()).map(formatOutcome), ['200', replayed, '200', replayed, replayed]);
  await wire.close();
});

test('a nonce is accepted once, whatever the date, method, target and field', async () => {
  const nonce = testServer.freshNonce();
  assert.equal(await outcome(testServer.port, signed({ nonce })), '200');
  const again = [
    signed({ nonce, date: '29 feb 2024 12:00:01' }),
    signed({ nonce, date: '29 feb 2024 12:10:00' }),
    signed({ nonce, date: 'Thu, 29 Feb 2024 12:00:00 GMT' }),
    signed({ nonce, verb: 'DELETE', target: '/articles/1' }),
    signed({ nonce, target: '/articles' }),
    formatRequest({
      lines: fullLines({ nonce }).map((line) => line.replace('Authentication', 'Authorization')),
    }),
    formatRequest({ lines: fullLines({ nonce }).map((line) => line.replace(/^Date/, 'X-Date')) }),
    formatRequest({ version: '1.0', lines: fullLines({ nonce }) }),
  ];
  const before = await testServer.state();
  for (const bytes of again) assert.equal(await outcome(testServer.port, bytes), replayed);
  assert.equal(await testServer.state(), before);
});

test('the user `a` with the nonce `ab` differs from the user `aa` with the nonce `b`', async (context) => {
  const server = await openTestServer({ users: { a: { secret: secrets.ann }, aa: { secret: secrets.bob } } });
  context.after(() => server.close());
  const as = (user: string, nonce: string, secret: string): Promise<string> =>
    outcome(server.port, signed({ user, nonce, secret, target: '/articles' }));
  assert.equal(await as('aa', 'b', secrets.bob), '200');
  assert.equal(await as('a', 'ab', secrets.ann), '200');
});

test('HEAD and GET have different signatures and share their nonces', async () => {
  const nonce = testServer.freshNonce();
  const head = (digest: string): string =>
    formatRequest({ verb: 'HEAD', lines: [`Authentication: hmac ann:${nonce}:${digest}`, `Date: ${date}`] });
  const status = async (bytes: string): Promise<number | undefined> =>
    (await exchange(testServer.port, bytes, true))[0]?.status;
  assert.equal(await status(head(fullSignature({ nonce }))), 401);
  assert.equal(await status(head(fullSignature({ verb: 'HEAD', nonce }))), 200);
  assert.equal(await outcome(testServer.port, signed({ nonce })), replayed);
});

test('a signed request claims its nonce even if it is forbidden, and does not reveal whether the target exists', async () => {
  const [one, two] = [testServer.freshNonce(), testServer.freshNonce()];
  const asBob = (nonce: string): string => signed({ user: 'bob', secret: secrets.bob, nonce });
  assert.equal(await outcome(testServer.port, asBob(one)), '403 forbidden');
  assert.equal(await outcome(testServer.port, asBob(one)), replayed);
  const unknownUserPath = `/users/nobody/financialrecords`;
  const missing = signed({ user: 'bob', secret: secrets.bob, nonce: two, target: unknownUserPath });
  assert.equal(await outcome(testServer.port, missing), '403 forbidden');
});
