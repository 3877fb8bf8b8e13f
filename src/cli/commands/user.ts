import { randomBytes } from 'node:crypto';
import { readQuotaText } from '../../accounts/quota-policy.ts';
import { passwordFault } from '../../accounts/user-declaration.ts';
import { userNameFault } from '../../accounts/user-name.ts';
import { isRoleName, readUserNames } from '../../accounts/user-rights.ts';
import { type StoredSecret, type StoredUser, userFile } from '../../accounts/users.ts';
import { systemClock } from '../../clock.ts';
import { formatCount } from '../../counted.ts';
import { parseDuration } from '../../duration.ts';
import { formatIsoDate } from '../../store/encoding/iso-date.ts';
import {
  type AccountAction,
  type AccountCall,
  changing,
  createAccountCommand,
  type GivenFlags,
  listing,
  removing,
} from '../accounts/account-command.ts';
import {
  addEntry,
  type Changed,
  changeExisting,
  checkNotConfigured,
  findExisting,
  type Report,
} from '../accounts/command.ts';
import {
  chooseSecret,
  generateSecret,
  hashOfPassword,
  makeCredentials,
  toStoredUser,
} from '../accounts/credentials.ts';
import { checkSecretUnused } from '../accounts/secret-owner.ts';
import { listUserFlags } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import type { Command, Terminal } from '../terminal.ts';
import { addKey, checkNoKeyNamed, findKeyFaults, type KeyInput, listKeys, removeKey } from './user-key.ts';

/** The options of `countersign user`. */
interface UserInput extends KeyInput {
  /** The time until the old secret expires, in milliseconds. */
  readonly grace: number;
  /** The quota as text; undefined for that of the server. */
  readonly quota: string | undefined;
  /** The schemes to which the user is limited; undefined for all. */
  readonly schemes: readonly string[] | undefined;
  /** The name of a role; empty if none is given. */
  readonly role: string;
}

type UserCall = AccountCall<StoredUser, UserInput>;
type UserActions = Readonly<Record<string, AccountAction<StoredUser, UserInput>>>;

const actions: UserActions = {
  add: { name: 'required', run: add },
  rotate: changing(rotate),
  password: { name: 'required', run: setPassword },
  // Without `--quota`, that of the server applies again.
  quota: changing((user, { name, input: { quota } }) => ({
    entry: { ...user, quota },
    shown: { user: name, quota: quota ?? 'that of the server' },
  })),
  // Without `--schemes`, the user can authenticate with all.
  schemes: changing((user, { name, input: { schemes } }) => ({
    entry: { ...user, schemes },
    shown: { user: name, schemes: schemes?.join(', ') ?? 'all' },
  })),
  remove: removing(),
  disable: changing((user, { name }) => ({
    entry: { ...user, disabled: true },
    shown: { disabled: name },
  })),
  enable: changing((user, { name }) => ({
    entry: { ...user, disabled: undefined },
    shown: { enabled: name },
  })),
  list: listing(
    ({ options, moduleUsers }) => [
      ...Array.from(options.users.keys(), (name) => [name, '1 valid secret', options.config] as const),
      ...Array.from(moduleUsers.keys(), (name) => [name, '', options.module] as const),
    ],
    describe,
    ', ',
  ),
};

const keyActions: UserActions = {
  add: { name: 'required', run: addKey },
  remove: changing(removeKey),
  list: { name: 'required', run: listKeys },
};

const roleActions: UserActions = {
  add: changing(({ roles = [], ...user }, { name, input: { role } }) =>
    withRoles(name, user, [...roles.filter((each) => each !== role), role]),
  ),
  remove: changing(({ roles = [], ...user }, { name, input: { role } }) => {
    if (!roles.includes(role)) throw new CommandError([`${name} has no role ${role}`], 1);
    return withRoles(
      name,
      user,
      roles.filter((each) => each !== role),
    );
  }),
  list: {
    name: 'required',
    run: async (call) => ({ lines: (await findExisting(call)).roles ?? [] }),
  },
};

const commands: ReadonlyMap<string | undefined, Command> = new Map([
  ['key', createUserCommand('user key', ' --key-id ID', keyActions)],
  ['role', createUserCommand('user role', ' --role ROLE', roleActions)],
]);

const runUser = createUserCommand('user', '', actions);

/** Runs `countersign user ACTION NAME`, `user list`, `user key …` or `user role …`. Returns the exit status. */
export const user: Command = (argv, environment, terminal) => {
  const group = commands.get(argv[0]);
  return group === undefined
    ? runUser(argv, environment, terminal)
    : group(argv.slice(1), environment, terminal);
};

/** Returns a command on users. `needed` are the options that its `add` requires. */
function createUserCommand(
  words: 'user' | 'user key' | 'user role',
  needed: string,
  own: UserActions,
): Command {
  return createAccountCommand<StoredUser, UserInput>({
    accountFile: userFile,
    command: `countersign ${words}`,
    label: 'name',
    example: `countersign ${words} add NAME${needed}`,
    flags: listUserFlags(words),
    actions: own,
    nameFault: userNameFault,
    readInput(action, { flags }, faults) {
      const input = readInput(flags, faults);
      if (words === 'user key') faults.push(...findKeyFaults(action, input));
      if (words === 'user role') faults.push(...findRoleFaults(action, input));
      return input;
    },
  });
}

