import assert from 'node:assert/strict';
import test from 'node:test';
import { DeclarationError } from '../../../src/collections/fields/error.ts';
import { startDouble } from '../../../src/double/index.ts';
import { ordersDocument } from '../../support/double/orders-document.ts';
import { seeded } from '../../support/seeded.ts';
import { long } from '../../support/store/thoroughness.ts';

const values: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    '',
    'x',
    '#/paths',
    '#/components/schemas/Order',
    'object',
    'oauth2',
    '{id}',
  ],
  ...[
    [],
    {},
    [[]],
    [{}],
    { $ref: '#' },
    { $ref: '#/x~2' },
    { $ref: '#/components/schemas/Order' },
    { allOf: [{ $ref: '#' }] },
  ],
];

/** Returns all places of a document: each object or list with the name of one of its members. */
function placesIn(value: unknown): (readonly [owner: object, name: string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [[value, name] as const, ...placesIn(member)]);
}

test('a double starts with any document, or the error names the place', async () => {
  const { seed, below, pick } = seeded();
  for (let round = 0; round < (long ? 3000 : 120); round += 1) {
    const document: unknown = JSON.parse(JSON.stringify(ordersDocument()));
    const changes: string[] = [];
    for (let count = 0; count <= below(3); count += 1) {
      const [owner, name] = pick(placesIn(document));
      const value = structuredClone(pick(values));
      changes.push(`${name}: ${JSON.stringify(value)}`);
      if (below(5) === 0) Reflect.deleteProperty(owner, name);
      else Reflect.set(owner, name, value);
    }
    const message = `seed ${seed}, round ${round}: ${changes.join('; ')}`;
    const errors: unknown[] = [];
    try {
      await using double = await startDouble({
        users: { ann: { secret: 'secret of ann' } },
        partner: Object(document),
        https: false,
        onError: (error) => void errors.push(error),
      });
      for (const path of [
        '/orders',
        '/orders/ord_1',
        '/reports/2026-01-01..2026-02-01.csv',
        '/v1/orders/ord_2',
      ]) {
        const { status } = await double.fetch(path, { headers: { Prefer: 'dynamic=true' } });
        assert.ok(status < 500 || errors.length > 0, `${message}: ${path} ${status}`);
      }
      for (const error of errors) assert.match(String(error), /#/, `${message}: ${String(error)}`);
    } catch (error) {
      assert.ok(
        error instanceof DeclarationError,
        `${message}: ${error instanceof Error ? error.stack : String(error)}`,
      );
      assert.match(error.path, /^#/, message);
    }
  }
});
