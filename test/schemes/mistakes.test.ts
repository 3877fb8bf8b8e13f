import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { startDouble } from '../../src/double/index.ts';
import { keepSecret } from '../support/transcript.ts';

const secret = 'c2VjcmV0IG9mIGFubiwgMzIgYnl0ZXMgbG9uZyEhISE=';
const path = '/articles';
const query = 'a=1&a=2&b=&c=%C3%A9';
const sentType = 'application/json; charset=utf-8';

/** The parts of a message, as a client signs them. */
interface Signed {
  readonly path?: string;
  readonly query?: string;
  readonly type?: string;
  readonly encoding?: string;
  readonly host?: string;
  readonly content?: string | Buffer;
  readonly separator?: string;
  readonly secret?: string | Buffer;
  /** Changes the message as a whole. */
  readonly whole?: (message: string) => string;
}

/** A client that makes a mistake: the hint, what it signs, and the content that it sends. */
type Case = readonly [hint: RegExp, signed: Signed, sent?: string | Buffer];

const text = '{"n":1,"ok":true,"none":null,"s":"it/s <é>"}';

const cases: readonly Case[] = [
  [/the secret was empty/, { secret: '' }],
  [/the text "undefined" was used as the secret/, { secret: 'undefined' }],
  [/the text "\{\{secret\}\}" was used as the secret/, { secret: '{{secret}}' }],
  [/the name of the user, or the id of the key, was used as the secret/, { secret: 'ann' }],
  [/the padding "=" of the secret was lost/, { secret: secret.slice(0, -1) }],
  [/the secret was used with a byte order mark/, { secret: `\ufeff${secret}` }],
  [/the secret was used in another letter case/, { secret: secret.toLowerCase() }],
  [
    /the secret was encoded in base64 with a line feed/,
    { secret: Buffer.from(`${secret}\n`).toString('base64') },
  ],
  [/the parameter c was left out, or added after signing/, { query: 'a=1&a=2&b=' }],
  [/empty parameters were left out of the query/, { query: 'a=1&a=2&c=%C3%A9' }],
  [/a repeated parameter was reduced to one value/, { query: 'a=1&b=&c=%C3%A9' }],
  [/a list in the query was signed in another form/, { query: 'a[]=1&a[]=2&b[]=&c[]=%C3%A9' }],
  [/the query was escaped for HTML/, { query: 'a=1&amp;a=2&amp;b=&amp;c=%C3%A9' }],
  [/another form of its parameters/, { type: 'application/json;charset=UTF-8' }],
  [/changed after signing, by the client library or a proxy/, { type: 'text/plain;charset=UTF-8' }],
  [/changed after signing, by the client library or a proxy/, { encoding: 'gzip, deflate, br' }],
  [/signed with a dot at its end/, { host: 'example.com.:8443' }],
  [/another name of this machine/, { host: 'host.docker.internal:8443' }],
  [/the two characters \\n/, { whole: (message) => message.replaceAll('\n', '\\n') }],
  [/joined with carriage returns/, { separator: '\r' }],
  [/another normalization form of Unicode/, { whole: (message) => message.normalize('NFD') }],
  [/notation of bytes in Python/, { content: `b'${text}'` }],
  [/notation of the value in Python/, { content: "{'n': 1, 'ok': True, 'none': None, 's': 'it/s <é>'}" }],
  [/parsed and serialized again/, { content: text.replace('1', '1.0') }],
  [/parsed and serialized again/, { content: text.replace('é', '\\u00E9') }],
  [/the content was compressed after it was signed/, { content: 'a'.repeat(100) }, gzipSync('a'.repeat(100))],
  [/the line feeds of the content were removed/, { content: 'ab' }, 'a\nb\n'],
];

for (const [hint, signed, sent = text] of cases)
  test(`the hint names the mistake of the client: ${hint.source}`, async () => {
    assert.match(await hintFor(signed, sent), hint);
  });

const forms: readonly (readonly [hint: RegExp, signature: string])[] = [
  [/placeholder that was not replaced/, '{{signature}}'],
  [/word for no value/, 'undefined'],
  [/notation of bytes in Python/, "b'5d41402abc4b2a76b9719d911017c592'"],
  [/name of an object/, '[B@1b2c3d'],
  [/list of bytes/, '[18, -52, 3, 4, 5, 6, 7, 8, 9, 10]'],
  [/hexadecimal digits are separated/, Array.from({ length: 32 }, () => 'AB').join('-')],
  [/output of a tool/, '(stdin)= 5d41402abc4b2a76b9719d911017c592'],
];

for (const [hint, signature] of forms)
  test(`the hint names the invalid form of the signature: ${hint.source}`, async () => {
    assert.match(await hintFor({}, text, signature), hint);
  });

test('the hint does not confirm a short secret in another letter case', async () => {
  const hint = await hintFor({ secret: 'short secret' }, text, undefined, 'Short Secret');
  assert.doesNotMatch(hint, /letter case/);
});

test('the hint does not try indentation for JSON that would grow to a multiple of its size', async () => {
  const deepJson = (items: number): string => `${'['.repeat(60)}${'1,'.repeat(items)}1${']'.repeat(60)}`;
  const hintForIndented = (json: string): Promise<string> =>
    hintFor({ content: JSON.stringify(JSON.parse(json), null, 2) }, json);
  assert.match(await hintForIndented(deepJson(10)), /parsed and serialized again/);
  assert.doesNotMatch(await hintForIndented(deepJson(7000)), /parsed and serialized again/);
});

/** Returns the hint for a request that is signed with a mistake. */
async function hintFor(
  signed: Signed,
  sent: string | Buffer,
  signature?: string,
  own = secret,
): Promise<string> {
  keepSecret(own);
  const double = await startDouble({
    users: { ann: { secret: own } },
    schemes: {
      partner: {
        message:
          '{method}\n{path}\n{query}\n{host}\n{field:Content-Type}\n{field:Accept-Encoding}\n{timestamp}\n{body}',
        signature: { field: 'X-Signature' },
        user: { field: 'X-User' },
        timestamp: { field: 'X-Timestamp' },
      },
    },
  });
  const host = 'example.com:8443';
  const timestamp = String(Math.floor(double.clock.now() / 1000));
  const { content = sent, separator = '\n', whole = (message) => message } = signed;
  const head = [
    'POST',
    signed.path ?? path,
    signed.query ?? query,
    signed.host ?? host,
    signed.type ?? sentType,
    signed.encoding ?? 'identity',
    timestamp,
  ].join(separator);
  const body = Buffer.isBuffer(content) ? content.toString('latin1') : content;
  const mac = createHmac('sha256', signed.secret ?? own)
    .update(whole(`${head}${separator}${body}`))
    .digest('hex');
  const response = await double.fetch(`${path}?${query}`, {
    method: 'POST',
    headers: {
      Host: host,
      'Content-Type': sentType,
      'Accept-Encoding': 'identity',
      'X-User': 'ann',
      'X-Timestamp': timestamp,
      'X-Signature': signature ?? mac,
    },
    body: sent,
  });
  assert.equal(response.status < 500 && response.status >= 400, true, String(response.status));
  const { auth, problem } = double.journal.last();
  await double.close();
  return `${auth?.hint ?? ''} ${problem?.detail ?? ''}`;
}