function readInput(flags: GivenFlags['flags'], faults: string[]): UserInput {
  const grace = parseDuration(String(flags.get('--grace') ?? '24h'));
  if (grace === undefined) faults.push('--grace must be a time such as 90s, 15m, 24h or 7d, or 0');
  return {
    flags,
    grace: grace ?? 0,
    quota: readOption('--quota', flags, readQuotaText, faults),
    schemes: readOption('--schemes', flags, readSchemeList, faults),
    keyId: String(flags.get('--key-id') ?? ''),
    role: String(flags.get('--role') ?? ''),
  };
}

/** Returns the value of an option. Adds to `faults` if it is malformed. */
function readOption<Value>(
  flag: string,
  flags: GivenFlags['flags'],
  read: (value: unknown, what: string) => Value,
  faults: string[],
): Value | undefined {
  if (!flags.has(flag)) return undefined;
  try {
    return read(flags.get(flag), flag);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    faults.push(error.message);
    return undefined;
  }
}

function readSchemeList(value: unknown, what: string): readonly string[] {
  return readUserNames(typeof value === 'string' ? value.split(',') : [''], what, 'scheme');
}

function findRoleFaults(action: string, { role, flags }: UserInput): readonly string[] {
  if (action === 'list' || isRoleName(role)) return [];
  return [flags.has('--role') ? `"${role}" is not the name of a role` : `${action} requires --role ROLE`];
}

function withRoles(name: string, user: StoredUser, roles: readonly string[]): Changed<StoredUser> {
  const shown = { user: name, roles: roles.join(', ') || 'none' };
  return { entry: { ...user, roles: roles.length === 0 ? undefined : roles }, shown };
}

async function add(target: UserCall, terminal: Terminal): Promise<Report> {
  const { name, input, moduleUsers, options } = target;
  const { quota, schemes } = input;
  checkNotConfigured(target);
  checkNoKeyNamed([...options.users, ...moduleUsers], name);
  const secret = await chooseSecret(input.flags, terminal);
  if (!secret.isGenerated) await checkSecretUnused(secret.text, target);
  const credentials = makeCredentials(randomBytes, secret.text);
  const stored = await toStoredUser(credentials, randomBytes);
  const entry = { ...stored, since: systemClock.now(), quota, schemes };
  const mark = await addEntry(target, entry, 'to change its secret, use rotate', (users) =>
    checkNoKeyNamed(users, name),
  );
  return { shown: { user: name, password: credentials.password, secret: secret.shown }, mark };
}

function rotate(user: StoredUser, { name, input: { grace } }: UserCall): Changed<StoredUser> {
  const secret = generateSecret(randomBytes);
  const now = systemClock.now();
  const validity = grace === 0 ? 'is no longer valid' : `is valid until ${formatIsoDate(now + grace)}`;
  return {
    entry: { ...user, secrets: [{ secret }, ...expireSecret(user.secrets, now, now + grace)] },
    shown: { user: name, secret },
    notes: [`the old secret ${validity}`],
  };
}

/** Returns the current secret with an expiry time. Drops one of an earlier rotation, so that at most two are valid. */
function expireSecret(secrets: readonly StoredSecret[], now: number, until: number): StoredSecret[] {
  const current = secrets.find((each) => each.until === undefined) ?? secrets[0];
  return current === undefined || until <= now ? [] : [{ secret: current.secret, until }];
}

/** Replaces the password, or adds one to a user without. The secret stays valid, the old password does not. */
async function setPassword(target: UserCall, terminal: Terminal): Promise<Report> {
  const { name, input } = target;
  await findExisting(target);
  const chosen = await chooseSecret(input.flags, terminal, 'password');
  const fault = chosen.isGenerated ? undefined : passwordFault(chosen.text);
  if (fault !== undefined) throw new CommandError([`the password cannot be used with Basic: ${fault}`]);
  const password = await hashOfPassword(chosen.text, chosen, randomBytes);
  return changeExisting(target, (user) => ({
    entry: { ...user, password },
    shown: { user: name, password: chosen.shown },
    notes: ['the old password is no longer valid'],
  }));
}

/** Returns the description of a user for `list`. */
function describe({ secrets, disabled, quota, schemes, roles = [] }: StoredUser): string {
  const now = systemClock.now();
  const valid = secrets.filter(({ until }) => until === undefined || until > now).length;
  return [
    formatCount(valid, 'valid secret'),
    ...(quota === undefined ? [] : [`quota ${quota}`]),
    ...(schemes === undefined ? [] : [`only ${schemes.join(', ')}`]),
    ...roles,
    ...(disabled === true ? ['disabled'] : []),
  ].join(', ');
}
