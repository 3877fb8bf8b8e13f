import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import test from 'node:test';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import { type DeclaredTest, openDeclared, start, startSeconds } from '../../support/auth/declared.ts';
import { keepSecret } from '../../support/transcript.ts';

const partner = {
  message: 'v1:{method}\n{path}\n{query}\n{host}\n{timestamp}\n{body}',
  signature: { field: 'X-Signature' },
  user: { field: 'X-Api-Key' },
  timestamp: { field: 'X-Timestamp' },
};

const secret = 'c2VjcmV0IG9mIGFubiwgMzIgYnl0ZXMgbG9uZyEhISE=';
const users = new Map([
  ['ann', { secrets: [{ secret }, { secret: 'an expired secret', until: start }] }],
  ['bob', { secrets: [{ secret: 'the secret of bob' }] }],
]);
const method = 'POST';
const path = '/orders/a%20b';
const query = 'z=1&a=2';
const host = 'example.com:8443';
const content = '{"name":"Zo\u00eb","url":"http://a/b",\n"price":1.50}';

interface Parts {
  readonly start?: string;
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly host?: string;
  readonly timestamp?: string;
  readonly body?: string;
  readonly separator?: string;
  readonly end?: string;
}

function message(parts: Parts = {}): string {
  const { separator = '\n', body = content, timestamp = startSeconds } = parts;
  const values = [
    parts.method ?? method,
    parts.path ?? path,
    parts.query ?? query,
    parts.host ?? host,
    timestamp,
    body,
  ];
  return (parts.start ?? 'v1:') + values.join(separator) + (parts.end ?? '');
}

function hmac(text: string, key: string | Buffer = secret, hash = 'sha256'): Buffer {
  return createHmac(hash, key).update(text).digest();
}

function sent(signature: string, timestamp = startSeconds): IncomingRequest {
  return createRequest({
    method,
    target: `${path}?${query}`,
    headers: [
      ['Host', host],
      ['X-Api-Key', 'ann'],
      ['X-Timestamp', timestamp],
      ['X-Signature', signature],
      ['Date', 'Thu, 29 Feb 2024 12:00:00 GMT'],
    ],
    body: content,
  });
}

keepSecret(secret);
const parsed: unknown = JSON.parse(content);
const python = '{"name": "Zo\\u00eb", "url": "http://a/b", "price": 1.5}';

const mistakes: [what: string, signed: string, hint: RegExp, differs: string | undefined][] = [
  [
    'the content serialized again',
    message({ body: JSON.stringify(parsed) }),
    /parsed and serialized again/,
    'body',
  ],
  [
    'the content serialized again with indentation',
    message({ body: JSON.stringify(parsed, null, 2) }),
    /parsed and serialized again/,
    'body',
  ],
  [
    'the content serialized again by Python',
    message({ body: python }),
    /parsed and serialized again/,
    'body',
  ],
  [
    'the content serialized again with sorted members',
    message({ body: '{"name":"Zo\u00eb","price":1.5,"url":"http://a/b"}' }),
    /with its members sorted/,
    'body',
  ],
  ['an empty content', message({ body: '' }), /signed as empty/, 'body'],
  [
    'a line feed after the content',
    message({ body: `${content}\n` }),
    /line feed was signed at the end/,
    undefined,
  ],
  [
    'CR LF in the content',
    message({ body: content.replace('\n', '\r\n') }),
    /CR LF when it was signed/,
    'body',
  ],
  [
    'a digest of the content',
    message({ body: createHash('sha256').update(content).digest('hex') }),
    /a digest of the content/,
    'body',
  ],
  [
    'the content in Latin-1 that was encoded again',
    message({ body: Buffer.from(content).toString('latin1') }),
    /Latin-1/,
    'body',
  ],
  ['the method in lower case', message({ method: 'post' }), /method was signed in lower case/, 'method'],
  ['another method', message({ method: 'PUT' }), /PUT was signed, but POST arrived/, 'method'],
  [
    'the query with the path',
    message({ path: `${path}?${query}` }),
    /query was signed with the path/,
    'path',
  ],
  ['the path without the query', message({ query: '' }), /query was left out/, 'query'],
  ['the path decoded', message({ path: '/orders/a b' }), /path was percent-decoded/, 'path'],
  ['the path with a trailing slash', message({ path: `${path}/` }), /trailing slash/, 'path'],
  ['the query sorted', message({ query: 'a=2&z=1' }), /signed in another order/, 'query'],
  ['the query with "?"', message({ query: `?${query}` }), /"\?" was signed with the query/, 'query'],
  ['the host without its port', message({ host: 'example.com' }), /without its port/, 'host'],
  ['the URL for the host', message({ host: `https://${host}` }), /scheme was signed with the host/, 'host'],
  [
    'milliseconds',
    message({ timestamp: `${startSeconds}000` }),
    /signed as a number of milliseconds/,
    'timestamp',
  ],
  [
    'the date',
    message({ timestamp: 'Thu, 29 Feb 2024 12:00:00 GMT' }),
    /signed as an IMF-fixdate|value of Date/,
    'timestamp',
  ],
  ['no timestamp', message().replace(`${startSeconds}\n`, ''), /timestamp was left out/, 'timestamp'],
  ['another separator', message({ separator: '.' }), /joined with "\."/, undefined],
  ['no version', message({ start: '' }), /"v1:" was left out/, undefined],
  ['a line feed at the end', message({ end: '\n' }), /line feed was signed at the end/, undefined],
  ['the content alone', content, /only the part body was signed/, undefined],
  [
    'timestamp and content exchanged',
    message({ timestamp: content, body: startSeconds }),
    /timestamp and body were swapped/,
    undefined,
  ],
  ['nothing', '', /message was empty/, undefined],
];

