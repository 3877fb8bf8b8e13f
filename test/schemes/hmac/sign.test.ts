import assert from 'node:assert/strict';
import test from 'node:test';
import {
  faultOfDigest,
  formatHmacCredentials,
  isNonce,
  messageParts,
  messageText,
  removeSpaces,
  splitHmacCredentials,
} from '../../../src/schemes/hmac/credentials.ts';
import { seeded } from '../../support/seeded.ts';

const digest = 'rS9Q2EV3ujnwynuw83b2HwzbyJyOXyCHX9E3uJBQt+o=';

test('the message consists of its parts joined by "+", with a date without spaces', () => {
  const [method, target] = ['GET', '/a b?c=d'];
  assert.equal(messageText(messageParts({ method, target })), 'GET+/a b?c=d');
  assert.equal(messageText(messageParts({ method, target, contentDigest: 'x' })), 'GET+/a b?c=d+x');
  const full = { method, target, date: ' 20  apr 2013 12:59:24 ', nonce: 'n' };
  assert.equal(messageText(messageParts(full)), 'GET+/a b?c=d+20apr201312:59:24+n');
  assert.equal(
    messageText(messageParts({ ...full, contentDigest: 'x' })),
    'GET+/a b?c=d+20apr201312:59:24+n+x',
  );
});

test('removeSpaces removes spaces and nothing else', () => {
  const random = seeded();
  for (let round = 0; round < 500; round += 1) {
    const text = random.text(' a\t0:\u00a0', 12);
    assert.equal(
      removeSpaces(text),
      text.split(' ').join(''),
      `${JSON.stringify(text)}, seed ${random.seed}`,
    );
  }
});

/** Returns the credentials, or what is wrong with them or with the digest. */
function parseHmacCredentials(text: string) {
  const credentials = splitHmacCredentials(text);
  return typeof credentials === 'string' ? credentials : (faultOfDigest(credentials.digest) ?? credentials);
}

test('credentials consist of a user, an optional nonce and a digest', () => {
  assert.deepEqual(parseHmacCredentials(`ann:${digest}`), { user: 'ann', nonce: undefined, digest });
  assert.deepEqual(parseHmacCredentials(`ann:n-1:${digest}`), { user: 'ann', nonce: 'n-1', digest });
  assert.deepEqual(parseHmacCredentials(`j\xc3\xbcrgen:${digest}`), {
    user: 'jürgen',
    nonce: undefined,
    digest,
  });
  const most = `${'u'.repeat(128)}:${'n'.repeat(128)}:${digest}`;
  assert.equal(typeof parseHmacCredentials(most), 'object');
});

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
