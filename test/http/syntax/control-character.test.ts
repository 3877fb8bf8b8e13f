import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasControlCharacter, hasLoneSurrogate } from '../../../src/http/syntax/control-character.ts';

const halves = { first: '\ud83d', second: '\ude00' };

test('the control characters are exactly those in the Unicode category Cc', () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const character = String.fromCharCode(code);
    const expected = /\p{Cc}/u.test(character);
    assert.equal(hasControlCharacter(`a${character}b`), expected, `U+${code.toString(16)}`);
  }
});

test('a lone surrogate is detected where Unicode finds one, and not in a surrogate pair', () => {
  const { first, second } = halves;
  for (const text of ['', 'a', first, second, first + second, second + first, `${first}a${second}`])
    for (const around of ['', 'a', first + second])
      assert.equal(
        hasLoneSurrogate(around + text + around),
        /\p{Cs}/u.test(around + text + around),
        JSON.stringify(text),
      );
  for (let code = 0; code <= 0xffff; code += 1) {
    const character = String.fromCharCode(code);
    assert.equal(hasLoneSurrogate(character), /\p{Cs}/u.test(character), `U+${code.toString(16)}`);
  }
});
