import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster, withPostgres } from './cluster.ts';

test('a seed is added once, although three hosts start at the same time', withPostgres, async () => {
  const article = { title: 'Green tea', price: { value: '12.30', currency: 'EUR' } };
  const cluster = await startCluster(3, { seed: { '/articles': [article, article] } });
  const lists = cluster.running().map(async ({ ask }) => {
    const { text } = await ask('GET', '/articles', { fields: [['Accept', 'application/json']] });
    const { articles }: { articles: { href: string }[] } = JSON.parse(text);
    return articles.map(({ href }) => href);
  });
  for (const list of await Promise.all(lists)) assert.deepEqual(list, ['/articles/1', '/articles/2']);
});
