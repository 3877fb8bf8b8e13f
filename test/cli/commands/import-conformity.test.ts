import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { recover } from '../../../src/store/recover.ts';
import { call, type Ended } from '../../support/cli/command.ts';
import { openSharedStore } from '../../support/module/shared-store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { sharedModule } from '../write-module.ts';

const price = { type: 'decimal', fractionDigits: 2 } as const;
const notes = {
  element: 'notes',
  item: 'note',
  fields: {
    title: { type: 'text', required: true, maxLength: 5 },
    price: { ...price, attributes: { currency: { type: 'currency', required: true } } },
    count: { type: 'integer', min: 1 },
    done: { type: 'boolean' },
    due: { type: 'date' },
    at: { type: 'dateTime' },
    kind: { type: 'text', enum: ['a', 'b'] },
    code: { type: 'text', pattern: '[a-z]+' },
    data: { type: 'json', maxLength: 20 },
    sender: {
      type: 'element',
      fields: { name: { type: 'text', required: true }, total: price },
      attributes: { lang: { type: 'text', required: true } },
    },
    tags: { type: 'list', of: 'text' },
    lines: {
      type: 'list',
      item: 'line',
      of: { type: 'element', fields: { amount: { ...price, required: true } } },
    },
  },
  access: { read: 'anyone', write: 'anyone' },
};

/** An item in its stored form that conforms to the declaration. */
const conforming = {
  title: 'One',
  price: { value: '1.00', currency: 'EUR' },
  count: 1,
  done: true,
  due: '2026-02-28',
  at: '2026-02-28T12:00:00Z',
  kind: 'a',
  code: 'abc',
  data: '{"a":[null]}',
  sender: { lang: 'en', name: 'Ann', total: '2.00' },
  tags: ['x', 'y'],
  lines: [{ amount: '3.00' }],
};

const { title: _title, ...untitled } = conforming;

const violations: readonly [what: string, value: Readonly<Record<string, unknown>>, field: string][] = [
  ['no required field', untitled, 'title'],
  ['a member that is not declared', { ...conforming, colour: 'red' }, 'colour'],
  ['a field of another type', { ...conforming, title: 7 }, 'title'],
  ['a number as a text', { ...conforming, count: '1' }, 'count'],
  ['a text that is too long', { ...conforming, title: 'longer' }, 'title'],
  ['a day that does not exist', { ...conforming, due: '2026-02-30' }, 'due'],
  ['a text that does not match the pattern', { ...conforming, code: 'ABC' }, 'code'],
  ['any JSON that is not JSON', { ...conforming, data: '{"a":' }, 'data'],
  ['any JSON that is stored as an object', { ...conforming, data: { a: 1 } }, 'data'],
  ['any JSON that is too long', { ...conforming, data: JSON.stringify('x'.repeat(30)) }, 'data'],
  ['no required attribute of an element', { ...conforming, sender: { name: 'Ann' } }, 'sender/@lang'],
  [
    'an attribute that is not declared',
    { ...conforming, price: { value: '1.00', currency: 'EUR', unit: 'kg' } },
    'price/@unit',
  ],
  [
    'no required field of a nested element',
    { ...conforming, sender: { lang: 'en', total: '2.00' } },
    'sender/name',
  ],
  [
    'a member of a nested element that is not declared',
    { ...conforming, sender: { lang: 'en', name: 'Ann', age: 7 } },
    'sender/age',
  ],
  ['a member of a list that has another type', { ...conforming, tags: ['x', 7] }, 'tags/'],
  ['an element in a list without its required field', { ...conforming, lines: [{}] }, 'lines/'],
];

function configuration(): string {
  const file = join(temporaryDirectory(), 'config.json');
  writeFileSync(file, JSON.stringify({ collections: { '/users/{name}/notes': notes } }));
  return file;
}

/** Returns an export without a store id whose second item has this value. */
function exportWith(value: unknown): string {
  const item = (id: string, value: unknown): string =>
    JSON.stringify({ collection: '/users/ann/notes', id, value });
  const header = '{"format":"countersign-export","version":1}';
  return `${[header, item('1', conforming), item('2', value), '{"end":true}'].join('\n')}\n`;
}

function importInto(place: readonly string[], value: unknown, ...more: string[]): Promise<Ended> {
  return call(['import', ...place, '--config', configuration(), ...more], { input: exportWith(value) });
}

describe('import requires that every item conforms to its collection', () => {
  test('an item with all kinds of fields is imported', async () => {
    const data = join(temporaryDirectory(), 'data');
    const { status, stderr } = await importInto(['--data', data], conforming);
    assert.equal(status, 0, stderr);
    const { state } = await recover({ directory: data });
    assert.deepEqual(state.read('/users/ann/notes', '2')?.value, conforming);
  });

  for (const [what, value, field] of violations)
    test(`nothing is imported if an item has ${what}`, async () => {
      const data = join(temporaryDirectory(), 'data');
      const { status, stderr } = await importInto(['--data', data], value);
      assert.equal(status, 1, stderr);
      const prefix = 'countersign: standard input cannot be used: line 3, at byte ';
      assert.ok(stderr.startsWith(prefix), stderr);
      assert.ok(stderr.includes(`/users/ann/notes/2 does not match its declaration: ${field}`), stderr);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
      assert.equal(existsSync(data), false);
    });

  test('nothing is imported into the store of a module', async () => {
    const directory = temporaryDirectory();
    const { status, stderr } = await importInto(['--module', sharedModule(directory)], untitled);
    assert.equal(status, 1);
    assert.match(stderr, /line 3, .*\/users\/ann\/notes\/2 does not match its declaration: title is missing/);
    const store = openSharedStore(directory);
    assert.equal((await store.list('/users/ann/notes', 0, 1)).entries.length, 0);
    await store.close();
  });

  test('with --on-mismatch warn the item is imported, and its faults are reported without its values', async () => {
    const data = join(temporaryDirectory(), 'data');
    const { status, stderr } = await importInto(
      ['--data', data],
      { ...untitled, code: 'SECRET', colour: 'SECRET' },
      '--on-mismatch',
      'warn',
    );
    assert.equal(status, 0, stderr);
    assert.match(
      stderr,
      /^1 item breaks today's rules: code of \/users\/ann\/notes\/2 must match the pattern [^;]*; field colour is no longer shown/m,
    );
    assert.doesNotMatch(stderr, /SECRET/);
    assert.equal(
      (await recover({ directory: data })).state.read('/users/ann/notes', '2')?.value['code'],
      'SECRET',
    );
  });

  test('a warning does not permit an invalid token', async () => {
    const data = join(temporaryDirectory(), 'data');
    const input = exportWith(conforming).replaceAll('/users/ann/notes', 'oauth:tokens');
    const { status } = await call(['import', '--data', data, '--on-mismatch', 'warn'], { input });
    assert.equal(status, 1);
    assert.equal(existsSync(data), false);
  });
});
