/**
 * Holds a service over a journaled store in its own process. The words are `index` or `scan`, the directory of the store and the
 * number of articles. Each order names an operation and returns the time of one.
 */
import type { CollectionDeclaration } from '../../src/collections/declaration.ts';
import { createRequest } from '../../src/http/message.ts';
import { createControllableService } from '../../src/service/service.ts';
import type { Store } from '../../src/store/store.ts';
import { article, articles } from '../data/articles.ts';
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { repeating, timedAsync } from '../measure/timing.ts';
import { openOurs } from './contestants.ts';

const declaration = {
  element: 'articles',
  item: 'article',
  fields: {
    title: { type: 'text' },
    price: { type: 'decimal', fractionDigits: 2, attributes: { currency: { type: 'currency' } } },
  },
  access: { read: 'anyone' },
  filter: ['title', 'price'],
  sort: ['title', 'price'],
} as const satisfies CollectionDeclaration;

/** The pages by the names of their orders: a query, and the end of a former page, as a link contains it. */
export const pages = {
  'first page, sorted': 'sort=price',
  'page in the middle, sorted': `sort=-price&after=z.${Buffer.from('5000.00').toString('base64url')}`,
  'page of a value': 'price=5000.00',
  'page of a narrow range': 'price.min=9990',
  'page of a wide range': 'price.min=10',
  'page of a range, sorted otherwise': 'price.min=9990&sort=-title',
} as const;

/** The number of changes that are stored together. */
const together = 64;

/** Opens the store. */
export async function part(kind = '', directory = '', size = ''): Promise<Answer> {
  const store = await openOurs(directory);
  const list: Store['list'] = (...wanted) => store.list(...wanted);
  const scanned: Store = { storeId: store.storeId, list, read: () => undefined, apply: never, close: never };
  const service = createControllableService({
    store: kind === 'index' ? store : scanned,
    collections: { [articles]: declaration },
  });
  const get = async (query: string): Promise<void> => {
    const { status } = await service.respond(
      createRequest({ method: 'GET', target: `${articles}?${query}` }),
    );
    if (status !== 200) throw new Error(`unexpected status ${status} of ${query}`);
  };
  const rounds = new Map<string, () => Promise<Sample>>();
  for (const [name, query] of Object.entries(pages)) {
    rounds.set(
      name,
      repeating(async (count) => {
        for (let page = 0; page < count; page += 1) await get(query);
      }),
    );
  }
  const write = writer(store, Number(size));
  rounds.set('write', repeating(write));
  return async (order = '') => {
    if (order === 'begin') return timedAsync(() => get('sort=price'));
    return (await rounds.get(order)?.()) ?? {};
  };
}

/** Returns a function that replaces articles by others with another price. */
function writer(store: Store, size: number): (count: number) => Promise<void> {
  let edition = 0;
  const change = async (): Promise<void> => {
    edition += 1;
    const number = (edition * 7919) % size;
    const value = article(number, edition);
    const id = String(number + 1);
    await store.apply({ kind: 'put', collection: articles, id, expected: 'present', value, at: edition });
  };
  return async (count) => {
    for (let made = 0; made < count; made += together)
      await Promise.all(Array.from({ length: Math.min(together, count - made) }, change));
  };
}

function never(): never {
  throw new Error('a scan does not need this');
}
