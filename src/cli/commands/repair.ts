import { copyFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import { parseLogName } from '../../store/log/line.ts';
import type { Scanned } from '../../store/scan.ts';
import { copyDirectory } from '../copy-directory.ts';
import { addNonces } from '../serve/nonces.ts';
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
  const report = (line: string): void => printMessage(line, terminal.stderr);
  let dropped = false;
  const { store } = await copyDirectory({
    from,
    to,
    replace: false,
    notEmpty: '--repair requires a new or empty directory',
    async repair({ state, lost, nonces }: Scanned, prepared) {
      dropped = lost.length > 0 && deleteTokens(state, systemClock.now()) > 0;
      for (const name of await readdir(from))
        if (parseLogName('nonces', name) !== undefined)
          await copyFile(join(from, name), join(prepared, name));
      await addNonces(prepared, nonces, options, report);
    },
  });
  const warnings = [...store.reports, ...store.lost, ...(dropped ? [tokensDropped] : [])];
  for (const warning of warnings) report(warning);
  const lines = [...store.state.collections()].map(
    ({ path, count }) => `copied       ${collectionName(path)}: ${count}`,
  );
  const summary = `lost         ${warnings.length === 0 ? 'nothing' : 'see the messages above'}`;
  printLines([...lines, summary, `written to   ${resolve(to)}`], terminal.stdout);
  return 0;
}

const tokensDropped =
  'all OAuth tokens and grants are dropped, because the use or revocation of some of them may be lost';
