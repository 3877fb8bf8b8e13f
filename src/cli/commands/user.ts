import { randomBytes } from 'node:crypto';
import { type StoredSecret, type StoredUser, userFile } from '../../accounts/users.ts';
import { userNameFault } from '../../auth/accounts.ts';
import { systemClock } from '../../clock.ts';
import { parseDuration } from '../../duration.ts';
import { readArguments } from '../../options/flags.ts';
import {
  type AccountEntry,
  addEntry,
  changeExisting,
  locationFlags,
  locationOf,
  printLines,
  readEntry,
  refuseConfigured,
  removeEntry,
  reportUsage,
  unknownAction,
} from '../accounts/command.ts';
import { makeCredentials, randomSecret, storedUser } from '../accounts/credentials.ts';
import { actAsOwnerOf } from '../accounts/ownership.ts';
import { secretVariable } from '../accounts/secret-input.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

const actions = ['add', 'rotate', 'remove', 'disable', 'enable', 'list'] as const;
type ActionName = (typeof actions)[number];

const flags = new Map([['--grace', 'value'], ...locationFlags] as const);

/** What the command line asks for. */
interface Order extends AccountEntry<StoredUser> {
  readonly action: ActionName;
  /** How long the old secret stays valid, in ms. */
  readonly grace: number;
}

/** `countersign user add|rotate|remove|disable|enable NAME`, `countersign user list`. Gives the exit status. */
export async function user(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const order = readOrder(argv, environment);
    actAsOwnerOf(order.options.data);
    await carryOut(order, environment, terminal);
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}

function carryOut(order: Order, environment: NodeJS.ProcessEnv, terminal: Terminal): Promise<void> {
  switch (order.action) {
    case 'add':
      return add(order, terminal, secretVariable(environment));
    case 'rotate':
      return rotate(order, terminal);
    case 'remove':
      return removeEntry(order, terminal);
    case 'disable':
      return able(order, terminal, false);
    case 'enable':
      return able(order, terminal, true);
    case 'list':
      return list(order, terminal);
  }
}

function readOrder(argv: readonly string[], environment: NodeJS.ProcessEnv): Order {
  const { flags: given, words: said, faults } = readArguments(argv, flags);
  if (faults.length > 0) throw new CommandError(faults);
  const found: string[] = [];
  const [word = '', name = ''] = said;
  const action = actions.find((each) => each === word);
  if (action === undefined) found.push(unknownAction(word, actions, 'countersign user add NAME'));
  const wanted = action === 'list' ? 1 : 2;
  if (action !== undefined && said.length !== wanted) {
    found.push(wanted === 1 ? 'list takes no name' : `one name is needed: countersign user ${action} NAME`);
  }
  const fault =
    action === undefined || action === 'list' || said.length < 2 ? undefined : userNameFault(name);
  if (fault !== undefined) found.push(fault);
  if (given.has('--grace') && action !== 'rotate') found.push('--grace goes with rotate only');
  const grace = parseDuration(String(given.get('--grace') ?? '24h'));
  if (grace === undefined) found.push('--grace: a time such as 90s, 15m, 24h or 7d is expected, or 0');
  if (found.length > 0 || action === undefined || grace === undefined) throw new CommandError(found);
  return { action, roster: userFile, name, grace, ...locationOf(given, environment) };
}

async function add(order: Order, terminal: Terminal, secret: string | undefined): Promise<void> {
  const { name } = order;
  refuseConfigured(order);
  const made = makeCredentials(randomBytes, secret);
  const entry = { ...(await storedUser(made, randomBytes)), since: systemClock.now() };
  const mark = await addEntry(order, entry, 'rotate gives a new secret');
  const shown = secret === undefined ? made.secret : 'the one in COUNTERSIGN_SECRET';
  printLines([`user      ${name}`, `password  ${made.password}`, `secret    ${shown}`], terminal.stdout);
  await reportUsage(order, mark, terminal);
}

async function rotate(order: Order, terminal: Terminal): Promise<void> {
  const { name, grace } = order;
  const secret = randomSecret(randomBytes);
  const now = systemClock.now();
  const mark = await changeExisting(order, (user) => ({
    ...user,
    secrets: [{ secret }, ...graced(user.secrets, now, now + grace)],
  }));
  printLines([`user      ${name}`, `secret    ${secret}`], terminal.stdout);
  const until =
    grace === 0 ? 'is not valid any more' : `is valid until ${new Date(now + grace).toISOString()}`;
  printLines([`the old secret ${until}`], terminal.stderr);
  await reportUsage(order, mark, terminal);
}

/** The present secret until `last`. One from an earlier rotation ends here: never are more than two valid. */
function graced(secrets: readonly StoredSecret[], now: number, last: number): StoredSecret[] {
  const present = secrets.find(({ until }) => until === undefined) ?? secrets[0];
  return present === undefined || last <= now ? [] : [{ secret: present.secret, until: last }];
}

async function able(order: Order, terminal: Terminal, enabled: boolean): Promise<void> {
  const mark = await changeExisting(order, (user) => ({ ...user, disabled: !enabled }));
  printLines([`${enabled ? 'enabled ' : 'disabled'}  ${order.name}`], terminal.stdout);
  await reportUsage(order, mark, terminal);
}

async function list(order: Order, terminal: Terminal): Promise<void> {
  const { options } = order;
  const now = systemClock.now();
  const stored = await readEntry(order);
  const lines = [...options.users.keys()].map((name) => `${name}  1 valid secret, in ${options.config}`);
  for (const [name, { secrets, disabled }] of stored) {
    const valid = secrets.filter(({ until }) => until === undefined || until > now).length;
    const state = disabled === true ? ', disabled' : '';
    const overruled = options.users.has(name) ? `, overruled by ${options.config}` : '';
    lines.push(`${name}  ${valid} valid ${valid === 1 ? 'secret' : 'secrets'}${state}${overruled}`);
  }
  if (lines.length === 0) printLines([`there are no users in ${options.data}`], terminal.stderr);
  printLines(lines, terminal.stdout);
}
