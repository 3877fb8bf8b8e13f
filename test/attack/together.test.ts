import assert from 'node:assert/strict';
import { Agent, createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  type AttackResult,
  type Attempt,
  attack,
  createAttempts,
  type Signer,
} from '../../src/attack/index.ts';
import type { RequestInput } from '../../src/http/field-lines.ts';
import { listen } from '../support/net/listen.ts';

const put: RequestInput = { method: 'PUT', url: 'http://api.example/things/1', body: '<thing>12</thing>' };

/** Signs with a nonce, but does not cover the content. */
const signer: Signer = {
  sign: ({ method, url }, { nonce = '' }) => ({
    headers: { 'X-Signature': Buffer.from(`${method} ${url} ${nonce}`).toString('base64') },
  }),
};

function races(request: RequestInput = put, by: Signer = signer): Attempt[] {
  return createAttempts(request, by).filter(({ together }) => together);
}

function serve(context: TestContext, listener: RequestListener): Promise<string> {
  return listen(context, createServer(listener));
}

/** Sends the race for a nonce to a server that answers the requests with these statuses in turn. */
async function raced(context: TestContext, statuses: readonly number[]): Promise<AttackResult> {
  let count = 0;
  const url = await serve(context, (request, response) => {
    request.resume();
    response.writeHead(statuses[count++ % statuses.length] ?? 500).end();
  });
  const { results } = await attack(url, races().slice(0, 1));
  return results[0] ?? assert.fail();
}

test('no server receives a whole request before all but the last byte of the others', async (context) => {
  const received = new Map<Socket, string>();
  let complete = 0;
  let before: number[] = [];
  const server = createTcpServer((socket) => {
    received.set(socket, '');
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      const text = (received.get(socket) ?? '') + bytes.toString('latin1');
      received.set(socket, text);
      if (!text.endsWith('</thing>')) return;
      if (complete === 0) before = [...received.values()].map(({ length }) => length);
      complete += 1;
      socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n');
    });
  });
  await attack(await listen(context, server), races().slice(0, 1));
  const [length = 0] = [...received.values()].map((text) => text.length);
  assert.equal(complete, 8);
  assert.equal(before.length, 8);
  assert.deepEqual(
    before.filter((each) => each < length - 1),
    [],
  );
});

for (const [what, statuses, ...expected] of [
  ['passes if one is accepted', '401 401 200 401 403 401 401 400', 'passed', 401, undefined],
  ['fails if two are', '401 200 401 401 204 500 401 401', 'failed', 200, '2 of 8 requests were accepted'],
  ['is inconclusive if none is', '401', 'inconclusive', 401, '0 of 8 requests were accepted'],
  [
    'is inconclusive if one fails',
    '200 401 500 401 401 401 401 401',
    'inconclusive',
    500,
    'the server failed internally',
  ],
] as const)
  test(`a race of requests ${what}`, async (context) => {
    const { verdict, status, note } = await raced(context, statuses.split(' ').map(Number));
    assert.deepEqual([verdict, status, note], expected);
  });

test('a race is inconclusive if a response is missing, or there is no server', async (context) => {
  let count = 0;
  const url = await serve(context, (request, response) => {
    request.resume();
    count += 1;
    if (count === 3) request.socket.destroy();
    else response.writeHead(count === 1 ? 200 : 401).end();
  });
  for (const origin of [url, 'http://127.0.0.1:1']) {
    const { results } = await attack(origin, races().slice(0, 1));
    assert.deepEqual(
      results.map(({ verdict, note }) => [verdict, note]),
      [['inconclusive', 'there was no response to some of the requests']],
    );
  }
});

test('a race for an update sends the current entity tag and other content in each request', async (context) => {
  const sent: string[] = [];
  const url = await serve(context, async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    if (request.method === 'PUT') sent.push(`${request.headers['if-match']} ${Buffer.concat(pieces)}`);
    response.writeHead(sent.length > 1 ? 412 : 200, { ETag: '"7"' }).end();
  });
  const report = await attack(url, races().slice(1));
  assert.ok(report.passed, String(report));
  const expected = [0, 1, 3, 4, 5, 6, 7, 8].map((digit) => `"7" <thing>1${digit}</thing>`);
  assert.deepEqual(sent.sort(), expected);
});

test('a race for an update requires a strong entity tag', async (context) => {
  for (const fields of [{}, { ETag: 'W/"7"' }]) {
    const url = await serve(context, (_, response) => response.writeHead(200, fields).end());
    const report = await attack(url, races().slice(1));
    assert.match(String(report), /Skipped:\n- 8 changes .*: the representation has no strong entity tag;/);
  }
});

test('a race for an update requires content with a digit, and a signature that does not cover If-Match', () => {
  const names = (request: RequestInput, by: Signer = signer): string[] =>
    races(request, by).map(({ name }) => name);
  const nonce = 'the request is sent 8 times at once';
  assert.deepEqual(names(put), [nonce, '8 changes with the same If-Match are sent at once']);
  assert.deepEqual(names({ ...put, body: '<thing/>' }), [nonce]);
  const covering: Signer = {
    sign(request, changes) {
      const { 'X-Signature': signature } = signer.sign(request, changes)?.headers ?? {};
      return { headers: { 'X-Signature': `${signature} ${JSON.stringify(request.headers)}` } };
    },
  };
  assert.deepEqual(names(put, covering), [nonce]);
});

test('an agent of the caller opens the connections of a race', async (context) => {
  const url = await serve(context, (_, response) => response.writeHead(401).end());
  let opened = 0;
  class Counting extends Agent {
    override createConnection(...parts: Parameters<Agent['createConnection']>) {
      opened += 1;
      return super.createConnection(...parts);
    }
  }
  await attack(url, races().slice(0, 1), { agent: new Counting() });
  assert.equal(opened, 8);
});
