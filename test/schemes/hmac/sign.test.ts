import assert from 'node:assert/strict';
import test from 'node:test';
import {
  faultOfDigest,
  formatHmacCredentials,
  isNonce,
  splitHmacCredentials,
} from '../../../src/schemes/hmac/credentials.ts';
import { seeded } from '../../support/seeded.ts';

const digest = 'rS9Q2EV3ujnwynuw83b2HwzbyJyOXyCHX9E3uJBQt+o=';

/** Returns the credentials, or what is wrong with them or with the digest. */
function parseHmacCredentials(text: string) {
  const credentials = splitHmacCredentials(text);
  return typeof credentials === 'string' ? credentials : (faultOfDigest(credentials.digest) ?? credentials);
}

/** The same grammar, written as one pattern of octets. */
function expected(text: string): object | undefined {
  const match =
    /^([^:\x00-\x1f\x7f]{1,128}):(?:([A-Za-z0-9._~-]{1,128}):)?([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/.exec(
      text,
    );
  const user = Buffer.from(match?.[1] ?? '', 'latin1');
  const name = user.toString('utf8');
  if (match === null || !Buffer.from(name, 'utf8').equals(user)) return undefined;
  return { user: name, nonce: match[2], digest: match[3] };
}

test('random credentials are parsed exactly as their grammar requires', () => {
  const random = seeded();
  const pieces = [
    'ann',
    ':',
    ':',
    'n1',
    digest,
    digest.slice(0, 43),
    '=',
    ' ',
    '\xc3',
    '\xbc',
    '\x7f',
    '\xff',
    '+',
    '',
  ];
  for (let round = 0; round < 20_000; round += 1) {
    const usual = ['ann', ':', 'n1', ':', digest];
    if (random.next() < 0.8) usual[random.below(5)] = random.pick(pieces);
    if (random.next() < 0.3) usual.splice(random.below(6), 0, random.pick(pieces));
    let text = usual.join('');
    if (random.next() < 0.3) {
      const at = random.below(text.length + 1);
      text = text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + random.below(2));
    }
    const read = parseHmacCredentials(text);
    const about = `${JSON.stringify(text)}, seed ${random.seed}`;
    const wanted = expected(text);
    if (wanted === undefined) assert.equal(typeof read, 'string', about);
    else assert.deepEqual(read, wanted, about);
    if (typeof read === 'object') assert.equal(formatHmacCredentials(read), text, about);
  }
});

test('characters above U+00FF are rejected in nonces and digests', () => {
  assert.ok(!isNonce('n\u0141'));
  assert.ok(!isNonce(''));
  assert.ok(!isNonce('n'.repeat(129)));
  assert.equal(typeof parseHmacCredentials(`ann:\u0141${digest.slice(1)}`), 'string');
});
