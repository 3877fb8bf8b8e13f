// Mistakes of clients, each made as such a client makes it. The first line of the journal's entry must name the mistake.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { type Double, startDouble } from '../../../src/double/index.ts';

const secret = 'c2VjcmV0IG9mIGpvaG5kb2Ugd2hpY2ggaXMgbG9uZw==';
const annSecret = 'the secret of ann';
const formerSecret = 'the former secret of johndoe';
const target = '/articles?limit=2&sort=title';
const date = '01 mar 2026 12:00:00';
const stamp = '01mar202612:00:00';
const json = '{ "title": "Tea", "price": { "value": "3.50", "currency": "EUR" } }\n';

let double: Double;
let count = 0;

before(async () => {
  double = await startDouble({
    users: { johndoe: { secret: formerSecret, password: 'pw' }, ann: { secret: annSecret }, bob: {} },
    now: '2026-03-01T12:00:00Z',
    https: false,
  });
  double.auth.rotateSecret('johndoe', { secret });
  double.auth.removeUser('bob');
});
after(() => double.close());

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
async function send(sent: Sent): Promise<void> {
  count += 1;
  const nonce = `nonce-${count}`;
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
  await exchange(Buffer.from(`${method} ${sentTarget} HTTP/1.1\r\n${head}\r\n${body ?? ''}`));
}

function exchange(bytes: Buffer): Promise<void> {
  const { port, hostname } = new URL(double.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });
}

function lineOf(): string {
  const [line = ''] = String(double.journal.last()).split('\n', 1);
  return line;
}

/** A mistake: what the client does, what it sends (or a function that sends it), and how the line names it. */
type Mistake = readonly [what: string, sent: Sent | (() => Promise<unknown>), named: RegExp];

const post = { method: 'POST', target: '/articles' };
const typed = [['Content-Type', 'application/json']] as const;
const right = `GET+${target}+${stamp}+NONCE`;
const contentDigest = `sha-256=:${sha256(json)}:`;

