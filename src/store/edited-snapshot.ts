import { type ChosenIds, counterNumber } from './chosen-ids.ts';
import { DamagedStoreError, type Place } from './damage.ts';
import { type Disk, errorCode } from './disk.ts';
import { StoredDocument } from './document.ts';
import { readSnapshotLines, type SnapshotLine } from './snapshot-lines.ts';
import { readNumbers, type Snapshot } from './snapshot-reader.ts';
import { type CollectionNumbers, State } from './state.ts';
import type { Entry, RecordValue } from './store.ts';
import { isRecordValue } from './value.ts';

/** An item of a block that was edited. */
export interface EditedItem {
  readonly collection: string;
  readonly id: string;
  readonly value: RecordValue;
  readonly line: number;
  /** As it stands there; undefined for one that was added. */
  readonly revision: number | undefined;
}

/** A snapshot that a person edited. */
export interface EditedSnapshot {
  readonly snapshot: Snapshot;
  /** All items of blocks whose checksum does not fit: which of them was edited cannot be told. */
  readonly items: readonly EditedItem[];
  /** The collections of which something was edited, or taken out. */
  readonly collections: ReadonlySet<string>;
  /** What is wrong, a sentence each; when there is something, the rest does not count. */
  readonly faults: readonly string[];
}

/** Reads JSON. Throws an error whose message says what is wrong, with `line` and `column` in the text. */
export type ReadJson = (text: string) => unknown;

interface Line {
  readonly text: string;
  readonly place: Place;
}

interface Collection {
  numbers: CollectionNumbers;
  chosen: ChosenIds;
  readonly entries: { readonly entry: Entry; readonly line: number }[];
}

/** Not one sentence more than can be read. */
const mostFaults = 20;

const advice = 'a new item has only "id" and "value", and is given its numbers';

/**
 * Reads a snapshot that was edited line by line, and holds each number against the others. Undefined when there is no
 * such file, or one that has no checksums. Throws DamagedStoreError when its lines are not those of a snapshot.
 */
export async function readEditedSnapshot(
  disk: Disk,
  path: string,
  readJson: ReadJson,
): Promise<EditedSnapshot | undefined> {
  const reading = new EditedReader(path, readJson);
  await readSnapshotLines(disk, path, (line) => reading.take(line));
  return reading.end();
}

class EditedReader {
  readonly #path: string;
  readonly #readJson: ReadJson;
  readonly #faults: string[] = [];
  readonly #collections = new Map<string, Collection>();
  readonly #edited = new Set<string>();
  readonly #items: EditedItem[] = [];
  #head: ReadonlyMap<string, unknown> | undefined;
  #footer: { readonly text: string; readonly line: Line } | undefined;
  #block: { readonly line: Line; readonly lines: Line[] } | undefined;
  #blocks = 0;

  constructor(path: string, readJson: ReadJson) {
    this.#path = path;
    this.#readJson = readJson;
  }

