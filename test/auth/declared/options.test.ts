import assert from 'node:assert/strict';
import test from 'node:test';
import { readDeclaredOptions } from '../../../src/auth/declared/options.ts';

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
      timestamp: { field: 'X-Timestamp', unit: 's', window: 300_000 },
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
  assert.deepEqual(timestamp, { field: undefined, unit: 's', window: 300_000 });
});

test('a preset has its own window, which a configuration can change', () => {
  const { timestamp } = readDeclaredOptions(
    { preset: 'stripe', user: 'ann', timestamp: { window: 60 } },
    'schemes.p',
  );
  assert.deepEqual(timestamp, { field: undefined, unit: 's', window: 60_000 });
});

const refused: [what: string, value: unknown, message: RegExp][] = [
  ['a value that is not an object', 'stripe', /^schemes\.p: an object is expected$/],
  [
    'an unknown key',
    { ...partner, mesage: '' },
    /^schemes\.p\.mesage: unknown key; did you mean "message"\?$/,
  ],
  [
    'an unknown preset',
    { preset: 'strpe', user: 'ann' },
    /^schemes\.p\.preset: "strpe" is not a preset; did you mean "stripe"\?$/,
  ],
  [
    'a preset named like a property of every object',
    { preset: 'constructor', user: 'ann' },
    /is not a preset/,
  ],
  [
    'a key that a preset determines',
    { preset: 'slack', user: 'ann', hash: 'sha1' },
    /^schemes\.p\.hash: unknown key/,
  ],
  [
    'a window for a preset without timestamps',
    { preset: 'github', user: 'ann', timestamp: { window: 1 } },
    /no timestamp/,
  ],
  ['a preset without a user', { preset: 'github' }, /^schemes\.p\.user: the name of a user/],
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
    /^schemes\.p\.hash: "sha-256" is not known; did you mean "sha256"\?$/,
  ],
  ['an unknown encoding', { ...partner, encoding: 'base65' }, /did you mean "base64"/],
  [
    'an unknown unit',
    { ...partner, timestamp: { field: 'T', unit: 'sec' } },
    /^schemes\.p\.timestamp\.unit:/,
  ],
  [
    'a window of 0',
    { ...partner, timestamp: { field: 'T', window: 0 } },
    /window: a number of seconds up to 86400/,
  ],
  ['a window in text', { ...partner, timestamp: { field: 'T', window: '300' } }, /window: a number/],
  [
    'two timestamps',
    { ...partner, signature: { field: 'S', format: '{timestamp} {signature}' } },
    /already in signature\.format/,
  ],
  ['no place of the signature', { ...partner, signature: {} }, /either field or query/],
  [
    'two places of the signature',
    { ...partner, signature: { field: 'S', query: 's' } },
    /either field or query/,
  ],
  ['a field name with a space', { ...partner, signature: { field: 'X Signature' } }, /is not a field name/],
  ['an empty prefix of the key', { ...partner, keyPrefix: '' }, /keyPrefix: a text that is not empty/],
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
  test(`a declaration with ${what} is refused`, () => {
    assert.throws(
      () => readDeclaredOptions(value, 'schemes.p'),
      (error) => error instanceof RangeError && message.test(error.message) && !error.message.includes('\n'),
    );
  });
}
