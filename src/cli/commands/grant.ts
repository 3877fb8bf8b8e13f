import type { GrantSelection } from '../../accounts/revocations.ts';
import { systemClock } from '../../clock.ts';
import { isInForce } from '../../oauth/grants.ts';
import { type Grant, grantsCollection, readGrant, readToken, tokensCollection } from '../../oauth/records.ts';
import { toPrintable } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { readLocation, unknownAction } from '../accounts/command.ts';
import { requestRevocation, revokeInShared } from '../accounts/revocation.ts';
import { commandTable, readCommandLine } from '../command-table.ts';
import { type DataSource, withDataSource } from '../data/source.ts';
import { CommandError } from '../errors.ts';
import { readText } from '../request-arguments.ts';
import { type Command, printLines, type Terminal } from '../terminal.ts';

const actions = ['list', 'revoke'] as const;

/** The arguments of `countersign grant`. */
interface GrantArguments {
  readonly action: (typeof actions)[number];
  readonly selection: GrantSelection;
  readonly options: Options;
}

/** Runs `countersign grant list` or `countersign grant revoke ID|--user NAME|--client ID`. */
export const grant: Command = async (argv, environment, terminal) => {
  const { action, selection, options } = parseArguments(argv, environment);
  await withDataSource(options, environment, async (source) => {
    const found = await select(source, selection);
    if (action === 'revoke')
      return revoke(selection, found, () => revokeIn(source, options, selection, terminal), terminal);
    if (found.grants.length === 0)
      printLines([`there are no such grants in ${source.location}`], terminal.stderr);
    printLines(found.grants.map(formatGrant), terminal.stdout);
  });
  return 0;
};

/** The form of an id. It can begin with a dash, like a flag. */
const idForm = /^[\w-]{43}$/;

function parseArguments(argv: readonly string[], environment: NodeJS.ProcessEnv): GrantArguments {
  const [first = '', second = ''] = argv;
  const id = first === 'revoke' && idForm.test(second) ? second : undefined;
  const { flags: given, words } = readCommandLine(
    commandTable.grant,
    id === undefined ? argv : argv.toSpliced(1, 1),
  );
  const [word = '', other] = words;
  const action = actions.find((each) => each === word);
  if (action === undefined) throw new CommandError([unknownAction(word, actions, 'countersign grant list')]);
  if (other !== undefined && action === 'list') throw new CommandError(['list takes no id']);
  if (other !== undefined)
    throw new CommandError([
      `${toPrintable(JSON.stringify(other))} is not the id of a grant; to list them: countersign grant list`,
    ]);
  const selection = buildSelection(id, given);
  if (action === 'revoke' && Object.values(selection).every((value) => value === undefined))
    throw new CommandError(['revoke requires an id, --user NAME or --client ID']);
  return { action, selection, options: readLocation(given, environment).options };
}

function buildSelection(
  grant: string | undefined,
  given: ReadonlyMap<string, string | true>,
): GrantSelection {
  const [user, client] = [readText(given, '--user'), readText(given, '--client')];
  return { grant, ...(user !== undefined && { user }), ...(client !== undefined && { client }) };
}

/** Revokes the selected grants and tokens. Returns how that was done, for a message. */
async function revokeIn(
  { store, location }: DataSource,
  { data }: Options,
  selection: GrantSelection,
  { stderr }: Terminal,
): Promise<string> {
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

/** Revokes what was found, and prints it. */
async function revoke(
  selection: GrantSelection,
  { grants, tokens }: Selected,
  carryOut: () => Promise<string>,
  { stdout, stderr }: Terminal,
): Promise<void> {
  if (grants.length === 0 && tokens === 0) {
    if (selection.grant !== undefined)
      throw new CommandError([`there is no grant ${selection.grant} that could be revoked`], 1);
    printLines(['there is nothing to revoke'], stderr);
    return;
  }
  const how = await carryOut();
  printLines(
    grants.map((each) => `revoked   ${formatGrant(each)}`),
    stdout,
  );
  if (tokens > 0)
    printLines([`revoked   ${tokens} ${tokens === 1 ? 'token' : 'tokens'} without a grant`], stdout);
  printLines([how], stderr);
}

/** Returns a grant on one line: nothing of it is a secret. */
function formatGrant({ id, user, client, scopes, issued, ends }: Grant): string {
  const times = [issued, ends].map((ms) => new Date(ms).toISOString());
  return `${id}  ${toPrintable(user ?? 'no user')}  ${toPrintable(client)}; ${scopes.join(' ')}; ${times.join(' to ')}`;
}
