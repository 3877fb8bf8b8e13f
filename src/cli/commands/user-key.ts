import { type KeyObject, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type StoredUser, userFile } from '../../accounts/users.ts';
import type { KeyDeclaration } from '../../auth/account-key.ts';
import { userNameFault } from '../../auth/accounts.ts';
import { algorithmNamed, keyIdFault, parseAccountKey, parsePublicKey } from '../../auth/parse-account-key.ts';
import { systemClock } from '../../clock.ts';
import { hint } from '../../options/flags.ts';
import {
  findAlgorithm,
  generateKeys,
  isSignatureAlgorithm,
  type SignatureAlgorithm,
} from '../../signature/algorithms.ts';
import { type AccountCall, createAccountCommand, type GivenFlags } from '../accounts/account-command.ts';
import { changeExisting, findExisting, reportChange } from '../accounts/command.ts';
import { generateSecret } from '../accounts/credentials.ts';
import { readFromInput, secretFlag } from '../accounts/secret-input.ts';
import { checkSecretUnused } from '../accounts/secret-owner.ts';
import { listUserFlags } from '../command-table.ts';
import { CommandError, rethrowAsCommandError } from '../errors.ts';
import { printLines, type Terminal } from '../terminal.ts';

/** The sources of a new key, of which `add` requires one. */
const sources = ['--public-key', '--generate', secretFlag] as const;

interface KeyInput {
  readonly id: string;
  readonly flags: GivenFlags['flags'];
}

type KeyCall = AccountCall<StoredUser, KeyInput>;

/** Runs `countersign user key add|remove|list NAME`. Returns the exit status. */
export const userKey = createAccountCommand<StoredUser, KeyInput>({
  accountFile: userFile,
  command: 'countersign user key',
  label: 'name',
  example: 'countersign user key add NAME --key-id ID',
  flags: listUserFlags('user key'),
  actions: {
    add: { name: 'required', run: add },
    remove: { name: 'required', run: remove },
    list: { name: 'required', run: list },
  },
  nameFault: userNameFault,
  readInput,
});

function readInput(action: string, { flags }: GivenFlags, faults: string[]): KeyInput {
  const id = String(flags.get('--key-id') ?? '');
  const fault = action === 'list' ? undefined : keyIdFault(id);
  if (fault !== undefined) faults.push(flags.has('--key-id') ? fault : `${action} requires --key-id ID`);
  if (action === 'add' && sources.filter((flag) => flags.has(flag)).length !== 1)
    faults.push('add requires one of --public-key FILE, --generate ALGORITHM and --secret-stdin');
  return { id, flags };
}

async function add(target: KeyCall, terminal: Terminal): Promise<void> {
  const { name, input } = target;
  const { id } = input;
  await findExisting(target);
  const { key, shown } = await generateUserKey(target, terminal);
  const declared = [...target.options.users, ...target.moduleUsers];
  const mark = await changeExisting(target, (user, stored) =>
    withKey([...declared, ...stored], name, user, id, key),
  );
  const lines = [`user      ${name}`, `key       ${id}`, `algorithm ${key.algorithm}`, ...shown];
  await reportChange(target, mark, { lines }, terminal);
}

/** Returns the key to add, and the lines that show its private key or generated secret once. */
async function generateUserKey(
  target: KeyCall,
  terminal: Terminal,
): Promise<{ key: KeyDeclaration; shown: readonly string[] }> {
  const given = target.input.flags;
  const file = given.get('--public-key');
  const generated = given.get('--generate');
  const named = generated ?? given.get('--algorithm');
  const algorithm = named === undefined ? undefined : algorithmGiven(String(named));
  if (typeof file === 'string') {
    if (algorithm !== undefined && !isSignatureAlgorithm(algorithm))
      throw new CommandError([`${algorithm} has a shared secret; use --generate or ${secretFlag}`]);
    return { key: readPublicKey(file, algorithm), shown: [] };
  }
  if (algorithm !== undefined && isSignatureAlgorithm(algorithm)) {
    if (generated === undefined)
      throw new CommandError([`${algorithm} has no shared secret; use --public-key`]);
    const { key, privateKey } = generateKey(algorithm);
    return { key, shown: privateKey.trimEnd().split('\n') };
  }
  if (generated !== undefined) {
    const secret = generateSecret(randomBytes);
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

async function remove(target: KeyCall, terminal: Terminal): Promise<void> {
  const { name, input } = target;
  const { id } = input;
  const mark = await changeExisting(target, (user) => {
    const { [id]: key, ...others } = user.keys ?? {};
    if (key !== undefined) return { ...user, keys: others };
    const known = Object.keys(others);
    throw new CommandError([`the user ${name} has no key ${id}${hint(id, known)}`], 1);
  });
  await reportChange(target, mark, { lines: [`removed   ${id}`] }, terminal);
}

async function list(target: KeyCall, terminal: Terminal): Promise<void> {
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

/** A user of any source, with or without keys. */
interface WithKeys {
  readonly keys?: StoredUser['keys'] | undefined;
}

/** A key pair that a command generated. Only the public key is stored. */
export interface GeneratedKey {
  readonly key: KeyDeclaration;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

/** Generates a key pair. */
export function generateKey(algorithm: SignatureAlgorithm): GeneratedKey {
  const { publicKey, privateKey } = generateKeys(algorithm);
  return {
    key: { algorithm, publicKey: formatPem(publicKey) },
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/**
 * Reads a public key, PEM or JWK, from a file.
 * @param algorithm Default: the algorithm of the key's type; RSA keys have two.
 * @throws CommandError if the file cannot be read or has no public key, or if the algorithm does not fit
 */
export function readPublicKey(file: string, algorithm: SignatureAlgorithm | undefined): KeyDeclaration {
  const publicKey = rethrowAsCommandError(() => parsePublicKey(readText(file), file), 1);
  const known = algorithm ?? findAlgorithm(publicKey);
  if (known === undefined)
    throw new CommandError([
      `${file} requires --algorithm, such as rsa-pss-sha512 or rsa-v1_5-sha256 for an RSA key`,
    ]);
  const key: KeyDeclaration = { algorithm: known, publicKey: formatPem(publicKey) };
  rethrowAsCommandError(() => parseAccountKey('id', key, file), 1);
  return key;
}

/**
 * Adds a key to a user.
 * @throws CommandError if another user has this name or a key of this id, or if the user has such a key already
 */
export function withKey(
  users: Iterable<readonly [string, WithKeys]>,
  name: string,
  user: StoredUser,
  id: string,
  key: KeyDeclaration,
): StoredUser {
  for (const [other, { keys }] of users) {
    if (keys !== undefined && Object.hasOwn(keys, id))
      throw new CommandError([`the user ${other} already has a key ${id}`], 1);
    if (other === id && other !== name)
      throw new CommandError([`${id} is the name of another user; a key needs another id`], 1);
  }
  return { ...user, keys: { ...user.keys, [id]: key } };
}

/**
 * Checks that no key has the name of a new user: credentials that name it would be ambiguous, and no server would start.
 * @throws CommandError that names the user with the key
 */
export function checkNoKeyNamed(users: Iterable<readonly [string, WithKeys]>, name: string): void {
  for (const [other, { keys }] of users)
    if (keys !== undefined && Object.hasOwn(keys, name))
      throw new CommandError(
        [`${name} is the id of a key of the user ${other}; a user needs another name`],
        1,
      );
}

function formatPem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError([`cannot read ${file}: ${error instanceof Error ? error.message : error}`], 1);
  }
}
