import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatChallenge, parseCredentials } from '../../../src/http/headers/authorization.ts';
import { findQuotedEnd, unquote } from '../../../src/http/syntax/quoted-string.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

test('credentials consist of a scheme, spaces and the remainder as sent', () => {
  // RFC 7617 §2
  assert.deepEqual(parseCredentials('Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='), {
    scheme: 'basic',
    rest: 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
  });
  assert.deepEqual(parseCredentials('hmac  johndoe:123456:a/b+c='), {
    scheme: 'hmac',
    rest: 'johndoe:123456:a/b+c=',
  });
  assert.deepEqual(parseCredentials('OAuth realm="a, b", x="1"'), {
    scheme: 'oauth',
    rest: 'realm="a, b", x="1"',
  });
  assert.deepEqual(parseCredentials('Negotiate'), { scheme: 'negotiate', rest: '' });
  assert.deepEqual(parseCredentials('Bearer '), { scheme: 'bearer', rest: '' });
});

test('a value without a scheme and a following space has no credentials', () => {
  for (const value of [
    ...['', ' ', ' Basic x', 'Basic\tx', 'Basic,x', 'Basic=x', '"Basic" x', 'Bäsic x', ':', 'hmac:x y'],
  ])
    assert.equal(parseCredentials(value), undefined, value);
});

test('a challenge has every value in quotes', () => {
  assert.equal(formatChallenge('Negotiate', []), 'Negotiate');
  assert.equal(formatChallenge('Basic', [['realm', 'simple']]), 'Basic realm="simple"');
  // The second challenge of the example in RFC 9110 §11.6.1, with its token quoted.
  assert.equal(
    formatChallenge('Newauth', [
      ['realm', 'apps'],
      ['type', '1'],
      ['title', 'Login to "apps"'],
    ]),
    'Newauth realm="apps", type="1", title="Login to \\"apps\\""',
  );
  assert.equal(formatChallenge('x', [['realm', 'a\\b']]), 'x realm="a\\\\b"');
});

test('formatChallenge throws for a challenge that cannot be parsed', () => {
  assert.throws(() => formatChallenge('Ba sic', []), RangeError);
  assert.throws(() => formatChallenge('', []), RangeError);
  assert.throws(() => formatChallenge('Basic', [['re=alm', 'x']]), RangeError);
  assert.throws(() => formatChallenge('Basic', [['realm', 'x\r\nSet-Cookie: a=b']]), RangeError);
});

test('the value of a challenge is parsed back unchanged', () => {
  const random = seeded();
  for (let round = 0; round < 2000; round += 1) {
    const value = random.text('ab "\\,=\t\u00e9', 16);
    const credentials = parseCredentials(formatChallenge('Test', [['realm', value]]));
    const rest = credentials?.rest ?? '';
    const message = `${value}, seed ${random.seed}`;
    assert.equal(credentials?.scheme, 'test', message);
    assert.equal(findQuotedEnd(rest, 6), rest.length, message);
    assert.equal(unquote(rest, 6, rest.length), value, message);
  }
});

test('no value makes the parser throw', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const value = hostile(random, ['Basic', ' ', '\t', ':', '=', 'hmac ', '"', 'a']);
    const credentials = parseCredentials(value);
    if (credentials === undefined) continue;
    const message = `${JSON.stringify(value)}, seed ${random.seed}`;
    assert.ok(
      value.toLowerCase().startsWith(credentials.scheme) && value.endsWith(credentials.rest),
      message,
    );
  }
});
