import { randomBytes } from 'node:crypto';
import { type StoredSecret, type StoredUser, userFile } from '../../accounts/users.ts';
import { passwordFault, userNameFault } from '../../auth/accounts.ts';
import { readQuotaText } from '../../auth/quota/policy.ts';
import { readUserSchemes } from '../../auth/scheme-limits.ts';
import { systemClock } from '../../clock.ts';
import { parseDuration } from '../../duration.ts';
import { readArguments } from '../../options/flags.ts';
import {
  type AccountTarget,
  addEntry,
  changeExisting,
  checkNotConfigured,
  findExisting,
  locationFlags,
  locationOf,
  placeName,
  printLines,
  readEntries,
  removeEntry,
  reportUsage,
  unknownAction,
  withAccounts,
} from '../accounts/command.ts';
import { hashOfPassword, makeCredentials, randomSecret, storedUser } from '../accounts/credentials.ts';
import { readFromInput, secretFlag } from '../accounts/secret-input.ts';
import { checkSecretUnused } from '../accounts/secret-owner.ts';
import { checkNoKeyNamed } from '../accounts/user-keys.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';
import { userKey } from './user-key.ts';

const actions = [
  'add',
  'rotate',
  'password',
  'quota',
  'schemes',
  'remove',
  'disable',
  'enable',
  'list',
] as const;
const passwordFlag = '--password-stdin';
const quotaFlag = '--quota';
const schemesFlag = '--schemes';
type ActionName = (typeof actions)[number];

const flags = new Map([
  ['--grace', 'value'],
  [quotaFlag, 'value'],
  [schemesFlag, 'value'],
  [secretFlag, 'toggle'],
  [passwordFlag, 'toggle'],
  ...locationFlags,
] as const);
/** The toggles, and the only action that each is an option of. */
const toggles = [
  [secretFlag, 'add'],
  [passwordFlag, 'password'],
] as const;

