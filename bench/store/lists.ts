/**
 * Holds a service over a journaled store in its own process. The words are `index` or `scan`, the directory of the store and the
 * number of articles. Each order names an operation and returns the time of one.
 */
import type { CollectionDeclaration } from '../../src/collections/declaration.ts';
import { createRequest, type RequestParts } from '../../src/http/message.ts';
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
  access: { read: 'anyone', write: 'anyone' },
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
  const service = createControllableService({
    store: kind === 'index' ? store : withoutIndex(store),
    collections: { [articles]: declaration },
  });
  const ask = async (request: RequestParts): Promise<void> => {
    const { status } = await service.respond(createRequest(request));
    if (status >= 300) throw new Error(`unexpected status ${status} of ${request.target}`);
  };
  const get = (query: string): Promise<void> => ask({ method: 'GET', target: `${articles}?${query}` });
  const rounds = new Map<string, () => Promise<Sample>>();
  for (const [name, query] of Object.entries(pages)) {
    rounds.set(
      name,
      repeating(async (count) => {
        for (let page = 0; page < count; page += 1) await get(query);
      }),
    );
  }
  const put = (number: number, edition: number): Promise<void> =>
    ask({
      method: 'PUT',
      target: `${articles}/${number + 1}`,
      headers: [['Content-Type', 'application/json']],
      body: Buffer.from(JSON.stringify(article(number, edition))),
    });
  rounds.set('PUT', repeating(replaceArticles(put, Number(size))));
  return async (order = '') => {
    if (order === 'begin') return timedAsync(() => get('sort=price'));
    return (await rounds.get(order)?.()) ?? {};
  };
}

/** Returns the store without the method that indexes need. */
function withoutIndex(store: Store): Store {
  return {
    storeId: store.storeId,
    read: (collection, id) => store.read(collection, id),
    list: (...wanted) => store.list(...wanted),
    apply: (change) => store.apply(change),
    close: () => store.close(),
  };
}

/** Returns a function that replaces articles by others with another price. */
function replaceArticles(
  put: (number: number, edition: number) => Promise<void>,
  size: number,
): (count: number) => Promise<void> {
  let edition = 0;
  const change = (): Promise<void> => {
    edition += 1;
    return put((edition * 7919) % size, edition);
  };
  return async (count) => {
    for (let made = 0; made < count; made += together)
      await Promise.all(Array.from({ length: Math.min(together, count - made) }, change));
  };
}
