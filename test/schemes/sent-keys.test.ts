// Mistakes in keys and tokens that are sent as they are, and the hint of the journal at each.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Double, startDouble } from '../../src/double/index.ts';
import { keepSecret } from '../support/transcript.ts';

const key = 'k3y-of-ann-0123456789abcdef';
keepSecret(key);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Sends a request over TLS. Returns the first line of its entry. */
async function send(double: Double, headers: Record<string, string>, query = ''): Promise<string> {
  await double.fetch(`/a${query}`, { secure: true, headers });
  const [line = ''] = String(double.journal.last()).split('\n');
  return line;
}

/** Starts a double whose users have a key at a place. */
async function openKeys(secret: { field: string } | { query: string } | { authorization: string }) {
  const double = await startDouble({ users: { ann: { secret: key } }, schemes: { partner: { secret } } });
  double.stub({ path: '/a' }, { status: 204 });
  after(() => double.close());
  return double;
}

describe('an API key', () => {
  for (const [what, sent, hint] of [
    ['the word undefined', 'undefined', /it is a word for no value/],
    ['the name of an object', '[object Object]', /it is the name of an object/],
    ['a placeholder', '{{api_key}}', /placeholder that was not replaced/],
    ['a masked key', 'k3y-***', /the key of ann was sent masked/],
    ['a key masked with an ellipsis', 'k3y-...cdef', /the key of ann was sent masked/],
    ['a masked key of another service', 'sk_live_51Habc****wxyz', /it is masked/],
    ['the key in quotes', `"${key}"`, /the key was sent in quotes/],
    ['the key after Bearer', `Bearer ${key}`, /with a word before it/],
    ['the key in base64', base64(key), /the key was encoded in base64/],
    ['the key in base64 with a name', base64(`ann:${key}`), /in base64 with a colon, as for Basic/],
    ['the key in hexadecimal', Buffer.from(key).toString('hex'), /encoded in hexadecimal/],
    ['the key percent-encoded', key.replaceAll('-', '%2D'), /was percent-encoded/],
    ['the key with a name', `ann:${key}`, /together with a name/],
    ['the key twice', `${key}, ${key}`, /sent twice/],
    ['the key in upper case', key.toUpperCase(), /another letter case/],
    ['the key without its end', key.slice(0, -3), /the end of the key is missing/],
    ['a name', 'ann', /a name was sent in place of the key/],
  ] as const)
    test(`is explained where ${what} was sent`, async () => {
      const line = await send(await openKeys({ field: 'X-Api-Key' }), { 'X-Api-Key': sent });
      assert.match(line, /401, credentials-refused/);
      assert.match(line, hint);
      assert.ok(!line.includes(key), line);
    });

  for (const [what, expected, headers, query, hint] of [
    [
      'raw in Authorization',
      'field',
      { Authorization: key },
      '',
      /in Authorization without the name of a scheme; X-API-Key/,
    ],
    [
      'after another word',
      'field',
      { Authorization: `ApiKey ${key}` },
      '',
      /in Authorization with ApiKey; X-API-Key/,
    ],
    ['in the query', 'field', {}, `?k=${key}`, /in the query parameter k; X-API-Key is expected/],
    ['in a cookie', 'field', { Cookie: `k=${key}` }, '', /in the cookie k; X-API-Key is expected/],
    [
      'in a field',
      'query',
      { 'X-Key': key },
      '',
      /in the field X-Key; the query parameter api_key is expected/,
    ],
    [
      'in a field for Bearer',
      'bearer',
      { 'X-Key': key },
      '',
      /in the field X-Key; Authorization with Bearer/,
    ],
  ] as const)
    test(`is found where it was sent ${what}`, async () => {
      const places = {
        field: { field: 'X-Api-Key' },
        query: { query: 'api_key' },
        bearer: { authorization: 'Bearer' },
      };
      const line = await send(await openKeys(places[expected]), { ...headers }, query);
      assert.match(line, hint);
      assert.ok(!line.includes(key), line);
    });

  for (const [what, type, body, hint] of [
    ['in JSON', 'application/json', { api_key: key }, /in the member api_key of the content; .*X-API-Key/],
    ['in JSON, deeper', 'application/json', { a: { b: key } }, /in the member a\.b of the content/],
    [
      'in a form',
      'application/x-www-form-urlencoded',
      { k: key },
      /in the parameter k of the form; .*X-API-Key/,
    ],
    ['that is unknown', 'application/json', { apiKey: 'another-key' }, /a key was sent in the member apiKey/],
  ] as const)
    test(`is found in the content ${what}`, async () => {
      const double = await openKeys({ field: 'X-Api-Key' });
      const isForm = type !== 'application/json';
      await double.fetch('/a', {
        method: 'POST',
        secure: true,
        headers: { 'Content-Type': type },
        body: isForm ? String(new URLSearchParams({ ...body })) : JSON.stringify(body),
      });
      const line = String(double.journal.last());
      assert.match(line, hint);
      assert.ok(!line.includes(key), line);
    });
});

