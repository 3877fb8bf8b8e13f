import assert from 'node:assert/strict';
import test from 'node:test';
import { readDeclaredOptions } from '../../../src/schemes/declared/options.ts';

const partner = {
  message: '{timestamp}.{method}.{target}.{body}',
  signature: { field: 'X-Signature', format: 'v1={signature}' },
  user: { field: 'X-Api-Key' },
  timestamp: { field: 'X-Timestamp' },
};

test('a declaration has the defaults sha256, hex, utf8, seconds and 300 s', () => {
  const options = readDeclaredOptions(partner, 'schemes.partner');
  const { hash, encoding, key, timestamp, replay } = options;
  assert.deepEqual(
    { hash, encoding, key, timestamp, replay },
    {
      hash: 'sha256',
      encoding: 'hex',
      key: 'utf8',
      timestamp: { place: { field: 'X-Timestamp' }, unit: 's', window: 300_000 },
      replay: 'accept',
    },
  );
});

test('a timestamp in the signature needs no declaration', () => {
  const { timestamp } = readDeclaredOptions(
    {
      message: '{timestamp}.{body}',
      signature: { field: 'S', format: 't={timestamp},v1={signature}' },
      user: 'ann',
    },
    'schemes.p',
  );
  assert.deepEqual(timestamp, { place: { format: 'timestamp' }, unit: 's', window: 300_000 });
});

test('a preset has its own window, which a configuration can change', () => {
  const { timestamp } = readDeclaredOptions(
    { preset: 'stripe', user: 'ann', timestamp: { window: 60 } },
    'schemes.p',
  );
  assert.deepEqual(timestamp, { place: { format: 'timestamp' }, unit: 's', window: 60_000 });
});

