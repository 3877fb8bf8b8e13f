import type { KeyObject } from 'node:crypto';
import type { KeyDeclaration } from '../../accounts/account-key.ts';
import {
  algorithmNamed,
  keyIdFault,
  parseAccountKey,
  parsePublicKey,
} from '../../accounts/parse-account-key.ts';
import type { StoredUser } from '../../accounts/users.ts';
import {
  findAlgorithm,
  generateKeys,
  isSignatureAlgorithm,
  type SignatureAlgorithm,
} from '../../algorithms.ts';
import { systemClock } from '../../clock.ts';
import { hint } from '../../options/flags.ts';
import type { AccountCall, GivenFlags } from '../accounts/account-command.ts';
import { type Changed, changeExisting, findExisting, type Report } from '../accounts/command.ts';
import { chooseSecret } from '../accounts/credentials.ts';
import { readKeyFile } from '../accounts/protected-file.ts';
import { secretFlag } from '../accounts/secret-input.ts';
import { checkSecretUnused } from '../accounts/secret-owner.ts';
import { CommandError, rethrowAsCommandError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

/** The sources of a new key, of which `add` requires one. */
const sources = ['--public-key', '--generate', secretFlag] as const;

/** The options of `countersign user key`. */
export interface KeyInput {
  /** The options as they were given. */
  readonly flags: GivenFlags['flags'];
  /** The id of a key; empty if none is given. */
  readonly keyId: string;
}

type KeyCall = AccountCall<StoredUser, KeyInput>;

/** Returns what is wrong with the options of `countersign user key`. */
export function findKeyFaults(action: string, { keyId, flags }: KeyInput): readonly string[] {
  const fault = action === 'list' ? undefined : keyIdFault(keyId);
  const lacksSource = action === 'add' && sources.filter((flag) => flags.has(flag)).length !== 1;
  return [
    ...(fault === undefined ? [] : [flags.has('--key-id') ? fault : `${action} requires --key-id ID`]),
    ...(lacksSource ? [`add requires one of --public-key FILE, --generate ALGORITHM and ${secretFlag}`] : []),
  ];
}

/** Adds a key to a user. */
export async function addKey(target: KeyCall, terminal: Terminal): Promise<Report> {
  const { name, input, options, moduleUsers } = target;
  const { keyId: id } = input;
  await findExisting(target);
  const { key, shown, lines } = await generateUserKey(target, terminal);
  const declared = [...options.users, ...moduleUsers];
  return changeExisting(target, (user, stored) => ({
    entry: withKey([...declared, ...stored], name, user, id, key),
    shown: { user: name, key: id, algorithm: key.algorithm, ...shown },
    lines,
  }));
}

/** Returns the key to add, and what shows its private key or generated secret once. */
async function generateUserKey(
  target: KeyCall,
  terminal: Terminal,
): Promise<Pick<Report, 'shown' | 'lines'> & { readonly key: KeyDeclaration }> {
  const given = target.input.flags;
  const file = given.get('--public-key');
  const generated = given.get('--generate');
  const named = generated ?? given.get('--algorithm');
  const algorithm =
    named === undefined ? undefined : rethrowAsCommandError(() => algorithmNamed(String(named), 'a key'));
  if (typeof file === 'string') {
    if (algorithm !== undefined && !isSignatureAlgorithm(algorithm))
      throw new CommandError([`${algorithm} has a shared secret; use --generate or ${secretFlag}`]);
    return { key: readPublicKey(file, algorithm) };
  }
  if (algorithm !== undefined && isSignatureAlgorithm(algorithm)) {
    if (generated === undefined)
      throw new CommandError([`${algorithm} has no shared secret; use --public-key`]);
    const { publicKey, privateKey } = generateKeys(algorithm);
    const lines = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd().split('\n');
    return { key: { algorithm, publicKey: formatPem(publicKey) }, lines };
  }
  const secret = await chooseSecret(given, terminal);
  if (!secret.isGenerated) await checkSecretUnused(secret.text, target);
  const key: KeyDeclaration = { algorithm: algorithm ?? 'hmac-sha256', secret: secret.text };
  return { key, shown: { secret: secret.shown } };
}

/** Removes a key of a user. */
export function removeKey(
  { keys = {}, ...user }: StoredUser,
  { name, input: { keyId: id } }: KeyCall,
): Changed<StoredUser> {
  const { [id]: key, ...others } = keys;
  const left = Object.keys(others).length === 0 ? undefined : others;
  if (key !== undefined) return { entry: { ...user, keys: left }, shown: { removed: id } };
  throw new CommandError([`the user ${name} has no key ${id}${hint(id, Object.keys(others))}`], 1);
}

/** Lists the keys of a user. */
export async function listKeys(target: KeyCall): Promise<Report> {
  const { options, name } = target;
  const { keys = {} } = options.users.get(name) ?? (await findExisting(target));
  const now = systemClock.now();
  const lines = Object.entries(keys).map(([id, { algorithm, until }]) => {
    const expired = until !== undefined && until <= now ? ', expired' : '';
    return `${id}  ${algorithm}${expired}`;
  });
  return { lines, notes: lines.length === 0 ? [`the user ${name} has no keys`] : [] };
}

/** A user of any source, with or without keys. */
interface WithKeys {
  readonly keys?: StoredUser['keys'] | undefined;
}

/**
 * Reads a public key, PEM or JWK, from a file.
 * @param algorithm Default: the algorithm of the key's type; RSA keys have two.
 * @throws CommandError if the file cannot be read or has no public key, or if the algorithm does not fit
 */
function readPublicKey(file: string, algorithm: SignatureAlgorithm | undefined): KeyDeclaration {
  const publicKey = rethrowAsCommandError(() => parsePublicKey(readKeyFile(file), file), 1);
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
function withKey(
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
