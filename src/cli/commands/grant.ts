import { existsSync } from 'node:fs';
import type { GrantSelection } from '../../accounts/revocations.ts';
import { systemClock } from '../../clock.ts';
import { isInForce } from '../../oauth/grants.ts';
import { type Grant, grantsCollection, readGrant, readToken, tokensCollection } from '../../oauth/records.ts';
import { readArguments, toPrintable } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { findHolder } from '../../store/files/lock.ts';
import { attemptsInUse, scan } from '../../store/scan.ts';
import type { Store, StoredItem } from '../../store/store.ts';
import { readLocation, unknownAction } from '../accounts/command.ts';
import { actAsOwner } from '../accounts/protected-file.ts';
import { requestRevocation, revokeInShared } from '../accounts/revocation.ts';
import { commandTable, listArities } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import { allEntries } from '../inspect-data.ts';
import { readText } from '../request-arguments.ts';
import { type Command, printLines, type Terminal } from '../terminal.ts';
import { withModule } from '../with-module.ts';

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
  await withGrants(options, environment, terminal, async (stored) => {
    const found = select(await stored.read(), selection);
    if (action === 'revoke') return revoke(stored, selection, found, terminal);
    if (found.grants.length === 0)
      printLines([`there are no such grants in ${stored.location}`], terminal.stderr);
    printLines(found.grants.map(formatGrant), terminal.stdout);
  });
  return 0;
};

/** The form of an id. It can begin with a dash, like a flag. */
const idForm = /^[\w-]{43}$/;

function parseArguments(argv: readonly string[], environment: NodeJS.ProcessEnv): GrantArguments {
  const [first = '', second = ''] = argv;
  const id = first === 'revoke' && idForm.test(second) ? second : undefined;
  const {
    flags: given,
    words,
    faults,
  } = readArguments(id === undefined ? argv : argv.toSpliced(1, 1), listArities(commandTable.grant));
  if (faults.length > 0) throw new CommandError(faults);
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

/** The grants and tokens of a data directory, or of the store of a module. */
interface StoredGrants {
  /** The location in messages. */
  readonly location: string;
  /** Reads all grants and tokens, also while a server uses the store. */
  read(): Promise<{ readonly grants: readonly StoredItem[]; readonly tokens: readonly StoredItem[] }>;
  /** Revokes the selected ones, and returns how that was done, for a message. */
  revoke(selection: GrantSelection): Promise<string>;
}

/** Runs a command on the store of the module, or else on the data directory. */
async function withGrants(
  options: Options,
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
  run: (stored: StoredGrants) => Promise<void>,
): Promise<void> {
  await withModule(options, environment, async (module) => {
    if (module?.store === undefined) return run(openDirectory(options.data, terminal));
    return run(openShared(module.store, module.file));
  });
}

/** Returns the grants of a data directory. Throws CommandError if there is none, and FilePermissionsError. */
function openDirectory(data: string, { stderr }: Terminal): StoredGrants {
  if (!existsSync(data)) throw new CommandError([`the data directory ${data} does not exist`], 1);
  actAsOwner(data);
  checkPermissions(data);
  return {
    location: data,
    // Without the lock of the store: a server may be using it.
    async read() {
      const holder = await findHolder(data);
      const { state } = await scan({ directory: data, attempts: holder === undefined ? 1 : attemptsInUse });
      const listEntries = (collection: string) => [...(state.collection(collection)?.entries ?? [])];
      return { grants: listEntries(grantsCollection), tokens: listEntries(tokensCollection) };
    },
    async revoke(selection) {
      const revoked = await requestRevocation(data, selection, (line) => printLines([line], stderr));
      if (revoked.by === 'command') return `no server uses ${data}; the change is stored`;
      if (revoked.by === 'server')
        return `the server that uses ${data} (process ${revoked.pid}) has applied the change`;
      const then = 'it revokes them as soon as it can, at the latest when it is restarted';
      throw new CommandError(
        [`process ${revoked.pid}, which uses ${data}, has not revoked the grants; ${then}`],
        1,
      );
    },
  };
}

/** Returns the grants of the store of a module, which servers may be using. */
function openShared(store: Store, file: string): StoredGrants {
  const { documents } = store;
  const location = documents?.location ?? `the store of ${file}`;
  const entriesOf = async (collection: string): Promise<StoredItem[]> => {
    const entries: StoredItem[] = [];
    for await (const entry of allEntries(store, collection)) entries.push(entry);
    return entries;
  };
  return {
    location,
    async read() {
      return { grants: await entriesOf(grantsCollection), tokens: await entriesOf(tokensCollection) };
    },
    async revoke(selection) {
      await revokeInShared(store, documents, selection);
      return `the change is stored in ${location}`;
    },
  };
}

/** What a selection contains. */
interface Selected {
  /** The grants that are neither revoked nor ended. */
  readonly grants: readonly Grant[];
  /** The number of valid tokens without a grant, such as those of client_credentials. */
  readonly tokens: number;
}

/** Returns what a selection contains. */
function select(
  stored: { readonly grants: readonly StoredItem[]; readonly tokens: readonly StoredItem[] },
  selection: GrantSelection,
): Selected {
  const now = systemClock.now();
  const isSelected = ({ user, client }: { user?: string | undefined; client: string }): boolean =>
    (selection.user === undefined || user === selection.user) &&
    (selection.client === undefined || client === selection.client);
  const grants = stored.grants.flatMap((entry) => readGrant(entry) ?? []);
  const tokens = stored.tokens.flatMap((entry) => readToken(entry) ?? []);
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

async function revoke(
  stored: StoredGrants,
  selection: GrantSelection,
  { grants, tokens }: Selected,
  { stdout, stderr }: Terminal,
): Promise<void> {
  if (grants.length === 0 && tokens === 0) {
    if (selection.grant !== undefined)
      throw new CommandError([`there is no grant ${selection.grant} that could be revoked`], 1);
    printLines(['there is nothing to revoke'], stderr);
    return;
  }
  const how = await stored.revoke(selection);
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
