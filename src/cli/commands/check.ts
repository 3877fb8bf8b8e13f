import { access, constants, readdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readMasterKey } from '../../accounts/master-key.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { readSchemes } from '../../auth/configured-schemes.ts';
import { systemClock } from '../../clock.ts';
import { formatUndeclaredWarning, formatWarning } from '../../collections/stored-data-check.ts';
import { formatCount } from '../../counted.ts';
import { OptionsError } from '../../options/error.ts';
import { type Options, readOptions } from '../../options/options.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { findHolder } from '../../store/files/lock.ts';
import { createMemoryStore } from '../../store/memory.ts';
import { inspectNonces } from '../../store/nonces/file.ts';
import { attemptsInUse, scan } from '../../store/scan.ts';
import { plaintextPaths, readAccountFiles } from '../accounts/account-files.ts';
import { readSecretBox } from '../accounts/secret-box-key.ts';
import { CommandError, listMessages, reportError } from '../errors.ts';
import { type InspectedData, noData, noNonces } from '../inspected-data.ts';
import type { LoadedModule } from '../module/load-module.ts';
import {
  checkNamedUsers,
  composeService,
  hasResources,
  type KnownAccounts,
  listKnownAccounts,
} from '../serve/compose.ts';
import { findExposedConfiguration } from '../serve/file-permissions.ts';
import { firstUserName } from '../serve/first-user.ts';
import { showProgress } from '../serve/progress.ts';
import { newStoreId } from '../serve/store-id.ts';
import { checkAllStoredData } from '../serve/stored-data.ts';
import { collectionName, formatMissingMasterKey, hasOAuth1Tokens } from '../serve/stored-tokens.ts';
import { printLines, printMessage, type Terminal } from '../terminal.ts';
import type { Certificate } from '../tls/certificate.ts';
import { openCertificate } from '../tls/open-certificate.ts';
import { withModule } from '../with-module.ts';
import { repair } from './data.ts';

/**
 * Runs `countersign check`: prints all errors, or what a start would do, and changes nothing. With `--repair`, copies
 * readable data to a new directory. Returns the exit status.
 */
export async function check(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const { repairTo, rest } = readCheckArguments(argv);
    const given = readOptions(rest, environment);
    for (const warning of [...given.warnings, ...findExposedConfiguration(given)])
      printMessage(warning, terminal.stderr);
    if (repairTo !== undefined) return await repair(given, repairTo, terminal);
    const secretBox = given.memory ? undefined : readSecretBox(given, environment);
    return await withModule(given, environment, async (module) => {
      const options = module?.options ?? given;
      for (const warning of await findUnsignedParts(options)) printMessage(warning, terminal.stderr);
      return checkParts(options, module, secretBox, terminal);
    });
  } catch (error) {
    const status = reportError(error, terminal);
    // An invalid configuration is a finding (1), an unknown flag is a usage error (2).
    return error instanceof OptionsError && error.code === 'usage' ? status : 1;
  }
}

/**
 * Checks the data, the certificate and the composition of the service, and prints what a start would do. Returns the exit status: 1
 * if nobody can reach stored items, or operations of the document of a partner, or if that has a mistake.
 */
async function checkParts(
  given: Options,
  module: LoadedModule | undefined,
  secretBox: SecretBox | undefined,
  terminal: Terminal,
): Promise<0 | 1> {
  const [data, certificate] = await awaitBoth(
    inspectData(given, module, secretBox, terminal),
    given.tlsPort === undefined ? undefined : openCertificate(given),
  );
  for (const warning of data.warnings) printMessage(warning, terminal.stderr);
  for (const note of certificate?.notes ?? []) printMessage(note, terminal.stderr);
  const moduleUsers = module?.users ?? new Map();
  const accounts = listKnownAccounts(given, { ...data, moduleUsers });
  const partner = await readPartner(given, accounts);
  const options = partner?.options ?? given;
  const { faults = [], unreachable = [], warnings = [] } = partner ?? {};
  for (const warning of [...faults, ...unreachable, ...warnings]) printMessage(warning, terminal.stderr);
  const users = data.isNew && accounts.users.size === 0 ? [firstUserName] : accounts.users.keys();
  for (const warning of await checkNamedUsers(options, accounts.users, users))
    printMessage(warning, terminal.stderr);
  const resources = await tryComposition(options, accounts, module, partner?.compose);
  printLines(
    summary(options, data, accounts, { certificate, secretBox, operations: partner?.operations }),
    terminal.stdout,
  );
  const isReachable = faults.length === 0 && unreachable.length === 0;
  // Resources in code can have collections of any name.
  const undeclared = hasResources(resources)
    ? undefined
    : formatUndeclaredWarning(data.items, options.collections);
  if (undeclared === undefined) return isReachable ? 0 : 1;
  printMessage(undeclared, terminal.stderr);
  return 1;
}