  take(line: SnapshotLine): void {
    if (line.kind === 'head' && line.place.line === 1) this.#head = this.#object(line, `${line.text}]}`);
    else if (this.#head === undefined) return;
    else if (line.kind === 'block' && this.#block === undefined) this.#block = { line, lines: [] };
    else if (line.kind === 'item' && this.#block !== undefined) this.#block.lines.push(line);
    else if (line.kind === 'end' && this.#block !== undefined) {
      this.#takeBlock(this.#block.line, this.#block.lines, line.fits);
      this.#block = undefined;
    } else if (line.kind === 'footer') this.#footer = { text: line.text, line };
    else if (line.text.trim() !== '')
      throw this.#damage(line, 'no such line belongs here; an item has a line of its own');
  }

  end(): EditedSnapshot | undefined {
    if (this.#head === undefined) return undefined;
    const last = this.#block?.line ?? { text: '', place: { line: 1, byte: 0 } };
    if (this.#block !== undefined) throw this.#damage(last, 'the block that begins here has no end');
    if (this.#footer === undefined) throw this.#damage(last, 'its last line is gone');
    const document = new StoredDocument(this.#path, { line: 1, byte: 0 });
    const count = (name: string): number => document.count(this.#head?.get(name), name);
    const state = new State(count('revision'));
    for (const [path, collection] of this.#collections) this.#restore(state, path, collection);
    const head = {
      lineage: document.text(this.#head.get('lineage'), 'lineage'),
      generation: count('generation'),
      revision: state.revision,
      sequence: count('sequence'),
      written: document.time(this.#head.get('written'), 'written'),
    };
    const { blocks, reached } = this.#counts(this.#footer);
    // What was taken out with its whole block leaves no other trace.
    if (blocks !== this.#blocks) for (const path of this.#collections.keys()) this.#edited.add(path);
    const snapshot = { head, reached, state };
    return { snapshot, items: this.#items, collections: this.#edited, faults: this.#faults };
  }

  #counts({ text, line }: { readonly text: string; readonly line: Line }): {
    readonly blocks: number;
    readonly reached: number;
  } {
    const members = this.#object(line, `{${text.slice(text.indexOf('],') + 2)}`);
    const document = new StoredDocument(this.#path, line.place);
    const footer = document.members(members.get('footer'), 'footer');
    const count = (name: string): number => document.count(footer.get(name), name);
    return { blocks: count('blocks'), reached: count('sequence') };
  }

  #takeBlock(line: Line, lines: readonly Line[], fits: boolean): void {
    this.#blocks += 1;
    const document = new StoredDocument(this.#path, line.place);
    const members = this.#object(line, `${line.text}]}`);
    const path = document.text(members.get('collection'), 'collection');
    const { numbers, chosen } = readNumbers(document, members, path);
    const collection = this.#collections.get(path) ?? { numbers, chosen, entries: [] };
    this.#collections.set(path, Object.assign(collection, { numbers, chosen }));
    if (!fits) this.#edited.add(path);
    for (const each of lines) this.#tryItem(path, collection, each, fits);
  }

  #tryItem(path: string, collection: Collection, line: Line, fits: boolean): void {
    try {
      this.#takeItem(path, collection, line, fits);
    } catch (error) {
      if (errorCode(error) !== 'damaged' || !(error instanceof Error)) throw error;
      this.#fault(error.message);
    }
  }

  #takeItem(path: string, { entries }: Collection, line: Line, fits: boolean): void {
    const document = new StoredDocument(this.#path, line.place);
    const known = ['id', 'sequence', 'revision', 'modified', 'value'];
    const members = document.object(Object.fromEntries(this.#object(line, line.text)), 'the item', known);
    const id = document.text(members.get('id'), 'its id');
    const value = members.get('value');
    if (id === '') throw document.damage('its id is empty');
    if (!isRecordValue(value))
      throw document.damage('its value is not an object of texts, numbers and the like');
    if (members.size === 2) {
      this.#items.push({ collection: path, id, value, line: line.place.line, revision: undefined });
      return;
    }
    const revision = document.count(members.get('revision'), 'its revision');
    const sequence = document.count(members.get('sequence'), 'its sequence');
    const modified = document.time(members.get('modified'), 'modified');
    entries.push({ entry: { id, sequence, revision, modified, value }, line: line.place.line });
    if (!fits) this.#items.push({ collection: path, id, value, line: line.place.line, revision });
  }

  #restore(state: State, path: string, { entries, numbers, chosen }: Collection): void {
    const lines = new Map<string, number>();
    let former = 0;
    for (const { entry, line } of entries) {
      const { id, sequence, revision } = entry;
      const twice = lines.get(id);
      const number = counterNumber(id);
      const tell = (what: string): void => this.#fault(`${this.#path}, line ${line}: ${what}`);
      if (twice !== undefined) tell(`${path} has an item ${JSON.stringify(id)} already, in line ${twice}`);
      else if (sequence <= former)
        tell(`its sequence, ${sequence}, is not above that of the item before; ${advice}`);
      else if (sequence > numbers.sequence)
        tell(`no item has a sequence as high as ${sequence} yet; ${advice}`);
      else if (revision === 0 || revision > Math.max(numbers.revision, state.revision))
        tell(
          `its revision, ${revision}, was never drawn; leave it as it was: an edited item is given a new one`,
        );
      else if (number !== undefined && number > numbers.counter && !chosen.has(number))
        tell(`the store has yet to give the id ${id}; ${advice}`);
      lines.set(id, line);
      former = Math.max(former, sequence);
    }
    for (const { collection, id, line, revision } of this.#items)
      if (collection === path && revision === undefined && lines.has(id))
        this.#fault(
          `${this.#path}, line ${line}: ${path} has an item ${JSON.stringify(id)} already, in line ${lines.get(id)}`,
        );
    if (this.#faults.length > 0) return;
    state.restore(
      path,
      numbers,
      chosen,
      entries.map(({ entry }) => entry),
    );
  }

  #object(line: Line, text: string): ReadonlyMap<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw this.#damage(line, this.#whatIsWrong(text));
    }
    return new StoredDocument(this.#path, line.place).members(value, 'the line');
  }

  /** What is wrong with text that is not JSON, and in which column. */
  #whatIsWrong(text: string): string {
    try {
      this.#readJson(text);
    } catch (error) {
      if (error instanceof Error) return error.message.replace(/^Line 1, column/, 'column');
    }
    return 'it is not JSON';
  }

  #fault(what: string): void {
    if (this.#faults.length < mostFaults) this.#faults.push(what);
  }

  #damage({ place }: Line, what: string): DamagedStoreError {
    return new DamagedStoreError(this.#path, what, place);
  }
}
