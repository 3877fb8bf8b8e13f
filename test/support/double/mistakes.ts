import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { type Double, startDouble } from '../../../src/double/index.ts';

export const secret = 'c2VjcmV0IG9mIGpvaG5kb2Ugd2hpY2ggaXMgbG9uZw==';
export const annSecret = 'the secret of ann';
export const formerSecret = 'the former secret of johndoe';
export const target = '/articles?limit=2&sort=title';
export const date = '01 mar 2026 12:00:00';
export const stamp = '01mar202612:00:00';
export const json = '{ "title": "Tea", "price": { "value": "3.50", "currency": "EUR" } }\n';

/** Opens a double with two users, one of whom has a former secret, and a removed one. */
async function open(): Promise<Double> {
  const double = await startDouble({
    users: { johndoe: { secret: formerSecret, password: 'pw' }, ann: { secret: annSecret }, bob: {} },
    now: '2026-03-01T12:00:00Z',
    https: false,
  });
  double.auth.rotateSecret('johndoe', { secret });
  double.auth.removeUser('bob');
  return double;
}

export function hmac(message: string, key: string | Buffer = secret, algorithm = 'sha256'): string {
  return createHmac(algorithm, key).update(message, 'utf8').digest('base64');
}

export function sha256(content: string): string {
  return createHash('sha256').update(content).digest('base64');
}

/** What the client sends. `NONCE` in the message and in the credentials stands for a new nonce. */
interface Sent {
  /** The signed message. Default: the right one. */
  readonly message?: string;
  readonly method?: string;
  readonly target?: string;
  readonly date?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly sign?: (message: string) => string;
  /** Default: `hmac johndoe:NONCE:DIGEST`. */
  readonly credentials?: string;
  readonly field?: string;
}

/** Sends the request over a socket, byte for byte. */
async function send(url: string, sent: Sent, nonce: string): Promise<void> {
  const {
    method = 'GET',
    date: sentDate = date,
    headers = [],
    body,
    sign = hmac,
    field = 'Authentication',
  } = sent;
  const sentTarget = sent.target ?? target;
  const { message = `${method}+${sentTarget}+${stamp}+NONCE`, credentials = 'hmac johndoe:NONCE:DIGEST' } =
    sent;
  const digest = sign(message.replaceAll('NONCE', nonce));
  const lines: (readonly [string, string])[] = [
    ...(headers.some(([name]) => name === 'Host') ? [] : [['Host', '127.0.0.1:8080'] as const]),
    ['Connection', 'close'],
    ...(sentDate === '' ? [] : [['Date', sentDate] as const]),
    [field, credentials.replaceAll('NONCE', nonce).replaceAll('DIGEST', digest)],
    ...headers,
    ...(body === undefined ? [] : [['Content-Length', String(Buffer.byteLength(body))] as const]),
  ];
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  await exchange(url, Buffer.from(`${method} ${sentTarget} HTTP/1.1\r\n${head}\r\n${body ?? ''}`));
}

function exchange(url: string, bytes: Buffer): Promise<void> {
  const { port, hostname } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });
}

/** A mistake: what the client does, what it sends (or a function that sends it), and how the line names it. */
export type Mistake = readonly [
  what: string,
  sent: Sent | ((double: Double) => Promise<unknown>),
  named: RegExp,
];

export const post = { method: 'POST', target: '/articles' };
export const typed = [['Content-Type', 'application/json']] as const;
export const right = `GET+${target}+${stamp}+NONCE`;
export const contentDigest = `sha-256=:${sha256(json)}:`;

/** Declares a test of each mistake: the first line of the entry names it, and the entry contains no secret. */
export function testMistakes(mistakes: readonly Mistake[]): void {
  let double: Double;
  before(async () => {
    double = await open();
  });
  after(() => double.close());
  for (const [at, [what, sent, named]] of mistakes.entries()) {
    test(`the first line of an entry names the mistake of a client that ${what}`, async () => {
      await (typeof sent === 'function' ? sent(double) : send(double.url, sent, `nonce-${at}`));
      const text = String(double.journal.last());
      const [line = ''] = text.split('\n', 1);
      assert.match(line, named);
      for (const each of [secret, annSecret, formerSecret]) assert.ok(!text.includes(each), text);
    });
  }
}
