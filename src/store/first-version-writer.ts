import { formatIsoDate } from './iso-date.ts';
import type { CollectionView, Prepared, State } from './state.ts';
import type { Entry } from './store.ts';

/** The first version of the form of store.json: one document without checksums. */
export const firstVersion = 1;

/** Changes that are about to be visible: by collection, then by id, in the order of their preparation. */
export type Batch = ReadonlyMap<string, ReadonlyMap<string, Prepared>>;

/**
 * The text of store.json, part by part: the state as it will be once the batch is committed. One item a line,
 * so that a person can read it and compare two of them. The state must not change until the last part is taken.
 */
export function* writeFirstVersion(lineage: string, state: State, batch: Batch): Generator<string> {
  yield `{\n  "version": ${firstVersion},\n  "lineage": ${JSON.stringify(lineage)},\n`;
  yield `  "revision": ${state.revision},\n  "collections": {`;
  let separator = '\n';
  for (const view of state.collections()) {
    yield separator;
    yield* writeCollection(view, batch.get(view.path));
    separator = ',\n';
  }
  yield separator === '\n' ? '}\n}\n' : '\n  }\n}\n';
}

function* writeCollection(view: CollectionView, changes?: ReadonlyMap<string, Prepared>): Generator<string> {
  let { revision, modified } = view;
  for (const change of changes?.values() ?? []) {
    revision = Math.max(revision, change.revision);
    modified = Math.max(modified, change.at);
  }
  const chosen = JSON.stringify(Array.from(view.chosen, ({ first, last }) => [first, last]));
  yield `    ${JSON.stringify(view.path)}: {\n      "counter": ${view.counter},\n      "chosen": ${chosen},\n`;
  yield `      "sequence": ${view.sequence},\n      "revision": ${revision},\n`;
  yield `      "modified": "${formatIsoDate(modified)}",\n      "items": [`;
  let separator = '\n        ';
  for (const entry of upcoming(view, changes)) {
    yield separator + writeEntry(entry);
    separator = ',\n        ';
  }
  yield separator.startsWith(',') ? '\n      ]\n    }' : ']\n    }';
}

/** The entries as they will be, in ascending sequence. */
function* upcoming(view: CollectionView, changes?: ReadonlyMap<string, Prepared>): Generator<Entry> {
  if (changes === undefined) {
    yield* view.entries;
    return;
  }
  const added = new Map(changes);
  for (const entry of view.entries) {
    const change = changes.get(entry.id);
    added.delete(entry.id);
    if (change === undefined) yield entry;
    else if (change.kind === 'set') yield change.entry;
  }
  // What has no entry yet is new, so its sequence is above all others and ascends with the preparation.
  for (const change of added.values()) yield change.entry;
}

function writeEntry({ id, sequence, revision, modified, value }: Entry): string {
  return JSON.stringify({ id, sequence, revision, modified: formatIsoDate(modified), value });
}
