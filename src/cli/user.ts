import { randomBytes } from 'node:crypto';
import { systemClock } from '../clock.ts';
import { hint, printable, readArguments } from '../options/flags.ts';
import { type Options, readOptions } from '../options/options.ts';
import { userNameFault } from '../options/users.ts';
import { readUsers, type StoredSecret, type StoredUser } from '../store/users.ts';
import { makeCredentials, randomSecret, storedUser } from './credentials.ts';
import { secretVariable } from './input.ts';
import { Refusal, report } from './refusal.ts';
import type { Outlet, Terminal } from './terminal.ts';
import { changeUsers } from './users-file.ts';

const actions = ['add', 'rotate', 'remove', 'list'] as const;
type ActionName = (typeof actions)[number];

const flags = new Map([
  ['--grace', 'value'],
  ['--data', 'value'],
  ['--config', 'value'],
] as const);

/** What the command line asks for. */
interface Order {
  readonly action: ActionName;
  readonly name: string;
  /** How long the old secret stays valid, in ms. */
  readonly grace: number;
  readonly options: Options;
}

/** `countersign user add|rotate|remove NAME`, `countersign user list`. Gives the exit status. */
export async function user(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const order = readOrder(argv, environment);
    if (order.action === 'add') await add(order, terminal, secretVariable(environment));
    else if (order.action === 'rotate') await rotate(order, terminal);
    else if (order.action === 'remove') await remove(order, terminal);
    else await list(order.options, terminal);
    return 0;
  } catch (error) {
    return report(error, terminal);
  }
}

function readOrder(argv: readonly string[], environment: NodeJS.ProcessEnv): Order {
  const { flags: given, words, faults } = readArguments(argv, flags);
  if (faults.length > 0) throw new Refusal(faults);
  const found: string[] = [];
  const [word = '', name = ''] = words;
  const action = actions.find((each) => each === word);
  if (action === undefined) found.push(unknownAction(word));
  const wanted = action === 'list' ? 1 : 2;
  if (action !== undefined && words.length !== wanted) {
    found.push(wanted === 1 ? 'list takes no name' : `one name is needed: countersign user ${action} NAME`);
  }
  const fault =
    action === undefined || action === 'list' || words.length < 2 ? undefined : userNameFault(name);
  if (fault !== undefined) found.push(fault);
  if (given.has('--grace') && action !== 'rotate') found.push('--grace goes with rotate only');
  const grace = durationOf(given.get('--grace') ?? '24h');
  if (grace === undefined) found.push('--grace: a time such as 90s, 15m, 24h or 7d is expected, or 0');
  if (found.length > 0 || action === undefined || grace === undefined) throw new Refusal(found);
  const options = ['--data', '--config'].flatMap((flag) =>
    given.has(flag) ? [`${flag}=${given.get(flag)}`] : [],
  );
  return { action, name, grace, options: readOptions(options, environment) };
}

function unknownAction(word: string): string {
  if (word === '') return `one of ${actions.join(', ')} is needed: countersign user add NAME`;
  return `${JSON.stringify(printable(word))} is not one of ${actions.join(', ')}${hint(word, actions)}`;
}

const unitLengths: ReadonlyMap<string | undefined, number> = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** `24h` in ms; undefined when it is no such time. */
function durationOf(text: string | true): number | undefined {
  if (text === '0') return 0;
  const [, digits, unit] = /^([0-9]{1,6})([smhd])$/.exec(String(text)) ?? [];
  const length = unitLengths.get(unit);
  return length === undefined ? undefined : Number(digits) * length;
}

async function add({ name, options }: Order, terminal: Terminal, secret: string | undefined): Promise<void> {
  refuseConfigured(name, options);
  const made = makeCredentials(randomBytes, secret);
  const kept = await storedUser(made, randomBytes);
  await changeUsers(options.data, (users) => {
    if (users.has(name)) throw new Refusal([`there is a user ${name} already; rotate gives a new secret`], 1);
    users.set(name, kept);
  });
  const shown = secret === undefined ? made.secret : 'the one in COUNTERSIGN_SECRET';
  tell([`user      ${name}`, `password  ${made.password}`, `secret    ${shown}`], terminal.stdout);
  tellWhen(options, terminal);
}

async function rotate({ name, grace, options }: Order, terminal: Terminal): Promise<void> {
  await refuseUnknown(name, options);
  const secret = randomSecret(randomBytes);
  const now = systemClock.now();
  await changeUsers(options.data, (users) => {
    const before = existing(users, name);
    users.set(name, { ...before, secrets: [{ secret }, ...graced(before.secrets, now, now + grace)] });
  });
  tell([`user      ${name}`, `secret    ${secret}`], terminal.stdout);
  const until =
    grace === 0 ? 'is not valid any more' : `is valid until ${new Date(now + grace).toISOString()}`;
  tell([`the old secret ${until}`], terminal.stderr);
  tellWhen(options, terminal);
}

/** The present secret until `last`. One from an earlier rotation ends here: never are more than two valid. */
function graced(secrets: readonly StoredSecret[], now: number, last: number): StoredSecret[] {
  const present = secrets.find(({ until }) => until === undefined) ?? secrets[0];
  return present === undefined || last <= now ? [] : [{ secret: present.secret, until: last }];
}

async function remove({ name, options }: Order, terminal: Terminal): Promise<void> {
  await refuseUnknown(name, options);
  await changeUsers(options.data, (users) => {
    existing(users, name);
    users.delete(name);
  });
  tell([`removed   ${name}`], terminal.stdout);
  tellWhen(options, terminal);
}

async function list(options: Options, terminal: Terminal): Promise<void> {
  const now = systemClock.now();
  const stored = await readUsers(options.data);
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

function existing(users: ReadonlyMap<string, StoredUser>, name: string): StoredUser {
  const found = users.get(name);
  if (found !== undefined) return found;
  throw new Refusal([`there is no user ${name}${hint(name, [...users.keys()])}`], 1);
}

/** Before anything is made: a directory with no such user may be a misspelt one. */
async function refuseUnknown(name: string, options: Options): Promise<void> {
  refuseConfigured(name, options);
  existing(await readUsers(options.data), name);
}

function refuseConfigured(name: string, { users, config }: Options): void {
  if (users.has(name)) throw new Refusal([`the user ${name} is in ${config}, and is changed there`], 1);
}

function tell(lines: readonly string[], where: Outlet): void {
  for (const line of lines) where.write(`${line}\n`);
}

function tellWhen({ data }: Options, { stderr }: Terminal): void {
  tell([`a server that is running on ${data} reads this at its next start`], stderr);
}
