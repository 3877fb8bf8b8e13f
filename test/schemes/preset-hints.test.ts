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
    [
      'with brackets, signed without',
      'ids%5B%5D=1&ids%5B%5D=2',
      'ids=1&ids=2',
      /the brackets in the names of the query were left out/,
    ],
    ['without brackets, signed with them', 'ids=1&ids=2', 'ids[]=1&ids[]=2', /with "\[\]" after its name/],
    ['without brackets, signed with indexes', 'z=0&ids=1&ids=2', 'z=0&ids[0]=1&ids[1]=2', /with an index/],
    [
      'signed as one value',
      'ids=1&ids=2&z=0',
      'ids=1,2&z=0',
      /the values of a repeated parameter of the query were joined/,
    ],
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

describe('a member of the content in a notification of Adyen', () => {
  const own = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';
  const item = {
    pspReference: '7914073381342284',
    originalReference: '',
    merchantAccountCode: 'TestMerchant',
    merchantReference: 'Test:1',
    amount: { value: 1130, currency: 'EUR' },
    eventCode: 'AUTHORISATION',
    success: 'true',
  };
  for (const [what, changed, hint] of [
    [
      'with its colons escaped',
      { merchantReference: 'Test\\:1' },
      /the member \/\S+\/merchantReference was signed with "\\"/,
    ],
    ['as Python writes it', { success: 'True' }, /\/success was signed as True/],
    ['that is not set', { originalReference: 'undefined' }, /\/originalReference was signed as undefined/],
    ['in units of a hundred', { amount: { ...item.amount, value: '11.30' } }, /another notation: 11\.30/],
  ] as const)
    test(`${what} is named`, async () => {
      const users = { shop: { secret: own } };
      const double = await open({ preset: 'adyen', user: 'shop' }, { users });
      const read = { ...item, ...changed };
      const text = [
        read.pspReference,
        read.originalReference,
        read.merchantAccountCode,
        read.merchantReference,
        read.amount.value,
        read.amount.currency,
        read.eventCode,
        read.success,
      ].join(':');
      const hmacSignature = createHmac('sha256', Buffer.from(own, 'hex')).update(text).digest('base64');
      const notification = { NotificationRequestItem: { ...item, additionalData: { hmacSignature } } };
      const body = JSON.stringify({ live: 'false', notificationItems: [notification] });
      assert.match(await post(double, { body, headers: { 'Content-Type': 'application/json' } }), hint);
    });
});

test('a clock that was read twice for a time in a signed query is named, in milliseconds', async () => {
  const double = await open({ preset: 'binance' });
  double.stub({ path: '/order' }, { status: 204 });
  const signature = sign(`symbol=BTC&timestamp=${at + 1}`).toString('hex');
  const query = `symbol=BTC&timestamp=${at}&signature=${signature}`;
  await double.fetch(`/order?${query}`, { headers: { 'X-MBX-APIKEY': 'key-1' } });
  assert.match(String(double.journal.last()), /a time 1 ms later was signed than was sent in the query/);
});

test('a secret that was sent as the name of a key is named, and not shown', async () => {
  const double = await open({ preset: 'binance' });
  double.stub({ path: '/order' }, { status: 204 });
  const query = `symbol=BTC&timestamp=${at}`;
  const signature = createHmac('sha256', 'key-1').update(query).digest('hex');
  await double.fetch(`/order?${query}&signature=${signature}`, { headers: { 'X-MBX-APIKEY': secret } });
  const shown = String(double.journal.last());
  assert.match(shown, /a secret of shop was sent as the name of the user/);
  assert.ok(!shown.includes(secret), shown);
});

test('a time that was signed with milliseconds and sent without them is named', async () => {
  const double = await open({ preset: 'zendesk', user: 'shop' });
  const signed = sign('2026-03-01T12:00:00.123Z{}').toString('base64');
  const headers = {
    'X-Zendesk-Webhook-Signature-Timestamp': '2026-03-01T12:00:00Z',
    'X-Zendesk-Webhook-Signature': signed,
  };
  assert.match(
    await post(double, { body: '{}', headers }),
    /timestamp was signed with milliseconds, and sent/,
  );
});
