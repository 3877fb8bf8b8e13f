import { type StoredSigningKey, signingKeyFile } from '../../accounts/signing-keys.ts';
import { signingAlgorithms } from '../../schemes/jwt/algorithms.ts';
import { formatIsoDate } from '../../store/encoding/iso-date.ts';
import { createAccountCommand, type GivenFlags } from '../accounts/account-command.ts';
import { type AccountTarget, placeName, type Report, readEntries } from '../accounts/command.ts';
import { addSigningKey } from '../accounts/signing-keys.ts';
import { commandTable } from '../command-table.ts';

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

/** Lists the keys, the newest one first. */
async function list(target: AccountTarget<StoredSigningKey>): Promise<Report> {
  const entries = [...(await readEntries(target))].toReversed();
  const lines = entries.map(([kid, { algorithm, since, replaced }]) => {
    const state = replaced === undefined ? 'signs' : `replaced ${formatIsoDate(replaced)}`;
    return `${kid}  ${algorithm}; since ${formatIsoDate(since)}; ${state}`;
  });
  return { lines, notes: lines.length === 0 ? [`there are no signing keys in ${placeName(target)}`] : [] };
}

/** Generates a key of the configured algorithm, otherwise of that of the current key. */
async function rotate(target: AccountTarget<StoredSigningKey>): Promise<Report> {
  const { place, secretBox, options } = target;
  const former = [...(await readEntries(target)).values()].at(-1);
  const algorithm =
    options.oauth2?.signing ?? signingAlgorithms.find((each) => each === former?.algorithm) ?? 'ES256';
  let kid = '';
  const mark = await signingKeyFile.change(place, secretBox, (entries) => {
    kid = addSigningKey(entries, algorithm);
  });
  return { shown: { key: kid }, notes: ['former keys verify until their tokens are expired'], mark };
}
