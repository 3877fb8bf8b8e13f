import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { StoredRecord } from '../../../src/store/store.ts';
import { buildShape, fromJson, fromXml } from '../../support/collections/decode.ts';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

function heapAfterCollection(): number {
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}

const shape = buildShape({
  a: { type: 'text', attributes: { of: { type: 'text' } } },
  b: { type: 'dateTime' },
});
const blank = ' '.repeat(100_000);
const value = {
  a: { value: 'twenty characters of', of: 'twenty more characters' },
  b: '2013-04-20T12:59:24Z',
};

for (const [name, decode] of [
  [
    'XML',
    () =>
      fromXml(shape, `<thing>${blank}<a of="${value.a.of}">${value.a.value}</a><b>${value.b}</b></thing>`),
  ],
  ['JSON', () => fromJson(shape, `{${blank}"a":${JSON.stringify(value.a)},"b":"${value.b}"}`)],
] as const) {
  test(`values decoded from ${name} documents do not retain the documents`, () => {
    const kept: StoredRecord[] = [decode()];
    const before = heapAfterCollection();
    for (let count = 0; count < 100; count++) kept.push(decode());
    const grown = heapAfterCollection() - before;
    assert.deepEqual(kept.at(-1), value);
    assert.ok(grown < 1_000_000, `100 items of 60 characters keep ${grown} bytes alive`);
  });
}
