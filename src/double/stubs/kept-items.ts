// Stubs that keep what clients send them, so that a test in a language that cannot pass a function has state.
import { Problem } from '../../http/problem.ts';
import { encodeSegment } from '../../http/syntax/percent.ts';
import { createBranch, ensureBranch } from '../../pipeline/path-tree.ts';
import type { Snapshottable } from '../state/state.ts';
import type { StubHandler, StubOptions, StubRequest } from './declaration.ts';
import type { StubResponse } from './response.ts';
import type { StubRule, StubsPart } from './stubs.ts';

/** An item: what was sent, with an id. */
type Item = Readonly<Record<string, unknown>>;

/** The items of one collection by id, in the order of their creation. */
interface Collection {
  readonly items: ReadonlyMap<string, Item>;
  /** The number of ids that were assigned. */
  readonly assigned: number;
}

const empty: Collection = { items: new Map(), assigned: 0 };

/** The stubs of a collection: of its path, and of its items. */
interface CollectionStubs {
  readonly path: string;
  readonly rules: readonly [collection: StubRule, items: StubRule];
}

/** The collections at one time, by the number of their stub and their path. */
type Collections = ReadonlyMap<string, Collection>;

/** The items that stubs keep, as a part of a double. */
export class KeptItems implements Snapshottable<Collections> {
  readonly #stubs = new WeakMap<StubRule, CollectionStubs>();
  #collections: Collections = new Map();
  #added = 0;

  /**
   * Adds the stubs of a collection: POST keeps an item, and GET, PUT, PATCH and DELETE of its address return, replace, change and remove
   * it. Both stubs are removed together.
   * @param path the path or template of the collection
   * @throws RangeError if the path or an option is invalid
   */
  add(stubs: Pick<StubsPart, 'add'>, path: `/${string}`, options: StubOptions): CollectionStubs {
    const itemPath = `${path}/{item}` as const;
    ensureBranch(createBranch(), itemPath);
    this.#added += 1;
    const owner = this.#added;
    const collection: StubHandler<unknown> = (request) => this.#answer(owner, request);
    const items: StubHandler<unknown> = (request) => this.#answerItem(owner, request);
    const rules = [
      stubs.add({ ...options, match: { method: ['GET', 'POST'], path }, response: collection }),
      stubs.add({
        ...options,
        match: { method: ['GET', 'PUT', 'PATCH', 'DELETE'], path: itemPath },
        response: items,
      }),
    ] as const;
    const added = { path, rules };
    for (const rule of rules) this.#stubs.set(rule, added);
    return added;
  }

  /** Returns the collection to which a stub belongs; undefined if it belongs to none. */
  find(rule: StubRule): CollectionStubs | undefined {
    return this.#stubs.get(rule);
  }

  snapshot(): Collections {
    return this.#collections;
  }

  restore(collections: Collections): void {
    this.#collections = collections;
  }

  reset(): void {
    this.#collections = new Map();
  }

  #answer(owner: number, { method, path, body }: StubRequest<unknown>): StubResponse {
    const key = `${owner} ${path}`;
    const { items, assigned } = this.#collections.get(key) ?? empty;
    if (method !== 'POST') return { body: [...items.values()] };
    const sent = readItem(body);
    const next = nextId(items, assigned);
    const id = ownId(sent) ?? String(next);
    if (items.has(id)) throw new Problem('invalid-content', `There is an item with the id ${id}.`);
    const item = withId(sent, id);
    this.#replace(key, {
      items: new Map(items).set(id, item),
      assigned: id === String(next) ? next : assigned,
    });
    return { status: 201, headers: { Location: `${path}/${encodeSegment(id)}` }, body: item };
  }

  #answerItem(owner: number, { method, path, parameters, body }: StubRequest<unknown>): StubResponse {
    const key = `${owner} ${path.slice(0, path.lastIndexOf('/'))}`;
    const { items, assigned } = this.#collections.get(key) ?? empty;
    const id = parameters['item'] ?? '';
    const item = items.get(id);
    if (method === 'PUT') {
      const replaced = withId(readItem(body), id);
      this.#replace(key, { items: new Map(items).set(id, replaced), assigned });
      return item === undefined
        ? { status: 201, headers: { Location: path }, body: replaced }
        : { body: replaced };
    }
    if (item === undefined) throw new Problem('not-found', `There is no item with the id ${id}.`);
    if (method === 'PATCH') {
      const changed = withId(mergeItem(item, readItem(body)), id);
      this.#replace(key, { items: new Map(items).set(id, changed), assigned });
      return { body: changed };
    }
    if (method !== 'DELETE') return { body: item };
    this.#replace(key, { items: new Map([...items].filter(([each]) => each !== id)), assigned });
    return { status: 204 };
  }

  /** Replaces a collection. Snapshots have the former one. */
  #replace(key: string, collection: Collection): void {
    this.#collections = new Map(this.#collections).set(key, collection);
  }
}

/** Returns what was sent as an item. Throws a Problem unless it is a JSON object or a form. */
function readItem(body: unknown): Item {
  if (body instanceof URLSearchParams) return Object.fromEntries(body);
  if (isItem(body)) return body;
  throw new Problem('invalid-content', 'The content must be a JSON object or a form.');
}

function isItem(value: unknown): value is Item {
  return Object.prototype.toString.call(value) === '[object Object]';
}

/** Returns the id that an item was sent with; undefined if there is none that a path can have. */
function ownId({ id }: Item): string | undefined {
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id !== '' && id !== '.' && id !== '..' ? id : undefined;
}

/** Returns the next number that is no id. */
function nextId(items: ReadonlyMap<string, Item>, assigned: number): number {
  let next = assigned + 1;
  while (items.has(String(next))) next += 1;
  return next;
}

/** Returns an item with this id, which keeps the type with which it was sent. */
function withId({ id: sent, ...others }: Item, id: string): Item {
  return { id: String(sent) === id ? sent : id, ...others };
}

/** Merges a patch into an item (RFC 7396): null removes a member. */
function mergeItem(item: Item, patch: Item): Item {
  const merged = new Map(Object.entries(item));
  for (const [name, value] of Object.entries(patch)) {
    const former = merged.get(name);
    if (value === null) merged.delete(name);
    else merged.set(name, isItem(value) ? mergeItem(isItem(former) ? former : {}, value) : value);
  }
  return Object.fromEntries(merged);
}
