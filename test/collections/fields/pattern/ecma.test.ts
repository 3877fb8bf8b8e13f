import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatEcmaPattern } from '../../../../src/collections/fields/pattern/ecma-syntax.ts';
import { compilePattern } from '../../../../src/collections/fields/pattern/match.ts';
import { PatternError } from '../../../../src/collections/fields/pattern/syntax.ts';
import { seeded } from '../../../support/seeded.ts';

describe('the ECMA-262 form of a pattern', () => {
  const written: Readonly<Record<string, string>> = {
    '[A-Z]{3}-\\d+': '^[A-Z]{3}\\x2D[0-9]+$',
    'a|b': '^(?:a|b)$',
    '^(ab)*c?$': '^(?:ab)*c?$',
    '.': '^[^\\x0A\\x0D]$',
    '\\p{Lu}[^\\p{L}x]': '^[\\p{Lu}][^x\\p{L}]$',
    'a{2,}b{0,1}c{1,2}': '^a{2,}b?c{1,2}$',
    '': '^$',
  };
  for (const [pattern, expression] of Object.entries(written))
    test(`${JSON.stringify(pattern)} becomes ${expression}`, () =>
      assert.equal(formatEcmaPattern(pattern), expression));
});

test('a pattern and its regular expression match the same texts', () => {
  const seed = Number(process.env['SEED'] ?? process.hrtime()[1]);
  const random = seeded(seed);
  const parts = [
    ...'ab-.()|*+?/&~é😀#=,',
    ...['\\.', '\\-', '\\d', '\\w', '\\s', '\\p{L}', '\\P{Nd}', '[a-c]', '[^ab]', '[-a]', '[^\\p{L}]'],
    ...['[\\]\\^\\\\]', '(?:', '{2}', '{1,}', '{0,2}', '&&', '\\u', '\\n', '\\t', '[!-~]', '[\u2028😀]'],
  ];
  let compared = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const source = Array.from({ length: 1 + random.below(6) }, () => random.pick(parts)).join('');
    const where = `SEED=${seed}: ${JSON.stringify(source)}`;
    let pattern: ReturnType<typeof compilePattern>;
    try {
      pattern = compilePattern(source);
    } catch (error) {
      if (error instanceof PatternError) continue;
      throw error;
    }
    const expression = new RegExp(formatEcmaPattern(source), 'u');
    for (let count = 0; count < 5; count += 1) {
      const text = random.text('abc-.\\/5_ é😀\n\r\u2028]^&~#=,!', 4);
      assert.equal(expression.test(text), pattern.matches(text), `${where} ${JSON.stringify(text)}`);
      compared += 1;
    }
  }
  assert.ok(compared > 1000);
});
