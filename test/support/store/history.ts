import { previousName, snapshotName } from '../../../src/store/files/data-files.ts';
import { formatLine, formatLogName } from '../../../src/store/log/line.ts';
import { type ChangeRecord, formatChange, formatHead, formatMembers } from '../../../src/store/record.ts';
import { writeSnapshot } from '../../../src/store/snapshot/writer.ts';
import { State } from '../../../src/store/state/state.ts';
import type { StoreChange, StoredItem } from '../../../src/store/store.ts';
import { make } from './snapshot.ts';

/** When the stores of tests are begun. */
export const begun = Date.UTC(2013, 3, 20, 12, 59, 24, 7);

/** Formats a line of a journal, with its line end. */
export function formatJournalLine(line: ChangeRecord): string {
  const { value } = line.change;
  return formatLine(formatChange(line, formatMembers(line.change, value && JSON.stringify(value))));
}

/** The files that a store has written, as far as they are: what an engine does, without a medium. */
export class History {
  readonly files = new Map<string, string>();
  readonly state = new State();
  readonly storeId: string;
  sequence = 0;
  generation = 0;
  #copy: { parts: Generator<Buffer, void, undefined>; text: string; generation: number } | undefined;

  constructor(storeId = 'k3x9') {
    this.storeId = storeId;
    this.rotate();
  }

  /** Begins the next journal. */
  rotate(): void {
    const { storeId, sequence } = this;
    this.generation += 1;
    const { generation } = this;
    const header = { storeId, generation, revision: this.state.revision, sequence, at: begun };
    this.files.set(formatLogName('journal', generation), formatLine(formatHead('journal', header)));
  }

  /** Makes a change and adds its line; `durable` lines were on the medium before. */
  add(change: StoreChange, durable = this.sequence): StoredItem {
    const known = change.kind === 'create' ? undefined : this.state.read(change.collection, change.id);
    const revision = this.state.revision + 1;
    const { id, sequence } = make(this.state, change);
    const value = change.kind === 'delete' ? {} : { value: change.value };
    // A clock that was set back makes no item look older than it was.
    const modified = change.kind === 'put' ? Math.max(change.at, known?.modified ?? change.at) : change.at;
    const { kind, collection } = change;
    this.sequence += 1;
    const made = { kind, collection, id, sequence, revision, modified, ...value };
    const line = { kind: 'change', seq: this.sequence, durable, change: made } as const;
    const name = formatLogName('journal', this.generation);
    this.files.set(name, `${this.files.get(name)}${formatJournalLine(line)}`);
    return { id, sequence, revision, modified, value: change.kind === 'delete' ? {} : change.value };
  }

  /** Begins a new journal and a copy, or goes on with the copy by a block; gives whether that was the last. */
  copy(): boolean {
    if (this.#copy === undefined) {
      this.rotate();
      const { generation, storeId, sequence, state } = this;
      const head = { storeId, generation, revision: state.revision, sequence, at: begun };
      this.#copy = { parts: writeSnapshot(head, state, () => this.sequence), text: '', generation };
    }
    const { value, done } = this.#copy.parts.next();
    if (done !== true) {
      this.#copy.text += `${value}`;
      return false;
    }
    this.#keep(this.#copy);
    this.#copy = undefined;
    return true;
  }

  /** Copies from the beginning to the end. */
  snapshot(): void {
    while (!this.copy());
  }

  #keep({ text, generation }: { readonly text: string; readonly generation: number }): void {
    const former = this.files.get(snapshotName);
    if (former !== undefined) this.files.set(previousName, former);
    this.files.set(snapshotName, text);
    const oldest = former === undefined ? generation : Number(/"generation":([0-9]+)/.exec(former)?.[1]);
    for (let each = 0; each < oldest; each += 1) this.files.delete(formatLogName('journal', each));
  }
}
