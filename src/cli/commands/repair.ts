import { copyFile, cp, readdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import type { NonceClaim } from '../../principal.ts';
import { CorruptionError } from '../../store/corruption-error.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import { holderOf } from '../../store/files/lock.ts';
import { writeNewFiles } from '../../store/recovery/new-files.ts';
import { recoverCorrupt } from '../../store/recovery/recover-corrupt.ts';
import { examine } from '../../store/recovery/recovery.ts';
import type { State } from '../../store/state/state.ts';
import { CommandError } from '../errors.ts';
import { addNonces } from '../serve/nonces.ts';
import { newStoreId } from '../serve/store-id.ts';
import { collectionName, deleteTokens } from '../serve/stored-tokens.ts';
import type { Terminal } from '../terminal.ts';

/** The content of the new directory. */
interface Recovery {
  readonly state: State;
  /** The previous id if nothing was lost, so that entity tags remain valid; otherwise a new one. */
  readonly storeId: string;
  /** Descriptions of lost, uncertain or repaired data, one sentence each. */
  readonly warnings: readonly string[];
  readonly nonces: readonly NonceClaim[];
}

/**
 * Runs `countersign check --repair NEWDIR`: copies all readable data to a new directory, with users, clients, consumers,
 * keys, certificate and nonces. Does not change the old directory. Returns the exit status.
 *
 * @throws CommandError if a directory is not suitable
 */
export async function repair(options: Options, to: string, terminal: Terminal): Promise<number> {
  const { data: from } = options;
  await checkDirectories(from, to);
  const { state, storeId, warnings, nonces } = await recoverData(from);
  await prepareDirectory(to);
  await copyOthers(from, to);
  await writeNewFiles(nodeDisk, {
    directory: to,
    storeId,
    generation: 1,
    sequence: 0,
    state,
    now: systemClock.now(),
  });
  const report = (line: string): void => void terminal.stderr.write(`countersign: ${line}\n`);
  await addNonces(to, nonces, options, report);
  for (const warning of warnings) report(warning);
  const lines = [...state.collections()].map(
    ({ path, count }) => `copied       ${collectionName(path)}: ${count}`,
  );
  const lost = `lost         ${warnings.length === 0 ? 'nothing' : 'see the messages above'}`;
  terminal.stdout.write(`${[...lines, lost, `written to   ${resolve(to)}`].join('\n')}\n`);
  return 0;
}

/** Throws CommandError if the data directory is missing or in use, or if the new directory is in it or not empty. */
async function checkDirectories(from: string, to: string): Promise<void> {
  const [source, target] = [resolve(from), resolve(to)];
  if (target === source || target.startsWith(`${source}${sep}`))
    throw new CommandError([`--repair requires a directory outside the data directory, not ${to}`]);
  const names = await readdir(from).catch(() => undefined);
  if (names === undefined) throw new CommandError([`${from} does not exist or cannot be read`], 1);
  const present = await readdir(to).catch(() => []);
  if (present.length > 0)
    throw new CommandError([`${to} is not empty; --repair requires a new or empty directory`], 1);
  const holder = await holderOf(from);
  if (holder !== undefined)
    throw new CommandError([`${from} is in use by process ${holder.pid}; stop it first`], 1);
}

/** Reads the directory as a start does, or, if it is damaged, all of it that is readable. */
async function recoverData(directory: string): Promise<Recovery> {
  try {
    const { state, storeId, reports, nonces } = await examine({ directory });
    return { state, storeId: storeId ?? newStoreId(), warnings: reports, nonces };
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    const { state, lost, nonces } = await recoverCorrupt(nodeDisk, directory);
    const count = deleteTokens(state, systemClock.now());
    const warnings = [error.message, ...lost, ...(count === 0 ? [] : [tokensDeleted])];
    // A lost revision can be assigned again, so previous entity tags must not match: hence a new store id.
    return { state, storeId: newStoreId(), warnings, nonces };
  }
}

const tokensDeleted =
  'all OAuth tokens and grants are dropped, because the use or revocation of some of them may be lost';

async function copyOthers(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (name === 'tls') await cp(join(from, name), join(to, name), { recursive: true });
    else if (/^(?:(?:users|clients|consumers)\.json|oauth\.key|nonces-[0-9]+\.jsonl)$/.test(name))
      await copyFile(join(from, name), join(to, name));
  }
}
