import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseParameters } from '../../../src/http/syntax/parameters.ts';
import { findQuotedEnd, quote, unquote } from '../../../src/http/syntax/quoted-string.ts';
import { isToken, listElements, skipWhitespace, tokenEnd } from '../../../src/http/syntax/token.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

test('a token is made of the characters of RFC 9110 §5.6.2 and of no others', () => {
  for (let code = 0; code < 0x180; code += 1) {
    const character = String.fromCharCode(code);
    const expected = code > 0x20 && code < 0x7f && !'"(),/:;<=>?@[\\]{}'.includes(character);
    assert.equal(isToken(character), expected, `U+${code.toString(16)}`);
  }
  assert.equal(isToken(''), false);
  assert.equal(isToken('a b'), false);
  assert.equal(tokenEnd('gzip;q=1', 0), 4);
  assert.equal(tokenEnd(';q=1', 0), 0);
  assert.equal(skipWhitespace(' \t x', 0), 3);
});

test('a list is split as in RFC 9110 §5.6.1.2', () => {
  assert.deepEqual(listElements('foo,bar'), ['foo', 'bar']);
  assert.deepEqual(listElements('foo ,bar,'), ['foo', 'bar']);
  assert.deepEqual(listElements('foo , ,bar,charlie'), ['foo', 'bar', 'charlie']);
  for (const empty of ['', ',', ',   ,']) assert.deepEqual(listElements(empty), []);
  assert.deepEqual(listElements('"a,b" , c="d\\",e";f , g'), ['"a,b"', 'c="d\\",e";f', 'g']);
  assert.deepEqual(listElements('a, "b, c'), ['a', '"b, c']);
  assert.deepEqual(listElements('\ta\t,\u00a0b'), ['a', '\u00a0b']);
});

test('each backslash in a quoted string escapes the octet that follows it', () => {
  const text = 'x="a \\"b\\" \\\\ \\c\t\u00ff" rest';
  const end = findQuotedEnd(text, 2);
  assert.equal(text.slice(end), ' rest');
  assert.equal(unquote(text, 2, end), 'a "b" \\ c\t\u00ff');
  for (const broken of ['', 'a', '"', '"a', '"a\\', '"a\\"', '"\n"', '"\0"', '"\x7f"', '"\\\n"', '"\u0100"'])
    assert.equal(findQuotedEnd(broken, 0), -1, JSON.stringify(broken));
});

test('parameters are read as in RFC 9110 §5.6.6', () => {
  const read = (text: string) => {
    const parameters = parseParameters(text, 0);
    return parameters && Object.fromEntries(parameters);
  };
  assert.deepEqual(read(''), {});
  assert.deepEqual(read(';a=1'), { a: '1' });
  assert.deepEqual(read(' ; A="x;y" ;; b=Z;'), { a: 'x;y', b: 'Z' });
  for (const broken of [
    ...[' ', 'a=1', ';a', ';a=', ';a =1', ';a= 1', ';a=1 b', ';a=1;A=2', ';=1', ';a="1', ';a="1"2'],
  ])
    assert.equal(read(broken), undefined, broken);
  assert.equal(parseParameters(';__proto__=1', 0)?.get('__proto__'), '1');
});

test('a quoted value is unquoted to the original value', () => {
  const random = seeded();
  const characters = `${Array.from({ length: 224 }, (_, n) => String.fromCharCode(n + 32)).join('')}\t""\\\\`;
  for (let round = 0; round < 2000; round += 1) {
    const value = random.text(characters.replace('\x7f', ''), 20);
    const quoted = quote(value);
    const message = `${quoted}, seed ${random.seed}`;
    assert.equal(findQuotedEnd(`${quoted}"`, 0), quoted.length, message);
    assert.equal(unquote(quoted, 0, quoted.length), value, message);
    assert.deepEqual(listElements(`${quoted},x`), [quoted, 'x'], message);
  }
  for (const value of ['a\r\nb', '\0', '\x7f', '€']) assert.throws(() => quote(value), RangeError);
});

test('splitting a list removes only commas and white space', () => {
  const random = seeded();
  for (let round = 0; round < 2000; round += 1) {
    const value = hostile(random, [',', ' ', '\t', '"', '\\', '\\"', 'a', ';q=1']);
    const kept = (text: string): string => text.replace(/[, \t]/g, '');
    const message = `${JSON.stringify(value)}, seed ${random.seed}`;
    assert.equal(kept(listElements(value).join('')), kept(value), message);
    parseParameters(value, 0);
  }
});
