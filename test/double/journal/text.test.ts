// The text of an entry: what happened, the step by its name, and the reason of every refusal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';
import { digestOnce } from '../../../src/schemes/hmac/credentials.ts';
import { rawExchange } from '../../support/double/raw-exchange.ts';

const tea = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';

function open(options: DoubleOptions = {}): Promise<Double> {
  const users = { johndoe: { secret: 'a-secret', password: 'pw' }, jürgen: { secret: 'another-secret' } };
  return startDouble({ users, now: '2026-03-01T12:00:00Z', https: false, ...options });
}

const refusals: readonly [status: number, request: (double: Double) => Promise<unknown>, text: RegExp][] = [
  [
    401,
    ({ fetch }) => fetch('/articles/tea', { method: 'DELETE' }),
    /^#1 DELETE \/articles\/tea: 401, authentication-required, step 10 \(permission\): DELETE requires authentication here: no credentials were sent; expected: .*Authorization with Hmac \(hmac\)\n {2}credentials: failed at scheme$/,
  ],
  [
    403,
    (double) => double.as('johndoe').fetch('/users/ann/financialrecords'),
    /^#1 GET \/users\/ann\/financialrecords by johndoe: 403, forbidden, step 10 \(permission\): This principal may not GET here\.$/,
  ],
  [
    404,
    ({ fetch }) => fetch('/nowhere'),
    /^#1 GET \/nowhere: 404, not-found, step 6 \(route\): Nothing is at this address\.$/,
  ],
  [
    412,
    (double) =>
      double
        .as('johndoe')
        .fetch('/articles/tea', { method: 'PUT', body: tea, headers: { 'If-Match': '"x"' } }),
    /^#1 PUT \/articles\/tea by johndoe: 412, precondition-failed, step 14 \(preconditions\): .*If-Match/,
  ],
  [
    422,
    (double) =>
      double
        .as('johndoe')
        .fetch('/articles/tea', { method: 'PUT', body: '<article><title>Tea</title></article>' }),
    /^#1 PUT \/articles\/tea by johndoe: 422, invalid-content, step 15 \(content\): price is required\.$/,
  ],
];

for (const [status, request, text] of refusals) {
  test(`the text of an entry with the status ${status} contains the step by its name and the detail`, async () => {
    await using double = await open();
    await request(double);
    assert.equal(double.journal.last()?.response?.status, status);
    assert.match(String(double.journal.last()), text);
  });
}

test('the text of an entry names the fault that was applied', async () => {
  await using double = await open();
  double.faults.next({}, { status: 503, retryAfter: 2 });
  await double.fetch('/articles');
  assert.equal(String(double.journal.last()), '#1 GET /articles: 503, fault: status 503, retryAfter');
  double.faults.next({}, { reset: 'before' });
  await assert.rejects(double.fetch('/articles'));
  assert.equal(
    String(double.journal.last()),
    '#2 GET /articles: no response, step 16 (action), fault: reset before',
  );
});

const unparsable: readonly [octets: string, text: RegExp][] = [
  [
    'GET /a b HTTP/1.1\r\n\r\n',
    /^#1 unparsable request "GET \/a b HTTP\/1\.1": 400, malformed-request, step 0 \(parsing\): .*has a space/,
  ],
  ['GET / HTTP/1.1\r\nDate : x\r\n\r\n', /there is a space between Date and its colon$/],
  ['\x16\x03\x01\x02\x00\x01\x00', /a TLS handshake was sent to a port of plain HTTP$/],
  [
    `GET /${Buffer.from('tée').toString('latin1')} HTTP/1.1\r\n\r\n`,
    /^#1 unparsable request "GET \/tée HTTP\/1\.1": .*characters outside ASCII/,
  ],
];

for (const [octets, text] of unparsable) {
  test(`the text of a request that cannot be parsed contains the reason: ${JSON.stringify(octets)}`, async () => {
    await using double = await open();
    await rawExchange(double.url, Buffer.from(octets, 'latin1'));
    assert.match(String(double.journal.last()), text);
  });
}

test('text in UTF-8 stays UTF-8, in the text and in the members of an entry', async () => {
  await using double = await open();
  const field = Buffer.from('grün').toString('latin1');
  await double.as('jürgen').fetch('/articles', { headers: { 'X-Note': field } });
  const entry = double.journal.last();
  assert.equal(String(entry), '#1 GET /articles by jürgen: 200, step 16 (action)');
  assert.deepEqual(
    entry?.request?.headers.filter(([name]) => name.toLowerCase() === 'x-note').map(([, value]) => value),
    ['grün'],
  );
});

test('the text of an entry contains the seconds and the direction of a date outside the window', async () => {
  await using double = await open();
  for (const [date, direction] of [
    ['2026-03-01T11:00:00Z', 'behind'],
    ['2026-03-01T13:00:00Z', 'ahead of'],
  ] as const) {
    await double.as('johndoe', { date }).fetch('/articles');
    const expected = `The date is 3600 s ${direction} the server's clock; the maximum is 600 s: off by exactly 1 hour`;
    assert.ok(String(double.journal.last()).includes(expected), String(double.journal.last()));
  }
});

