// Mistakes that people make with the webhooks and keys of known services, and the hint of the journal at each.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../src/double/index.ts';
import { keepSecret } from '../support/transcript.ts';

const secret = 'a-signing-secret-of-32-characters';
keepSecret(secret);
const at = Date.UTC(2026, 2, 1, 12);

function sign(text: string, hash = 'sha256'): Buffer {
  return createHmac(hash, secret).update(text).digest();
}

/** Starts a double with a scheme, which receives requests at `/hook`. */
async function open(
  hook: NonNullable<DoubleOptions['schemes']>[string],
  options: DoubleOptions = {},
): Promise<Double> {
  const users = { shop: { secret, keys: { 'key-1': { algorithm: 'hmac-sha256', secret } } } } as const;
  const double = await startDouble({ https: false, now: at, users, schemes: { hook }, ...options });
  double.stub({ method: 'POST', path: '/hook' }, { status: 204 });
  after(() => double.close());
  return double;
}

/** Sends a request. Returns the text of its entry. */
async function post(
  double: Double,
  { query = '', body, headers }: { query?: string; body?: string; headers: Record<string, string> },
): Promise<string> {
  await double.fetch(`/hook${query}`, { method: 'POST', headers, ...(body !== undefined && { body }) });
  return String(double.journal.last());
}

