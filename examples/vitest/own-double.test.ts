import { withDouble } from 'countersign/double';
import { test as base, expect } from 'vitest';
import { TypedClient } from './typed-client.ts';

const tea = { title: 'Green tea', price: { value: '12.30', currency: 'EUR' } };
const options = { users: { johndoe: { secret: 's3cret' } } };
const johndoe = { user: 'johndoe', secret: 's3cret' };

base(
  'a client adds an article',
  withDouble(options, async (double, { task }) => {
    expect(await new TypedClient({ ...johndoe, url: double.url }).add(tea)).toEqual(tea);
    expect(task.name).toBe('a client adds an article');
  }),
);

base(
  'a failure contains the refused requests',
  withDouble(options, async () => {
    const failing = withDouble(options, async (double) => {
      const client = new TypedClient({ ...johndoe, url: double.url, secret: 'another' });
      expect(await client.add(tea).catch(() => undefined)).toEqual(tea);
    });
    await expect(failing()).rejects.toThrow(/The double refused:\n#1 POST \/articles by johndoe: 401/);
  }),
);

base.each([1, 2])(
  'a client reads at most %i articles',
  withDouble({ ...options, seed: { '/articles': [tea, tea, tea] } }, async (double, limit: number) => {
    const client = new TypedClient({ ...johndoe, url: double.url });
    expect(await client.list(limit)).toHaveLength(limit);
  }),
);

const test = base.extend('client', { title: 'a fixture' });

test(
  'a test with fixtures has a double, too',
  withDouble(options, async (double) => {
    expect((await double.as('johndoe').fetch('/articles')).status).toBe(200);
  }),
);
