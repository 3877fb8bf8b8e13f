import './recorded-timers.ts'; // before the sources read the timers
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { request } from 'node:https';
import test from 'node:test';
import { type Double, type Fault, startDouble } from '../../../src/double/index.ts';
import { createParser, XmlError } from '../../../src/xml/index.ts';
import { get, rawExchange } from '../../support/double/raw-exchange.ts';
import { listen } from '../../support/net/listen.ts';
import { timersDuring } from './recorded-timers.ts';

const users = { johndoe: { secret: 'a-secret', password: 'a-password' } };
const seed = { '/articles': [{ title: 'Tea, green', price: { value: '3.50', currency: 'EUR' } }] };
const document = '<article><title>Tea, green</title><price currency="EUR">3.50</price></article>';

/** What a client of the platform's fetch makes of a reply: its status and content, and the error in which it ended. */
interface Seen {
  readonly status: number | undefined;
  readonly length: string | null | undefined;
  readonly content: string;
  readonly error: string | undefined;
  readonly code: unknown;
}

async function seenBy(ask: () => Promise<Response>): Promise<Seen> {
  let content = '';
  let reply: Response | undefined;
  const seen = (error?: unknown): Seen => ({
    status: reply?.status,
    length: reply?.headers.get('content-length'),
    content,
    error: error instanceof Error ? `${error.name}: ${error.message}` : undefined,
    code:
      error instanceof Error && error.cause instanceof Error ? Reflect.get(error.cause, 'code') : undefined,
  });
  try {
    reply = await ask();
    for await (const piece of reply.body ?? []) content += Buffer.from(piece).toString('latin1');
    return seen();
  } catch (error) {
    return seen(error);
  }
}

/** What arrives over TLS at a client of node:https: status, content, and the error in which it ended. */
function seenOverTls(double: Double, path: string): Promise<Pick<Seen, 'status' | 'content' | 'code'>> {
  return new Promise((resolve) => {
    let status: number | undefined;
    let content = '';
    const end = (error?: unknown): void =>
      resolve({ status, content, code: error instanceof Error ? Reflect.get(error, 'code') : undefined });
    const asked = request(`${double.secureUrl}${path}`, { ca: double.ca, agent: false }, (reply) => {
      status = reply.statusCode;
      reply.setEncoding('latin1');
      reply.on('data', (piece: string) => {
        content += piece;
      });
      reply.on('error', end);
      reply.on('end', () => end());
    });
    asked.on('error', end);
    asked.end();
  });
}

interface Case {
  readonly name: string;
  readonly fault: Fault;
  /** What arrives: the content, whether the connection is reset, and what the head has. */
  readonly content: string;
  readonly ending: 'closed' | 'reset';
  readonly head?: RegExp;
  /** What the platform's fetch gives before it fails, and the error's message; `undefined` where it does not fail. */
  readonly given: string;
  readonly error: string | undefined;
  /** The codes that clients of this platform have for it, one a release. The first is that of the double's own fetch. */
  readonly codes?: readonly unknown[];
}

const lengthCode = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
const cutCodes = [lengthCode, 'UND_ERR_SOCKET'];
const resetCodes = ['UND_ERR_SOCKET', lengthCode, 'ECONNRESET'];
const half = document.slice(0, document.length / 2);

const cases: readonly Case[] = [
  {
    name: 'a reset before the response',
    fault: { reset: 'before' },
    content: '',
    ending: 'reset',
    given: '',
    error: 'TypeError: fetch failed',
    codes: ['ECONNRESET'],
  },
  {
    name: 'a connection that is closed',
    fault: { close: true },
    content: '',
    ending: 'closed',
    given: '',
    error: 'TypeError: fetch failed',
    codes: ['UND_ERR_SOCKET'],
  },
  {
    name: 'a reset within the response',
    fault: { reset: 'amid' },
    content: half,
    ending: 'reset',
    given: half,
    error: 'TypeError: terminated',
    codes: resetCodes,
  },
  {
    name: 'a reset after some bytes',
    fault: { reset: 9 },
    content: '<article>',
    ending: 'reset',
    given: '<article>',
    error: 'TypeError: terminated',
    codes: resetCodes,
  },
  {
    name: 'a truncated response',
    fault: { truncate: 9 },
    content: '<article>',
    ending: 'closed',
    head: /\r\nContent-Length: 78\r\n/,
    given: '<article>',
    error: 'TypeError: terminated',
    codes: cutCodes,
  },
  {
    name: 'a length that is too great',
    fault: { wrongLength: 5 },
    content: document,
    ending: 'closed',
    head: /\r\nContent-Length: 83\r\n/,
    given: document,
    error: 'TypeError: terminated',
    codes: cutCodes,
  },
  {
    name: 'a length that is too small',
    fault: { wrongLength: -5 },
    content: document,
    ending: 'closed',
    head: /\r\nContent-Length: 73\r\n/,
    given: document.slice(0, -5),
    error: undefined,
  },
  {
    name: 'an invalid chunk',
    fault: { badChunk: true },
    content: `27\r\n${half}\r\nnone\r\n${document.slice(half.length)}`,
    ending: 'closed',
    head: /\r\nTransfer-Encoding: chunked\r\n/,
    given: half,
    error: 'TypeError: terminated',
    codes: ['HPE_INVALID_CHUNK_SIZE', undefined],
  },
];

