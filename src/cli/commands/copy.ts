// The commands that copy a data directory.
import { copyFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import { parseLogName } from '../../store/log/line.ts';
import { createDataCommand } from '../data/command.ts';
import { copyDirectory, type DirectoryCopyOptions } from '../data/copy-directory.ts';
import { checkDirectory } from '../data/source.ts';
import { CommandError } from '../errors.ts';
import { withProgress } from '../serve/progress.ts';
import { collectionName, deleteTokens } from '../serve/stored-data.ts';
import { printLines, printMessage, type Terminal } from '../terminal.ts';

/** Runs `countersign backup DIR`: copies the data directory, which a server may be using. */
export const backup = createDataCommand('backup', ({ argument, options: { data } }, terminal) => {
  checkDirectory(data);
  return copyAll({ from: data, to: argument, notEmpty: newDirectory('backup') }, 'written to', terminal);
});

/** Runs `countersign restore DIR`: copies a backup to the data directory. */
export const restore = createDataCommand('restore', ({ argument, options: { data }, isOn }, terminal) => {
  const notEmpty = 'to replace its data, use --replace';
  const plan = { from: argument, to: data, replace: isOn('--replace'), notEmpty };
  return copyAll(plan, 'restored to', terminal);
});

/**
 * Runs `countersign check --repair NEWDIR`: copies all readable data to a new directory, with users, clients, consumers,
 * requested revocations, keys, certificate and nonces. Does not change the old directory. Returns the exit status.
 *
 * @throws CommandError if a directory is not suitable
 */
export async function repair(options: Options, to: string, terminal: Terminal): Promise<number> {
  if (to === '') throw new CommandError(['--repair requires a value']);
  const { data: from } = options;
  const planned: DirectoryCopyOptions = {
    from,
    to,
    notEmpty: newDirectory('--repair'),
    async repair({ state, lost }, prepared) {
      for (const name of await readdir(from))
        if (parseLogName('nonces', name) !== undefined)
          await copyFile(join(from, name), join(prepared, name));
      return lost.length > 0 && deleteTokens(state, systemClock.now()) > 0 ? [...lost, tokensDropped] : lost;
    },
  };
  return copyAll(planned, 'written to', terminal);
}

const tokensDropped =
  'all OAuth tokens and grants are dropped, because the use or revocation of some of them may be lost';

function newDirectory(command: string): string {
  return `${command} requires a new or empty directory`;
}

/** Copies a data directory, and prints what was copied and what was lost. Returns the exit status. */
async function copyAll(
  plan: DirectoryCopyOptions,
  done: string,
  { stdout, stderr }: Terminal,
): Promise<number> {
  const { store, files, warnings } = await withProgress(stderr, (onProgress) =>
    copyDirectory({ ...plan, onProgress }),
  );
  const messages = [...store.reports, ...warnings];
  for (const message of messages) printMessage(message, stderr);
  const copied = [...store.state.collections()].map(({ path, count }) => `${collectionName(path)}: ${count}`);
  if (files.length > 0) copied.push(files.join(', '));
  const lost = messages.length === 0 ? 'nothing' : 'see the messages above';
  printLines(
    [
      ...copied.map((each) => `copied       ${each}`),
      ...(plan.repair === undefined ? [] : [`lost         ${lost}`]),
      `${done.padEnd(12)} ${resolve(plan.to)}`,
    ],
    stdout,
  );
  return 0;
}
