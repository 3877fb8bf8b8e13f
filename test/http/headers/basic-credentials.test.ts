import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import {
  type BasicCredentials,
  parseBasicCredentials,
  preparePassword,
} from '../../../src/http/headers/basic-credentials.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

const encoded = (text: string | Uint8Array): string => Buffer.from(text).toString('base64');

function read(text: string): BasicCredentials {
  const credentials = parseBasicCredentials(text);
  assert.ok(typeof credentials !== 'string', `${text} is refused: ${credentials}`);
  return credentials;
}

test('the examples of RFC 7617 are read', () => {
  // §2 and §2.1
  assert.deepEqual(read('QWxhZGRpbjpvcGVuIHNlc2FtZQ=='), { user: 'Aladdin', password: 'open sesame' });
  assert.deepEqual(read('dGVzdDoxMjPCow=='), { user: 'test', password: '123£' });
});

test('the password begins after the first colon, and may contain colons or be empty', () => {
  assert.deepEqual(read(encoded('ann:a:b:')), { user: 'ann', password: 'a:b:' });
  assert.deepEqual(read(encoded('ann:')), { user: 'ann', password: '' });
  assert.deepEqual(read(encoded('a b: c ')), { user: 'a b', password: ' c ' });
});

test('credentials other than user and password in canonical base64 and UTF-8 are rejected with the reason', () => {
  const form = 'canonical base64 is expected (RFC 4648 §4), with its padding';
  const control = 'control characters are not allowed in user and password';
  const user = 'the user is not 1 to 128 bytes of UTF-8';
  const refused: [text: string, fault: string][] = [
    ['', 'USER:PASSWORD in base64 is expected'],
    [encoded('ann'), 'USER:PASSWORD in base64 is expected'],
    ['dGVzdDoxMjPCow', form],
    ['dGVzdDoxMjPCow=', form],
    ['dGVzdDoxMjPCow===', form],
    ['dGVzdDoxMjPCox==', form],
    ['dGVz dDoxMjPCow==', form],
    ['dGVzdDoxMjPCow== ', form],
    ['dGVzdDoxMjPCow==,', form],
    ['dGVzdDo_Pz8_', form],
    ['ann:secret', form],
    [encoded(Buffer.from('test:123£', 'latin1')), 'user and password are not in UTF-8'],
    [encoded(Uint8Array.of(0x61, 0x3a, 0xc0, 0xaf)), 'user and password are not in UTF-8'],
    [encoded(Uint8Array.of(0x61, 0x3a, 0xed, 0xa0, 0x80)), 'user and password are not in UTF-8'],
    [encoded('a\nb:c'), control],
    [encoded('ab:c\0'), control],
    [encoded('ab:\x7f'), control],
    [encoded('ab:\u0085'), control],
    [encoded(':secret'), user],
    [encoded(':'), user],
    [encoded(`${'n'.repeat(129)}:c`), user],
    [encoded(`${'é'.repeat(65)}:c`), user],
  ];
  for (const [text, fault] of refused) assert.equal(parseBasicCredentials(text), fault, text);
  assert.equal(read(encoded(`${'é'.repeat(64)}:c`)).user.length, 64);
});

test('composed and decomposed characters are equivalent in user and password', () => {
  const composed = read(encoded('jos\u00e9:na\u00efve\u00a0caf\u00e9'));
  assert.deepEqual(read(encoded('jose\u0301:nai\u0308ve cafe\u0301')), composed);
  assert.deepEqual(composed, { user: 'jos\u00e9', password: 'na\u00efve caf\u00e9' });
  // RFC 8265 §4.3: case counts, and so do compatibility characters.
  for (const password of ['Correct Horse', 'π', 'Jack of \u2666s', '\uff21', '\ufb01']) {
    assert.equal(preparePassword(password), password);
  }
  assert.equal(preparePassword('foo\u1680bar'), 'foo bar');
  assert.equal(read(encoded('\ufeffann:x')).user, '\ufeffann');
});

test('Python writes credentials that are read', (context) => {
  const pairs = ['Aladdin:open sesame', 'test:123£', 'jürgen:ключ:🔑', 'a:'];
  const script =
    'import sys,base64,json\nfor p in json.load(sys.stdin): print(base64.b64encode(p.encode()).decode())';
  const run = spawnSync('python3', ['-c', script], { input: JSON.stringify(pairs), encoding: 'utf8' });
  if (run.error !== undefined) return context.skip('python3 is not installed');
  const readBack = run.stdout
    .trim()
    .split('\n')
    .map(read)
    .map(({ user, password }) => `${user}:${password}`);
  assert.deepEqual(readBack, pairs);
});

test('more than 30 consecutive combining marks are rejected', () => {
  // UAX #15 §13: 30 are allowed in Stream-Safe Text Format.
  const marks = (count: number): string => '\u0316\u0301'.repeat(count / 2);
  for (const pair of [`ann:a${marks(30)}b${marks(30)}`, `a${marks(30)}:x`])
    assert.equal(typeof parseBasicCredentials(encoded(pair)), 'object');
  for (const pair of [`ann:${marks(32)}`, `a${marks(32)}:x`, `ann:${'\u0301'.repeat(31)}`])
    assert.equal(
      parseBasicCredentials(encoded(pair)),
      'there are more than 30 consecutive combining marks',
      encoded(pair),
    );
});

test('credentials that are read match their bytes, and no value makes the parser throw', () => {
  const random = seeded();
  for (let round = 0; round < 5000; round += 1) {
    const raw = hostile(random, ['ann', ':', 'é', 'A=', '==', '£', ' ', '\u0301']);
    const text =
      random.below(3) === 0 ? raw : Buffer.from(raw, random.pick(['utf8', 'latin1'])).toString('base64');
    const credentials = parseBasicCredentials(text);
    if (typeof credentials === 'string') continue;
    const message = `${JSON.stringify(text)}, seed ${random.seed}`;
    const pair = Buffer.from(text, 'base64').toString('utf8');
    assert.equal(
      preparePassword(`${credentials.user}:${credentials.password}`),
      preparePassword(pair),
      message,
    );
    assert.ok(!credentials.user.includes(':') && credentials.user !== '', message);
  }
});
