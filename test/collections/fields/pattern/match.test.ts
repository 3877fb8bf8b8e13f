import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePattern, maxStates } from '../../../../src/collections/fields/pattern/match.ts';
import { PatternError } from '../../../../src/collections/fields/pattern/syntax.ts';
import { type Seeded, seeded } from '../../../support/seeded.ts';

const cases: [pattern: string, matching: string[], not: string[]][] = [
  ['', [''], ['a']],
  ['abc', ['abc'], ['', 'ab', 'abcd', 'xabc']],
  ['^abc$', ['abc'], ['^abc$', 'ab']],
  ['a|b|', ['a', 'b', ''], ['ab', 'c']],
  ['(a|b)*c', ['c', 'abbac'], ['abba', 'cc']],
  ['(?:ab)+', ['ab', 'abab'], ['', 'aba']],
  ['a?b{2}c{1,2}d{2,}', ['bbcdd', 'abbccdddd'], ['bcdd', 'bbcccdd', 'bbcd']],
  ['a{0}b', ['b'], ['ab']],
  ['[A-Z]{3}-\\d{4}', ['ABC-0123'], ['ABC-012', 'abc-0123', 'ABC-01234']],
  ['[^a-c]', ['d', 'A', '\u{1f600}'], ['a', 'c', '']],
  ['[-a]', ['-', 'a'], ['b']],
  ['[a-]', ['-', 'a'], ['b']],
  ['[+\\-*/]', ['+', '-', '*', '/'], ['\\']],
  ['[^-]', ['a'], ['-']],
  ['[.$^(){}|?*+]', ['.', '$', '^', '(', '}', '+'], ['a']],
  ['\\p{Lu}\\p{L}*', ['A', 'Äpfel', 'Ωmega'], ['a', 'A1']],
  ['\\P{L}', ['1', '-'], ['a']],
  ['[\\p{Nd}_]', ['1', '٣', '_'], ['a']],
  ['[^\\p{L}]', ['1'], ['a']],
  ['.', ['a', ' ', '\u2028', '\u{1f600}'], ['\n', '\r', '', 'aa']],
  ['\\.\\*\\[\\]\\(\\)\\{\\}\\|\\\\\\?\\+\\-\\^\\$\\/', ['.*[](){}|\\?+-^$/'], ['']],
  ['\\n\\r\\t', ['\n\r\t'], ['nrt']],
  ['\\w\\s\\d', ['_ 1', 'a\u00a02'], ['- 1']],
  ['/,-<>@"\'#%&;:=!~`', ['/,-<>@"\'#%&;:=!~`'], ['']],
  ['\u{1f600}+', ['\u{1f600}\u{1f600}'], ['\u{1f601}']],
  ['[\u{1f600}-\u{1f610}]', ['\u{1f605}'], ['\u{1f611}']],
  ['((a*)*)*', ['', 'aaaa'], ['b']],
  ['(a|a)*(a?){3}', ['', 'aaaaaa'], ['ab']],
  ['()*x', ['x'], ['']],
];

for (const [pattern, matching, not] of cases) {
  test(`the pattern ${JSON.stringify(pattern)} matches only whole texts`, () => {
    const compiled = compilePattern(pattern);
    for (const text of matching) assert.equal(compiled.matches(text), true, JSON.stringify(text));
    for (const text of not) assert.equal(compiled.matches(text), false, JSON.stringify(text));
  });
}

const refused: [pattern: string, message: RegExp][] = [
  ['(?=a)', /lookaround, named groups and flags are not supported/],
  ['(?!a)b', /lookaround, named groups and flags are not supported/],
  ['(?<=a)b', /lookaround, named groups and flags are not supported/],
  ['(?<n>a)', /lookaround, named groups and flags are not supported/],
  ['(a)\\1', /back-references are not supported \(character 4\)/],
  ['a*?', /lazy quantifiers/],
  ['a{2}?', /lazy quantifiers/],
  ['a**', /a quantifier cannot follow a quantifier/],
  ['a{2}{3}', /a quantifier cannot follow a quantifier/],
  ['*a', /"\*" has nothing to repeat \(character 1\)/],
  ['{2}', /nothing to repeat/],
  ['a{', /a repetition must have the form/],
  ['a{,3}', /a repetition must have the form/],
  ['a{2,1}', /ends at 1, less than its start 2/],
  ['a{99999}', /99999 repetitions are more than 10000/],
  ['(a', /the "\(" is not closed \(character 1\)/],
  ['a)', /the "\)" has no matching "\(" \(character 2\)/],
  ['[a', /the "\[" is not closed/],
  ['[]', /is not a character of a class; escape it or close the class/],
  ['[^]', /is not a character of a class; escape it or close the class/],
  ['a]', /"\]" has no opening bracket/],
  ['a}', /"\}" has no opening bracket/],
  ['[b-a]', /the range ends before it begins/],
  ['[\\d-z]', /both ends of a range must be single characters/],
  ['[a-c-e]', /a "-" in a class must be first or last/],
  ['[[a]', /is not a character of a class; escape it or close the class/],
  ['a^b', /"\^" is allowed only as the first character/],
  ['a$b', /"\$" is allowed only as the last character/],
  ['\\b', /the escape \\b is not supported/],
  ['\\D', /the escape \\D is not supported/],
  ['\\u0041', /the escape \\u is not supported/],
  ['\\', /escapes nothing/],
  ['\\p{Greek}', /general category/],
  ['\\p{Xx}', /general category/],
  ['\\pL', /general category/],
  ['('.repeat(101) + ')'.repeat(101), /more than 100 deep/],
  ['((ab){100}){100}', /more than 10000 states/],
  ['((){9999}){9999}', /more than 10000 states/],
  ['((((a?){1,9}){1,9}){1,9}){1,9}{1,9}', /a quantifier cannot follow a quantifier|more than 10000 states/],
];

