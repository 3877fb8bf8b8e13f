import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import { type TestContext, test } from 'node:test';
import { FastResponses, writeFast } from '../../src/net/fast-response.ts';
import { open } from '../support/net/wire.ts';

/** Starts a server that answers on the fast path where that is allowed, and otherwise by `end`. */
async function serveFast(t: TestContext, version?: string, readsToEnd = true) {
  const server = createServer({ requireHostHeader: false });
  const fast = new FastResponses(server, version);
  const taken: boolean[] = [];
  const responses: ServerResponse[] = [];
  server.on('request', (incoming, response) => {
    const { socket } = response;
    const allowed = fast.allows(response);
    taken.push(allowed);
    responses.push(response);
    if (readsToEnd) incoming.resume();
    const content = `${incoming.url}`;
    if (!allowed || socket === null) response.end(content);
    else
      setImmediate(() =>
        writeFast(
          response,
          socket,
          `HTTP/1.1 200 OK\r\nContent-Length: ${content.length}\r\n\r\n${content}`,
          () => {},
        ),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const wire = await open(address.port);
  t.after(() => wire.close());
  /** Sends a request and returns whether its response took the fast path. */
  const ask = async (target: string): Promise<boolean> => {
    await wire.send(`GET ${target} HTTP/1.1\r\n\r\n`);
    await new Promise<void>((resolve) => {
      server.once('request', () => resolve());
    });
    return taken.at(-1) ?? false;
  };
  return { server, wire, ask, taken, responses };
}

/** Sends requests until the fast path is taken. */
async function warm(ask: (target: string) => Promise<boolean>): Promise<void> {
  for (let request = 0; request < 20; request += 1) await ask('/warm');
  assert.equal(await ask('/warm'), true, 'the fast path is not taken on this version of Node.js');
}

for (const [how, readsToEnd] of [
  ['', true],
  [' to a request whose end was not read', false],
] as const)
  test(`node:http advances to the next request after a response on the fast path${how}`, async (t) => {
    const { server, ask, responses } = await serveFast(t, undefined, readsToEnd);
    await warm(ask);
    for (const target of ['/1', '/2', '/3']) assert.equal(await ask(target), true);
    const [before, response] = responses.slice(-2);
    assert.equal(before?.socket, null);
    const closed = new Promise((resolve) => response?.once('close', resolve));
    await closed;
    assert.equal(response?.socket, null);
    // Node's own count of idle connections is right.
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    await ended;
  });

test('a request with a response on the fast path is not read to its end', async (t) => {
  if (Number.parseInt(process.versions.node, 10) >= 26)
    return t.skip('Node.js 26 reads requests to their end itself');
  const { ask, responses } = await serveFast(t, undefined, false);
  await warm(ask);
  const [response] = responses.slice(-1);
  assert.ok(response !== undefined);
  let ends = 0;
  response.req.on('end', () => {
    ends += 1;
  });
  await ask('/next');
  await ask('/next');
  assert.equal(ends, 0);
  assert.equal(response.req.listenerCount('end'), 1);
});

test('a response is written with one call, even if the socket accepts it later', async () => {
  const written: string[] = [];
  const socket = new Socket();
  socket._write = (chunk, _, accepted) => {
    written.push(String(chunk));
    setImmediate(accepted);
  };
  const response = new ServerResponse(new IncomingMessage(socket));
  let finished = 0;
  response.on('finish', () => {
    finished += 1;
  });
  await new Promise<void>((resolve) => writeFast(response, socket, 'whole', resolve));
  assert.deepEqual(written, ['whole']);
  assert.equal(finished, 1);
});

test('the first 16 requests of a listener take the ordinary path', async (t) => {
  const { ask } = await serveFast(t);
  for (let request = 0; request < 16; request += 1) assert.equal(await ask('/'), false);
});

test('responses take the ordinary path on an untested release line of Node.js', async (t) => {
  for (const version of ['21.1.0', '28.0.0', '200.1.2']) {
    const { ask } = await serveFast(t, version);
    for (let request = 0; request < 30; request += 1) assert.equal(await ask('/'), false);
  }
});

/** Something that observes, from when it is called until what it returns is called. */
type Observe = (server: Server) => () => void;

function subscribed(name: string): Observe {
  return () => {
    const listener = (): void => undefined;
    channel(name).subscribe(listener);
    return () => channel(name).unsubscribe(listener);
  };
}

const observers: [name: string, observe: Observe][] = [
  ...['http.server.request.start', 'http.server.response.finish'].map((name): [string, Observe] => [
    `a subscriber of ${name}`,
    subscribed(name),
  ]),
  [
    'a PerformanceObserver of http',
    () => {
      const observer = new PerformanceObserver(() => undefined);
      observer.observe({ entryTypes: ['http'] });
      return () => observer.disconnect();
    },
  ],
  [
    'a wrapper of the emit of servers',
    (server) => {
      const prototype = Object.getPrototypeOf(server);
      const { emit } = server;
      prototype.emit = function (...parts: Parameters<typeof emit>) {
        return emit.apply(this, parts);
      };
      return () => {
        delete prototype.emit;
      };
    },
  ],
  [
    'a wrapper of the resume of requests',
    () => {
      const { resume } = IncomingMessage.prototype;
      const wrapped: typeof resume = function (this: IncomingMessage) {
        return resume.call(this);
      };
      IncomingMessage.prototype.resume = wrapped;
      return () => {
        IncomingMessage.prototype.resume = resume;
      };
    },
  ],
];

for (const [name, observe] of observers)
  test(`while there is ${name}, responses take the ordinary path`, async (t) => {
    const { server, ask } = await serveFast(t);
    await warm(ask);
    const stop = observe(server);
    try {
      assert.equal(await ask('/observed'), false);
    } finally {
      stop();
    }
    assert.equal(await ask('/again'), true);
  });
