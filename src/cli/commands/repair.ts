import { copyFile, cp, readdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { findHolder } from '../../store/files/lock.ts';
import { examine } from '../../store/recovery/recovery.ts';
import { writeStore } from '../../store/snapshot/writer.ts';
import { isAccompanyingFile, tlsDirectory } from '../data-files.ts';
import { CommandError } from '../errors.ts';
import { addNonces } from '../serve/nonces.ts';
import { newStoreId } from '../serve/store-id.ts';
import { collectionName, deleteTokens } from '../serve/stored-tokens.ts';
import { printLines, printMessage, type Terminal } from '../terminal.ts';

/**
 * Runs `countersign check --repair NEWDIR`: copies all readable data to a new directory, with users, clients, consumers,
 * requested revocations, keys, certificate and nonces. Does not change the old directory. Returns the exit status.
 *
 * @throws CommandError if a directory is not suitable
 */
export async function repair(options: Options, to: string, terminal: Terminal): Promise<number> {
  const { data: from } = options;
  await checkDirectories(from, to);
  const { state, storeId, reports, lost, nonces } = await examine({ directory: from, corrupt: 'skip' });
  const now = systemClock.now();
  const dropped = lost.length > 0 && deleteTokens(state, now) > 0;
  const warnings = [...reports, ...lost, ...(dropped ? [tokensDropped] : [])];
  await prepareDirectory(to);
  await copyOthers(from, to);
  // A lost revision can be assigned again, so previous entity tags must not match: hence a new store id.
  await writeStore(to, { storeId: storeId ?? newStoreId(), state, now });
  const report = (line: string): void => printMessage(line, terminal.stderr);
  await addNonces(to, nonces, options, report);
  for (const warning of warnings) report(warning);
  const lines = [...state.collections()].map(
    ({ path, count }) => `copied       ${collectionName(path)}: ${count}`,
  );
  const summary = `lost         ${warnings.length === 0 ? 'nothing' : 'see the messages above'}`;
  printLines([...lines, summary, `written to   ${resolve(to)}`], terminal.stdout);
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
  const holder = await findHolder(from);
  if (holder !== undefined)
    throw new CommandError([`${from} is in use by process ${holder.pid}; stop it first`], 1);
}

const tokensDropped =
  'all OAuth tokens and grants are dropped, because the use or revocation of some of them may be lost';

async function copyOthers(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (name === tlsDirectory) await cp(join(from, name), join(to, name), { recursive: true });
    else if (isAccompanyingFile(name)) await copyFile(join(from, name), join(to, name));
  }
}
