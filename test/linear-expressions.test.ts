import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { importPackage, missingPackage } from './support/packages.ts';
import { findExpressions } from './support/regular-expressions/find.ts';
import { withoutLookaround, withShortWords, withSmallCounts } from './support/regular-expressions/forms.ts';
import { seeded } from './support/seeded.ts';
import { long } from './support/store/thoroughness.ts';

/** The part of recheck that needs neither a program nor Java. */
const checker = 'recheck/lib/browser.js';
const skip = missingPackage(checker);

/** Why the expressions that a file builds are not judged. */
const exempt: Readonly<Record<string, string>> = {
  'schemes/declared/scheme.ts': 'it splits a value that the signer of a test has written',
  'schemes/defined/places.ts': 'it splits a value that the signer of a test has written',
  'collections/fields/pattern/classes.ts': 'it matches a single character, of a property that is inserted',
  'collections/fields/pattern/ecma-syntax.ts': 'it is compiled, and matches nothing',
};

/** Returns a function that returns the complexity of an expression; undefined if it is linear. */
async function createJudge(): Promise<(source: string, flags: string) => string | undefined> {
  const { checkSync } = (await importPackage(checker)).default;
  const verdicts = new Map<string, string | undefined>();
  const judgeForm = (form: string, flags: string): string | undefined => {
    const { status, complexity, error } = checkSync(form, flags, { checker: 'automaton', timeout: null });
    return status === 'safe' ? undefined : (complexity?.summary ?? JSON.stringify(error));
  };
  const judgeOnce = (form: string, flags: string): string | undefined => {
    const key = `/${form}/${flags}`;
    if (!verdicts.has(key)) verdicts.set(key, judgeForm(form, flags));
    return verdicts.get(key);
  };
  return (source, flags) => {
    const few = withSmallCounts(source);
    return withoutLookaround(long ? few : withShortWords(few))
      .map((form) => judgeOnce(form, flags.replace(/[dv]/g, '')))
      .find((verdict) => verdict !== undefined);
  };
}

for (const [source, isLinear] of [
  ['^a+$', true],
  ['a+$', false],
  ['^(?:a|b)*$', true],
  ['^(?:a|ab|b)*$', false],
  ['^a{1,64}$', true],
  ['^(?:a{1,64})*$', false],
  ['^a+[a-c]+$', false],
  ['b(?=[^/]*$)', false],
  ['^b(?!.*d)', true],
  ['(?<!/)/+$', true],
  ['(?<![^/])/+$', false],
  ['(?<=,)\\d+b', true],
  ['password+', true],
  ['password+$', true],
  ['passwordd+$', true],
  ['(?:password)+$', false],
] as const)
  test(`the expression /${source}/ is ${isLinear ? '' : 'not '}linear`, { skip }, async () => {
    const judge = await createJudge();
    assert.equal(judge(source, '') === undefined, isLinear, judge(source, ''));
  });

const isExempt = (file: string, isBuilt: boolean): boolean => isBuilt && Object.hasOwn(exempt, file);
const expressions = findExpressions(join(import.meta.dirname, '../src'));
const random = seeded();
/** The expressions that are judged: in the short form a third, because all take a minute. The seed decides. */
const judged = expressions.filter(() => long || random.below(3) === 0);
const folders = new Set(expressions.map(({ file }) => file.split('/')[0] ?? ''));

for (const folder of folders)
  test(`every regular expression in src/${folder} is linear`, { skip }, async () => {
    const judge = await createJudge();
    const faults = judged
      .filter(({ file, isBuilt }) => file.split('/')[0] === folder && !isExempt(file, isBuilt))
      .flatMap(({ file, line, source, flags }) => {
        const verdict = judge(source, flags);
        return verdict === undefined ? [] : [`${file}:${line}: /${source}/${flags} is ${verdict}`];
      });
    assert.deepEqual(faults, []);
  });

test('every file that is exempt builds expressions', () => {
  const built = new Set(expressions.filter(({ isBuilt }) => isBuilt).map(({ file }) => file));
  assert.deepEqual(
    Object.keys(exempt).filter((file) => !built.has(file)),
    [],
  );
});