for (const [pattern, message] of refused) {
  test(`the pattern ${JSON.stringify(pattern.slice(0, 40))} is rejected with the reason`, () => {
    assert.throws(
      () => compilePattern(pattern),
      (error) => error instanceof PatternError && message.test(error.message),
    );
  });
}

test('a pattern with catastrophic backtracking in other matchers is matched in one pass', () => {
  const text = `${'a'.repeat(20_000)}!`;
  for (const pattern of ['(a+)+', '(a|aa)+', '(a*)*b', '(.*.*)*x', '([a-z]+)*[0-9]']) {
    assert.equal(compilePattern(pattern).matches(text), false);
  }
});

test('a pattern with 9,999 repetitions compiles within the maximum number of states', () => {
  assert.ok(compilePattern('a{9999}').size <= maxStates);
  assert.equal(compilePattern('a{9999}').matches('a'.repeat(9999)), true);
});

test('every general category matches the same characters as in the JavaScript engine', () => {
  const names =
    'L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po Z Zs Zl Zp S Sm Sc Sk So C Cc Cf Cn Co';
  for (const name of names.split(' ')) {
    const own = compilePattern(`\\p{${name}}`);
    const engine = new RegExp(`^\\p{${name}}$`, 'u');
    for (let code = 0; code < 0x3000; code += 7) {
      const character = String.fromCodePoint(code);
      assert.equal(own.matches(character), engine.test(character), `${name} ${code}`);
    }
  }
});

/**
 * A pattern of what I-Regexp and JavaScript share. It has few quantifiers: JavaScript tries every way to divide the
 * text between them, which for many of them takes for ever.
 */
function draw(random: Seeded, depth: number, budget = { quantifiers: 4 }): string {
  const piece = (): string => {
    const grouped = depth > 0 && random.below(3) === 0;
    const open = random.pick(['(', '(?:']);
    const atom = grouped ? `${open}${draw(random, depth - 1, budget)})` : random.pick(atoms);
    if (budget.quantifiers === 0 || random.below(2) === 0) return atom;
    budget.quantifiers--;
    return atom + random.pick(quantifiers);
  };
  const branch = (): string => Array.from({ length: random.below(4) }, piece).join('');
  return Array.from({ length: 1 + random.below(3) }, branch).join('|');
}

const atoms = [
  ...'abc-',
  ...['\\d', '\\w', '\\s', '[ab]', '[^a]', '[a-c1-3_-]', '\\p{Lu}', '[^\\p{L}\\d]', '\\.', '\u{1f600}'],
  '\u00e9',
];
const quantifiers = ['*', '+', '?', '{2}', '{0,2}', '{1,}', '{0}'];

test('random patterns match the same texts as in JavaScript', () => {
  const random = seeded();
  let matched = 0;
  for (let round = 0; round < 1500; round++) {
    const source = draw(random, 3);
    const own = compilePattern(source);
    const engine = new RegExp(`^(?:${source})$`, 'u');
    for (let count = 0; count < 20; count++) {
      const text = random.text('aabbc1_-. Aé\u{1f600}\n', 6);
      const expected = engine.test(text);
      matched += expected ? 1 : 0;
      assert.equal(own.matches(text), expected, `seed ${random.seed}: ${source} on ${JSON.stringify(text)}`);
    }
  }
  assert.ok(matched > 1000, `seed ${random.seed}: only ${matched} texts matched, so little was tested`);
});
