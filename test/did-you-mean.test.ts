import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findClosestMatch } from '../src/did-you-mean.ts';

const known = ['required', 'maxLength', 'pattern', 'enum', 'min', 'max', 'attributes', 'fractionDigits'];

const cases: [word: string, meant: string | undefined][] = [
  ['requierd', 'required'],
  ['require', 'required'],
  ['maxlength', 'maxLength'],
  ['max-length', 'maxLength'],
  ['fractiondigit', 'fractionDigits'],
  ['mix', 'min'],
  ['pattren', 'pattern'],
  ['enums', 'enum'],
  ['req', 'required'],
  ['Frac', 'fractionDigits'],
  ['re', undefined],
  ['colour', undefined],
  ['', undefined],
  ['__proto__', undefined],
];

for (const [word, meant] of cases) {
  test(`the suggestion for '${word}' is ${meant ?? 'nothing known'}`, () => {
    assert.equal(findClosestMatch(word, known), meant);
  });
}

test('the nearest of several similar words is suggested', () => {
  assert.equal(findClosestMatch('tls-prot', ['port', 'tls-port', 'tls-part']), 'tls-port');
});

test('the shortest of several words with the same prefix is suggested, unless another word is nearer', () => {
  assert.equal(findClosestMatch('--tls', ['--no-tls', '--tls-port', '--tls-key']), '--tls-key');
  assert.equal(findClosestMatch('port', ['portable', 'sort']), 'sort');
});

test('a word of a million characters has no suggestion', () => {
  assert.equal(findClosestMatch('a'.repeat(1_000_000), ['a'.repeat(1_000_000)]), undefined);
});