async function explained(declared: DeclaredTest, request: IncomingRequest) {
  const { members } = await declared.problemWith(request);
  return { hint: String(members['hint']), differs: members['differs'], parts: members['parts'], members };
}

const explaining = (declaration: unknown = partner): DeclaredTest =>
  openDeclared(declaration, { users, context: { explain: true } });

for (const [what, signed, hint, differs] of mistakes) {
  test(`an explanation recognizes a signature of ${what}`, async () => {
    const found = await explained(explaining(), sent(hmac(signed).toString('hex')));
    assert.match(found.hint, hint);
    assert.equal(found.differs, differs);
  });
}

const keys: [what: string, digest: Buffer, hint: RegExp][] = [
  ['decoded from base64', hmac(message(), Buffer.from(secret, 'base64')), /decoded from base64/],
  ['with a line feed', hmac(message(), `${secret}\n`), /trailing line feed/],
  ['in quotes', hmac(message(), `"${secret}"`), /quotes/],
  ['that has expired', hmac(message(), 'an expired secret'), /expired secret/],
  ['exchanged with the message', hmac(secret, message()), /key and message were swapped/],
  ['hashed first', hmac(message(), createHash('sha256').update(secret).digest()), /secret was hashed/],
  [
    'with another hash',
    hmac(message(), secret, 'sha512').subarray(0, 32),
    /SHA-512 was used instead of SHA-256/,
  ],
  [
    'without HMAC',
    createHash('sha256')
      .update(secret + message())
      .digest(),
    /without HMAC/,
  ],
  ['left out', createHash('sha256').update(message()).digest(), /plain hash of the message/],
];

for (const [what, digest, hint] of keys) {
  test(`an explanation recognizes a secret ${what}`, async () => {
    assert.match((await explained(explaining(), sent(digest.toString('hex')))).hint, hint);
  });
}

const forms: [what: string, signature: string, detail: RegExp][] = [
  ['base64 instead of hexadecimal', hmac(message()).toString('base64'), /it is base64\.$/],
  ['upper case', hmac(message()).toString('hex').toUpperCase(), /it is in upper case\.$/],
  ['a prefix', `sha256=${hmac(message()).toString('hex')}`, /has a prefix that is not expected/],
  ['another hash', hmac(message(), secret, 'sha512').toString('hex'), /length of sha512/],
  [
    'base64 of hexadecimal',
    Buffer.from(hmac(message()).toString('hex')).toString('base64'),
    /encoded in base64 again/,
  ],
  ['quotes', `"${hmac(message()).toString('hex')}"`, /in quotes/],
];

for (const [what, signature, detail] of forms) {
  test(`a refusal names ${what} in a signature`, async () => {
    assert.match((await explaining().problemWith(sent(signature))).detail, detail);
  });
}

const times: [what: string, timestamp: string, hint: RegExp][] = [
  ['milliseconds for seconds', `${startSeconds}000`, /in milliseconds; seconds are expected/],
  ['another time zone', String(start / 1000 + 7200), /off by exactly 2 hours: probably a time zone/],
  ['a wrong clock', String(start / 1000 - 1000), /clock is wrong/],
  ['RFC 3339', '2024-02-29T12:00:00Z', /it is a date and time of RFC 3339/],
  ['a fraction', `${startSeconds}.123`, /a number with a fraction/],
];

for (const [what, timestamp, hint] of times) {
  test(`an explanation recognizes ${what} in a timestamp`, async () => {
    const signature = hmac(message({ timestamp })).toString('hex');
    assert.match((await explained(explaining(), sent(signature, timestamp))).hint, hint);
  });
}