const refused: [what: string, value: unknown, message: RegExp][] = [
  [
    'an unknown key',
    { ...partner, mesage: '' },
    /^mesage is not a member of schemes\.p; did you mean "message"\?/,
  ],
  [
    'a preset named like a property of every object',
    { preset: 'constructor', user: 'ann' },
    /^schemes\.p\.preset must be a preset, is "constructor"/,
  ],
  [
    'a key that a preset determines',
    { preset: 'slack', user: 'ann', hash: 'sha1' },
    /^hash is not a member of schemes\.p; known are preset, timestamp, replay, user/,
  ],
  [
    'a window for a preset without timestamps',
    { preset: 'github', user: 'ann', timestamp: { window: 1 } },
    /no timestamp/,
  ],
  [
    'a preset without a user',
    { preset: 'github' },
    /^schemes\.p\.user must be the name of a user or \{ "field": NAME \}, or \{user\} must be in signature\.format/,
  ],
  [
    'an unknown placeholder',
    { ...partner, message: '{timestmp}{body}' },
    /\{timestmp\} is not a placeholder; did you mean "timestamp"/,
  ],
  ['a message without the timestamp', { ...partner, message: '{body}' }, /does not contain \{timestamp\}/],
  ['a message without the nonce', { ...partner, nonce: { field: 'N' } }, /does not contain \{nonce\}/],
  ['a message without the id', { ...partner, id: { field: 'I' } }, /does not contain \{id\}/],
  ['a timestamp that is not declared', { ...partner, timestamp: undefined }, /timestamp is not declared/],
  ['an id that is not declared', { ...partner, message: '{id}{timestamp}{body}' }, /id is not declared/],
  [
    'a nonce without a timestamp',
    { message: '{nonce}{body}', signature: { field: 'S' }, user: 'ann', nonce: { field: 'N' } },
    /^schemes\.p\.nonce: a nonce requires a timestamp/,
  ],
  [
    'a field named twice',
    { ...partner, user: { field: 'x-timestamp' } },
    /timestamp\.field: X-Timestamp is named twice; it is also the field of user/,
  ],
  [
    'a role of a field in the message',
    { ...partner, message: '{timestamp}{field:x-api-key}' },
    /x-api-key is named twice; use \{user\}/,
  ],
  [
    'a message with its own signature',
    { ...partner, message: '{timestamp}{field:X-Signature}' },
    /its own signature/,
  ],
  [
    'two timestamps',
    { ...partner, signature: { field: 'S', format: '{timestamp} {signature}' } },
    /already in signature\.format/,
  ],
  [
    'two places of the signature',
    { ...partner, signature: { field: 'S', query: 's' } },
    /must have one of field, query, json, form/,
  ],
  [
    'the user in the format and beside it',
    { ...partner, signature: { field: 'S', format: '{user} {signature}' } },
    /^schemes\.p\.user: the user is already in signature\.format$/,
  ],
  [
    'a nonce in the format that is not signed',
    { ...partner, signature: { field: 'S', format: '{nonce} {signature}' } },
    /does not contain \{nonce\}/,
  ],
  [
    'a timestamp in a query that is not signed',
    { ...partner, message: '{path}{body}', timestamp: { query: 't' } },
    /does not contain \{timestamp\}/,
  ],
  [
    'a malformed JSON Pointer in the message',
    { ...partner, message: '{timestamp}{json:a}' },
    /"a" is not a JSON Pointer/,
  ],
  [
    'content with the signature in it',
    { ...partner, signature: { json: '/sign' } },
    /cannot contain its own signature, which is the member \/sign of the content/,
  ],
  [
    'a key of Ed25519',
    { ...partner, algorithm: 'ed25519', key: 'hex' },
    /ed25519 has public keys, not secrets/,
  ],
  ['a hash of Ed25519', { ...partner, algorithm: 'ed25519', hash: 'sha256' }, /a hash function of its own/],
  ['a form of ECDSA without it', { ...partner, dsaEncoding: 'der' }, /an option of ecdsa-p256/],
  ['HMAC with MD5', { ...partner, hash: 'md5' }, /md5 is for plain digests only/],
  [
    'a plain digest without a secret',
    { ...partner, algorithm: 'digest' },
    /must contain \{secret\}; otherwise anyone could compute it/,
  ],
  [
    'HMAC of the secret',
    { ...partner, message: '{secret}{timestamp}' },
    /\{secret\} is for plain digests only/,
  ],
  [
    'names of a signature elsewhere',
    { ...partner, signature: { field: 'S', names: ['A'] } },
    /only a signature in Authorization has names/,
  ],
  [
    'a built-in name',
    { ...partner, signature: { field: 'Authorization', format: 'A {signature}', names: ['basic'] } },
    /names\[0\]: the scheme basic is built in/,
  ],
  [
    'a user for a provider whose requests name it',
    { preset: 'coinbase', user: 'ann' },
    /^user is not a member of schemes\.p; known are preset, timestamp, replay/,
  ],
  ['a window for Binance', { preset: 'binance', timestamp: { window: 5 } }, /choose their lifetime/],
  ['a query parameter that needs encoding', { ...partner, signature: { query: 'a&b' } }, /percent-encoding/],
  [
    'Authorization without a scheme',
    { ...partner, signature: { field: 'Authorization' } },
    /a scheme and a space/,
  ],
  [
    'Authorization with a built-in scheme',
    { ...partner, signature: { field: 'Authorization', format: 'Bearer {signature}' } },
    /Bearer is built in/,
  ],
  [
    'the field Authentication',
    { ...partner, signature: { field: 'Authentication' } },
    /the field of the scheme hmac/,
  ],
  ['an invalid user', { ...partner, user: 'a:b' }, /^schemes\.p\.user: a user name must have no colon$/],
  [
    'replay without a timestamp',
    { preset: 'github', user: 'ann', replay: 'refuse' },
    /refuse requires a timestamp/,
  ],
  [
    'replay beside a nonce',
    { ...partner, message: '{timestamp}{nonce}', nonce: { field: 'N' }, replay: 'refuse' },
    /the nonce already determines it/,
  ],
];

for (const [what, value, message] of refused) {
  test(`a declaration with ${what} is rejected`, () => {
    assert.throws(
      () => readDeclaredOptions(value, 'schemes.p'),
      (error) => error instanceof RangeError && message.test(error.message) && !error.message.includes('\n'),
    );
  });
}
