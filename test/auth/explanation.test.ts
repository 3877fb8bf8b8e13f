// The time that explanations of wrong signatures may take.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { ExplanationBudget } from '../../src/auth/explanation.ts';
import { AuthenticationTrace } from '../../src/auth/trace.ts';
import { createRequest } from '../../src/http/message.ts';
import { signMessage } from '../../src/signature/message-signatures/sign.ts';
import { openDeclared } from '../support/auth/declared.ts';
import { annsSecret, arriving, openScheme, problemOf, start } from '../support/signature/message-scheme.ts';

/** Returns a monotonic clock that advances by 1 ms with each mistake that is tried. */
function tickingClock() {
  let time = 0;
  return {
    steady: () => {
      time += 1;
      return time;
    },
    get time() {
      return time;
    },
  };
}

test('an explanation tries mistakes for at most 10 ms, and creates no more than it tries', () => {
  let created = 0;
  const mistakes = function* (): Generator<number> {
    for (;;) {
      created += 1;
      yield created;
    }
  };
  const budget = new ExplanationBudget(tickingClock(), undefined);
  assert.deepEqual(
    budget.matching(mistakes(), (mistake) => mistake % 4 === 0),
    [4, 8],
  );
  assert.deepEqual(
    budget.matching(mistakes(), () => true),
    [],
    'the budget is for all searches together',
  );
  assert.ok(created <= 12);
});

test('the explanations of a test double have no limit', () => {
  const knowledge = {
    userNames: () => [],
    secrets: () => [],
    hosts: () => [],
    content: () => Promise.resolve(undefined),
  };
  const budget = new ExplanationBudget(tickingClock(), new AuthenticationTrace(knowledge));
  const all = Array.from({ length: 1000 }, (_, at) => at);
  assert.deepEqual(
    budget.matching(all, () => true),
    all,
  );
});

const fields = Array.from({ length: 60 }, (_, at): [string, string] => [`x-${at}`, `Value ${at}`]);

for (const [what, isSlow, hint] of [
  ['all are tried', false, /line feed at its end/],
  ['the search ends', true, /no user has a key with this id/],
] as const) {
  test(`a signature over 60 components is explained: ${what} ${isSlow ? 'when the time is up' : 'in time'}`, async () => {
    const get = { method: 'GET', url: 'https://example.com/a', fields };
    const components = fields.map(([name]) => name);
    const signed = signMessage(get, {
      key: annsSecret,
      created: start,
      components: ['@method', '@authority', '@path', '@query', ...components.slice(4)],
    });
    const input = signed['Signature-Input'];
    const base = [
      '"@method": GET',
      '"@authority": example.com',
      '"@path": /a',
      '"@query": ?',
      ...fields.slice(4).map(([name, value]) => `"${name}": ${value}`),
      `"@signature-params": ${input.slice(input.indexOf('=') + 1)}`,
    ].join('\n');
    const signature = createHmac('sha256', annsSecret.secret).update(`${base}\n`).digest('base64');
    const { judge, clock, scheme } = openScheme({ explain: true });
    const ticking = tickingClock();
    if (isSlow) Object.assign(clock, { steady: ticking.steady });
    const request = arriving(get, [
      ['Signature-Input', input],
      ['Signature', `sig1=:${signature}:`],
    ]);
    assert.equal(scheme.name, 'message-signatures');
    const { verdict } = await judge(request);
    assert.match(String(problemOf(verdict).members['hint']), hint);
    if (isSlow) assert.ok(ticking.time <= 12, `${ticking.time} mistakes were tried`);
  });
}

test('a declared signature is explained in the same time', async () => {
  const ticking = tickingClock();
  const clock = { now: () => 0, steady: ticking.steady };
  const declaration = { message: '{method}.{target}.{body}', signature: { field: 'S' }, user: 'ann' };
  const declared = openDeclared(declaration, { context: { explain: true, clock } });
  const headers: [string, string][] = [['S', 'a'.repeat(64)]];
  const content = '{"a":[1,2,{"b":"c"}]}';
  await declared.problemWith(createRequest({ method: 'POST', target: '/a?b=c', fields: headers, content }));
  assert.ok(ticking.time <= 15, `${ticking.time} mistakes were tried`);
});
