import { ChosenIds, counterNumber } from './chosen-ids.ts';
import { StoredDocument } from './document.ts';
import { type CollectionNumbers, State } from './state.ts';
import type { Entry } from './store.ts';
import { isRecordValue } from './value.ts';

/** What store.json holds. */
export interface FirstVersion {
  readonly lineage: string;
  readonly state: State;
}

/** The first version of the form of store.json: one document without checksums. */
const firstVersion = 1;

/**
 * Reads the bytes of a store.json of the first version; `file` is its path for messages. Throws DamagedStoreError for anything that
 * could not have been written there, so that no change is ever built on a guess.
 */
export function readFirstVersion(file: string, bytes: Uint8Array): FirstVersion {
  const document = new StoredDocument(file);
  const root = document.versioned(bytes, firstVersion, ['lineage', 'revision', 'collections']);
  const lineage = document.text(root.get('lineage'), 'lineage');
  const revision = document.count(root.get('revision'), 'revision');
  const state = new State(revision);
  for (const [path, collection] of document.members(root.get('collections'), 'collections')) {
    new CollectionReader(document, path, revision).read(collection, state);
  }
  return { lineage, state };
}

/** Reads one collection and holds its numbers against each other. */
class CollectionReader {
  readonly #document: StoredDocument;
  readonly #path: string;
  /** What messages call it. */
  readonly #name: string;
  /** The store's own revision, which none here exceeds. */
  readonly #highest: number;

  constructor(document: StoredDocument, path: string, highest: number) {
    this.#document = document;
    this.#path = path;
    this.#name = `the collection ${JSON.stringify(path)}`;
    this.#highest = highest;
  }

  read(value: unknown, state: State): void {
    const names = ['counter', 'chosen', 'sequence', 'revision', 'modified', 'items'];
    const members = this.#document.object(value, this.#name, names);
    const numbers: CollectionNumbers = {
      counter: this.#count(members, 'counter'),
      sequence: this.#count(members, 'sequence'),
      revision: this.#count(members, 'revision'),
      modified: this.#document.time(members.get('modified'), `modified of ${this.#name}`),
    };
    if (numbers.revision > this.#highest) throw this.#behind('the revision of the store', 'that');
    const chosen = readChosen(this.#document, members.get('chosen'), numbers.counter, this.#name);
    const items = this.#document.array(members.get('items'), `items of ${this.#name}`);
    const entries = items.map((item, index) => this.#entry(item, `item ${index + 1}`));
    this.#compare(entries, numbers, chosen);
    state.restore(this.#path, numbers, chosen, entries);
  }

  #entry(value: unknown, place: string): Entry {
    const where = `${place} of ${this.#name}`;
    const members = this.#document.object(value, where, ['id', 'sequence', 'revision', 'modified', 'value']);
    const content = members.get('value');
    if (!isRecordValue(content)) throw this.#document.damage(`the value of ${where} is not a record`);
    return {
      id: this.#document.text(members.get('id'), `the id of ${where}`),
      sequence: this.#document.count(members.get('sequence'), `the sequence of ${where}`),
      revision: this.#document.count(members.get('revision'), `the revision of ${where}`),
      modified: this.#document.time(members.get('modified'), `modified of ${where}`),
      value: content,
    };
  }

  #compare(entries: readonly Entry[], numbers: CollectionNumbers, chosen: ChosenIds): void {
    const ids = new Set<string>();
    let former = 0;
    for (const { id, sequence, revision } of entries) {
      const item = `the item ${JSON.stringify(id)}`;
      if (ids.has(id)) throw this.#document.damage(`${item} stands twice in ${this.#name}`);
      ids.add(id);
      if (sequence <= former) throw this.#document.damage(`${item} of ${this.#name} is out of sequence`);
      former = sequence;
      if (revision === 0 || revision > numbers.revision) throw this.#behind('the revision', item);
      const number = counterNumber(id);
      if (number !== undefined && number > numbers.counter && !chosen.has(number)) {
        throw this.#behind('the counter', item);
      }
    }
    if (former > numbers.sequence) throw this.#behind('the sequence', 'an item');
  }

  #count(members: ReadonlyMap<string, unknown>, name: string): number {
    return this.#document.count(members.get(name), `${name} of ${this.#name}`);
  }

  #behind(number: string, what: string): Error {
    return this.#document.damage(`${number} is behind ${what} of ${this.#name}`);
  }
}

/** Reads the ranges of chosen ids of the collection called `name`; all are above the counter. */
export function readChosen(
  document: StoredDocument,
  value: unknown,
  counter: number,
  name: string,
): ChosenIds {
  const chosen = new ChosenIds();
  let former = counter;
  for (const part of document.array(value, `chosen of ${name}`)) {
    const [first, last] = document.array(part, `a range of chosen of ${name}`);
    const from = document.count(first, `the start of a range of chosen of ${name}`);
    const to = document.count(last, `the end of a range of chosen of ${name}`);
    if (from <= former || to < from) throw document.damage(`chosen of ${name} does not ascend`);
    chosen.append({ first: from, last: to });
    former = to;
  }
  return chosen;
}
