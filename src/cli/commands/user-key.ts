import { randomBytes } from 'node:crypto';
import { type StoredUser, userFile } from '../../accounts/users.ts';
import type { KeyDeclaration } from '../../auth/account-key.ts';
import { userNameFault } from '../../auth/accounts.ts';
import { algorithmNamed, isAsymmetric, keyIdFault } from '../../auth/parse-account-key.ts';
import { systemClock } from '../../clock.ts';
import { hint, readArguments } from '../../options/flags.ts';
import {
  type AccountTarget,
  changeExisting,
  findExisting,
  locationFlags,
  locationOf,
  printLines,
  reportUsage,
  unknownAction,
  withAccounts,
} from '../accounts/command.ts';
import { randomSecret } from '../accounts/credentials.ts';
import { readFromInput, secretFlag } from '../accounts/secret-input.ts';
import { checkSecretUnused } from '../accounts/secret-owner.ts';
import { generateKey, readPublicKey, withKey } from '../accounts/user-keys.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

const actions = ['add', 'remove', 'list'] as const;

const flags = new Map([
  ['--key-id', 'value'],
  ['--algorithm', 'value'],
  ['--public-key', 'value'],
  ['--generate', 'value'],
  [secretFlag, 'toggle'],
  ...locationFlags,
] as const);

/** The sources of a new key, of which `add` requires one. */
const sources = ['--public-key', '--generate', secretFlag] as const;

interface KeyArguments extends AccountTarget<StoredUser> {
  readonly action: (typeof actions)[number];
  readonly id: string;
  readonly given: ReadonlyMap<string, string | true>;
}

/** Runs `countersign user key add|remove|list NAME`. Returns the exit status. */
export async function userKey(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    await withAccounts(parseArguments(argv, environment), environment, (target) => {
      if (target.action === 'add') return add(target, terminal);
      return target.action === 'remove' ? remove(target, terminal) : list(target, terminal);
    });
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}

function parseArguments(argv: readonly string[], environment: NodeJS.ProcessEnv): KeyArguments {
  const { flags: given, words, faults: flagFaults } = readArguments(argv, flags);
  if (flagFaults.length > 0) throw new CommandError(flagFaults);
  const [word = '', name = ''] = words;
  const action = actions.find((each) => each === word);
  const id = String(given.get('--key-id') ?? '');
  if (action === undefined)
    throw new CommandError([unknownAction(word, actions, 'countersign user key add NAME --key-id ID')]);
  const faults: string[] = [];
  if (words.length !== 2) faults.push(`${action} requires one name: countersign user key ${action} NAME`);
  const nameFault = userNameFault(name);
  if (words.length === 2 && nameFault !== undefined) faults.push(nameFault);
  const idFault = keyIdFault(id);
  if (action !== 'list' && idFault !== undefined)
    faults.push(given.has('--key-id') ? idFault : `${action} requires --key-id ID`);
  faults.push(...sourceFaults(action, given));
  if (faults.length > 0) throw new CommandError(faults);
  return { action, accountFile: userFile, name, id, given, ...locationOf(given, environment) };
}

function sourceFaults(action: string, given: ReadonlyMap<string, unknown>): string[] {
  const used = sources.filter((flag) => given.has(flag));
  if (action !== 'add') return used.map((flag) => `${flag} is an option of add only`);
  const expected = 'add requires one of --public-key FILE, --generate ALGORITHM and --secret-stdin';
  return used.length === 1 ? [] : [expected];
}

async function add(target: KeyArguments, terminal: Terminal): Promise<void> {
  const { name, id } = target;
  await findExisting(target);
  const { key, shown } = await newKey(target, terminal);
  const declared = [...target.options.users, ...target.moduleUsers];
  const mark = await changeExisting(target, (user, stored) =>
    withKey([...declared, ...stored], name, user, id, key),
  );
  printLines(
    [`user      ${name}`, `key       ${id}`, `algorithm ${key.algorithm}`, ...shown],
    terminal.stdout,
  );
  await reportUsage(target, mark, terminal);
}

/** Returns the key to add, and the lines that show its private key or generated secret once. */
async function newKey(
  target: KeyArguments,
  terminal: Terminal,
): Promise<{ key: KeyDeclaration; shown: readonly string[] }> {
  const { given } = target;
  const file = given.get('--public-key');
  const generated = given.get('--generate');
  const named = generated ?? given.get('--algorithm');
  const algorithm = named === undefined ? undefined : algorithmGiven(String(named));
  if (typeof file === 'string') {
    if (algorithm !== undefined && !isAsymmetric(algorithm))
      throw new CommandError([`${algorithm} has a shared secret; use --generate or ${secretFlag}`]);
    return { key: readPublicKey(file, algorithm), shown: [] };
  }
  if (algorithm !== undefined && isAsymmetric(algorithm)) {
    if (generated === undefined)
      throw new CommandError([`${algorithm} has no shared secret; use --public-key`]);
    const { key, privateKey } = generateKey(algorithm);
    return { key, shown: privateKey.trimEnd().split('\n') };
  }
  if (generated !== undefined) {
    const secret = randomSecret(randomBytes);
    return { key: { algorithm: algorithm ?? 'hmac-sha256', secret }, shown: [`secret    ${secret}`] };
  }
  const secret = await readFromInput(terminal, 'secret');
  await checkSecretUnused(secret, target);
  return { key: { algorithm: algorithm ?? 'hmac-sha256', secret }, shown: ['secret    the given secret'] };
}

function algorithmGiven(name: string): KeyDeclaration['algorithm'] {
  try {
    return algorithmNamed(name, 'a key');
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError([error.message]);
    throw error;
  }
}

async function remove(target: KeyArguments, terminal: Terminal): Promise<void> {
  const { id, name } = target;
  const mark = await changeExisting(target, (user) => {
    const { [id]: key, ...others } = user.keys ?? {};
    if (key !== undefined) return { ...user, keys: others };
    const known = Object.keys(others);
    throw new CommandError([`the user ${name} has no key ${id}${hint(id, known)}`], 1);
  });
  printLines([`removed   ${id}`], terminal.stdout);
  await reportUsage(target, mark, terminal);
}

async function list(target: KeyArguments, terminal: Terminal): Promise<void> {
  const { options, name } = target;
  const configured = options.users.get(name);
  const { keys = {} } = configured ?? (await findExisting(target));
  const now = systemClock.now();
  const lines = Object.entries(keys).map(([id, { algorithm, until }]) => {
    const expired = until !== undefined && until <= now ? ', expired' : '';
    return `${id}  ${algorithm}${expired}`;
  });
  if (lines.length === 0) printLines([`the user ${name} has no keys`], terminal.stderr);
  printLines(lines, terminal.stdout);
}
