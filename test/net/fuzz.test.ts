import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../support/net/service.ts';
import { exchange, open, type WireReply } from '../support/net/wire.ts';
import { type Seeded, seeded } from '../support/seeded.ts';

const models = [
  'GET /a?b=c HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n',
  'PUT /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nIf-Match: "x"\r\n\r\nhello',
  'POST /consume HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nhello world',
  'POST /consume HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nT: t\r\n\r\n',
  'POST /consume HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc',
  'POST /consume-10 HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\nthis is more than 10',
  'POST /early HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc',
  'OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n',
  'DELETE /d HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
  ...['CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
];

const splices = [
  ...'\0\r\n \t:,;%"0f',
  ...['\r\n', '\xff', '-1', '\r\nContent-Length: 3', '\r\nTransfer-Encoding: chunked', '\r\n folded'],
  ...['\r\nHost: i', 'HTTP/3.0', '\r\nTransfer-Encoding: gzip', '\r\nExpect: 100-continue'],
  ...['\r\nConnection: close', '\r\nA: b', 'x'.repeat(9000)],
];

/** One to three requests with up to four bytes or pieces put in, taken out or changed. */
function mutated(random: Seeded): string {
  let bytes = Array.from({ length: 1 + random.below(3) }, () => random.pick(models)).join('');
  for (let left = random.below(5); left > 0; left -= 1) {
    const at = random.below(bytes.length);
    const removed = random.below(3) === 0 ? 1 + random.below(8) : random.below(2);
    bytes =
      bytes.slice(0, at) + (random.below(4) === 0 ? '' : random.pick(splices)) + bytes.slice(at + removed);
  }
  return bytes;
}

function isAllowed(reply: WireReply): boolean {
  return reply.status < 500 || [501, 503, 505].includes(reply.status);
}

/** Sends the bytes in two pieces, and ends this side or stays; gives what was replied until the server ended. */
async function converse(port: number, bytes: string, random: Seeded, stays = false): Promise<WireReply[]> {
  const wire = await open(port);
  const cut = random.below(bytes.length + 1);
  await wire.send(bytes.slice(0, cut));
  await wire.send(bytes.slice(cut));
  if (!stays) wire.finish();
  const replies = await wire.rest();
  await wire.close();
  return replies;
}

test('each connection gets well-formed responses of the allowed kinds for any bytes, and then closes', async (t) => {
  const random = seeded();
  const { port, listener } = await serve(t);
  for (let round = 0; round < 600; round += 1) {
    const bytes = mutated(random);
    const label = `SEED=${random.seed} round ${round}: ${JSON.stringify(bytes)}`;
    const replies = await converse(port, bytes, random).catch((cause: unknown) =>
      assert.fail(`${label}: ${String(cause)}`),
    );
    assert.ok(replies.every(isAllowed), label);
    const ended = replies.findIndex((reply) => reply.field('Connection') === 'close');
    assert.ok(ended < 0 || ended === replies.length - 1, label);
  }
  const [after] = await exchange(port, 'GET /after HTTP/1.1\r\nHost: h\r\n\r\n');
  assert.equal(after?.text, 'GET /after');
  await listener.close(10_000);
});

test('a client that sends any bytes and then stays silent is disconnected', async (t) => {
  const random = seeded();
  const { port } = await serve(t, { headerTimeout: 60, requestTimeout: 60, keepAliveTimeout: 1 });
  const conversations = Array.from({ length: 80 }, async (_, round) => {
    const bytes = mutated(random);
    const label = `SEED=${random.seed} round ${round}: ${JSON.stringify(bytes)}`;
    const replies = await converse(port, bytes, random, true).catch((cause: unknown) =>
      assert.fail(`${label}: ${String(cause)}`),
    );
    assert.ok(replies.every(isAllowed), label);
  });
  await Promise.all(conversations);
});

test('random bytes are rejected or await more, and do not affect later requests', async (t) => {
  const random = seeded();
  const { port } = await serve(t);
  for (let round = 0; round < 200; round += 1) {
    const bytes = Buffer.from(Array.from({ length: 1 + random.below(400) }, () => random.below(256)));
    const replies = await exchange(port, bytes);
    assert.ok(replies.every(isAllowed), `SEED=${random.seed} round ${round}`);
  }
  const [after] = await exchange(port, 'GET /after HTTP/1.1\r\nHost: h\r\n\r\n');
  assert.equal(after?.text, 'GET /after');
});