/** The arguments of `countersign user`. */
interface UserArguments extends AccountTarget<StoredUser> {
  readonly action: ActionName;
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

/**
 * Runs `countersign user add|rotate|password|quota|schemes|remove|disable|enable NAME`, `countersign user list` or
 * `countersign user key …`.
 * Returns the exit status.
 */
export async function user(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  if (argv[0] === 'key') return userKey(argv.slice(1), environment, terminal);
  try {
    const parsed = parseArguments(argv, environment);
    await withAccounts(parsed, environment, (target) => runAction(target, terminal));
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}

function runAction(target: UserArguments, terminal: Terminal): Promise<void> {
  switch (target.action) {
    case 'add':
      return add(target, terminal);
    case 'rotate':
      return rotate(target, terminal);
    case 'password':
      return setPassword(target, terminal);
    case 'quota':
      return setQuota(target, terminal);
    case 'schemes':
      return setSchemes(target, terminal);
    case 'remove':
      return removeEntry(target, terminal);
    case 'disable':
      return setEnabled(target, terminal, false);
    case 'enable':
      return setEnabled(target, terminal, true);
    case 'list':
      return list(target, terminal);
  }
}

function parseArguments(argv: readonly string[], environment: NodeJS.ProcessEnv): UserArguments {
  const { flags: given, words, faults: flagFaults } = readArguments(argv, flags);
  if (flagFaults.length > 0) throw new CommandError(flagFaults);
  const faults: string[] = [];
  const [word = '', name = ''] = words;
  const action = actions.find((each) => each === word);
  if (action === undefined) faults.push(unknownAction(word, actions, 'countersign user add NAME'));
  const expectedWords = action === 'list' ? 1 : 2;
  if (action !== undefined && words.length !== expectedWords) {
    faults.push(
      action === 'list'
        ? 'list takes no name'
        : `${action} requires one name: countersign user ${action} NAME`,
    );
  }
  const fault =
    action === undefined || action === 'list' || words.length < 2 ? undefined : userNameFault(name);
  if (fault !== undefined) faults.push(fault);
  if (given.has('--grace') && action !== 'rotate') faults.push('--grace is an option of rotate only');
  for (const [flag, only] of toggles) {
    const value = given.get(flag);
    if (value !== undefined && action !== only) faults.push(`${flag} is an option of ${only} only`);
    else if (typeof value === 'string') faults.push(`${flag} takes no value`);
  }
  const quota = optionOf(quotaFlag, given.get(quotaFlag), readQuotaText, action, faults);
  const schemes = optionOf(schemesFlag, given.get(schemesFlag), readSchemeList, action, faults);
  const grace = parseDuration(String(given.get('--grace') ?? '24h'));
  if (grace === undefined) faults.push('--grace must be a time such as 90s, 15m, 24h or 7d, or 0');
  if (faults.length > 0 || action === undefined || grace === undefined) throw new CommandError(faults);
  const reads = { readsSecret: given.has(secretFlag), readsPassword: given.has(passwordFlag) };
  return {
    action,
    accountFile: userFile,
    name,
    grace,
    quota,
    schemes,
    ...reads,
    ...locationOf(given, environment),
  };
}

/**
 * Returns the value of `--quota` or `--schemes`. Adds to `faults` if it is malformed, or not an option of the action: of `add` and
 * of the action of its name only.
 */
function optionOf<Value>(
  flag: string,
  given: string | true | undefined,
  read: (value: unknown, what: string) => Value,
  action: ActionName | undefined,
  faults: string[],
): Value | undefined {
  if (given === undefined) return undefined;
  const own = flag.slice(2);
  if (action !== 'add' && action !== own) faults.push(`${flag} is an option of add and ${own} only`);
  try {
    return read(given, flag);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    faults.push(error.message);
    return undefined;
  }
}

function readSchemeList(value: unknown, what: string): readonly string[] {
  return readUserSchemes(typeof value === 'string' ? value.split(',') : [''], what);
}

async function add(target: UserArguments, terminal: Terminal): Promise<void> {
  const { name } = target;
  checkNotConfigured(target);
  const { moduleUsers, options } = target;
  checkNoKeyNamed([...options.users, ...moduleUsers], name);
  const secret = target.readsSecret ? await readFromInput(terminal, 'secret') : undefined;
  if (secret !== undefined) await checkSecretUnused(secret, target);
  const credentials = makeCredentials(randomBytes, secret);
  const entry = {
    ...(await storedUser(credentials, randomBytes)),
    since: systemClock.now(),
    ...(target.quota === undefined ? {} : { quota: target.quota }),
    ...(target.schemes === undefined ? {} : { schemes: target.schemes }),
  };
  const mark = await addEntry(target, entry, 'to change its secret, use rotate', (users) =>
    checkNoKeyNamed(users, name),
  );
  const shown = secret === undefined ? credentials.secret : 'the given secret';
  printLines(
    [`user      ${name}`, `password  ${credentials.password}`, `secret    ${shown}`],
    terminal.stdout,
  );
  await reportUsage(target, mark, terminal);
}

async function rotate(target: UserArguments, terminal: Terminal): Promise<void> {
  const { name, grace } = target;
  const secret = randomSecret(randomBytes);
  const now = systemClock.now();
  const mark = await changeExisting(target, (user) => ({
    ...user,
    secrets: [{ secret }, ...expiringSecret(user.secrets, now, now + grace)],
  }));
  printLines([`user      ${name}`, `secret    ${secret}`], terminal.stdout);
  const validity =
    grace === 0 ? 'is no longer valid' : `is valid until ${new Date(now + grace).toISOString()}`;
  printLines([`the old secret ${validity}`], terminal.stderr);
  await reportUsage(target, mark, terminal);
}

/** Returns the current secret with an expiry time. Drops one of an earlier rotation, so that at most two are valid. */
function expiringSecret(secrets: readonly StoredSecret[], now: number, until: number): StoredSecret[] {
  const current = secrets.find((each) => each.until === undefined) ?? secrets[0];
  return current === undefined || until <= now ? [] : [{ secret: current.secret, until }];
}

/** Replaces the password, or adds one to a user without. The secret stays valid, the old password does not. */
async function setPassword(target: UserArguments, terminal: Terminal): Promise<void> {
  const { name } = target;
  await findExisting(target);
  const given = target.readsPassword ? await readFromInput(terminal, 'password') : undefined;
  const fault = given === undefined ? undefined : passwordFault(given);
  if (fault !== undefined) throw new CommandError([`the password cannot be used with Basic: ${fault}`]);
  const chosen = given ?? randomSecret(randomBytes);
  const password = await hashOfPassword(chosen, { isGenerated: given === undefined }, randomBytes);
  const mark = await changeExisting(target, (user) => ({ ...user, password }));
  printLines(
    [`user      ${name}`, `password  ${given === undefined ? chosen : 'the given password'}`],
    terminal.stdout,
  );
  printLines(['the old password is no longer valid'], terminal.stderr);
  await reportUsage(target, mark, terminal);
}

/** Replaces the quota. Without `--quota`, that of the server applies again. */
async function setQuota(target: UserArguments, terminal: Terminal): Promise<void> {
  const { name, quota } = target;
  const mark = await changeExisting(target, ({ quota: _, ...user }) =>
    quota === undefined ? user : { ...user, quota },
  );
  printLines([`user      ${name}`, `quota     ${quota ?? 'that of the server'}`], terminal.stdout);
  await reportUsage(target, mark, terminal);
}

/** Replaces the schemes. Without `--schemes`, the user can authenticate with all. */
async function setSchemes(target: UserArguments, terminal: Terminal): Promise<void> {
  const { name, schemes } = target;
  const mark = await changeExisting(target, ({ schemes: _, ...user }) =>
    schemes === undefined ? user : { ...user, schemes },
  );
  printLines([`user      ${name}`, `schemes   ${schemes?.join(', ') ?? 'all'}`], terminal.stdout);
  await reportUsage(target, mark, terminal);
}

async function setEnabled(target: UserArguments, terminal: Terminal, enabled: boolean): Promise<void> {
  const mark = await changeExisting(target, (user) => ({ ...user, disabled: !enabled }));
  printLines([`${enabled ? 'enabled ' : 'disabled'}  ${target.name}`], terminal.stdout);
  await reportUsage(target, mark, terminal);
}

async function list(target: UserArguments, terminal: Terminal): Promise<void> {
  const { options, moduleUsers } = target;
  const now = systemClock.now();
  const stored = await readEntries(target);
  const lines = [...options.users.keys()].map((name) => `${name}  1 valid secret, in ${options.config}`);
  lines.push(...Array.from(moduleUsers.keys(), (name) => `${name}  in ${options.module}`));
  for (const [name, { secrets, disabled, quota, schemes }] of stored) {
    const valid = secrets.filter(({ until }) => until === undefined || until > now).length;
    const limit = quota === undefined ? '' : `, quota ${quota}`;
    const only = schemes === undefined ? '' : `, only ${schemes.join(', ')}`;
    const state = disabled === true ? ', disabled' : '';
    const other = options.users.has(name)
      ? options.config
      : moduleUsers.has(name)
        ? options.module
        : undefined;
    const override = other === undefined ? '' : `, overridden by ${other}`;
    lines.push(
      `${name}  ${valid} valid ${valid === 1 ? 'secret' : 'secrets'}${limit}${only}${state}${override}`,
    );
  }
  if (lines.length === 0) printLines([`there are no users in ${placeName(target)}`], terminal.stderr);
  printLines(lines, terminal.stdout);
}
