import type { KeyDeclaration } from '../accounts/account-key.ts';
import { algorithmNamed } from '../accounts/parse-account-key.ts';
import { isSignatureAlgorithm } from '../algorithms.ts';
import { parsePrivateKey } from '../client/private-key.ts';
import { didYouMean } from '../did-you-mean.ts';
import { type Options, readOptions } from '../options/options.ts';
import type { AuthScheme } from '../schemes/auth-scheme.ts';
import { type ConfigurableScheme, readSchemes } from '../schemes/configured-schemes.ts';
import type { SigningIdentity } from '../schemes/signing.ts';
import { readProtectedFile } from './accounts/protected-file.ts';
import { secretFrom } from './accounts/secret-input.ts';
import { CommandError, rethrowAsCommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/** The arguments that choose a scheme and its credentials. */
interface SchemeArguments {
  /** The name of the scheme in the configuration file. */
  readonly scheme: string;
  readonly user: string | undefined;
  /** Whether standard input is used for the content. */
  readonly isInputUsed: boolean;
  /** Returns the value of an option: `--config`, which is that of COUNTERSIGN_CONFIG by default, `--key-id` or `--algorithm`. */
  text(flag: string): string | undefined;
}

/** The variable with the path of the private key. */
const keyFileVariable = 'COUNTERSIGN_PRIVATE_KEY_FILE';
/** The maximum number of bytes read from the file of a private key. */
const maxKeyFileSize = 65_536;

/**
 * Finds a configured scheme, and reads the secret or the private key.
 *
 * @throws CommandError or OptionsError if there is no such scheme, credentials are missing, or the configuration is invalid
 */
export async function readConfiguredScheme(
  given: SchemeArguments,
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<{ readonly scheme: ConfigurableScheme; readonly identity: SigningIdentity }> {
  const config = given.text('--config');
  const options = readOptions(config === undefined ? [] : ['--config', config], environment);
  const scheme = findScheme(given.scheme, options);
  return { scheme, identity: await readIdentity(scheme, given, options, environment, terminal) };
}

function findScheme(name: string, { config, schemes }: Options): ConfigurableScheme {
  if (config === undefined) throw new CommandError([`--scheme ${name} requires --config FILE`]);
  const configured = readSchemes(schemes);
  const found = configured.find((scheme) => scheme.name === name);
  if (found !== undefined) return found;
  const known = ['hmac', ...configured.map((scheme) => scheme.name)];
  throw new CommandError([`${config} has no scheme ${JSON.stringify(name)}${didYouMean(name, known)}`]);
}

async function readIdentity(
  scheme: AuthScheme,
  given: SchemeArguments,
  options: Options,
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<SigningIdentity> {
  const { user, text } = given;
  const [keyId, named] = [text('--key-id'), text('--algorithm')];
  const keyFile = environment[keyFileVariable];
  const key = keyId === undefined ? undefined : findKey(keyId, options);
  const declared = key?.algorithm;
  if (keyFile === undefined || scheme.privateKeys === undefined || declared === 'hmac-sha256') {
    if (declared !== undefined && isSignatureAlgorithm(declared))
      throw new CommandError([`the key ${keyId} requires its private key: set ${keyFileVariable}`]);
    if (named !== undefined) throw new CommandError([`--algorithm requires ${keyFileVariable}`]);
    const passphrase = key !== undefined && 'secret' in key ? key.passphrase : undefined;
    return { user, keyId, secret: await secretFrom(environment, terminal, given.isInputUsed), passphrase };
  }
  if (keyFile === '') throw new CommandError([`${keyFileVariable} must not be empty`]);
  return rethrowAsCommandError(() => {
    const algorithm = named === undefined ? declared : algorithmNamed(named, 'a private key');
    if (algorithm !== undefined && !isSignatureAlgorithm(algorithm))
      throw new RangeError(`${algorithm} has no private key`);
    const text = readProtectedFile(keyFile, 'the private key', maxKeyFileSize);
    return { user, keyId, algorithm, privateKey: parsePrivateKey(text, keyFile) };
  });
}

/** Returns the declaration of a key in the configuration file; undefined if there is none. */
function findKey(id: string, { users }: Options): KeyDeclaration | undefined {
  for (const { keys = {} } of users.values()) if (Object.hasOwn(keys, id)) return keys[id];
  return undefined;
}
