import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { createJudgeOfKept, MisfitError } from '../misfit.ts';
import type { Options } from '../options/options.ts';
import { readJson } from '../representation/json-reader.ts';
import { nodeDisk } from '../store/disk.ts';
import { type EditedItem, type EditedSnapshot, readEditedSnapshot } from '../store/edited-snapshot.ts';
import { removeJournals, writeFreshFiles } from '../store/fresh-files.ts';
import { lockDirectory } from '../store/lock.ts';
import { type Examined, examine, previousName, snapshotName } from '../store/recovery.ts';
import type { State } from '../store/state.ts';
import { forgetJudged } from './judged.ts';
import { keepNonces } from './kept-nonces.ts';
import { collectionName } from './oauth-kept.ts';
import { Refusal } from './refusal.ts';
import type { Terminal } from './terminal.ts';

/** No value nests deeper: see store/value.ts. */
const maxDepth = 300;

/**
 * `countersign check --accept-edits`: takes in what a person edited in store.json. The edited items get revisions of
 * their own, so that entity tags that clients have do not fit them; which items of a block were edited cannot be told,
 * so all of an edited block do. What the journals say is newer than the snapshot, and stands. Throws Refusal when the
 * edits cannot be taken, and then changes nothing.
 */
export async function acceptEdits(options: Options, terminal: Terminal): Promise<number> {
  const { data } = options;
  const path = join(data, snapshotName);
  const tell = (line: string): void => void terminal.stderr.write(`countersign: ${line}\n`);
  const lock = await lockDirectory(data);
  try {
    const edited = await readEditedSnapshot(nodeDisk, path, (text) => readJson(text, maxDepth));
    if (edited === undefined)
      throw new Refusal([`${path} is not there, or is of a version without checksums`], 1);
    const faults = [...edited.faults, ...misfits(path, edited.items, options)];
    if (faults.length > 0) throw new Refusal([...faults, `${path} was not changed`], 1);
    if (edited.collections.size === 0) {
      terminal.stdout.write('nothing was edited\n');
      return 0;
    }
    const examined = await examine({ directory: data, snapshot: edited.snapshot });
    for (const line of takeIn(examined.state, edited)) tell(line);
    await replace(options, edited, examined, tell);
    const items = edited.items.length;
    const word = items === 1 ? 'item has' : 'items have';
    terminal.stdout.write(
      `taken in: ${[...edited.collections].map(collectionName).join(', ')}; ${items} ${word} a new revision\n`,
    );
    return 0;
  } finally {
    await lock.release();
  }
}

/** What no client could read, as a start would find it. */
function misfits(path: string, items: readonly EditedItem[], { collections }: Options): string[] {
  const judge = createJudgeOfKept(collections);
  return items.flatMap(({ collection, id, value, line }) => {
    try {
      judge(collection, { id, value, sequence: 0, revision: 0, modified: 0 });
      return [];
    } catch (error) {
      if (error instanceof MisfitError) return [`${path}, line ${line}: ${error.message}`];
      throw error;
    }
  });
}

/** Gives the edited items revisions of their own and adds new ones; gives what does not come to be. */
function takeIn(state: State, { items, collections }: EditedSnapshot): string[] {
  const at = systemClock.now();
  const told: string[] = [];
  for (const { collection, id, value, revision, line } of items) {
    const present = state.read(collection, id);
    if (present?.revision !== revision) {
      told.push(`line ${line}: the journal has a later change of ${collection}/${id}, which stands`);
      continue;
    }
    const prepared = state.prepare({
      kind: 'put',
      collection,
      id,
      expected: revision ?? 'absent',
      value,
      at,
    });
    if (prepared !== undefined) state.commit(prepared);
  }
  for (const collection of collections) state.touch(collection, at);
  return told;
}

/** Puts the state in the place of all that was there, in steps of which each leaves a whole one. */
async function replace(
  options: Options,
  { snapshot }: EditedSnapshot,
  { state, sequence, journals, nonces }: Examined,
  tell: (line: string) => void,
): Promise<void> {
  const { data: directory } = options;
  const { lineage, generation: former } = snapshot.head;
  await forgetJudged(directory);
  const generation = Math.max(former, ...journals.map((each) => each.generation)) + 1;
  await writeFreshFiles(nodeDisk, {
    directory,
    lineage,
    generation,
    sequence,
    state,
    now: systemClock.now(),
  });
  await keepNonces(directory, nonces, options, tell);
  // The one before lacks the edits.
  if ((await nodeDisk.list(directory)).includes(previousName))
    await nodeDisk.unlink(join(directory, previousName));
  await removeJournals(nodeDisk, directory, generation);
}
