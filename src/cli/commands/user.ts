import { randomBytes } from 'node:crypto';
import { type StoredSecret, type StoredUser, userFile } from '../../accounts/users.ts';
import { passwordFault, userNameFault } from '../../auth/accounts.ts';
import { readQuotaText } from '../../auth/quota-policy.ts';
import { readUserSchemes } from '../../auth/user-rights.ts';
import { systemClock } from '../../clock.ts';
import { parseDuration } from '../../duration.ts';
import { type AccountCall, createAccountCommand, type GivenFlags } from '../accounts/account-command.ts';
import {
  addEntry,
  changeExisting,
  checkNotConfigured,
  findExisting,
  placeName,
  readEntries,
  removeEntry,
  reportChange,
} from '../accounts/command.ts';
import { generateSecret, hashOfPassword, makeCredentials, toStoredUser } from '../accounts/credentials.ts';
import { readFromInput, secretFlag } from '../accounts/secret-input.ts';
import { checkSecretUnused } from '../accounts/secret-owner.ts';
import { listUserFlags } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import { printLines, type Terminal } from '../terminal.ts';
import { checkNoKeyNamed, userKey } from './user-key.ts';
import { userRole } from './user-role.ts';

const passwordFlag = '--password-stdin';
const quotaFlag = '--quota';
const schemesFlag = '--schemes';

/** The options of `countersign user`. */
interface UserInput {
  /** The time until the old secret expires, in milliseconds. */
  readonly grace: number;
  /** The quota as text; undefined for that of the server. */
  readonly quota: string | undefined;
  /** The schemes to which the user is limited; undefined for all. */
  readonly schemes: readonly string[] | undefined;
  /** Whether to read the secret from standard input. */
  readonly readsSecret: boolean;
  /** Whether to read the password from standard input. */
  readonly readsPassword: boolean;
}

type UserCall = AccountCall<StoredUser, UserInput>;

const runUser = createAccountCommand<StoredUser, UserInput>({
  accountFile: userFile,
  command: 'countersign user',
  label: 'name',
  example: 'countersign user add NAME',
  flags: listUserFlags('user'),
  actions: {
    add: { name: 'required', run: add },
    rotate: { name: 'required', run: rotate },
    password: { name: 'required', run: setPassword },
    quota: { name: 'required', run: setQuota },
    schemes: { name: 'required', run: setSchemes },
    remove: { name: 'required', run: removeEntry },
    disable: { name: 'required', run: (call, terminal) => setEnabled(call, terminal, false) },
    enable: { name: 'required', run: (call, terminal) => setEnabled(call, terminal, true) },
    list: { name: 'none', run: list },
  },
  nameFault: userNameFault,
  readInput,
});

/** Runs `countersign user ACTION NAME`, `user list`, `user key …` or `user role …`. Returns the exit status. */
export async function user(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  if (argv[0] === 'key') return userKey(argv.slice(1), environment, terminal);
  if (argv[0] === 'role') return userRole(argv.slice(1), environment, terminal);
  return runUser(argv, environment, terminal);
}

