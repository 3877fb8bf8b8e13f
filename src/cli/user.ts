import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { parseDuration } from '../duration.ts';
import { hint, printable, readArguments } from '../options/flags.ts';
import { type Options, readOptions } from '../options/options.ts';
import { userNameFault } from '../options/users.ts';
import { refuseExposed } from '../store/exposure.ts';
import type { Seal } from '../store/seal.ts';
import { readUsers, type StoredSecret, type StoredUser } from '../store/users.ts';
import { waitForUse } from '../store/users-watch.ts';
import { makeCredentials, randomSecret, storedUser } from './credentials.ts';
import { secretVariable } from './input.ts';
import { actAsOwnerOf } from './ownership.ts';
import { Refusal, report } from './refusal.ts';
import { readSeal } from './seal-key.ts';
import type { Outlet, Terminal } from './terminal.ts';
import { changeUsers } from './users-file.ts';

const actions = ['add', 'rotate', 'remove', 'disable', 'enable', 'list'] as const;
type ActionName = (typeof actions)[number];

const flags = new Map([
  ['--grace', 'value'],
  ['--data', 'value'],
  ['--key-file', 'value'],
  ['--config', 'value'],
] as const);

/** What the command line asks for. */
interface Order {
  readonly action: ActionName;
  readonly name: string;
  /** How long the old secret stays valid, in ms. */
  readonly grace: number;
  readonly options: Options;
  readonly seal: Seal | undefined;
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
    return report(error, terminal);
  }
}

function carryOut(order: Order, environment: NodeJS.ProcessEnv, terminal: Terminal): Promise<void> {
  switch (order.action) {
    case 'add':
      return add(order, terminal, secretVariable(environment));
    case 'rotate':
      return rotate(order, terminal);
    case 'remove':
      return remove(order, terminal);
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
  if (faults.length > 0) throw new Refusal(faults);
  const found: string[] = [];
  const [word = '', name = ''] = said;
  const action = actions.find((each) => each === word);
  if (action === undefined) found.push(unknownAction(word));
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
  if (found.length > 0 || action === undefined || grace === undefined) throw new Refusal(found);
  const words = ['--data', '--key-file', '--config'].flatMap((flag) =>
    given.has(flag) ? [`${flag}=${given.get(flag)}`] : [],
  );
  const options = readOptions(words, environment);
  return { action, name, grace, options, seal: readSeal(options, environment) };
}

function unknownAction(word: string): string {
  if (word === '') return `one of ${actions.join(', ')} is needed: countersign user add NAME`;
  return `${JSON.stringify(printable(word))} is not one of ${actions.join(', ')}${hint(word, actions)}`;
}

async function add(order: Order, terminal: Terminal, secret: string | undefined): Promise<void> {
  const { name, options } = order;
  refuseConfigured(name, options);
  const made = makeCredentials(randomBytes, secret);
  const kept = await storedUser(made, randomBytes);
  const mark = await changeUsers(options.data, order.seal, (users) => {
    if (users.has(name)) throw new Refusal([`there is a user ${name} already; rotate gives a new secret`], 1);
    users.set(name, kept);
  });
  const shown = secret === undefined ? made.secret : 'the one in COUNTERSIGN_SECRET';
  tell([`user      ${name}`, `password  ${made.password}`, `secret    ${shown}`], terminal.stdout);
  await tellUse(order, mark, terminal);
}

async function rotate(order: Order, terminal: Terminal): Promise<void> {
  const { name, grace } = order;
  const secret = randomSecret(randomBytes);
  const now = systemClock.now();
  const mark = await changeExisting(order, (user) => ({
    ...user,
    secrets: [{ secret }, ...graced(user.secrets, now, now + grace)],
  }));
  tell([`user      ${name}`, `secret    ${secret}`], terminal.stdout);
  const until =
    grace === 0 ? 'is not valid any more' : `is valid until ${new Date(now + grace).toISOString()}`;
  tell([`the old secret ${until}`], terminal.stderr);
  await tellUse(order, mark, terminal);
}

/** The present secret until `last`. One from an earlier rotation ends here: never are more than two valid. */
function graced(secrets: readonly StoredSecret[], now: number, last: number): StoredSecret[] {
  const present = secrets.find(({ until }) => until === undefined) ?? secrets[0];
  return present === undefined || last <= now ? [] : [{ secret: present.secret, until: last }];
}

async function remove(order: Order, terminal: Terminal): Promise<void> {
  const mark = await changeExisting(order, () => undefined);
  tell([`removed   ${order.name}`], terminal.stdout);
  await tellUse(order, mark, terminal);
}

async function able(order: Order, terminal: Terminal, enabled: boolean): Promise<void> {
  const mark = await changeExisting(order, (user) => ({ ...user, disabled: !enabled }));
  tell([`${enabled ? 'enabled ' : 'disabled'}  ${order.name}`], terminal.stdout);
  await tellUse(order, mark, terminal);
}

async function list({ options, seal }: Order, terminal: Terminal): Promise<void> {
  const now = systemClock.now();
  const stored = await readKept(options, seal);
  const lines = [...options.users.keys()].map((name) => `${name}  1 valid secret, in ${options.config}`);
  for (const [name, { secrets, disabled }] of stored) {
    const valid = secrets.filter(({ until }) => until === undefined || until > now).length;
    const state = disabled === true ? ', disabled' : '';
    const overruled = options.users.has(name) ? `, overruled by ${options.config}` : '';
    lines.push(`${name}  ${valid} valid ${valid === 1 ? 'secret' : 'secrets'}${state}${overruled}`);
  }
  if (lines.length === 0) tell([`there are no users in ${options.data}`], terminal.stderr);
  tell(lines, terminal.stdout);
}

/** Puts what `change` gives in the place of a user that there is; undefined removes it. Gives the file's new mark. */
async function changeExisting(
  { name, options, seal }: Order,
  change: (user: StoredUser) => StoredUser | undefined,
): Promise<string | undefined> {
  refuseConfigured(name, options);
  // Before anything is made: a directory with no such user may be a misspelt one.
  existing(await readKept(options, seal), name);
  return changeUsers(options.data, seal, (users) => {
    const changed = change(existing(users, name));
    if (changed === undefined) users.delete(name);
    else users.set(name, changed);
  });
}

/** The users in the data directory; none where there is no such directory. */
async function readKept({ data }: Options, seal: Seal | undefined): Promise<ReadonlyMap<string, StoredUser>> {
  if (existsSync(data)) refuseExposed(data);
  return (await readUsers(data, { seal })).users;
}

function existing(users: ReadonlyMap<string, StoredUser>, name: string): StoredUser {
  const found = users.get(name);
  if (found !== undefined) return found;
  throw new Refusal([`there is no user ${name}${hint(name, [...users.keys()])}`], 1);
}

function refuseConfigured(name: string, { users, config }: Options): void {
  if (users.has(name)) throw new Refusal([`the user ${name} is in ${config}, and is changed there`], 1);
}

/** Says from when on a change counts: where a server runs that is at once, and waited for. */
async function tellUse(
  { options: { data } }: Order,
  mark: string | undefined,
  { stderr }: Terminal,
): Promise<void> {
  const { pid, seen } = await waitForUse(data, mark);
  if (pid === undefined) tell([`no server runs on ${data}; one that starts reads this`], stderr);
  else if (seen) tell([`the server that runs on ${data}, process ${pid}, goes by this now`], stderr);
  else tell([`process ${pid}, which has ${data}, has not read this yet; its next start does`], stderr);
}

function tell(lines: readonly string[], where: Outlet): void {
  for (const line of lines) where.write(`${line}\n`);
}
