import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileEcmaPattern } from '../../../../src/collections/fields/pattern/match.ts';
import { PatternError } from '../../../../src/collections/fields/pattern/syntax.ts';
import { isSuperlinear, measureGrowth } from '../../../support/growth.ts';
import { type Seeded, seeded } from '../../../support/seeded.ts';

const unlimited = { steps: Number.POSITIVE_INFINITY };

/** Every feature of the expressions in real documents, with texts that match and texts that do not. */
const features: readonly (readonly [source: string, matching: readonly string[], not: readonly string[]])[] =
  [
    ['', ['', 'a'], []],
    ['b', ['b', 'abc'], ['', 'a']],
    ['^a', ['a', 'ab'], ['ba', '']],
    ['a$', ['a', 'ba'], ['ab', 'a\n']],
    ['^$', [''], ['a', '\n']],
    ['^a|b$', ['ax', 'xb'], ['xa', 'bx']],
    ['(^|,)a($|,)', ['a', 'x,a', 'a,x', 'x,a,x'], ['xa', 'ax']],
    ['^(?:a|bc)+$', ['abca'], ['b', '']],
    ['^(?<year>\\d{4})-(?<month>\\d{2})$', ['2024-01'], ['2024-1', '24-01']],
    ['^[^]$', ['a', '\n', '\u{1f600}'], ['', 'ab']],
    ['[]', [], ['', 'a', ']']],
    ['^.$', ['a', '\u0085', '\u{1f600}'], ['\n', '\r', '\u2028', '\u2029', '']],
    ['^\\d\\D\\w\\W\\s\\S$', ['1a_- x'], ['aa_- x', '11_- x', '1a-- x', '1a__ x', '1a_-xx', '1a_-  ']],
    ['^[\\D\\s]$', ['a', ' '], ['1']],
    ['^[^\\W_]+$', ['aZ9'], ['a_', '-']],
    ['\\bcat\\b', ['cat', 'a cat.', '-cat-'], ['concat', 'cats', 'cat_']],
    ['\\Bcat\\B', ['scatter'], ['cat', 'cats', 'concat']],
    ['^[\\b]$', ['\b'], ['b']],
    ['^\\x41\\u0042\\u{43}\\u{1F600}$', ['ABC\u{1f600}'], ['ABC']],
    ['^\\ud83d\\ude00$', ['\u{1f600}'], ['\ud83d', '\ude00']],
    [
      '^[\\u0020-\\uD7FF\\uE000-\\uFFFD\\uD800\\uDC00-\\uDBFF\\uDFFF\\r\\n\\t]*$',
      ['a \u{1f600}\n'],
      ['\0', '\x07'],
    ],
    ['^\\t\\n\\v\\f\\r\\0\\cJ$', ['\t\n\v\f\r\0\n'], ['']],
    [
      '^\\p{Lu}\\p{Script=Greek}\\P{ASCII}\\p{Emoji_Presentation}$',
      ['Aα\u00e9\u{1f600}'],
      ['aα\u00e9\u{1f600}'],
    ],
    ["^[\\p{L}\\p{M}\\-' ]+$", ["d'A\u0301-e"], ['1', '']],
    ['^a{2}b{1,2}c{0,1}d{2,}e{0}$', ['aabdd', 'aabbcdddd'], ['abdd', 'aabbbdd', 'aabd', 'aabdde']],
    ['^.{2,3}$', ['ab', 'abc', '\u{1f600}\u{1f600}'], ['a', 'abcd', '\u{1f600}']],
    ['^[a-z]{1,65535}$', ['a', 'z'.repeat(65_535)], ['', 'z'.repeat(65_536)]],
    ['^(?:[a-z]{2,3}-?){2}$', ['abcd', 'abc-abc-'], ['abc', 'ab-abcd-']],
    ['^a*?b+?c??d{1,2}?$', ['bd', 'aabbcdd'], ['ad']],
    ['^(?:(?:a*)*)*$', ['', 'aaa'], ['b']],
    ['^(?:^|a)+$', ['', 'a', 'aa'], ['b']],
    ['^(?=.*[A-Z])(?=.*\\d)(?!.*\\s).{4,}$', ['abC1', '1Cxxx'], ['abc1', 'abCd', 'aC1', 'a C1x']],
    ['^(?!\\.)(?!.*\\.\\.)[a-z.]+(?<!\\.)$', ['a.b'], ['.a', 'a..b', 'a.']],
    ['(?<=\\$)\\d+(?!\\d|%)', ['$12', 'a $5'], ['12', '$']],
    ['^(?=(?!b)[abc])(?:b|c)$', ['c'], ['a', 'b']],
    ['(?<!(?<!a)b)c', ['c', 'abc', 'xc'], ['bc', 'xbc']],
    ['^a(?=b)*c$', ['ac'], ['abc']],
    ['^[a-z\\-_.]+\\-\\_\\@\\/\\#$', ['a-_@/#'], ['a']],
    ['^[\\w-.]+$', ['a-.'], ['a,']],
    ['^[a-c-e]+$', ['abc-e'], ['d']],
    ['^[[\\]{}]+]{}$', ['[]]{}'], ['a']],
    ['^{a,b}$', ['{a,b}'], ['ab']],
    ['^#/(?:[^/~]|~[01])*$', ['#/a~0b', '#/'], ['#/a/b', '#/~']],
    ['\u{1f600}{2}', ['\u{1f600}\u{1f600}'], ['\u{1f600}']],
  ];

