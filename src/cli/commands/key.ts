import { type StoredSigningKey, signingKeyFile } from '../../accounts/signing-keys.ts';
import { signingAlgorithms } from '../../jwt/algorithms.ts';
import { formatIsoDate } from '../../store/encoding/iso-date.ts';
import { createAccountCommand, type GivenFlags } from '../accounts/account-command.ts';
import { type AccountTarget, placeName, readEntries, reportChange } from '../accounts/command.ts';
import { addSigningKey } from '../accounts/signing-keys.ts';
import { commandTable } from '../command-table.ts';
import { printLines, type Terminal } from '../terminal.ts';

/** Runs `countersign key list` or `key rotate`. Returns the exit status. */
export const key = createAccountCommand<StoredSigningKey, GivenFlags>({
  accountFile: signingKeyFile,
  command: 'countersign key',
  label: 'ID',
  example: 'countersign key list',
  flags: commandTable.key.flags,
  actions: {
    list: { name: 'none', run: list },
    rotate: { name: 'none', run: rotate },
  },
  readInput: (_, given) => given,
});

/** Prints the keys, the newest one first. */
async function list(target: AccountTarget<StoredSigningKey>, { stdout, stderr }: Terminal): Promise<void> {
  const entries = [...(await readEntries(target))].toReversed();
  if (entries.length === 0) printLines([`there are no signing keys in ${placeName(target)}`], stderr);
  const lines = entries.map(([kid, { algorithm, since, replaced }]) => {
    const state = replaced === undefined ? 'signs' : `replaced ${formatIsoDate(replaced)}`;
    return `${kid}  ${algorithm}; since ${formatIsoDate(since)}; ${state}`;
  });
  printLines(lines, stdout);
}

/** Generates a key of the configured algorithm, otherwise of that of the current key. */
async function rotate(target: AccountTarget<StoredSigningKey>, terminal: Terminal): Promise<void> {
  const { place, secretBox, options } = target;
  const former = [...(await readEntries(target)).values()].at(-1);
  const algorithm =
    options.oauth2?.signing ?? signingAlgorithms.find((each) => each === former?.algorithm) ?? 'ES256';
  let kid = '';
  const mark = await signingKeyFile.change(place, secretBox, (entries) => {
    kid = addSigningKey(entries, algorithm);
  });
  const notes = ['former keys verify until their tokens are expired'];
  await reportChange(target, mark, { lines: [`key       ${kid}`], notes }, terminal);
}
