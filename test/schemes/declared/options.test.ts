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
  ['a value that is not an object', 'stripe', /^schemes\.p must be an object, is a string/],
  [
    'an unknown key',
    { ...partner, mesage: '' },
    /^mesage is not a member of schemes\.p; did you mean "message"\?/,
  ],
  [
    'an unknown preset',
    { preset: 'strpe', user: 'ann' },
    /^schemes\.p\.preset must be a preset, is "strpe"; did you mean "stripe"\?/,
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
    'an unknown hash',
    { ...partner, hash: 'sha-256' },
    /^schemes\.p\.hash must be one of md5, sha1, sha256, sha384, sha512, is "sha-256"; did you mean "sha256"\?/,
  ],
  ['an unknown encoding', { ...partner, encoding: 'base65' }, /did you mean "base64"/],
  [
    'an unknown unit',
    { ...partner, timestamp: { field: 'T', unit: 'sec' } },
    /^schemes\.p\.timestamp\.unit must be one of s, fractional-s, ms, rfc3339, http-date, is "sec"/,
  ],
  [
    'a window of 0',
    { ...partner, timestamp: { field: 'T', window: 0 } },
    /^schemes\.p\.timestamp\.window must be a number of seconds up to 86400 or text such as 5m/,
  ],
  [
    'a window in text',
    { ...partner, timestamp: { field: 'T', window: '300' } },
    /^schemes\.p\.timestamp\.window must be a number of seconds up to 86400 or text such as 5m/,
  ],
  [
    'two timestamps',
    { ...partner, signature: { field: 'S', format: '{timestamp} {signature}' } },
    /already in signature\.format/,
  ],
  ['no place of the signature', { ...partner, signature: {} }, /must have one of field, query, json, form/],
  [
    'two places of the signature',
    { ...partner, signature: { field: 'S', query: 's' } },
    /must have one of field, query, json, form/,
  ],
  [
    'a field name with a space',
    { ...partner, signature: { field: 'X Signature' } },
    /^schemes\.p\.signature\.field must be a field name, is "X Signature"/,
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
    'a malformed JSON Pointer',
    { ...partner, timestamp: { json: 'time' } },
    /^schemes\.p\.timestamp\.json must be a JSON Pointer \(RFC 6901\) such as \/event\/id/,
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
  [
    'an empty prefix of the key',
    { ...partner, keyPrefix: '' },
    /^schemes\.p\.keyPrefix must be non-empty text, is empty/,
  ],
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
