import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateLimitFields } from '../../src/accounts/quota.ts';
import { readQuota, readQuotaText } from '../../src/accounts/quota-policy.ts';
import { parseList } from '../../src/http/structured-fields/parse.ts';
import { seeded } from '../support/seeded.ts';

const hourly = { name: '1h', requests: 1000, window: 3600 };

test('a quota is read from text, an object and a list', () => {
  assert.deepEqual(readQuota('1000/1h', 'quota'), [hourly]);
  assert.deepEqual(readQuota({ requests: 1000, window: '1h' }, 'quota'), [hourly]);
  assert.deepEqual(readQuota([{ name: 'burst', requests: 20, window: 1 }, hourly], 'quota'), [
    { name: 'burst', requests: 20, window: 1 },
    hourly,
  ]);
  assert.equal(readQuotaText('20/1s, 1000/1h', 'quota'), '20/1s,1000/1h');
  assert.throws(() => readQuotaText(hourly, 'quota'), RangeError);
  assert.deepEqual(readQuota('none', 'quota'), []);
});

const invalid: readonly (readonly [value: unknown, message: RegExp])[] = [
  ['', /must be such as 1000\/1h/],
  ['1000', /must be such as/],
  ['1000/1h,', /must be such as/],
  ['1000/1h,5/60m,7/1h', /two policies with the name 1h/],
  ['0/1h', /requests of quota must be a whole number from 1/],
  ['5/500ms', /window of quota must be whole seconds/],
  ['5/0s', /window of quota/],
  ['5/366d', /window of quota/],
  ['5/1w', /window of quota/],
  [[], /1 to 8 policies/],
  [Array.from({ length: 9 }, (_, at) => ({ requests: 1, window: at + 1 })), /1 to 8 policies/],
  [null, /must be such as \{/],
  [7, /must be such as \{/],
  [{ requests: 1.5, window: '1h' }, /requests/],
  [{ requests: '5', window: '1h' }, /requests/],
  [{ requests: 5 }, /window/],
  [{ requests: 5, window: 1, request: 6 }, /^request is not a member of quota; did you mean "requests"\?$/],
  [{ requests: 5, window: 1, name: 'a"b' }, /name of quota/],
];

test('an invalid quota is rejected with the reason', () => {
  for (const [value, message] of invalid)
    assert.throws(() => readQuota(value, 'quota'), { name: 'RangeError', message }, JSON.stringify(value));
});

test('any text is a quota or causes a RangeError, and the fields of a quota are structured fields', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const text = random.text('0123456789/,smhd none.', 14);
    let policies: ReturnType<typeof readQuota> = [];
    try {
      policies = readQuota(text, 'quota');
    } catch (error) {
      assert.ok(error instanceof RangeError, `${String(error)}, seed ${random.seed}`);
      continue;
    }
    assert.deepEqual(
      readQuota(readQuotaText(text, 'quota'), 'quota'),
      policies,
      `${text}, seed ${random.seed}`,
    );
    const uses = policies.map((policy) => ({ policy, remaining: random.below(9), reset: random.below(9) }));
    if (uses.length > 0)
      for (const [, value] of rateLimitFields(uses))
        assert.equal(parseList(value).length, uses.length, `${value}, seed ${random.seed}`);
  }
});