function readInput(_: string, { flags }: GivenFlags, faults: string[]): UserInput {
  const quota = readOption(quotaFlag, flags, readQuotaText, faults);
  const schemes = readOption(schemesFlag, flags, readSchemeList, faults);
  const grace = parseDuration(String(flags.get('--grace') ?? '24h'));
  if (grace === undefined) faults.push('--grace must be a time such as 90s, 15m, 24h or 7d, or 0');
  return {
    grace: grace ?? 0,
    quota,
    schemes,
    readsSecret: flags.has(secretFlag),
    readsPassword: flags.has(passwordFlag),
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
  return readUserSchemes(typeof value === 'string' ? value.split(',') : [''], what);
}

async function add(target: UserCall, terminal: Terminal): Promise<void> {
  const { name, input } = target;
  const { quota, schemes } = input;
  checkNotConfigured(target);
  const { moduleUsers, options } = target;
  checkNoKeyNamed([...options.users, ...moduleUsers], name);
  const secret = input.readsSecret ? await readFromInput(terminal, 'secret') : undefined;
  if (secret !== undefined) await checkSecretUnused(secret, target);
  const credentials = makeCredentials(randomBytes, secret);
  const entry = {
    ...(await toStoredUser(credentials, randomBytes)),
    since: systemClock.now(),
    ...(quota === undefined ? {} : { quota }),
    ...(schemes === undefined ? {} : { schemes }),
  };
  const mark = await addEntry(target, entry, 'to change its secret, use rotate', (users) =>
    checkNoKeyNamed(users, name),
  );
  const shown = secret === undefined ? credentials.secret : 'the given secret';
  const lines = [`user      ${name}`, `password  ${credentials.password}`, `secret    ${shown}`];
  await reportChange(target, mark, { lines }, terminal);
}

async function rotate(target: UserCall, terminal: Terminal): Promise<void> {
  const { name } = target;
  const { grace } = target.input;
  const secret = generateSecret(randomBytes);
  const now = systemClock.now();
  const mark = await changeExisting(target, (user) => ({
    ...user,
    secrets: [{ secret }, ...expireSecret(user.secrets, now, now + grace)],
  }));
  const validity =
    grace === 0 ? 'is no longer valid' : `is valid until ${new Date(now + grace).toISOString()}`;
  const lines = [`user      ${name}`, `secret    ${secret}`];
  await reportChange(target, mark, { lines, notes: [`the old secret ${validity}`] }, terminal);
}

/** Returns the current secret with an expiry time. Drops one of an earlier rotation, so that at most two are valid. */
function expireSecret(secrets: readonly StoredSecret[], now: number, until: number): StoredSecret[] {
  const current = secrets.find((each) => each.until === undefined) ?? secrets[0];
  return current === undefined || until <= now ? [] : [{ secret: current.secret, until }];
}

/** Replaces the password, or adds one to a user without. The secret stays valid, the old password does not. */
async function setPassword(target: UserCall, terminal: Terminal): Promise<void> {
  const { name } = target;
  await findExisting(target);
  const given = target.input.readsPassword ? await readFromInput(terminal, 'password') : undefined;
  const fault = given === undefined ? undefined : passwordFault(given);
  if (fault !== undefined) throw new CommandError([`the password cannot be used with Basic: ${fault}`]);
  const chosen = given ?? generateSecret(randomBytes);
  const password = await hashOfPassword(chosen, { isGenerated: given === undefined }, randomBytes);
  const mark = await changeExisting(target, (user) => ({ ...user, password }));
  const lines = [`user      ${name}`, `password  ${given === undefined ? chosen : 'the given password'}`];
  await reportChange(target, mark, { lines, notes: ['the old password is no longer valid'] }, terminal);
}

/** Replaces the quota. Without `--quota`, that of the server applies again. */
async function setQuota(target: UserCall, terminal: Terminal): Promise<void> {
  const { name } = target;
  const { quota } = target.input;
  const mark = await changeExisting(target, ({ quota: _, ...user }) =>
    quota === undefined ? user : { ...user, quota },
  );
  const lines = [`user      ${name}`, `quota     ${quota ?? 'that of the server'}`];
  await reportChange(target, mark, { lines }, terminal);
}

/** Replaces the schemes. Without `--schemes`, the user can authenticate with all. */
async function setSchemes(target: UserCall, terminal: Terminal): Promise<void> {
  const { name } = target;
  const { schemes } = target.input;
  const mark = await changeExisting(target, ({ schemes: _, ...user }) =>
    schemes === undefined ? user : { ...user, schemes },
  );
  const lines = [`user      ${name}`, `schemes   ${schemes?.join(', ') ?? 'all'}`];
  await reportChange(target, mark, { lines }, terminal);
}

async function setEnabled(target: UserCall, terminal: Terminal, enabled: boolean): Promise<void> {
  const mark = await changeExisting(target, (user) => ({ ...user, disabled: !enabled }));
  const lines = [`${enabled ? 'enabled ' : 'disabled'}  ${target.name}`];
  await reportChange(target, mark, { lines }, terminal);
}

async function list(target: UserCall, terminal: Terminal): Promise<void> {
  const { options, moduleUsers } = target;
  const now = systemClock.now();
  const stored = await readEntries(target);
  const lines = [...options.users.keys()].map((name) => `${name}  1 valid secret, in ${options.config}`);
  lines.push(...Array.from(moduleUsers.keys(), (name) => `${name}  in ${options.module}`));
  for (const [name, { secrets, disabled, quota, schemes, roles = [] }] of stored) {
    const valid = secrets.filter(({ until }) => until === undefined || until > now).length;
    const limit = quota === undefined ? '' : `, quota ${quota}`;
    const only = schemes === undefined ? '' : `, only ${schemes.join(', ')}`;
    const held = roles.length === 0 ? '' : `, ${roles.join(', ')}`;
    const state = disabled === true ? ', disabled' : '';
    const other = options.users.has(name)
      ? options.config
      : moduleUsers.has(name)
        ? options.module
        : undefined;
    const override = other === undefined ? '' : `, overridden by ${other}`;
    lines.push(
      `${name}  ${valid} valid ${valid === 1 ? 'secret' : 'secrets'}${limit}${only}${held}${state}${override}`,
    );
  }
  if (lines.length === 0) printLines([`there are no users in ${placeName(target)}`], terminal.stderr);
  printLines(lines, terminal.stdout);
}
