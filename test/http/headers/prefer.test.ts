import assert from 'node:assert/strict';
import { test } from 'node:test';
import { preferences } from '../../../src/http/headers/prefer.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

const read = (...values: string[]) => Object.fromEntries(preferences(values));

test('the examples of RFC 7240 §2 are read', () => {
  for (const value of ['foo; bar', 'foo; bar=""', 'foo=""; bar']) assert.deepEqual(read(value), { foo: '' });
  const three = { 'respond-async': '', wait: '100', handling: 'lenient' };
  assert.deepEqual(read('respond-async, wait=100', 'handling=lenient'), three);
  assert.deepEqual(read('handling=lenient, wait=100, respond-async'), three);
  assert.deepEqual(read('return=minimal; foo="some parameter"'), { return: 'minimal' });
  assert.deepEqual(read('Lenient'), { lenient: '' });
  assert.deepEqual(read(), {});
});

test('the first of several preferences with the same name counts, and values are case-preserved', () => {
  assert.deepEqual(read('return=minimal, Return=representation', 'RETURN=x'), { return: 'minimal' });
  assert.deepEqual(read('Return="Minimal"'), { return: 'Minimal' });
  assert.deepEqual(read('a = b', 'c\t=\t"d, e;"; f'), { a: 'b', c: 'd, e;' });
  assert.equal(preferences(['__proto__=x']).get('__proto__'), 'x');
});

test('a malformed preference is ignored', () => {
  assert.deepEqual(read('=a, return minimal, return=, "x", return=a b, return="a"b, return=minimal'), {
    return: 'minimal',
  });
  assert.deepEqual(read('a;=;"'), { a: '' });
  assert.deepEqual(read('', ',', ' ', 'x="y'), {});
});

test('no value makes the parser throw', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const value = hostile(random, ['return', '=', 'minimal', ',', ';', ' ', '"', '\\', 'wait=1']);
    for (const name of preferences([value, value]).keys())
      assert.match(name, /^[^\s",;=A-Z]+$/, `${JSON.stringify(value)}, seed ${random.seed}`);
  }
});