/** Reads the store of the module, or else the data directory. Throws a CommandError with all errors that would prevent a start. */
async function inspectData(
  options: Options,
  module: LoadedModule | undefined,
  secretBox: SecretBox | undefined,
  terminal: Terminal,
): Promise<InspectedData> {
  if (module?.store !== undefined)
    return (await import('../module/inspect-store.ts')).inspectStore(module, module.store, secretBox);
  if (options.memory) return noData('in memory, lost when the server stops', options.data);
  return inspect(options, secretBox, terminal);
}

/** Returns a warning for each message that leaves a part of the request unsigned. */
async function findUnsignedParts({ schemes, config }: Options): Promise<string[]> {
  const configured = readSchemes(schemes);
  if (configured.length === 0) return [];
  const { listUnsignedWarnings } = await import('../../auth/unsigned-parts.ts');
  return configured.flatMap((scheme) => listUnsignedWarnings(scheme, `${config}: schemes.${scheme.name}`));
}

/** Waits for both values. Throws a CommandError with the errors of both. */
async function awaitBoth<A, B>(one: A | Promise<A>, other: B | Promise<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([one, other]);
  if (first.status === 'fulfilled' && second.status === 'fulfilled') return [first.value, second.value];
  const faults = [first, second].flatMap((each) =>
    each.status === 'rejected' ? listMessages(each.reason) : [],
  );
  throw new CommandError(faults, 1);
}

/** Reads a data directory without changing it. Throws a CommandError with all errors that would prevent a start. */
async function inspect(
  { data: path, collections: declared, nonceWindow, onMismatch }: Options,
  secretBox: SecretBox | undefined,
  { stderr }: Pick<Terminal, 'stderr'>,
): Promise<InspectedData> {
  if (!(await checkUsable(path))) return noData(`${resolve(path)}, to be created`, path);
  checkPermissions(path);
  const holder = (await findHolder(path))?.pid;
  const { loading, end } = showProgress(stderr, systemClock);
  const [store, accountFiles, master, nonces] = await Promise.allSettled([
    scan({
      directory: path,
      onProgress: loading,
      attempts: holder === undefined ? 1 : attemptsInUse,
    }).finally(end),
    readAccountFiles(path, secretBox),
    readMasterKey(path, secretBox),
    // A running server changes the file while it is read.
    holder === undefined ? inspectNonces(path, nonceWindow, systemClock) : noNonces,
  ]);
  const failures = [store, accountFiles, master, nonces].flatMap((each) =>
    each.status === 'rejected' ? listMessages(each.reason) : [],
  );
  if (store.status === 'rejected' || accountFiles.status === 'rejected' || nonces.status === 'rejected')
    throw new CommandError(failures, 1);
  if (master.status === 'rejected') throw new CommandError(failures, 1);
  const { state, storeId, changes, reports: warnings } = store.value;
  const mismatches = checkAllStoredData(state, declared);
  const collections = [...state.collections()];
  const lacksMasterKey =
    master.value === undefined && secretBox === undefined && hasOAuth1Tokens(state, systemClock.now());
  return {
    location: resolve(path),
    place: path,
    holder,
    accountFiles: accountFiles.value,
    isNew: storeId === undefined && !(await readdir(path)).includes('users.json'),
    items: new Map(collections.map(({ path: name, count }) => [name, count])),
    changes,
    // A write in progress of a running server looks like an incomplete last line.
    warnings: [
      ...(holder === undefined ? warnings : []),
      ...(mismatches === undefined ? [] : [formatWarning(mismatches, onMismatch)]),
      ...(lacksMasterKey ? [formatMissingMasterKey(path)] : []),
    ],
    nonces: nonces.value,
  };
}

/** Returns whether the directory exists. Throws CommandError if it cannot be used or created. */
async function checkUsable(path: string): Promise<boolean> {
  const { existing, directory } = await findNearestExisting(resolve(path));
  const own = existing === resolve(path);
  if (!directory)
    throw new CommandError([`${path} cannot be the data directory: ${existing} is not a directory`], 1);
  try {
    await access(existing, constants.W_OK | constants.X_OK | (own ? constants.R_OK : 0));
  } catch {
    throw new CommandError(
      [`${path} cannot be the data directory: no permission to write to ${existing}`],
      1,
    );
  }
  return own;
}

/** Returns the path itself, or its nearest ancestor that exists. */
async function findNearestExisting(path: string): Promise<{ existing: string; directory: boolean }> {
  try {
    return { existing: path, directory: (await stat(path)).isDirectory() };
  } catch {
    return dirname(path) === path ? { existing: path, directory: false } : findNearestExisting(dirname(path));
  }
}

/**
 * Creates the service in memory, as a start does. Returns the resources in code. Throws CommandError or DeclarationError if that
 * fails.
 */
