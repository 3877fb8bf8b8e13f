import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import { formatHar } from '../../../src/double/control/operations/journal.ts';
import { assertAccepted, type Double, startDouble } from '../../../src/double/index.ts';
import { createMask } from '../../../src/schemes/secret-search/secret-search.ts';
import { createConsole } from '../../support/double/control-client.ts';
import { rawExchange } from '../../support/double/raw-exchange.ts';
import { isSuperlinear, measureGrowth } from '../../support/growth.ts';
import { seeded } from '../../support/seeded.ts';
import { long } from '../../support/store/thoroughness.ts';

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYz"E&pq9';
const password = 'Corréct horse/battery+5';
const former = 'whsec_c2VjcmV0LW9mLXRoZS1mb3JtZXItaG9vay0x';
const clientSecret = 'the-Secret~of~the-app-77';
const consumerSecret = 'the-Secret~of~the-printer-88';

async function start(): Promise<Double> {
  const double = await startDouble({
    users: { ann: { secret: former, password: 'another pass word' }, bob: { secret: 'the secret 9 of bob' } },
    clients: { app: { secret: clientSecret, redirectUris: ['https://client.example/cb'], scopes: ['read'] } },
    consumers: { printer: { secret: consumerSecret, callbacks: ['oob'] } },
    schemes: {
      aws4: { region: 'eu-central-1', service: 'execute-api' },
      keys: { secret: { field: 'X-Key-Secret' }, user: { field: 'X-Key' } },
      partner: {
        message: '{timestamp}.{method}.{target}.{body}',
        signature: { field: 'X-Signature', format: 'v1={signature}' },
        user: { field: 'X-User' },
        timestamp: { field: 'X-Timestamp', window: 300 },
      },
    },
  });
  double.auth.setUser('ann', { secret, password });
  return double;
}