test('only the journal reveals that a request is signed with the secret of another user', async () => {
  await using double = await open();
  const response = await double
    .as('johndoe', { secret: 'another-secret' })
    .fetch('/articles', { headers: { Accept: 'application/json' } });
  assert.doesNotMatch(await response.text(), /jürgen|another user/);
  assert.match(String(double.journal.last()), /signed with the secret of another user, jürgen/);
});

test('a disabled user is named as such, in the journal only', async () => {
  await using double = await open({ users: { johndoe: { secret: 'a-secret', disabled: true } } });
  const authentication = `hmac johndoe:${digestOnce('a-secret', 'GET+/articles')}`;
  const response = await double.fetch('/articles', { headers: { authentication } });
  assert.doesNotMatch(await response.text(), /disabled/);
  assert.match(String(double.journal.last()), /the user johndoe is disabled/);
});

/** Mistakes in Authorization, beside those of the catalogue. */
const authorizations: readonly (readonly [authorization: string, named: RegExp])[] = [
  [encodeBasic('johndoe:a-secret'), /the secret of johndoe was sent instead of the password/],
  [encodeBasic('JohnDoe:pw'), /there is no user JohnDoe; did you mean johndoe\?/],
  [encodeBasic('johndoe:p%77'), /the password was percent-encoded/],
  [encodeBasic('johndoe:another-secret'), /the password or secret of another user, jürgen/],
  ['Basic johndoe:pw', /were sent as they are; encode USER:PASSWORD in base64/],
  [encodeBasic('johndoe'), /there is no colon between user and password/],
  [`Basic ${Buffer.from('johndoe:>>?').toString('base64url')}`, /the alphabet of base64url was used/],
  [`Basic "${Buffer.from('johndoe:pw').toString('base64')}"`, /the base64 was sent in quotes/],
  ['Basic ', /nothing follows Basic/],
  ['Bearer hmac johndoe:n-1:abc', /with a further word, bearer, before hmac; leave it out/],
  [
    'Bearer abc',
    /Authorization was sent with Bearer; Authorization with Basic or Authorization with Hmac is expected/,
  ],
  [
    'Signature keyId="ann",signature="AAAA"',
    /draft-cavage-http-signatures was sent; configure the scheme draft-cavage/,
  ],
  ['AWS4-HMAC-SHA256 Credential=a', /AWS Signature Version 4 was sent; configure the scheme aws4/],
  ['AWS4-ECDSA-P256-SHA256 Credential=a', /Version 4A was sent, which is not verified; sign with Version 4/],
];

function encodeBasic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

for (const [authorization, named] of authorizations)
  test(`the text of an entry alone names what is wrong with ${authorization}`, async () => {
    await using double = await open();
    const init = { method: 'DELETE', headers: { authorization }, secure: true };
    const response = await double.fetch('/articles/1', init);
    assert.doesNotMatch(await response.text(), named);
    assert.match(String(double.journal.last()), named);
  });

test('the text of an entry names credentials elsewhere, of schemes that are not configured', async () => {
  await using double = await open();
  const cavage = /draft-cavage-http-signatures was sent; configure the scheme draft-cavage/;
  for (const [query, headers, named] of [
    ['', { Signature: 'keyId="ann",signature="AAAA"' }, cavage],
    [
      '',
      { Signature: 'sig1=:AAAA:', 'Signature-Input': 'sig1=();created=1' },
      /RFC 9421\) was sent; configure the scheme message-signatures/,
    ],
    ['?X-Amz-Signature=00', {}, /AWS Signature Version 4 was sent/],
    [
      '',
      { 'Content-Type': 'multipart/form-data; boundary=b' },
      /those within a form \(a POST policy of Amazon S3\) are not read: sign the request, or presign its URL/,
    ],
  ] as const) {
    await double.fetch(`/articles/1${query}`, { method: 'DELETE', headers });
    assert.match(String(double.journal.last()), named);
  }
});

test('a text of the journal has no character of a client that changes how a terminal displays it', async () => {
  const fields = { title: { type: 'text' } } as const;
  const access = { read: 'anyone', write: 'anyone' } as const;
  await using double = await startDouble({
    https: false,
    collections: { '/notes': { element: 'notes', item: 'note', fields, access } },
  });
  const evil = '\u0007\u009b31m\u202e\u2066\u2028\u2029\u200b\u200d\ufeff\u00ad\u061c\u{e0041}x';
  const request = { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Note': '\u009b2J' } };
  await double.fetch('/notes', { ...request, body: JSON.stringify({ [evil]: 1, title: evil }) });
  await double.fetch(`/notes?${encodeURIComponent(evil)}=${encodeURIComponent(evil)}`);
  const text = String(double.journal);
  assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  assert.match(text, /\/notes/);
});