describe('a request without credentials', () => {
  const partner = {
    message: '{timestamp}.{body}',
    signature: { field: 'X-Sign' },
    user: { field: 'X-Key' },
    timestamp: { field: 'X-Time' },
  } as const;
  async function open(explain: boolean): Promise<Double> {
    const double = await startDouble({
      https: false,
      explain,
      users: { ann: { secret: key } },
      schemes: { partner, hook: { preset: 'github', user: 'ann' } },
    });
    double.stub({ method: 'POST', path: '/a' }, { status: 204 }, { schemes: ['partner', 'hook'] });
    after(() => double.close());
    return double;
  }
  for (const explain of [true, false])
    test(`is explained by the places where they are expected, ${explain ? 'also' : 'not'} to the client`, async () => {
      const double = await open(explain);
      const response = await double.fetch('/a', { method: 'POST' });
      const hint =
        /no credentials were sent; expected: X-Sign with X-Key and X-Time \(partner\); or X-Hub-Signature-256 \(hook\)/;
      assert.match(String(double.journal.last()), hint);
      assert.equal(hint.test(await response.text()), explain);
    });

  for (const [what, body, hint] of [
    [
      'alone',
      '{"sign":"0123456789abcdef"}',
      /a signature was sent in the member sign of the content; X-Sign/,
    ],
    [
      'in a form',
      'a=1&signature=0123456789abcdef',
      /a signature was sent in the parameter signature of the form/,
    ],
  ] as const)
    test(`is explained by a signature that stands in the content ${what}`, async () => {
      const double = await open(false);
      await double.fetch('/a', { method: 'POST', body });
      assert.match(String(double.journal.last()), hint);
    });

  test('is explained by a signature that stands in the query', async () => {
    const double = await open(false);
    const headers = { 'X-Key': 'ann', 'X-Time': '1' };
    await double.fetch('/a?sign=0123456789abcdef', { method: 'POST', headers });
    assert.match(
      String(double.journal.last()),
      /the query parameter sign was sent; the field X-Sign is expected/,
    );
  });

  test('is explained by a signature in the content beside the other fields', async () => {
    const double = await open(false);
    const headers = { 'X-Key': 'ann', 'X-Time': '1', 'Content-Type': 'application/json' };
    await double.fetch('/a', { method: 'POST', headers, body: '{"signature":"0123456789abcdef"}' });
    assert.match(
      String(double.journal.last()),
      /in the member signature of the content; X-Sign or X-Hub-Signature-256 is expected/,
    );
  });
});

describe('credentials of another scheme', () => {
  for (const [sent, hint] of [
    ['Token 0123456789', /Authorization was sent with Token; Authorization with Bot is expected/],
    ['a-key-of-another-server', /without the name of a scheme; Authorization with Bot is expected/],
    ['sk_live_51Habcdef b', /without the name of a scheme; Authorization with Bot is expected/],
    ['Bott 0123456789', /Authorization was sent with Bott; did you mean bot\?/],
    [`${'a-long-word-'.repeat(3)} b`, /without the name of a scheme; Authorization with Bot is expected/],
  ] as const)
    test(`are explained by the name that is expected: ${sent}`, async () => {
      const double = await startDouble({
        users: { ann: { secret: key } },
        schemes: { partner: { secret: { authorization: 'Bot' } } },
      });
      after(() => double.close());
      double.stub({ path: '/a' }, { status: 204 }, { schemes: ['partner'] });
      assert.match(await send(double, { Authorization: sent }), hint);
    });

  test('are not shown where they may be a key', async () => {
    const double = await openKeys({ field: 'X-Api-Key' });
    for (const key of ['a-key-of-another-server', 'sk_live_51Habcdef x', `${'k'.repeat(40)} x`]) {
      await send(double, { Authorization: key });
      const entry = double.journal.last();
      const shown = `${entry}${JSON.stringify(entry)}`.toLowerCase();
      assert.ok(!shown.includes(key.slice(0, 12).toLowerCase()), shown);
    }
  });
});

describe('an access token', () => {
  async function openTokens(): Promise<{ double: Double; token: string }> {
    const app = {
      grants: ['client_credentials'],
      scopes: ['read'],
      users: '*',
      secret: 'client-secret-123456',
    } as const;
    const double = await startDouble({ users: { ann: { secret: key } }, clients: { app } });
    double.stub({ path: '/a' }, { status: 204 });
    after(() => double.close());
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann' });
    return { double, token: accessToken };
  }

  for (const [what, write, hint] of [
    ['undefined', () => 'Bearer undefined', /it is a word for no value/],
    ['Bearer twice', (token: string) => `Bearer Bearer ${token}`, /it begins with a word/],
    ['the token in quotes', (token: string) => `Bearer "${token}"`, /it is in quotes/],
    ['the token in base64', (token: string) => `Bearer ${base64(token)}`, /the token was encoded in base64/],
    ['the response as JSON', (token: string) => `Bearer {"access_token":"${token}"}`, /it is JSON/],
    ['a secret', () => `Bearer ${key}`, /a secret or password of ann was sent in place of a token/],
    ['a client', () => 'Bearer app', /a name was sent in place of a token/],
    ['a JWT', () => 'Bearer eyJhbGciOiJub25lIn0.e30.', /a JWT was sent/],
    [
      'a name and a password',
      () => `Bearer ${base64('ann:a password')}`,
      /as for Basic, in place of an access/,
    ],
    ['a colon after the scheme', (token: string) => `Bearer: ${token}`, /there is a colon after the scheme/],
  ] as const)
    test(`is explained where ${what} was sent`, async () => {
      const { double, token } = await openTokens();
      const line = await send(double, { Authorization: write(token) });
      assert.match(line, hint);
      assert.ok(!line.includes(token) && !line.includes(key), line);
    });

  for (const [place, headers, query] of [
    ['the query', {}, '?access_token=abc'],
    ['the field x-auth-token', { 'X-Auth-Token': 'abc' }, ''],
  ] as const)
    test(`is found in ${place}`, async () => {
      const { double } = await openTokens();
      assert.match(await send(double, headers, query), new RegExp(`in ${place}, which is not read`));
    });
});