const unicode = (text: string): string =>
  text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const percent = (text: string): string =>
  [...Buffer.from(text)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The encodings of a secret in a request. */
const encodings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'upper case': (text) => text.toUpperCase(),
  'lower case': (text) => text.toLowerCase(),
  base64,
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 with a name': (text) => base64(`ann:${text}`),
  'base64 with a longer name': (text) => base64(`ann.b:${text}:x`),
  'base64 with a line feed': (text) => base64(`${text}\n`),
  'base64 twice': (text) => base64(base64(text)),
  'base64 of name and password twice': (text) => base64(base64(`bob:${text}`)),
  'base64 of hexadecimal': (text) => base64(Buffer.from(text).toString('hex')),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'hexadecimal, upper case': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'UTF-16 in base64': (text) => Buffer.from(text, 'utf16le').toString('base64'),
  'percent-encoded': encodeURIComponent,
  'every octet percent-encoded': percent,
  'percent-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'percent-encoded three times': (text) => percent(percent(encodeURIComponent(text))),
  'form content': (text) => new URLSearchParams([['', text]]).toString().slice(1),
  JSON: (text) => JSON.stringify(text),
  'JSON with escaped slashes': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'JSON with code units': unicode,
  HTML: (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  'HTML with numbers': (text) => text.replace(/./gsu, (point) => `&#${point.codePointAt(0)};`),
  'HTML with hexadecimal numbers': (text) =>
    text.replace(/./gsu, (point) => `&#x${point.codePointAt(0)?.toString(16)};`),
  'with quotes': (text) => `'${text}'`,
  'with a prefix': (text) => `whsec_${text}`,
  'without a prefix': (text) => text.replace(/^whsec_/, ''),
  'without padding': (text) => base64(text).replace(/=+$/, ''),
};

const secrets = { secret, password, former, clientSecret, consumerSecret };

/** Returns a text and what it is without escapes, so that a part that is left of an encoding is found. */
function listLevels(text: string): string[] {
  const octets = Buffer.from(text).toString('latin1');
  const fromHex = (_: string, code: string): string => String.fromCharCode(Number.parseInt(code, 16));
  const decode = (from: string): string =>
    from
      .replace(/%([0-9a-f]{2})/gi, fromHex)
      .replace(/\\+u([0-9a-f]{4})/gi, fromHex)
      .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      .replace(/&#x([0-9a-f]+);/gi, fromHex);
  return [text, decode(text), octets, decode(decode(octets))].map((level) => level.toLowerCase());
}

/** What may not be seen, in lower case. */
function listNeedles(encoded: string, plain: string): string[] {
  const hex = Buffer.from(plain).toString('hex');
  return [
    encoded,
    plain,
    base64(plain).slice(0, 12),
    hex.slice(0, 20),
    plain.slice(0, 12),
    plain.slice(-9),
  ].map((needle) => needle.toLowerCase());
}

/** Everything that shows the entries of a double. */
async function showAll(double: Double): Promise<string> {
  const control = await createConsole(await double.openControl());
  const texts = [String(double.journal), inspect(double.journal)];
  texts.push(JSON.stringify(await control.send('POST', '/journal/list', { limit: 100 })));
  texts.push(await formatHar(double.journal.all(), { url: double.url, secureUrl: undefined }, '1.0.0'));
  for (const entry of double.journal) {
    texts.push(String(entry), JSON.stringify(entry), inspect(entry), String(entry.user));
    texts.push(inspect([entry.problem, entry.auth, entry.request, entry.response], { depth: 9 }));
    texts.push(JSON.stringify(await control.send('GET', `/journal/${entry.number}`)));
    if (entry.status >= 400)
      assert.throws(
        () => assertAccepted(entry),
        (error) => texts.push(String(error)) > 0,
      );
  }
  return texts.join('\n');
}

type Place = (double: Double, value: string) => Promise<unknown>;

/** Sends a field as octets, as a client does that does not escape it. */
async function sendField(double: Double, name: string, value: string): Promise<void> {
  const line = value.replace(/[\r\n]/g, ' ');
  await rawExchange(
    double.url,
    `GET /articles HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${line}\r\n\r\n`,
  );
}

const target = (value: string): string =>
  encodeURI(value).replaceAll('%25', '%').replaceAll('#', '%23').replaceAll('&', '%26');

/** The places of a secret in a request. */
const places: Readonly<Record<string, Place>> = {
  'the name of hmac': (double, value) => sendField(double, 'Authorization', `HMAC ${value}:n:d`),
  'the name of Authentication': (double, value) =>
    sendField(double, 'Authentication', `HMAC ${value}:n:${base64('x'.repeat(32))}`),
  'the name of Basic': (double, value) => sendField(double, 'Authorization', `Basic ${base64(`${value}:x`)}`),
  'the name of a scheme': (double, value) => sendField(double, 'Authorization', value),
  'the token of Bearer': (double, value) => sendField(double, 'Authorization', `Bearer ${value}`),
  'the access key of aws4': (double, value) =>
    sendField(
      double,
      'Authorization',
      `AWS4-HMAC-SHA256 Credential=${value}/20260101/eu-central-1/execute-api/aws4_request, SignedHeaders=host, Signature=${'a'.repeat(64)}`,
    ),
  'the region of aws4': (double, value) =>
    sendField(
      double,
      'Authorization',
      `AWS4-HMAC-SHA256 Credential=ann/20260101/${value}/execute-api/aws4_request, SignedHeaders=host, Signature=${'a'.repeat(64)}`,
    ),
  'the consumer of OAuth': (double, value) =>
    sendField(
      double,
      'Authorization',
      `OAuth oauth_consumer_key="${value}", oauth_nonce="n", oauth_timestamp="1", oauth_signature_method="HMAC-SHA1", oauth_signature="x"`,
    ),
  'the user of a declared scheme': (double, value) =>
    sendField(double, 'X-Signature', `v1=${'a'.repeat(64)}\r\nX-Timestamp: 1\r\nX-User: ${value}`),
  'the timestamp of a declared scheme': (double, value) => sendField(double, 'X-Timestamp', `${value}`),
  'an API key': (double, value) => sendField(double, 'X-Key', value),
  'another field': (double, value) => sendField(double, 'X-Foo', value),
  'another field with a scheme': (double, value) => sendField(double, 'X-Foo', `Basic ${value} x`),
  'Proxy-Authorization': (double, value) => sendField(double, 'Proxy-Authorization', value),
  Cookie: (double, value) => sendField(double, 'Cookie', `a=${value}`),
  'an entity tag': (double, value) => sendField(double, 'If-None-Match', `"${value}"`),
  'a date': (double, value) => sendField(double, 'Date', value),
  'the media type': (double, value) => sendField(double, 'Content-Type', value),
  Accept: (double, value) => sendField(double, 'Accept', value),
  Origin: (double, value) => sendField(double, 'Origin', value),
  'the path': (double, value) => double.fetch(`/articles/x${target(value)}`),
  'the query': (double, value) => double.fetch(`/articles?q=${target(value)}&limit=1`),
  'the name of a parameter': (double, value) => double.fetch(`/articles?${target(value)}=1`),
  'a parameter after &amp;': (double, value) =>
    double.fetch(`/articles?a=1&amp;X-Amz-Signature=${target(value)}`),
  'a presigned access key': (double, value) =>
    double.fetch(
      `/articles?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(value)}%2F20260101%2Feu-central-1%2Fexecute-api%2Faws4_request&X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=${'a'.repeat(64)}`,
    ),
  'form content': (double, value) =>
    double.fetch('/oauth2/token', {
      method: 'POST',
      secure: true,
      body: new URLSearchParams({ grant_type: value, client_id: value }),
    }),
  'form content as text': (double, value) =>
    double.fetch('/articles', { method: 'POST', body: `a=${value}&b=1` }),
  'JSON content': (double, value) =>
    double
      .as('ann')
      .fetch('/articles', { method: 'POST', body: JSON.stringify({ title: value, [value]: 1 }) }),
  'a signed path': (double, value) =>
    double.as('ann', { secret: 'wrong' }).fetch(`/articles?q=${encodeURIComponent(value)}`),
  'a field name': async (double, value) => {
    if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value)) await sendField(double, `X-${value}`, '1');
  },
  'a request that cannot be parsed': (double, value) =>
    rawExchange(
      double.url,
      `GET /${value} HTTP/1.1\r\nHost: a\r\nX-A: ${value}\r\nno colon ${value}\r\n\r\n`,
    ),
};

