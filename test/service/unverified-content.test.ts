import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type ActionResponse, action } from '../../src/index.ts';
import { deferred } from '../support/net/service.ts';
import { exchange, open, type Wire, type WireReply } from '../support/net/wire.ts';
import {
  formatRequest,
  openTestServer,
  secrets,
  simpleSignature,
  type TestServer,
} from '../support/service/test-server.ts';

const limits = { body: 60_000, unverifiedContent: 100_000 };
const content = Buffer.alloc(50_000, 'x').toString();

/** Opens a server whose resource `/hook` accepts a signature of the content, and `/anyone` the content of anyone. */
async function openHooked(
  context: TestContext,
  handle: () => Promise<void> = () => Promise.resolve(),
): Promise<TestServer> {
  const answer = async (): Promise<ActionResponse> => {
    await handle();
    return { status: 204 };
  };
  const received = action('authenticated', answer);
  const ignored = { type: 'text/plain', decoder: () => ({ write() {}, end: () => undefined }) };
  const read = action('anyone', answer, { reads: [ignored] });
  const server = await openTestServer({
    limits,
    hmacSimple: 'all',
    schemes: { hub: { preset: 'github', user: 'bob' } },
    resources: {
      '/hook': { POST: received, schemes: ['hub'] },
      '/signed': { POST: received, schemes: ['hmac'] },
      '/anyone': { POST: read },
    },
  });
  context.after(() => server.close());
  return server;
}

function hookBytes(signed: string, sent: string): string {
  const signature = createHmac('sha256', secrets.bob).update(signed).digest('hex');
  return `${[
    'POST /hook HTTP/1.1',
    'Host: localhost',
    `X-Hub-Signature-256: sha256=${signature}`,
    `Content-Length: ${signed.length}`,
  ].join('\r\n')}\r\n\r\n${sent}`;
}

function anyoneBytes(sent: string): string {
  return `POST /anyone HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 60000\r\n\r\n${sent}`;
}

/** Sends a part of a request, and waits until the server has read it. */
async function withhold(port: number, bytes: string): Promise<Wire> {
  const wire = await open(port);
  await wire.send(bytes);
  for (let turn = 0; turn < 5; turn += 1) await get(port);
  return wire;
}

const getBytes = 'GET /articles HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

async function get(port: number): Promise<WireReply | undefined> {
  const [reply] = await exchange(port, getBytes);
  return reply;
}

/** Sends a request whose content is signed, and returns the response. */
async function post(port: number): Promise<WireReply> {
  const wire = await open(port);
  await wire.send(hookBytes(content, content));
  const reply = await wire.reply();
  await wire.close();
  return reply;
}

const withheldBytes: readonly (readonly [name: string, bytes: string])[] = [
  ['signed content', hookBytes(`${content}${'y'.repeat(10_000)}`, `${content}${'y'.repeat(9_999)}`)],
  ['content of anyone', anyoneBytes('z'.repeat(59_999))],
];

for (const [name, bytes] of withheldBytes) {
  test(`while withheld ${name} uses up the limit, further content gets 503`, async (context) => {
    const { port } = await openHooked(context);
    assert.equal((await post(port)).status, 204);
    const wire = await withhold(port, bytes);
    const refused = await post(port);
    assert.equal(refused.status, 503);
    assert.equal(refused.field('Retry-After'), '1');
    assert.match(refused.text, /\/problems\/full/);

    // A request whose credentials are judged without its content does not take from the limit.
    const signature = simpleSignature({ verb: 'POST', target: '/signed', secret: secrets.ann });
    const lines = [`Authentication: hmac ann:${signature}`];
    const signed = formatRequest({ verb: 'POST', target: '/signed', content, lines });
    const [accepted] = await exchange(port, signed);
    assert.equal(accepted?.status, 204);
    assert.equal((await get(port))?.status, 200);

    await wire.close();
    for (let turn = 0; turn < 5; turn += 1) await get(port);
    for (let turn = 0; turn < 5; turn += 1) assert.equal((await post(port)).status, 204);
  });
}

test('content of an authenticated request does not count while it is handled', async (context) => {
  const gate = deferred();
  let handled = 0;
  const { port } = await openHooked(context, () => {
    handled += 1;
    return gate.promise;
  });
  const posted: Promise<WireReply>[] = [];
  while (posted.length < 3) {
    posted.push(post(port));
    while (handled < posted.length) await get(port);
  }
  gate.resolve();
  assert.deepEqual(
    (await Promise.all(posted)).map(({ status }) => status),
    [204, 204, 204],
  );
});