async function tryComposition(
  options: Options,
  accounts: KnownAccounts,
  module: LoadedModule | undefined,
  compose?: Parameters<typeof composeService>[3],
): Promise<Readonly<Record<string, Resource>>> {
  const store = module?.store ?? createMemoryStore({ storeId: newStoreId() });
  const resources = (await module?.resources(store)) ?? {};
  const service = composeService(options, accounts, { resources }, compose);
  await service.ready;
  await service.close({ grace: 0 });
  return resources;
}

/** Returns the lines that describe what a start would do. */
function summary(
  options: Options,
  data: InspectedData,
  accounts: KnownAccounts,
  {
    certificate,
    secretBox,
    operations,
  }: {
    certificate: Certificate | undefined;
    secretBox: SecretBox | undefined;
    operations: number | undefined;
  },
): string[] {
  const { port, tlsPort, controlPort, collections } = options;
  const users = Array.from(accounts.users, ([name, user]) =>
    'disabled' in user && user.disabled === true ? `${name} (disabled)` : name,
  );
  const declared = collections.map(({ path }) => path);
  return [
    ...(port === undefined ? [] : [`address      ${formatAddress('http', options.host, port)}`]),
    ...(tlsPort === undefined ? [] : [`address      ${formatAddress('https', options.host, tlsPort)}`]),
    ...(controlPort === undefined ? [] : [`control      ${formatAddress('http', '127.0.0.1', controlPort)}`]),
    ...(certificate === undefined ? [] : [`certificate  ${certificate.about}`]),
    `data         ${data.location}`,
    ...(data.holder === undefined
      ? []
      : [`in use       by process ${data.holder}: no other server can start`]),
    `users        ${users.join(', ') || (data.isNew ? 'none; the first start creates demo' : 'none')}`,
    ...namesLine('schemes', new Map(Object.entries(options.schemes))),
    ...namesLine('clients', accounts.clients),
    ...namesLine('consumers', accounts.consumers),
    ...secretsLine(data, secretBox),
    ...(operations === undefined
      ? []
      : [`partner      ${options.partner}: ${formatCount(operations, 'operation')}`]),
    `collections  ${declared.join(', ') || 'none'}`,
    ...[...data.items].map(([path, count]) => `items        ${collectionName(path)}: ${count}`),
    ...(data.changes === 0 ? [] : [`journal      ${formatCount(data.changes, 'change')} since the snapshot`]),
    ...(data.nonces.live === 0 ? [] : [`nonces       ${data.nonces.live} not expired`]),
    ...(data.nonces.loss === undefined ? [] : [`nonces lost  ${data.nonces.loss}`]),
  ];
}

/** Reads the document of `--partner` and examines it. Its code is loaded only if there is one. Rejects with CommandError. */
async function readPartner(options: Options, accounts: KnownAccounts) {
  if (options.partner === undefined) return undefined;
  const { createComposer, loadPartner } = await import('../serve/partner.ts');
  const loaded = await loadPartner(options, options.partner, accounts);
  const { prepared, options: completed, unreachable } = loaded;
  const { operations, faults } = prepared;
  return {
    options: completed,
    operations,
    faults,
    unreachable,
    warnings: prepared.examine(),
    compose: createComposer(prepared, options),
  };
}

function formatAddress(scheme: string, host: string, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 0 ? `${scheme} on a free port of ${name}` : `${scheme}://${name}:${port}`;
}

function namesLine(label: string, accounts: ReadonlyMap<string, unknown>): string[] {
  return accounts.size === 0 ? [] : [`${label.padEnd(12)} ${[...accounts.keys()].join(', ')}`];
}

function secretsLine({ accountFiles, place }: InspectedData, secretBox: SecretBox | undefined): string[] {
  const { users, consumers } = accountFiles;
  if (users.entries.size === 0 && consumers.entries.size === 0) return [];
  if (plaintextPaths(place, accountFiles).length === 0) return ['secrets      encrypted'];
  return [`secrets      not encrypted${secretBox === undefined ? '' : '; a start encrypts them'}`];
}

/** The arguments of `countersign check`. */
interface CheckArguments {
  /** The directory of `--repair`. */
  readonly repairTo: string | undefined;
  /** All other arguments: the options of `serve`. */
  readonly rest: readonly string[];
}

/** Separates `--repair` from the options of `serve`. Throws CommandError. */
function readCheckArguments(argv: readonly string[]): CheckArguments {
  const rest: string[] = [];
  let repairTo: string | undefined;
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? '';
    if (argument === '--repair' || argument.startsWith('--repair=')) {
      if (repairTo !== undefined) throw new CommandError(['--repair is given more than once']);
      repairTo = argument === '--repair' ? argv[++at] : argument.slice('--repair='.length);
      if (repairTo === undefined || repairTo === '' || repairTo.startsWith('--'))
        throw new CommandError(['--repair requires a value: the new directory']);
    } else rest.push(argument);
  }
  return { repairTo, rest };
}
