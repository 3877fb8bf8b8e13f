import type { GrantSelection } from '../../accounts/revocations.ts';
import { systemClock } from '../../clock.ts';
import { formatCount } from '../../counted.ts';
import { isInForce } from '../../oauth/grants.ts';
import { type Grant, grantsCollection, readGrant, readToken, tokensCollection } from '../../oauth/records.ts';
import { toPrintable } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { formatIsoDate } from '../../store/encoding/iso-date.ts';
import { parseAction } from '../accounts/account-command.ts';
import { readLocation } from '../accounts/command.ts';
import { requestRevocation, revokeInShared } from '../accounts/revocation.ts';
import { commandTable } from '../command-table.ts';
import { type DataSource, withDataSource } from '../data/source.ts';
import { CommandError } from '../errors.ts';
import { readText } from '../request-arguments.ts';
import { type Command, printLines, type Terminal } from '../terminal.ts';

/** The form of an id. It can begin with a dash, like a flag. */
const idForm = /^[\w-]{43}$/;

const table = {
  command: 'countersign grant',
  label: 'id',
  noun: 'id',
  example: 'countersign grant list',
  flags: commandTable.grant.flags,
  actions: { list: { name: 'none', run: list }, revoke: { name: 'optional', run: revoke } },
  nameFault: (id: string) =>
    idForm.test(id)
      ? undefined
      : `${toPrintable(JSON.stringify(id))} is not the id of a grant; to list them: countersign grant list`,
} as const;

/** Runs `countersign grant list` or `countersign grant revoke ID|--user NAME|--client ID`. */
export const grant: Command = async (argv, environment, terminal) => {
  const [first = '', id = ''] = argv;
  const isId = first === 'revoke' && idForm.test(id);
  const { action, name, given, faults } = parseAction(
    table,
    isId ? [...argv.toSpliced(1, 1), '--', id] : argv,
  );
  if (faults.length > 0) throw new CommandError(faults);
  const [user, client] = [readText(given.flags, '--user'), readText(given.flags, '--client')];
  const selection = {
    grant: name === '' ? undefined : name,
    ...(user !== undefined && { user }),
    ...(client !== undefined && { client }),
  };
  const { options } = readLocation(given.flags, environment);
  await withDataSource(options, environment, (source) =>
    action.run({ source, selection, options, terminal }),
  );
  return 0;
};

/** What a command selects, and where. */
interface GrantCall {
  readonly source: DataSource;
  readonly selection: GrantSelection;
  readonly options: Options;
  readonly terminal: Terminal;
}

async function list({ source, selection, terminal }: GrantCall): Promise<void> {
  const { grants } = await select(source, selection);
  if (grants.length === 0) printLines([`there are no such grants in ${source.location}`], terminal.stderr);
  printLines(grants.map(formatGrant), terminal.stdout);
}

/** Revokes the selected grants and tokens. Returns how that was done, for a message. */
async function carryOut({
  source: { store, location },
  selection,
  options: { data },
  terminal: { stderr },
}: GrantCall): Promise<string> {
  if (store !== undefined) {
    await revokeInShared(store, store.documents, selection);
    return `the change is stored in ${location}`;
  }
  const revoked = await requestRevocation(data, selection, (line) => printLines([line], stderr));
  if (revoked.by === 'command') return `no server uses ${data}; the change is stored`;
  if (revoked.by === 'server')
    return `the server that uses ${data} (process ${revoked.pid}) has applied the change`;
  const then = 'it revokes them as soon as it can, at the latest when it is restarted';
  throw new CommandError(
    [`process ${revoked.pid}, which uses ${data}, has not revoked the grants; ${then}`],
    1,
  );
}

/** What a selection contains. */
interface Selected {
  /** The grants that are neither revoked nor ended. */
  readonly grants: readonly Grant[];
  /** The number of valid tokens without a grant, such as those of client_credentials. */
  readonly tokens: number;
}

/** Returns what a selection contains. */
async function select(source: DataSource, selection: GrantSelection): Promise<Selected> {
  const [stored = [], storedTokens = []] = await source.list(grantsCollection, tokensCollection);
  const now = systemClock.now();
  const isSelected = ({ user, client }: { user?: string | undefined; client: string }): boolean =>
    (selection.user === undefined || user === selection.user) &&
    (selection.client === undefined || client === selection.client);
  const grants = stored.flatMap((entry) => readGrant(entry) ?? []);
  const tokens = storedTokens.flatMap((entry) => readToken(entry) ?? []);
  const loose = tokens.filter(
    (token) =>
      token.grant === undefined &&
      token.kind !== 'ticket' &&
      !token.used &&
      token.expires > now &&
      isSelected(token),
  );
  return {
    grants: grants.filter(
      (each) =>
        isInForce(each, now) &&
        (selection.grant === undefined || each.id === selection.grant) &&
        isSelected(each),
    ),
    tokens: selection.grant === undefined ? loose.length : 0,
  };
}

/** Revokes what is selected, and prints it. */
async function revoke(call: GrantCall): Promise<void> {
  const { source, selection, terminal } = call;
  const { stdout, stderr } = terminal;
  if (Object.values(selection).every((value) => value === undefined))
    throw new CommandError(['revoke requires an id, --user NAME or --client ID']);
  const { grants, tokens } = await select(source, selection);
  if (grants.length === 0 && tokens === 0) {
    if (selection.grant !== undefined)
      throw new CommandError([`there is no grant ${selection.grant} that could be revoked`], 1);
    printLines(['there is nothing to revoke'], stderr);
    return;
  }
  const how = await carryOut(call);
  printLines(
    grants.map((each) => `revoked   ${formatGrant(each)}`),
    stdout,
  );
  if (tokens > 0) printLines([`revoked   ${formatCount(tokens, 'token')} without a grant`], stdout);
  printLines([how], stderr);
}

/** Returns a grant on one line: nothing of it is a secret. */
function formatGrant({ id, user, client, scopes, issued, ends }: Grant): string {
  const times = [issued, ends].map((ms) => formatIsoDate(ms));
  return `${id}  ${toPrintable(user ?? 'no user')}  ${toPrintable(client)}; ${scopes.join(' ')}; ${times.join(' to ')}`;
}
