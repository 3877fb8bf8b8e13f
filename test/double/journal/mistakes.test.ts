// Mistakes of clients that the catalogue does not make, as such a client makes them over a socket. The first line of the entry names each.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Double, startDouble } from '../../../src/double/index.ts';
import { rawExchange } from '../../support/double/raw-exchange.ts';

const secret = 'c2VjcmV0IG9mIGpvaG5kb2Ugd2hpY2ggaXMgbG9uZw==';
const annSecret = 'the secret of ann';
const formerSecret = 'the former secret of johndoe';
const target = '/articles?limit=2&sort=title';
const date = '01 mar 2026 12:00:00';
const stamp = '01mar202612:00:00';
const json = '{ "title": "Tea", "price": { "value": "3.50", "currency": "EUR" } }\n';

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

function hmac(message: string, key: string | Buffer = secret, algorithm = 'sha256'): string {
  return createHmac(algorithm, key).update(message, 'utf8').digest('base64');
}

function sha256(content: string): string {
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
  await rawExchange(url, Buffer.from(`${method} ${sentTarget} HTTP/1.1\r\n${head}\r\n${body ?? ''}`));
}

/** A mistake: what the client does, what it sends (or a function that sends it), and how the line names it. */
type Mistake = readonly [what: string, sent: Sent | ((double: Double) => Promise<unknown>), named: RegExp];

const post = { method: 'POST', target: '/articles' };
const typed = [['Content-Type', 'application/json']] as const;
const contentDigest = `sha-256=:${sha256(json)}:`;

const mistakes: readonly Mistake[] = [
  ['sends the method in lower case', { method: 'get' }, /case-sensitive.*get was sent instead of GET/],
  [
    'appends a line feed to the digest',
    { credentials: 'hmac johndoe:NONCE:DIGEST\n' },
    /Authentication ends with a line feed/,
  ],
  [
    'sends the Content-MD5 of another body',
    {
      ...post,
      headers: [...typed, ['Content-MD5', createHash('md5').update('other content').digest('base64')]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+${createHash('md5').update('other content').digest('base64')}`,
    },
    /digest in Content-MD5: the digest is that of other content.*68 bytes/,
  ],
  [
    'appends the credentials to those of an earlier attempt with Headers.append',
    async (double) => {
      const headers = new Headers({ date, authentication: `hmac johndoe:n-1:${hmac('x')}` });
      headers.append('authentication', `hmac johndoe:n-2:${hmac('y')}`);
      await fetch(double.url + target, { headers });
    },
    /sent twice and joined with a comma \(Headers\.append\?\)/,
  ],
  [
    'signs a digest of the content and does not send it',
    { ...post, headers: typed, body: json, message: `POST+/articles+${stamp}+NONCE+${contentDigest}` },
    /the sha256 digest of the content was signed, but no Content-Digest was sent/,
  ],
  [
    'signs the host without its port',
    { message: `GET+http://127.0.0.1${target}+${stamp}+NONCE` },
    /host was signed with the path, with 127\.0\.0\.1 instead of 127\.0\.0\.1:8080/,
  ],
  [
    'signs the host too',
    { message: `GET+127.0.0.1:8080+${target}+${stamp}+NONCE` },
    /the host was signed too/,
  ],
  [
    'signs the Content-Type too',
    { ...post, headers: typed, body: json, message: `POST+/articles+${stamp}+NONCE+application/json` },
    /the Content-Type was signed too/,
  ],
  [
    'appends Content-Digest with Headers.append',
    {
      ...post,
      headers: [
        ...typed,
        [
          'Content-Digest',
          `sha-512=:${createHash('sha512').update(json).digest('base64')}:, ${contentDigest}`,
        ],
      ],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+${contentDigest}`,
    },
    /Content-Digest was sent twice and joined/,
  ],
  [
    'signs with its password',
    { sign: (message) => hmac(message, 'pw') },
    /signed with the password of johndoe/,
  ],
  ['uses the name of a removed user', { credentials: 'hmac bob:NONCE:DIGEST' }, /the user bob was removed/],
];

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
