// The work of explanations of wrong signatures.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { ExplanationBudget, makingTime, verificationTime } from '../../src/schemes/explain/budget.ts';
import {
  annsSecret,
  arriving,
  openScheme,
  requireProblem,
  start,
} from '../support/schemes/message-scheme.ts';
import { signMessage } from '../support/schemes/sign-message.ts';

test('an explanation tries mistakes for about 10 ms, and creates no more than it tries', () => {
  let created = 0;
  const mistakes = function* (): Generator<number> {
    for (;;) {
      created += 1;
      yield created;
    }
  };
  const budget = new ExplanationBudget();
  assert.deepEqual(
    budget.matching(
      mistakes(),
      () => 1000,
      (mistake) => mistake % 4 === 0,
    ),
    [4, 8],
  );
  assert.deepEqual(
    budget.matching(
      mistakes(),
      () => 1,
      () => true,
    ),
    [],
    'the budget is for all searches together',
  );
  assert.ok(created <= 12);
});

test('what is made of a text with many values uses up the budget, whether it is tried or not', () => {
  const budget = new ExplanationBudget();
  const made = budget.limit(
    makingTime('a=1&'.repeat(4000)),
    new Array(100).fill('equal to the right message'),
  );
  assert.equal([...made].length, 10);
  assert.ok(budget.isExhausted);
});

test('longer messages and slower algorithms use up more of the budget', () => {
  assert.ok(verificationTime('secret', 4000) > verificationTime('secret', 40));
  assert.ok(verificationTime('ed25519', 40) > verificationTime('secret', 40));
  assert.ok(verificationTime('ecdsa-p384-sha384', 40) > verificationTime('ed25519', 40));
});

test('a mistake in a signature over 60 components is found within the budget', async () => {
  const fields = Array.from({ length: 60 }, (_, at): [string, string] => [`x-${at}`, `Value ${at}`]);
  const get = { method: 'GET', url: 'https://example.com/a', fields };
  const signed = signMessage(get, {
    key: annsSecret,
    created: start,
    components: ['@method', '@authority', '@path', '@query', ...fields.slice(4).map(([name]) => name)],
  });
  const input = signed['Signature-Input'];
  const base = [
    '"@method": get',
    '"@authority": example.com',
    '"@path": /a',
    '"@query": ?',
    ...fields.slice(4).map(([name, value]) => `"${name}": ${value}`),
    `"@signature-params": ${input.slice(input.indexOf('=') + 1)}`,
  ].join('\n');
  const signature = createHmac('sha256', annsSecret.secret).update(base).digest('base64');
  const { judge } = openScheme({ explain: true });
  const { verdict } = await judge(
    arriving(get, [
      ['Signature-Input', input],
      ['Signature', `sig1=:${signature}:`],
    ]),
  );
  assert.match(String(requireProblem(verdict).members['hint']), /method was signed in lower case/);
});