/** The places of which the explanation takes long. */
const explained = new Set(['a signed path', 'a presigned access key']);
const random = seeded();

/**
 * Returns whether an encoding is sent in a place. In the short form, one place gets all of them and the others a part, since encodings
 * are found in the same way wherever they stand. The seed decides.
 */
function isTried(place: string): boolean {
  return long || place === 'another field' || random.below(explained.has(place) ? 8 : 3) === 0;
}

for (const [place, send] of Object.entries(places))
  test(`a secret in any encoding is masked as ${place}`, async () => {
    // The kinds of secrets are known in the same way wherever they stand.
    const kinds = long ? ['secret', 'password'] : [random.pick(['secret', 'password'])];
    for (const [what, plain] of Object.entries(secrets)) {
      if (place !== 'another field' && !kinds.includes(what)) continue;
      await using double = await start();
      const sent = Object.entries(encodings)
        .filter(() => isTried(place))
        .map(([name, encode]) => [name, encode(plain)] as const);
      for (const [, encoded] of sent)
        try {
          await send(double, encoded);
        } catch (error) {
          // Some encodings are no target, for which the platform's fetch throws.
          assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
        }
      const levels = listLevels(await showAll(double));
      for (const [name, encoded] of sent)
        for (const needle of listNeedles(encoded, plain))
          for (const level of levels) {
            const at = level.indexOf(needle);
            const around = level.slice(Math.max(0, at - 150), at + 150);
            assert.ok(at < 0, `seed ${random.seed}: ${what}, ${name}: ${needle} in ${around}`);
          }
    }
  });

test('the time to learn many secrets that begin alike grows with their number', () => {
  const learn = (secrets: readonly string[]) => createMask(() => secrets)('a text');
  const list = (size: number) => Array.from({ length: size }, (_, at) => `whsec_${at}-0123456789abcdef`);
  assert.ok(!isSuperlinear(measureGrowth(learn, list, 500)));
});
