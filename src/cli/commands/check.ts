import { access, constants, readdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readMasterKey } from '../../accounts/master-key.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { systemClock } from '../../clock.ts';
import { OptionsError } from '../../options/error.ts';
import { type Options, readOptions } from '../../options/options.ts';
import { CorruptionError } from '../../store/corruption-error.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { holderOf } from '../../store/files/lock.ts';
import { inspectNonces, type NonceReport } from '../../store/nonces/file.ts';
import { type Examined, examine, type RecoveryOptions } from '../../store/recovery/recovery.ts';
import { plaintextPaths, readAccountFiles } from '../accounts/account-files.ts';
import { type AccountFiles, noAccountFiles } from '../accounts/no-account-files.ts';
import { readSecretBox } from '../accounts/secret-box-key.ts';
import { CommandError, messagesOf, reportError } from '../errors.ts';
import { composeService, type KnownAccounts, knownAccountsOf } from '../serve/compose.ts';
import { exposedConfiguration } from '../serve/file-permissions.ts';
import { showProgress } from '../serve/progress.ts';
import { collectionName, hasOAuth1Tokens, masterKeyGone } from '../serve/stored-tokens.ts';
import { checkAllStoredData } from '../serve/validation-marker.ts';
import type { Terminal } from '../terminal.ts';
import type { Certificate } from '../tls/certificate.ts';
import { openCertificate } from '../tls/open-certificate.ts';
import { readCheckArguments } from './check-arguments.ts';
import { repair } from './repair.ts';

/**
 * `countersign check`: says what is wrong, or what a start would do, and changes nothing; or does what --repair
 * asks for. Gives the exit status.
 */
export async function check(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const { repairTo, rest } = readCheckArguments(argv);
    const options = readOptions(rest, environment);
    for (const warning of [...options.warnings, ...exposedConfiguration(options)])
      terminal.stderr.write(`countersign: ${warning}\n`);
    if (repairTo !== undefined) return await repair(options, repairTo, terminal);
    const secretBox = options.memory ? undefined : readSecretBox(options, environment);
    const [kept, certificate] = await together(
      options.memory ? nothingKept : inspect(options, secretBox, terminal),
      options.tlsPort === undefined ? undefined : openCertificate(options),
    );
    for (const told of kept.told) terminal.stderr.write(`countersign: ${told}\n`);
    for (const note of certificate?.notes ?? []) terminal.stderr.write(`countersign: ${note}\n`);
    const everybody = knownAccountsOf(options, kept.rosters);
    await tryTogether(options, everybody);
    terminal.stdout.write(`${plan(options, kept, everybody, { certificate, seal: secretBox }).join('\n')}\n`);
    return 0;
  } catch (error) {
    const status = reportError(error, terminal);
    // What is wrong with a configuration is what this command is asked for; a flag it does not know is not.
    return error instanceof OptionsError && error.code === 'usage' ? status : 1;
  }
}

/** What two looks come to. Throws Refusal with what either of them found to be wrong. */
async function together<A, B>(one: A | Promise<A>, other: B | Promise<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([one, other]);
  if (first.status === 'fulfilled' && second.status === 'fulfilled') return [first.value, second.value];
  const faults = [first, second].flatMap((each) =>
    each.status === 'rejected' ? messagesOf(each.reason) : [],
  );
  throw new CommandError(faults, 1);
}

/** What is in a data directory. */
interface Kept {
  readonly exists: boolean;
  /** The process that has it. */
  readonly holder: number | undefined;
  readonly rosters: AccountFiles;
  /** Whether a server ever ran on it, or a user was ever added. */
  readonly fresh: boolean;
  /** How many items there are, by collection. */
  readonly items: ReadonlyMap<string, number>;
  /** How many changes are in the journals. */
  readonly changes: number;
  /** What a start would mend, a sentence each. */
  readonly told: readonly string[];
  readonly nonces: NonceReport;
}

const noNonces: NonceReport = { live: 0, loss: undefined };

const nothingKept: Kept = {
  exists: false,
  holder: undefined,
  rosters: noAccountFiles,
  fresh: true,
  items: new Map(),
  changes: 0,
  told: [],
  nonces: noNonces,
};

/** Looks at a data directory. Throws Refusal with everything that would stop a start. */
async function inspect(
  { data: path, collections: declared, window }: Options,
  secretBox: SecretBox | undefined,
  { stderr }: Pick<Terminal, 'stderr'>,
): Promise<Kept> {
  if (!(await usable(path))) return nothingKept;
  checkPermissions(path);
  const holder = (await holderOf(path))?.pid;
  const { loading, end } = showProgress(stderr, systemClock);
  const [store, accountFiles, master, nonces] = await Promise.allSettled([
    examineCalmly({ directory: path, loading }, holder).finally(end),
    readAccountFiles(path, secretBox),
    readMasterKey(path, secretBox),
    // What a server has in hand changes while it is read.
    holder === undefined ? inspectNonces(path, window * 1000, systemClock) : noNonces,
  ]);
  const failures = [store, accountFiles, master, nonces].flatMap((each) =>
    each.status === 'rejected' ? messagesOf(each.reason) : [],
  );
  if (store.status === 'rejected' || accountFiles.status === 'rejected' || nonces.status === 'rejected')
    throw new CommandError(failures, 1);
  if (master.status === 'rejected') throw new CommandError(failures, 1);
  const { state, lineage, changes, told } = store.value;
  checkAllStoredData(state, declared);
  const collections = [...state.collections()];
  const keyGone =
    master.value === undefined && secretBox === undefined && hasOAuth1Tokens(state, systemClock.now());
  return {
    exists: true,
    holder,
    rosters: accountFiles.value,
    fresh: lineage === undefined && !(await readdir(path)).includes('users.json'),
    items: new Map(collections.map(({ path: name, count }) => [name, count])),
    changes,
    // What a running server has in hand looks like a torn end.
    told: [...(holder === undefined ? told : []), ...(keyGone ? [masterKeyGone(path)] : [])],
    nonces: nonces.value,
  };
}