test('an explanation shows the expected parts, and the signed value of the part that differs', async () => {
  const { parts } = await explained(
    explaining(),
    sent(hmac(message({ host: 'example.com' })).toString('hex')),
  );
  const lineFeed = { name: '(text)', expected: '\n' };
  assert.deepEqual(parts, [
    { name: '(text)', expected: 'v1:' },
    { name: 'method', expected: 'POST' },
    lineFeed,
    { name: 'path', expected: path },
    lineFeed,
    { name: 'query', expected: query },
    lineFeed,
    { name: 'host', expected: host, signed: 'example.com' },
    lineFeed,
    { name: 'timestamp', expected: startSeconds },
    lineFeed,
    { name: 'body', expected: content },
  ]);
});

test('an explanation contains neither the secret nor a valid signature', async () => {
  const problem = await explaining().problemWith(sent(hmac(message({ method: 'PUT' })).toString('hex')));
  const shown = JSON.stringify([problem.detail, problem.members]);
  const right = hmac(message());
  for (const secretText of [secret, right.toString('hex'), right.toString('base64')])
    assert.ok(!shown.includes(secretText));
});

test('without the secret, an explanation does not differ between users', async () => {
  const guess = hmac(message({ host: 'example.com' }), 'a guess').toString('hex');
  const known = await explained(explaining(), sent(guess));
  const request = sent(guess);
  const unknown = createRequest({
    method,
    target: request.target,
    headers: [
      ['Host', host],
      ['X-Api-Key', 'eve'],
      ['X-Timestamp', startSeconds],
      ['X-Signature', guess],
    ],
    body: content,
  });
  const found = await explained(explaining(), unknown);
  assert.deepEqual(found.members, known.members);
  assert.match(found.hint, /^the user does not exist, the secret is different, or the message differs/);
});

test('an explanation does not confirm a guess at a short decoded secret', async () => {
  const short = Buffer.from('guessable').toString('base64');
  const declared = openDeclared(partner, {
    users: new Map([['ann', { secrets: [{ secret: short }] }]]),
    context: { explain: true },
  });
  const found = await explained(declared, sent(hmac(message(), 'guessable').toString('hex')));
  assert.match(found.hint, /^the user does not exist/);
});

test('without the option explain, a refusal shows nothing of the message, but the trace does', async () => {
  const declared = openDeclared(partner, { users });
  const request = (): IncomingRequest => sent(hmac(message({ method: 'PUT' })).toString('hex'));
  assert.deepEqual((await declared.problemWith(request())).members, {});
  const { details } = await declared.trace(request());
  assert.deepEqual([details['hint'], details['differs']], ['PUT was signed, but POST arrived', 'method']);
});

test('a long value is shortened, and content that is not UTF-8 is shown by its digest', async () => {
  const declared = openDeclared(
    { message: '{body}', signature: { field: 'S' }, user: 'ann' },
    { users, context: { explain: true } },
  );
  const shown = async (body: string | Uint8Array): Promise<string> => {
    const fields = [['S', '0'.repeat(64)]] as const;
    const { parts } = await explained(
      declared,
      createRequest({ method, target: '/', headers: fields, body: body }),
    );
    return JSON.stringify(parts);
  };
  assert.match(await shown('x'.repeat(40_000)), /"x{1024}… \(40000 bytes\)"/);
  assert.match(await shown(Uint8Array.of(0xff)), /"1 bytes that are not UTF-8, SHA-256 a8100ae6/);
});

// A lenient decoder stops at the first character that is not valid, or skips it.
for (const [key, text, part] of [
  ['base64', 'QUJD!the rest of the secret', 'QUJD!the rest of the secret'],
  ['base64', 'QUJD=DEF0123456789abcdefghijkl', 'QUJD=DEF0123456789abcdefghijkl'],
  ['hex', '414243!the rest of the secret', '414243'],
  ['utf8', 'QUJD', 'QUJD'],
] as const) {
  for (const keyPrefix of ['', 'whsec_'])
    test(`a guess at the part of a ${key} secret that a lenient decoder reads is not confirmed: ${keyPrefix}${text}`, async () => {
      const declaration = { message: '{body}', key, signature: { field: 'S' }, user: 'ann' };
      const declared = openDeclared(keyPrefix === '' ? declaration : { ...declaration, keyPrefix }, {
        users: new Map([['ann', { secrets: [{ secret: keyPrefix + text }] }]]),
        context: { explain: true },
      });
      const guessed = Buffer.from(part, key === 'hex' ? 'hex' : 'base64');
      const signature = createHmac('sha256', guessed).update('x').digest('hex');
      const problem = await declared.problemWith(
        createRequest({ method: 'POST', target: '/', headers: [['S', signature]], body: 'x' }),
      );
      assert.match(String(problem.members['hint']), /^the user does not exist/);
    });
}
