import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seeded } from '../../support/seeded.ts';
import { article } from '../../support/service/open-service.ts';
import { openTestServer, outcome, signed } from '../../support/service/test-server.ts';

const testServer = await openTestServer();
after(() => testServer.close());

const rounds = 1500;
const pieces = [
  ...'+ :=/?%&;,."aAnN09\t\0\x7f\xff',
  '\r\n',
  '\n',
  '%2B',
  '%00',
  '../',
  'Date: 29 feb 2024 12:00:00\r\n',
  'X-Date: 29 feb 2024 12:00:01\r\n',
  'Authentication: hmac bob:x\r\n',
  'Authorization: \r\n',
];

/** What a signature covers, as it stands in the bytes of a request. */
function covered(bytes: string): string {
  // Empty lines before a request are nothing (RFC 9112 §2.2).
  const [head = ''] = bytes.replace(/^[\r\n]+/, '').split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const values = (name: string): string[] =>
    fields
      .filter((field) => field.toLowerCase().startsWith(`${name}:`))
      .map((field) => field.slice(name.length + 1).trim());
  // The parser takes several spaces for one, which RFC 9112 §3 allows.
  const [method, target] = line.split(/ +/);
  const date = [values('x-date'), values('date')].find((dates) => dates.length > 0);
  const credentials = [...values('authentication'), ...values('authorization')].map((value) =>
    value.replace(/^hmac +/i, ''),
  );
  return JSON.stringify([method, target, date?.map((value) => value.replaceAll(' ', '')), credentials]);
}

test('a randomly changed request is accepted only if its signed parts are unchanged', async () => {
  const random = seeded();
  let passed = 0;
  for (let round = 0; round < rounds; round += 1) {
    const good = signed({ nonce: testServer.freshNonce() });
    const end = good.indexOf('\r\n\r\n');
    const at = random.below(end);
    const bytes = `${good.slice(0, at)}${random.pick(pieces)}${good.slice(at + random.below(3))}`;
    const told = `seed ${random.seed}: ${JSON.stringify(bytes)}`;
    const result = await outcome(testServer.port, bytes);
    assert.ok(!result.startsWith('5') || /^50[15] /.test(result), `${result}, ${told}`);
    if (result !== '200') continue;
    passed += 1;
    assert.equal(covered(bytes), covered(good), told);
  }
  assert.ok(passed > 0, `seed ${random.seed}`);
});

test('a randomly changed DELETE changes no other resource', async () => {
  const random = seeded();
  const content = article('Mutated');
  const before = (await testServer.state()).replace(/\d+ nonces$/, '');
  let passed = 0;
  for (let round = 0; round < rounds / 5; round += 1) {
    const good = signed({
      verb: 'DELETE',
      target: '/articles/none',
      nonce: testServer.freshNonce(),
      content,
    });
    const at = random.below(good.length);
    const bytes = `${good.slice(0, at)}${random.pick(pieces)}${good.slice(at + random.below(3))}`;
    const result = await outcome(testServer.port, bytes);
    if (result === '404 not-found') passed += 1;
    else assert.match(result, /^(4[0-9][0-9]|50[15]) /, `seed ${random.seed}: ${JSON.stringify(bytes)}`);
  }
  assert.ok(passed > 0, `seed ${random.seed}`);
  assert.equal((await testServer.state()).replace(/\d+ nonces$/, ''), before);
});