/** How often a directory is looked at that a server writes to: it may put other files in their place meanwhile. */
const looks = 4;

/** What is in a directory that may be in use. */
async function examineCalmly(looking: RecoveryOptions, holder: number | undefined): Promise<Examined> {
  for (let look = 1; ; look += 1) {
    try {
      return await examine(looking);
    } catch (error) {
      if (!(error instanceof CorruptionError) || holder === undefined || look === looks) throw error;
    }
  }
}

/** Whether the directory is there. Throws Refusal when it could not be used, or not be made. */
async function usable(path: string): Promise<boolean> {
  const { existing, directory } = await nearestExisting(resolve(path));
  const own = existing === resolve(path);
  if (!directory)
    throw new CommandError([`${path} cannot be the data directory: ${existing} is not a directory`], 1);
  try {
    await access(existing, constants.W_OK | constants.X_OK | (own ? constants.R_OK : 0));
  } catch {
    throw new CommandError(
      [`${path} cannot be the data directory: there is no permission to write in ${existing}`],
      1,
    );
  }
  return own;
}

/** The path, or what is nearest above it, that exists. */
async function nearestExisting(path: string): Promise<{ existing: string; directory: boolean }> {
  try {
    return { existing: path, directory: (await stat(path)).isDirectory() };
  } catch {
    return dirname(path) === path ? { existing: path, directory: false } : nearestExisting(dirname(path));
  }
}

/** Puts everything together as a start does, in memory. Throws Refusal or DeclarationError where it does not fit. */
async function tryTogether(options: Options, everybody: KnownAccounts): Promise<void> {
  const service = composeService(options, everybody, {});
  await service.ready;
  await service.close(0);
}

/** What a start would do, a line each. */
function plan(
  options: Options,
  kept: Kept,
  everybody: KnownAccounts,
  { certificate, seal: secretBox }: { certificate: Certificate | undefined; seal: SecretBox | undefined },
): string[] {
  const { port, tlsPort, controlPort, collections } = options;
  const users = Array.from(everybody.users, ([name, user]) =>
    'disabled' in user && user.disabled === true ? `${name} (disabled)` : name,
  );
  const declared = collections.map(({ path }) => path);
  return [
    ...(port === undefined ? [] : [`address      ${addressOf('http', options.host, port)}`]),
    ...(tlsPort === undefined ? [] : [`address      ${addressOf('https', options.host, tlsPort)}`]),
    ...(controlPort === undefined ? [] : [`control      ${addressOf('http', '127.0.0.1', controlPort)}`]),
    ...(certificate === undefined ? [] : [`certificate  ${certificate.about}`]),
    `data         ${dataLine(options, kept)}`,
    ...(kept.holder === undefined
      ? []
      : [`in use       by process ${kept.holder}: a start is refused while it runs`]),
    `users        ${users.length === 0 ? (kept.fresh ? 'none; the first start makes demo' : 'none') : users.join(', ')}`,
    ...namesLine('clients', everybody.clients),
    ...namesLine('consumers', everybody.consumers),
    ...secretsLine(options, kept, secretBox),
    `collections  ${declared.join(', ') || 'none'}`,
    ...[...kept.items].map(([path, count]) => `items        ${collectionName(path)}: ${count}`),
    ...(kept.changes === 0 ? [] : [`journal      ${kept.changes} changes since the snapshot`]),
    ...(kept.nonces.live === 0 ? [] : [`nonces       ${kept.nonces.live} that could come again`]),
    ...(kept.nonces.loss === undefined ? [] : [`nonces lost  ${kept.nonces.loss}`]),
  ];
}

function addressOf(scheme: string, host: string, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 0 ? `${scheme} on a free port of ${name}` : `${scheme}://${name}:${port}`;
}

function namesLine(what: string, named: ReadonlyMap<string, unknown>): string[] {
  return named.size === 0 ? [] : [`${what.padEnd(12)} ${[...named.keys()].join(', ')}`];
}

function secretsLine(
  { data }: Options,
  { rosters: accountFiles }: Kept,
  secretBox: SecretBox | undefined,
): string[] {
  const { users, consumers } = accountFiles;
  if (users.entries.size === 0 && consumers.entries.size === 0) return [];
  if (plaintextPaths(data, accountFiles).length === 0) return ['secrets      encrypted'];
  return [`secrets      ${secretBox === undefined ? 'in the clear' : 'in the clear; a start encrypts them'}`];
}

function dataLine({ memory, data }: Options, { exists }: Kept): string {
  if (memory) return 'in memory, gone when the server ends';
  return exists ? resolve(data) : `${resolve(data)}, to be made`;
}