/** The 25 mistakes that clients make most often. */
const usual: readonly Mistake[] = [
  ['sends the method in lower case', { method: 'get' }, /case-sensitive.*get was sent instead of GET/],
  [
    'appends a line feed to the digest',
    { credentials: 'hmac johndoe:NONCE:DIGEST\n' },
    /Authentication ends with a line feed/,
  ],
  [
    'uses the secret of another user',
    { sign: (message) => hmac(message, annSecret) },
    /secret of another user, ann$/,
  ],
  [
    'is behind a proxy that sets Date',
    { date: 'Sun, 01 Mar 2026 12:00:02 GMT', message: right },
    /a date 2 s earlier was signed than the one that arrived: a proxy/,
  ],
  [
    'sends the Content-MD5 of another body',
    {
      ...post,
      headers: [...typed, ['Content-MD5', createHash('md5').update('{}').digest('base64')]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+${createHash('md5').update('{}').digest('base64')}`,
    },
    /digest in Content-MD5: the digest is that of other content.*68 bytes/,
  ],
  [
    'sends the Content-Digest of another body',
    {
      ...post,
      headers: [...typed, ['Content-Digest', `sha-256=:${sha256(JSON.stringify(JSON.parse(json)))}:`]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+sha-256=:${sha256(JSON.stringify(JSON.parse(json)))}:`,
    },
    /Content-Digest is the digest of the same JSON, serialized differently/,
  ],
  [
    'appends the credentials to those of an earlier attempt with Headers.append',
    async () => {
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
    'signs the target before the method',
    { message: `${target}+GET+${stamp}+NONCE` },
    /another order: target, method, date, nonce/,
  ],
  [
    'signs the date first',
    { message: `${stamp}+NONCE+GET+${target}` },
    /another order: date, nonce, method, target/,
  ],
  [
    'signs the host without its port',
    { message: `GET+http://127.0.0.1${target}+${stamp}+NONCE` },
    /host was signed with the path, with 127\.0\.0\.1 instead of 127\.0\.0\.1:8080/,
  ],
  [
    'signs the absolute URL',
    { message: `GET+http://127.0.0.1:8080${target}+${stamp}+NONCE` },
    /host was signed with the path/,
  ],
  [
    'signs the public host in front of a proxy',
    {
      message: `GET+https://api.example.com${target}+${stamp}+NONCE`,
      headers: [['X-Forwarded-Host', 'api.example.com']],
    },
    /public host was signed with the path, in front of a proxy/,
  ],
  [
    'uses the former secret after a rotation',
    { sign: (message) => hmac(message, formerSecret) },
    /former secret of johndoe, which was replaced/,
  ],
  [
    'sends the digest in hexadecimal',
    { sign: (message) => createHmac('sha256', secret).update(message).digest('hex') },
    /it is hexadecimal; base64 is expected/,
  ],
  ['sends the digest in base64url', { sign: () => '-_'.repeat(21).concat('A=') }, /it is base64url/],
  ['leaves the query out', { message: `GET+/articles+${stamp}+NONCE` }, /the query was left out/],
  [
    'signs other percent-encodings',
    { target: '/articles?q=b%20c', message: `GET+/articles?q=b+c+${stamp}+NONCE` },
    /space in the query was "\+"/,
  ],
  [
    'signs a trailing slash',
    { message: `GET+/articles/?limit=2&sort=title+${stamp}+NONCE` },
    /there was a trailing slash/,
  ],
  [
    'sends the date of its time zone',
    { date: '01 mar 2026 13:00:00', message: `GET+${target}+01mar202613:00:00+NONCE` },
    /date is 3600 s ahead of the server's clock.*exactly 1 hour: probably a time zone/,
  ],
  [
    'uses a nonce twice',
    async () => {
      const headers = await double.as('johndoe').sign('GET', double.url + target);
      await fetch(double.url + target, { headers });
      await fetch(double.url + target, { headers });
    },
    /nonce-replayed.*The user has already used this nonce/,
  ],
  [
    'sends an expired request',
    { date: '01 mar 2026 11:45:00', message: `GET+${target}+01mar202611:45:00+NONCE` },
    /date is 900 s behind the server's clock/,
  ],
  [
    'decodes the secret from base64',
    { sign: (message) => hmac(message, Buffer.from(secret, 'base64')) },
    /secret was decoded from base64/,
  ],
  [
    'uses SHA-1',
    { sign: (message) => hmac(message, secret, 'sha1') },
    /length of SHA-1; SHA-256 is expected/,
  ],
  ['hashes without HMAC', { sign: (message) => sha256(message) }, /plain hash of the message, without HMAC/],
];

/** Fifty variants of these mistakes. */
const variants: readonly Mistake[] = [
  ['uses SHA-512', { sign: (message) => hmac(message, secret, 'sha512') }, /length of SHA-512/],
  ['uses SHA-384', { sign: (message) => hmac(message, secret, 'sha384') }, /length of SHA-384/],
  [
    'joins the parts with line feeds',
    { message: `GET\n${target}\n${stamp}\nNONCE` },
    /joined with line feeds/,
  ],
  ['joins the parts with |', { message: `GET|${target}|${stamp}|NONCE` }, /joined with "\|"/],
  ['joins the parts with commas', { message: `GET,${target},${stamp},NONCE` }, /joined with ","/],
  ['leaves the spaces in the date', { message: `GET+${target}+${date}+NONCE` }, /spaces were not removed/],
  [
    'signs the method in lower case',
    { message: `get+${target}+${stamp}+NONCE` },
    /method was signed in lower case/,
  ],
  ['signs GET and sends HEAD', { method: 'HEAD', message: right }, /GET was signed, but HEAD arrived/],
  ['signs a trailing line feed', { message: `${right}\n` }, /line feed was signed at the end/],
  ['signs a trailing +', { message: `${right}+` }, /"\+" was signed at the end/],
  ['leaves the nonce out', { message: `GET+${target}+${stamp}` }, /nonce was left out/],
  ['leaves the date out', { message: `GET+${target}+NONCE` }, /date was left out/],
  ['leaves date and nonce out', { message: `GET+${target}` }, /date and nonce were left out/],
  ['swaps date and nonce', { message: `GET+${target}+NONCE+${stamp}` }, /date and nonce were swapped/],
  ['signs the user too', { message: `johndoe+${right}` }, /the user was signed too/],
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
    'signs the content instead of its digest',
    { ...post, headers: typed, body: json, message: `POST+/articles+${stamp}+NONCE+${json}` },
    /content itself was signed/,
  ],
  [
    'signs the bare digest',
    {
      ...post,
      headers: [...typed, ['Content-Digest', contentDigest]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+${sha256(json)}`,
    },
    /bare digest of the content was signed/,
  ],
  [
    'does not sign the Content-Digest that it sends',
    {
      ...post,
      headers: [...typed, ['Content-Digest', contentDigest]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE`,
    },
    /content digest was left out/,
  ],
  [
    'digests the content without its line feed',
    {
      ...post,
      headers: [...typed, ['Content-Digest', `sha-256=:${sha256(json.trim())}:`]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+sha-256=:${sha256(json.trim())}:`,
    },
    /digest of the content without its line feed/,
  ],
  [
    'sends the digest of no content',
    {
      ...post,
      headers: [...typed, ['Content-Digest', `sha-256=:${sha256('')}:`]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+sha-256=:${sha256('')}:`,
    },
    /digest of empty content/,
  ],
  [
    'sends a bare base64 Content-Digest',
    { ...post, headers: [...typed, ['Content-Digest', sha256(json)]], body: json },
    /bare base64; send sha-256=:BASE64:/,
  ],
  [
    'appends the date with Headers.append',
    async () => {
      const headers = new Headers({ date, authentication: `hmac johndoe:n-1:${hmac('x')}` });
      headers.append('date', date);
      await fetch(double.url + target, { headers });
    },
    /sent twice and joined with a comma \(Headers\.append\?\)/,
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
  ['sends the date in ISO 8601', { date: '2026-03-01T12:00:00Z' }, /ISO 8601/],
  ['sends the date as a number', { date: '1772366400' }, /number of seconds/],
  [
    'signs the date in ISO 8601',
    { message: `GET+${target}+2026-03-01T12:00:00Z+NONCE` },
    /signed in ISO 8601 format, not as it was sent/,
  ],
  [
    'signs the date as a number',
    { message: `GET+${target}+1772366400+NONCE` },
    /signed as a number of seconds, not as it was sent/,
  ],
  ['capitalizes the month', { message: `GET+${target}+01Mar202612:00:00+NONCE` }, /different letter case/],
  [
    'signs local time and sends UTC',
    { message: `GET+${target}+01mar202617:30:00+NONCE` },
    /19800 s later was signed.*another time zone/,
  ],
  [
    'is behind a proxy that sets Date in another format',
    { date: 'Sun, 01 Mar 2026 12:00:01 GMT', message: right },
    /1 s earlier was signed/,
  ],
  [
    'signs the path that a proxy shortened',
    { message: `GET+/api${target}+${stamp}+NONCE` },
    /prefix that a proxy removed: \/api/,
  ],
  [
    'signs the host of Forwarded',
    {
      message: `GET+https://shop.example${target}+${stamp}+NONCE`,
      headers: [['Forwarded', 'for=1.2.3.4;host=shop.example']],
    },
    /public host was signed/,
  ],
  [
    'sorts the parameters',
    { target: '/articles?b=2&a=1', message: `GET+/articles?a=1&b=2+${stamp}+NONCE` },
    /sorted/,
  ],
  [
    'signs the parameters in another order',
    { target: '/articles?a=1&b=2', message: `GET+/articles?b=2&a=1+${stamp}+NONCE` },
    /query was signed in another order/,
  ],
  [
    'signs the decoded target',
    { target: '/articles/a%2Cb', message: `GET+/articles/a,b+${stamp}+NONCE` },
    /percent-decoded before it was signed/,
  ],
  [
    'encodes the secret in hexadecimal',
    { sign: (message) => hmac(message, Buffer.from(secret).toString('hex')) },
    /secret was encoded in hexadecimal/,
  ],
  [
    'uses the secret with a line feed',
    { sign: (message) => hmac(message, `${secret}\n`) },
    /secret was used with a trailing line feed/,
  ],
  [
    'signs with its password',
    { sign: (message) => hmac(message, 'pw') },
    /signed with the password of johndoe/,
  ],
  ['swaps key and message', { sign: (message) => hmac(secret, message) }, /key and message were swapped/],
  [
    'encodes the message in UTF-16',
    {
      sign: (message) =>
        createHmac('sha256', secret).update(Buffer.from(message, 'utf16le')).digest('base64'),
    },
    /UTF-16 instead of UTF-8/,
  ],
  ['leaves the padding out', { sign: (message) => hmac(message).replace('=', '') }, /padding "=" is missing/],
  [
    'percent-encodes the digest',
    { sign: (message) => encodeURIComponent(hmac(message)) },
    /digest is percent-encoded/,
  ],
  [
    'sends the credentials in base64',
    { credentials: `hmac ${Buffer.from('johndoe:n:digest').toString('base64')}` },
    /encoded in base64, as for Basic/,
  ],
  [
    'uses the name in another case',
    { credentials: 'hmac JohnDoe:NONCE:DIGEST' },
    /no user JohnDoe; did you mean johndoe\?/,
  ],
  ['uses the name of a removed user', { credentials: 'hmac bob:NONCE:DIGEST' }, /the user bob was removed/],
  [
    'names the scheme HMAC-SHA256',
    { credentials: 'HMAC-SHA256 johndoe:NONCE:DIGEST', field: 'Authorization' },
    /did you mean hmac\?/,
  ],
  ['leaves the scheme out', { credentials: 'johndoe:NONCE:DIGEST' }, /the scheme is missing/],
  [
    'misspells the field',
    { field: 'Authentification', method: 'DELETE', target: '/articles/1' },
    /field Authentification, which is not read; did you mean authentication\?/,
  ],
];

test('the lists contain 25 mistakes and 50 variants', () => {
  assert.deepEqual([usual.length, variants.length], [25, 50]);
});

for (const [what, sent, named] of [...usual, ...variants]) {
  test(`the first line of an entry names the mistake of a client that ${what}`, async () => {
    await (typeof sent === 'function' ? sent() : send(sent));
    assert.match(lineOf(), named);
    for (const each of [secret, annSecret, formerSecret])
      assert.ok(!String(double.journal.last()).includes(each));
  });
}
