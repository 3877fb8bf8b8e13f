import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Double, startDouble } from '../../src/double/index.ts';
import type { AccessRules } from '../../src/index.ts';

const secret = (name: string): string => `a secret of ${name}, long enough`;
const users = ['ann', 'bob'] as const;

/** The requests, in this order; the item 1 exists. */
const requests = ['POST', 'PUT new', 'PUT 1', 'POST 1', 'DELETE 1', 'GET'] as const;

interface Row {
  readonly rules: AccessRules;
  /** The status of each request of ann, and of bob. */
  readonly ann: readonly number[];
  readonly bob: readonly number[];
  /** `Allow` of the item for ann. */
  readonly allow: string;
}

const everything = [201, 201, 200, 200, 204, 200];
const nothing = [403, 403, 403, 403, 403, 200];
const rows: Readonly<Record<string, Row>> = {
  'write alone': {
    rules: { read: 'anyone', write: ['ann'] },
    ann: everything,
    bob: nothing,
    allow: 'HEAD, GET, PUT, POST, DELETE, OPTIONS',
  },
  'create without change': {
    rules: { read: 'anyone', create: ['ann'] },
    ann: [201, 201, 403, 403, 403, 200],
    bob: nothing,
    allow: 'HEAD, GET, PUT, OPTIONS',
  },
  'change without create': {
    rules: { read: 'anyone', change: ['ann'] },
    ann: [403, 403, 200, 200, 204, 200],
    bob: nothing,
    allow: 'HEAD, GET, PUT, POST, DELETE, OPTIONS',
  },
  'create for one user and change for another': {
    rules: { read: 'anyone', create: ['ann'], change: ['bob'] },
    ann: [201, 201, 403, 403, 403, 200],
    bob: [403, 403, 200, 200, 204, 200],
    allow: 'HEAD, GET, PUT, OPTIONS',
  },
  'create and write': {
    rules: { read: 'anyone', create: 'authenticated', write: ['ann'] },
    ann: everything,
    bob: [201, 201, 403, 403, 403, 200],
    allow: 'HEAD, GET, PUT, POST, DELETE, OPTIONS',
  },
  'a method before create and change': {
    rules: {
      read: 'anyone',
      write: ['bob'],
      create: ['ann'],
      change: ['ann'],
      DELETE: 'nobody',
      PUT: ['bob'],
    },
    ann: [201, 403, 403, 200, 403, 200],
    bob: [403, 201, 200, 403, 403, 200],
    allow: 'HEAD, GET, POST, OPTIONS',
  },
  'POST, which is both': {
    rules: { read: 'anyone', POST: ['ann'], create: 'nobody', change: 'nobody' },
    ann: [201, 403, 403, 200, 403, 200],
    bob: nothing,
    allow: 'HEAD, GET, POST, OPTIONS',
  },
};

for (const [what, { rules, allow, ...expected }] of Object.entries(rows))
  describe(`access with ${what}`, () => {
    let double: Double;
    before(async () => {
      double = await startDouble({
        https: false,
        users: Object.fromEntries(users.map((name) => [name, { secret: secret(name) }])),
        collections: {
          '/notes': {
            element: 'notes',
            item: 'note',
            fields: { text: { type: 'text' } },
            access: rules,
            createWithPut: true,
            defaultFormat: 'json',
          },
        },
        seed: { '/notes': [{ text: 'first' }] },
      });
    });
    after(() => double.close());

    const send = async (
      name: (typeof users)[number],
      request: (typeof requests)[number],
    ): Promise<number> => {
      const [method = '', item] = request.split(' ');
      const path = item === undefined ? '/notes' : `/notes/${item}`;
      const body = method === 'POST' || method === 'PUT' ? { body: '{"text":"x"}' } : {};
      const headers = { 'Content-Type': 'application/json' };
      return (await double.as(name).fetch(path, { method, headers, ...body })).status;
    };

    for (const name of users)
      test(`permits ${name} what the rules say`, async () => {
        const before = await double.snapshot();
        const found: number[] = [];
        for (const request of requests) {
          found.push(await send(name, request));
          await double.restore(before);
        }
        assert.deepEqual(found, expected[name]);
      });

    test('shows in Allow what a user may do in some state', async () => {
      const response = await double.as('ann').fetch('/notes/1', { method: 'OPTIONS' });
      assert.equal(response.headers.get('Allow'), allow);
    });
  });
