import { copyFile, cp, readdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import { CorruptionError } from '../../store/corruption-error.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import { holderOf } from '../../store/files/lock.ts';
import { writeNewFiles } from '../../store/recovery/new-files.ts';
import { recoverCorrupt } from '../../store/recovery/recover-corrupt.ts';
import { examine } from '../../store/recovery/recovery.ts';
import type { State } from '../../store/state/state.ts';
import type { StoredNonce } from '../../store/store.ts';
import { CommandError } from '../errors.ts';
import { openNonceFile } from '../serve/nonces.ts';
import { newStoreId } from '../serve/store-id.ts';
import { collectionName, endTokens } from '../serve/stored-tokens.ts';
import type { Terminal } from '../terminal.ts';

/** What goes into the new directory. */
interface Saved {
  readonly state: State;
  /** That of before when nothing is lost, so that entity tags stay good. */
  readonly lineage: string;
  /** What is lost or uncertain, or was mended, a sentence each. */
  readonly told: readonly string[];
  readonly nonces: readonly StoredNonce[];
}

/**
 * `countersign check --repair NEWDIR`: writes what can be read of the data directory into a new one, with users, clients,
 * consumers, keys, the certificate and the nonces. The old one is not touched. Throws Refusal when it cannot.
 */
export async function repair(options: Options, to: string, terminal: Terminal): Promise<number> {
  const { data: from } = options;
  await refuseUnfit(from, to);
  const { state, lineage, told, nonces } = await save(from);
  await prepareDirectory(to);
  await copyOthers(from, to);
  await writeNewFiles(nodeDisk, {
    directory: to,
    lineage,
    generation: 1,
    sequence: 0,
    state,
    now: systemClock.now(),
  });
  const tell = (line: string): void => void terminal.stderr.write(`countersign: ${line}\n`);
  await openNonceFile(to, nonces, options, tell);
  for (const line of told) tell(line);
  const lines = [...state.collections()].map(
    ({ path, count }) => `saved        ${collectionName(path)}: ${count}`,
  );
  const end = told.length === 0 ? 'nothing      is lost' : 'what is lost, or may be, is told above';
  terminal.stdout.write(`${[...lines, end, `written to   ${resolve(to)}`].join('\n')}\n`);
  return 0;
}

async function refuseUnfit(from: string, to: string): Promise<void> {
  const [old, fresh] = [resolve(from), resolve(to)];
  if (fresh === old || fresh.startsWith(`${old}${sep}`))
    throw new CommandError([`${to} is the data directory or in it; --repair writes to a new one`]);
  const names = await readdir(from).catch(() => undefined);
  if (names === undefined) throw new CommandError([`${from} is not there, or cannot be read`], 1);
  const present = await readdir(to).catch(() => []);
  if (present.length > 0)
    throw new CommandError([`${to} is not empty; --repair writes to a new directory`], 1);
  const holder = await holderOf(from);
  if (holder !== undefined)
    throw new CommandError([`${from} is in use by process ${holder.pid}; stop it first`], 1);
}

/** What a start would read; else all that can be read. */
async function save(directory: string): Promise<Saved> {
  try {
    const { state, lineage, told, nonces } = await examine({ directory });
    return { state, lineage: lineage ?? newStoreId(), told, nonces };
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    const { state, lost, nonces } = await recoverCorrupt(nodeDisk, directory);
    // A revision that is lost may be drawn again: no entity tag from before may fit.
    const ended = endTokens(state, systemClock.now());
    const told = [error.message, ...lost, ...(ended === 0 ? [] : [tokensEnded])];
    return { state, lineage: newStoreId(), told, nonces };
  }
}

const tokensEnded =
  'no token or grant of OAuth was taken along: which of them were used or revoked is not certain';

async function copyOthers(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (name === 'tls') await cp(join(from, name), join(to, name), { recursive: true });
    else if (/^(?:(?:users|clients|consumers)\.json|oauth\.key|nonces-[0-9]+\.jsonl)$/.test(name))
      await copyFile(join(from, name), join(to, name));
  }
}