describe('a form that is written again', () => {
  const text = '{"text":"Hello (world)! It\'s *bold* ~old~ a+b","at":"\u00e9/x"}';
  /** Writes octets as percent-encoded, but for these characters. */
  const write = (kept: string, space: string, value: string): string =>
    Array.from(Buffer.from(value), (code) => {
      const octet = String.fromCharCode(code);
      if (/[A-Za-z0-9]/.test(octet) || kept.includes(octet)) return octet;
      return octet === ' ' ? space : `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
    }).join('');
  const sent = `payload=${write('-_.', '+', text)}&text=`;
  const forms: Readonly<Record<string, string>> = {
    URLSearchParams: String(new URLSearchParams({ payload: text, text: '' })),
    encodeURIComponent: `payload=${encodeURIComponent(text)}&text=`,
    'encodeURIComponent with "+" for spaces': `payload=${encodeURIComponent(text).replaceAll('%20', '+')}&text=`,
    'URLEncoder of Java': `payload=${write('.-*_', '+', text)}&text=`,
    'urlencode of Python': `payload=${write('_.-~', '+', text)}&text=`,
    'urlencode of Python with quote': `payload=${write('_.-~/', '%20', text)}&text=`,
    'rawurlencode of PHP': `payload=${write('_.-~', '%20', text)}&text=`,
    'HttpUtility of .NET': `payload=${write('-_.!*()', '+', text).replace(/%../g, (octet) => octet.toLowerCase())}&text=`,
  };
  for (const [encoder, signed] of Object.entries(forms))
    test(`by ${encoder}, is named`, async () => {
      const double = await open({ preset: 'slack', user: 'shop' });
      const time = String(at / 1000);
      const headers = {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Slack-Request-Timestamp': time,
        'X-Slack-Signature': `v0=${sign(`v0:${time}:${signed}`).toString('hex')}`,
      };
      assert.match(
        await post(double, { body: sent, headers }),
        /the form was parsed and serialized again before it was signed/,
      );
    });
});

describe('content that is encoded in ASCII before it is signed', () => {
  const body = '{"tier":"Gr\u00f6\u00dfe \u{1f680}"}';
  for (const [how, signed, hint] of [
    ['with "?" for each character', body.replace(/[^\0-\x7f]/gu, '?'), /were replaced by "\?"/],
    ['without the other characters', body.replace(/[^\0-\x7f]/gu, ''), /other than ASCII were left out/],
  ] as const)
    test(`${how}, is named`, async () => {
      const double = await open({ preset: 'github', user: 'shop' });
      const headers = {
        'Content-Type': 'application/json',
        'X-Hub-Signature-256': `sha256=${sign(signed).toString('hex')}`,
      };
      assert.match(await post(double, { body, headers }), hint);
    });
});

describe('a mistake is named in each message that a signature may fit', () => {
  const mistakes: readonly [what: string, sign: (origin: string) => string, hint: RegExp][] = [
    ['the query left out', (origin) => `${origin}/hooka1b2`, /the query was left out/],
    ['the form not sorted', (origin) => `${origin}/hook?x=1b2a1`, /were not sorted/],
    ['the form with "=" and "&"', (origin) => `${origin}/hook?x=1a=1&b=2`, /joined with "=" and "&"/],
    ['the form left out', (origin) => `${origin}/hook?x=1`, /were left out/],
    ['https for http', (origin) => `${origin.replace('http:', 'https:')}/hook?x=1a1b2`, /https was signed/],
  ];
  for (const port of ['with', 'without'])
    for (const [what, build, hint] of mistakes)
      test(`Twilio ${port} the port: ${what}`, async () => {
        const double = await open({ preset: 'twilio', user: 'shop' });
        const origin = port === 'with' ? double.url : double.url.replace(/:\d+$/, '');
        const headers = {
          'Content-Type': 'application/x-www-form-urlencoded',
          'X-Twilio-Signature': sign(build(origin), 'sha1').toString('base64'),
        };
        assert.match(await post(double, { query: '?x=1', body: 'b=2&a=1', headers }), hint);
      });

  test('Square with the public URL, and with that of the double', async () => {
    const double = await open({ preset: 'square', user: 'shop' }, { publicUrl: 'https://hooks.example' });
    for (const origin of ['https://hooks.example', double.url]) {
      const signature = sign(`${origin}/hook{"a":1}`).toString('base64');
      const headers = { 'Content-Type': 'application/json', 'x-square-hmacsha256-signature': signature };
      assert.match(
        await post(double, { body: '{ "a": 1 }', headers }),
        /parsed and serialized again/,
        origin,
      );
    }
  });
});

test('an empty content whose separator was left out is not named as left out itself', async () => {
  const double = await open({
    user: 'shop',
    message: '{timestamp}.{body}',
    signature: { field: 'X-Sig' },
    timestamp: { field: 'X-Time' },
  });
  const time = String(at / 1000);
  const headers = { 'X-Time': time, 'X-Sig': sign(time).toString('hex') };
  assert.match(await post(double, { headers }), /the text beside the content, which is empty, was left out/);
});

describe('the fixed text of a message', () => {
  const time = String(at / 1000);
  const body = '{"a":1}';
  for (const [what, signed, hint] of [
    ['of another version', `v1:${time}:${body}`, /the text "v0:" was signed as "v1:"/],
    ['with other separators', `v0.${time}.${body}`, /the parts were joined with "\."/],
  ] as const)
    test(`${what} is named`, async () => {
      const double = await open({ preset: 'slack', user: 'shop' });
      const headers = {
        'X-Slack-Request-Timestamp': time,
        'X-Slack-Signature': `v0=${sign(signed).toString('hex')}`,
      };
      assert.match(await post(double, { body, headers }), hint);
    });
});

for (const [what, sent, hint] of [
  [
    'of another algorithm',
    `sha1=${sign('{}', 'sha1').toString('hex')}`,
    /begins with "sha1="; sha256=\{signature\}/,
  ],
  [
    'without its prefix',
    sign('{}').toString('hex'),
    /sent alone, without the text around it in sha256=\{signature\}/,
  ],
] as const)
  test(`a signature ${what} is named by its form`, async () => {
    const double = await open({ preset: 'github', user: 'shop' });
    assert.match(await post(double, { body: '{}', headers: { 'X-Hub-Signature-256': sent } }), hint);
  });

describe('a list in a query', () => {
  for (const [what, sent, signed, hint] of [
    ['with brackets, signed without', 'ids%5B%5D=1&ids%5B%5D=2', 'ids=1&ids=2', /without the brackets/],
    ['without brackets, signed with them', 'ids=1&ids=2', 'ids[]=1&ids[]=2', /with "\[\]" after its name/],
    ['without brackets, signed with indexes', 'z=0&ids=1&ids=2', 'z=0&ids[0]=1&ids[1]=2', /with an index/],
    ['signed as one value', 'ids=1&ids=2&z=0', 'ids=1,2&z=0', /as one value with commas/],
    ['with indexes, signed as one value', 'ids[0]=1&ids[1]=2', 'ids=1,2', /as one value with commas/],
  ] as const)
    test(`${what} is named`, async () => {
      const double = await open({
        message: '{method}{target}',
        signature: { field: 'X-Sign' },
        user: 'shop',
      });
      const headers = { 'X-Sign': sign(`POST/hook?${signed}`).toString('hex') };
      assert.match(await post(double, { query: `?${sent}`, headers }), hint);
    });
});
