import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import diagnostics from 'node:diagnostics_channel';
import { IncomingMessage, Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import { listen } from '../../src/net/listener.ts';
import { replyTo, type Served, serve } from '../support/net/service.ts';
import { open, Wire } from '../support/net/wire.ts';
import { modulePath, reading } from '../support/program.ts';
import { unlessInstalled } from '../support/xml/suite.ts';

const limits = {
  headers: 16384,
  target: 8192,
  connections: 100,
  headerTimeout: 30_000,
  requestTimeout: 30_000,
};

/** Opens a connection on which so much was asked that responses take the fastest path there is. */
async function warmed(t: TestContext, { port }: Pick<Served, 'port'>): Promise<Wire> {
  const wire = await open(port);
  t.after(() => wire.close());
  for (let request = 0; request < 30; request += 1) {
    await wire.send('GET /unchanged HTTP/1.1\r\nHost: h\r\n\r\n');
    await wire.reply();
  }
  return wire;
}

/** What an observer saw of an exchange. */
type Seen = [agent: unknown, status: number, type: unknown];

const observed = 'HTTP/1.1\r\nHost: h\r\nUser-Agent: observed\r\n';

/** Sends requests with each kind of end, and returns what was seen of them. */
async function exchanged(wire: Wire, seen: Seen[]): Promise<Seen[]> {
  await wire.send(`GET /unchanged ${observed}\r\n`);
  await wire.reply();
  await wire.send(`POST /consume ${observed}Content-Length: 2\r\n\r\nab`);
  await wire.reply();
  await wire.send(`POST /consume-10 ${observed}Content-Length: 20\r\n\r\n01234567890`);
  assert.equal((await wire.reply()).status, 413);
  await wire.send('123456789');
  assert.equal(await wire.next(), undefined);
  wire.finish();
  await wire.ending;
  while (seen.length < 3) await new Promise((resolve) => setImmediate(resolve));
  return seen;
}

const plain = 'text/plain; charset=utf-8';
const expected: Seen[] = [
  ['observed', 304, undefined],
  ['observed', 200, plain],
  ['observed', 413, plain],
];

test('a subscriber of http.server.response.finish sees the fields and the status that were sent', async (t) => {
  const wire = await warmed(t, await serve(t));
  const seen: Seen[] = [];
  const watch = (message: unknown): void => {
    assert.ok(isExchange(message));
    const { request, response } = message;
    seen.push([request.headers['user-agent'], response.statusCode, readType(response)]);
  };
  diagnostics.subscribe('http.server.response.finish', watch);
  t.after(() => diagnostics.unsubscribe('http.server.response.finish', watch));
  assert.deepEqual(await exchanged(wire, seen), expected);
});

test('a subscriber of http.server.request.start sees each request end and close', async (t) => {
  const wire = await warmed(t, await serve(t));
  const events: string[] = [];
  const watch = (message: unknown): void => {
    assert.ok(typeof message === 'object' && message !== null && 'request' in message);
    const { request } = message;
    assert.ok(isIncoming(request));
    for (const event of ['end', 'close']) request.on(event, () => events.push(`${event} ${request.method}`));
  };
  diagnostics.subscribe('http.server.request.start', watch);
  t.after(() => diagnostics.unsubscribe('http.server.request.start', watch));
  await wire.send(`GET /unchanged ${observed}\r\n`);
  await wire.reply();
  await wire.send(`POST /consume ${observed}Content-Length: 2\r\n\r\nab`);
  await wire.reply();
  while (events.length < 4) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(events, ['end GET', 'close GET', 'end POST', 'close POST']);
});

test('content that arrives in the packet of its header section is read without event listeners', async (t) => {
  const { port, consumed } = await serve(t);
  const wire = await warmed(t, { port });
  const { on } = IncomingMessage.prototype;
  const added: unknown[] = [];
  IncomingMessage.prototype.on = function (...parts: Parameters<typeof on>) {
    added.push(parts[0]);
    return on.apply(this, parts);
  };
  t.after(() => {
    IncomingMessage.prototype.on = on;
  });
  await wire.send('POST /consume HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab');
  await wire.reply();
  assert.deepEqual(consumed, [2]);
  assert.deepEqual(added, []);
});

function isExchange(value: unknown): value is { request: IncomingMessage; response: ServerResponse } {
  return typeof value === 'object' && value !== null && 'request' in value && 'response' in value;
}

function readType(response: ServerResponse): unknown {
  return response.getHeader('content-type');
}

interface Detail {
  readonly req: { readonly headers: Record<string, unknown> };
  readonly res: { readonly statusCode: number; readonly headers: Record<string, unknown> };
}

function isDetail(value: unknown): value is Detail {
  return typeof value === 'object' && value !== null && 'req' in value && 'res' in value;
}

test('a PerformanceObserver of http sees the fields and the status that were sent', async (t) => {
  const wire = await warmed(t, await serve(t));
  const seen: Seen[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntriesByName('HttpRequest')) {
      assert.ok('detail' in entry && isDetail(entry.detail));
      const { req, res } = entry.detail;
      seen.push([req.headers['user-agent'], res.statusCode, res.headers['content-type']]);
    }
  });
  observer.observe({ entryTypes: ['http'] });
  t.after(() => observer.disconnect());
  assert.deepEqual(await exchanged(wire, seen), expected);
});