for (const { name, fault, content, ending, head, given, error, codes = [undefined] } of cases) {
  test(`a client observes ${name} over a raw socket, with fetch, in process and over TLS`, async () => {
    await using double = await startDouble({ users, seed, pendingFaults: 'error' });
    double.faults.times(4, { path: '/articles/1' }, fault);

    const raw = await rawExchange(double.url, get('/articles/1'));
    assert.deepEqual([raw.content, raw.ending], [content, ending]);
    if (head !== undefined) assert.match(raw.head, head);

    const over = await seenBy(() => fetch(`${double.url}/articles/1`));
    assert.deepEqual([over.content, over.error], [given, error]);
    assert.ok(codes.includes(over.code), String(over.code));

    const within = await seenBy(() => double.fetch('/articles/1'));
    assert.deepEqual(within, { ...over, code: codes[0] });

    const secured = await seenOverTls(double, '/articles/1');
    assert.equal(secured.content, given);
    if (ending === 'reset') assert.equal(secured.code, 'ECONNRESET');
    if (error !== undefined) assert.notEqual(secured.code, undefined);

    const after = await fetch(`${double.url}/articles/1`);
    assert.equal(await after.text(), document);
  });
}

test('malformedXml sends a document with a correct Content-Length that is not well-formed XML', async () => {
  await using double = await startDouble({ users, seed });
  double.faults.always({}, { malformedXml: true });
  const broken = document.slice(0, -'</article>'.length);
  const raw = await rawExchange(double.url, get('/articles/1'));
  assert.equal(raw.content, broken);
  assert.match(raw.head, new RegExp(`\r\nContent-Length: ${broken.length}\r\n`));
  for (const ask of [double.fetch, fetch]) {
    const reply = await ask(`${double.url}/articles/1`);
    const text = await reply.text();
    assert.equal(text, broken);
    const parser = createParser({});
    assert.throws(() => {
      parser.write(Buffer.from(text));
      parser.end();
    }, XmlError);
  }
  const json = await double.fetch('/articles/1', { headers: { accept: 'application/json' } });
  await assert.rejects(json.json(), SyntaxError);
});

test('a document that malformedXml breaks is not compressed', async () => {
  await using double = await startDouble({ users, seed });
  double.seed({
    '/articles': Array.from({ length: 40 }, () => ({
      title: 'x',
      price: { value: '1.00', currency: 'EUR' },
    })),
  });
  double.faults.next({}, { malformedXml: true });
  const reply = await fetch(`${double.url}/articles`);
  const text = await reply.text();
  assert.equal(reply.headers.get('content-encoding'), null);
  assert.match(text, /^<articles>.*<\/article>$/s);
});

test('compressed content is truncated in process exactly as over a socket', async () => {
  await using double = await startDouble({ users, seed });
  double.seed({
    '/articles': Array.from({ length: 40 }, () => ({
      title: 'x',
      price: { value: '1.00', currency: 'EUR' },
    })),
  });
  double.faults.always({}, { truncate: 20 });
  const headers = { 'accept-encoding': 'gzip' };
  const over = await seenBy(() => fetch(`${double.url}/articles`, { headers }));
  const within = await seenBy(() => double.fetch('/articles', { headers }));
  assert.equal(over.error, 'TypeError: terminated');
  assert.equal(within.error, over.error);
});

test('dribble sends content at its rate, over a socket and in process', async () => {
  await using double = await startDouble({ users, seed });
  double.faults.always({}, { dribble: 400 }); // 78 bytes: four pieces, 50 ms before each
  const contents = [
    async () => (await rawExchange(double.url, get('/articles/1'))).content,
    async () => (await fetch(`${double.url}/articles/1`)).text(),
    async () => (await double.fetch('/articles/1')).text(),
  ];
  for (const content of contents) {
    const pauses = await timersDuring(50, async () => assert.equal(await content(), document));
    assert.equal(pauses, 4);
  }
});

test('a fault can combine dribble and reset', async () => {
  await using double = await startDouble({ users, seed });
  double.faults.always({}, { dribble: 400, reset: 30 });
  const raw = await rawExchange(double.url, get('/articles/1'));
  assert.deepEqual([raw.content, raw.ending], [document.slice(0, 30), 'reset']);
  const within = await seenBy(() => double.fetch('/articles/1'));
  assert.deepEqual([within.content, within.error], [document.slice(0, 30), 'TypeError: terminated']);
});

test('a client can disconnect while content dribbles, over a socket and in process', async () => {
  await using double = await startDouble({ users, seed });
  double.faults.always({}, { dribble: 1 });
  const leaving = new AbortController();
  const reply = await fetch(`${double.url}/articles/1`, { signal: leaving.signal });
  leaving.abort();
  await assert.rejects(reply.text(), { name: 'AbortError' });
  const within = await double.fetch('/articles/1');
  await within.body?.cancel();
});

test('a reset of a pipelined response leaves earlier responses complete, and later requests unprocessed', async () => {
  await using double = await startDouble({ users, seed });
  double.faults.next({ path: '/articles/1' }, { reset: 9 });
  const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const raw = await rawExchange(double.url, ask('/problems/full') + ask('/articles/1') + ask('/never'));
  assert.equal(raw.ending, 'reset');
  assert.equal(raw.bytes.split('HTTP/1.1 200 OK\r\n').length, 3);
  assert.ok(raw.bytes.endsWith('\r\n\r\n<article>'));
  assert.equal(double.journal.all({ path: '/never' }).length, 0);
});

test('the handler of a double also applies faults in another HTTP server', async (t) => {
  await using double = await startDouble({ users, seed });
  const url = await listen(t, createServer(double.handler));
  double.faults.next({}, { reset: 'before' });
  double.faults.next({}, { truncate: 9 });
  assert.equal((await rawExchange(url, get('/articles/1'))).ending, 'reset');
  assert.equal((await rawExchange(url, get('/articles/1'))).content, '<article>');
});