for (const [source, matching, not] of features) {
  test(`the expression ${JSON.stringify(source)} matches the same texts as in JavaScript`, () => {
    const compiled = compileEcmaPattern(source);
    const engine = engineFor(source);
    for (const [texts, expected] of [[matching, true] as const, [not, false] as const])
      for (const text of texts) {
        assert.equal(compiled.isIn(text, unlimited), expected, JSON.stringify(text.slice(0, 20)));
        assert.equal(engine.test(text), expected, `in JavaScript, ${JSON.stringify(text.slice(0, 20))}`);
      }
  });
}

/** Returns the expression in Unicode mode, or without it if it is valid only there. */
function engineFor(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

describe('an expression that is none of ECMA-262, or is not supported, is rejected with the reason', () => {
  const refused: Readonly<Record<string, RegExp>> = {
    '(?i)^[a-z]+$': /no regular expression of ECMA-262: Invalid group/,
    '^[a-z]++$': /no regular expression of ECMA-262: Nothing to repeat/,
    '^(?<!x{1,2}y': /no regular expression of ECMA-262: Unterminated group/,
    '(?P<name>a)': /no regular expression of ECMA-262/,
    '(?>a)': /no regular expression of ECMA-262/,
    '[b-a]': /no regular expression of ECMA-262: Range out of order/,
    '\\A[a-z]+\\z': /the escape \\A is not one of ECMA-262 \(character 1\)/,
    '^\\h+\\Z': /the escape \\h is not one of ECMA-262/,
    '^[[:alpha:]]+$': /a class of POSIX/,
    '^[[:upper:][:digit:]]+$': /a class of POSIX/,
    '(a)\\1': /back-references are not supported \(character 4\)/,
    '(?<a>b)\\k<a>': /back-references are not supported/,
    '\\p{Nonsense}': /property/,
    '(?:(?:ab){100}){100}': /more than 10000 states/,
    '(?=(?:(?:ab){100}){100})': /more than 10000 states/,
    '(?:ab){99999}': /more than 10000 states/,
  };
  for (const [source, message] of Object.entries(refused))
    test(source, () =>
      assert.throws(
        () => compileEcmaPattern(source),
        (error) => error instanceof PatternError && message.test(error.message),
      ),
    );
});

const atoms = [
  ...['a', 'b', 'c', '1', '-', '_', ' ', '.', '\\.', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '^', '$'],
  ...[
    ...['\\b', '\\B', '[ab]', '[^a]', '[a-c1-3_-]', '[]', '[^]', '[\\D-]', '\\p{Lu}', '\\P{L}', '\\x61'],
    '\\u0062',
  ],
  ...['\u{1f600}', '\u00e9', '\\u{1F600}'],
];
const quantifiers = [
  ...['*', '+', '?', '{2}', '{0,2}', '{1,}', '{0}', '{1,3}', '{2,3}', '{2,}', '*?', '+?', '{1,2}?'],
];
const openings = ['(', '(?:', '(?=', '(?!', '(?<=', '(?<!'];

/** Draws an expression with few quantifiers: JavaScript tries every way to divide the text between them. */
function draw(random: Seeded, depth: number, budget = { quantifiers: 4 }): string {
  const piece = (): string => {
    const opening = depth > 0 && random.below(3) === 0 ? random.pick(openings) : undefined;
    const atom = opening === undefined ? random.pick(atoms) : `${opening}${draw(random, depth - 1, budget)})`;
    const repeatable = !/^(?:\\[bB]|[\^$]|\(\?(?:<?[=!]))/.test(atom);
    if (!repeatable || budget.quantifiers === 0 || random.below(2) === 0) return atom;
    budget.quantifiers--;
    return atom + random.pick(quantifiers);
  };
  const branch = (): string => Array.from({ length: random.below(4) }, piece).join('');
  return Array.from({ length: 1 + random.below(3) }, branch).join('|');
}

test('random expressions match the same texts as in JavaScript', () => {
  const random = seeded();
  const counts = { true: 0, false: 0 };
  for (let round = 0; round < 3000; round++) {
    const source = draw(random, 3);
    const own = compileEcmaPattern(source);
    const engine = new RegExp(source, 'u');
    for (let count = 0; count < 10; count++) {
      const text = random.text('aabbc1_-. A\u00e9\u{1f600}\n', 7);
      const found = engine.exec(text);
      // V8 also searches between the halves of a surrogate pair, which are one character in Unicode mode.
      if (found !== null && /[\ud800-\udbff]$/.test(text.slice(0, found.index))) continue;
      const expected = found !== null;
      counts[`${expected}`] += 1;
      const where = `seed ${random.seed}: ${JSON.stringify(source)} on ${JSON.stringify(text)}`;
      assert.equal(own.isIn(text, unlimited), expected, where);
    }
  }
  for (const count of Object.values(counts))
    assert.ok(count > 1000, `seed ${random.seed}: ${JSON.stringify(counts)}, so little was tested`);
});

describe('the time grows at most linearly with the text', () => {
  const hostile: readonly (readonly [source: string, piece: string, behind: string])[] = [
    ['^([a-zA-Z0-9]+[._-]?)+$', 'a', '!'],
    ['(a|a)*(a|aa)+$', 'a', '!'],
    ['^(?:\\/(?:[^~]|~[01])*)*$', '/', '~'],
    ['[a-z]{1,5000}$', 'a', '!'],
    ['a.*b.*c.*d', 'a', ''],
    ['(?=.*b)(?=.*c)a', 'a', ''],
    ['(?<=a.*)b', 'a', ''],
    ['(?!(?=a*c)a)b|\\s+$', ' ', '!'],
    ['(.*,){11}x', ',', ''],
  ];
  for (const [source, piece, behind] of hostile)
    test(source, () => {
      const { isIn } = compileEcmaPattern(source);
      const growth = measureGrowth(
        (text: string) => isIn(text, { steps: Number.POSITIVE_INFINITY }),
        (length) => piece.repeat(length) + behind,
        2048,
      );
      assert.ok(!isSuperlinear(growth), `four times as long takes ${growth.toFixed(1)} times as long`);
    });
});

test('a search ends when the budget of steps is spent', () => {
  const { isIn } = compileEcmaPattern('(?:a?){100}$');
  const budget = { steps: 1000 };
  assert.equal(isIn(`${'a'.repeat(10_000)}!`, budget), undefined);
  assert.ok(budget.steps < 0 && budget.steps > -1000);
  assert.equal(isIn('a', { steps: 1000 }), true);
});