test('each request is handled in its own asynchronous context', async (t) => {
  const storage = new AsyncLocalStorage<string>();
  const contexts: [string, string | undefined][] = [];
  // What instrumentation does: it wraps the emit of servers, and runs each request in a context of its own.
  const { emit } = Server.prototype;
  const wrapped = (server: Server, parts: unknown[]): boolean => {
    const [event, incoming] = parts;
    const run = (): boolean => Reflect.apply(emit, server, parts);
    return event === 'request' && isIncoming(incoming) ? storage.run(`${incoming.url}`, run) : run();
  };
  Object.assign(Server.prototype, {
    emit(this: Server, ...parts: unknown[]) {
      return wrapped(this, parts);
    },
  });
  t.after(() => Reflect.deleteProperty(Server.prototype, 'emit'));
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    limits,
    async respond(request) {
      contexts.push([request.target, storage.getStore()]);
      await new Promise((resolve) => setImmediate(resolve));
      contexts.push([request.target, storage.getStore()]);
      return { status: 204, headers: [], body: undefined };
    },
    refuse: replyTo,
  });
  t.after(() => listener.close(0));
  const wires = await Promise.all([1, 2, 3].map(() => open(listener.port)));
  await Promise.all(
    wires.map(async (wire, client) => {
      await wire.send([1, 2, 3, 4].map((at) => `GET /${client}/${at} HTTP/1.1\r\nHost: h\r\n\r\n`).join(''));
      for (let reply = 0; reply < 4; reply += 1) await wire.reply();
      await wire.close();
    }),
  );
  assert.equal(contexts.length, 24);
  for (const [target, context] of contexts) assert.equal(context, target);
});

function isIncoming(value: unknown): value is IncomingMessage {
  return typeof value === 'object' && value !== null && 'url' in value;
}

/** A span as the instrumented program prints it. */
interface Span {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
  readonly id: string;
  readonly parent?: string;
}

/** Sends requests to the instrumented program over one connection, and returns its spans. */
async function recordSpans(
  t: TestContext,
  mode: 'plain' | 'tls',
  targets: readonly string[],
): Promise<Span[]> {
  const program = modulePath('test/support/net/instrumented-server.ts');
  const server = spawn(process.execPath, [...reading, program, mode], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => server.kill());
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const { value: port } = await lines.next();
  const socket =
    mode === 'tls'
      ? connectSecurely({ port: Number(port), rejectUnauthorized: false })
      : connect(Number(port), '127.0.0.1');
  const wire = new Wire(socket);
  for (const target of targets) {
    await wire.send(`GET ${target} HTTP/1.1\r\nHost: h\r\nUser-Agent: observed\r\n\r\n`);
    await wire.reply();
  }
  await wire.send(['/a', '/b', '/c'].map((path) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`).join(''));
  for (let reply = 0; reply < 3; reply += 1) await wire.reply();
  await wire.close();
  server.stdin.end();
  const { value: spans } = await lines.next();
  return JSON.parse(String(spans));
}

for (const [mode, scheme] of [
  ['plain', 'http'],
  ['tls', 'https'],
] as const)
  test(
    `OpenTelemetry records ${scheme} spans with the request, the response and the work within them`,
    unlessInstalled('@opentelemetry/instrumentation-http'),
    async (t) => {
      const targets = [...Array.from({ length: 25 }, (_, at) => `/${at}`), '/missing'];
      const spans = await recordSpans(t, mode, targets);
      for (const target of [...targets, '/a', '/b', '/c']) {
        const work = spans.find(({ name }) => name === `work ${target}`);
        const request = spans.find(({ id }) => id === work?.parent);
        assert.ok(request !== undefined, `the work for ${target} belongs to no request`);
        const { attributes } = request;
        assert.equal(attributes['url.path'], target);
        assert.equal(attributes['url.scheme'], scheme);
        assert.equal(attributes['http.response.status_code'], target === '/missing' ? 404 : 200);
        assert.deepEqual(attributes['http.response.header.etag'], ['"e"']);
        if (target.length > 2) assert.equal(attributes['user_agent.original'], 'observed');
      }
      assert.equal(spans.length, 2 * (targets.length + 3));
    },
  );
