import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import {
  openDeclared,
  type SchemeTest,
  start,
  startSeconds,
} from '../../support/schemes/clients/declared.ts';
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

function message(changed: { readonly method?: string; readonly host?: string } = {}): string {
  return `v1:${[changed.method ?? method, path, query, changed.host ?? host, startSeconds, content].join('\n')}`;
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

async function explained(declared: SchemeTest, request: IncomingRequest) {
  const { members } = await declared.problemWith(request);
  return { hint: String(members['hint']), differs: members['differs'], parts: members['parts'], members };
}

const explaining = (declaration: unknown = partner): SchemeTest =>
  openDeclared(declaration, { users, context: { explain: true } });

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

test('an explanation does not confirm a guess at a short decoded secret', async () => {
  const short = Buffer.from('guessable').toString('base64');
  const declared = openDeclared(partner, {
    users: new Map([['ann', { secrets: [{ secret: short }] }]]),
    context: { explain: true },
  });
  const found = await explained(declared, sent(hmac(message(), 'guessable').toString('hex')));
  assert.match(found.hint, /^the user does not exist/);
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
