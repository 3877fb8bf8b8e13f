import { randomBytes } from 'node:crypto';
import { accountFiles } from '../../accounts/account-files.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { systemClock } from '../../clock.ts';
import { once } from '../../once.ts';
import { isLoopback, type Options, readOptions } from '../../options/options.ts';
import type { Listener, Service } from '../../service/service.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { CompactionLimits } from '../../store/snapshot/compaction.ts';
import { createStoreId } from '../../store/store-id.ts';
import { noAccountFiles } from '../accounts/account-files.ts';
import { makeCredentials, toStoredUser } from '../accounts/credentials.ts';
import type { Revoke } from '../accounts/revocation.ts';
import { reportError } from '../errors.ts';
import type { LoadedModule } from '../module/load-module.ts';
import type { RequestHook } from '../module/request-hook.ts';
import { type AccessLog, createAccessLog } from '../serve/access-log.ts';
import type { PreparedControl } from '../serve/control.ts';
import type { ServerData } from '../serve/data-directory.ts';
import { firstUserName, introduction } from '../serve/first-user.ts';
import { createNotices, type Notices, redirectWarnings } from '../serve/notices.ts';
import { type Outlet, printLines, type ServerProcess } from '../terminal.ts';
import type { Certificate } from '../tls/certificate.ts';

/** The time for requests in progress to finish when the server stops, in milliseconds. */
const shutdownTimeout = 10_000;

type Composition = typeof import('../serve/compose.ts');

/**
 * Runs `countersign serve`. Returns undefined once the server is ready, or the exit status if it cannot start. Code that not every
 * server needs is loaded when it is needed.
 *
 * @param process the process that signals stop; it is ended when the server has stopped
 * @param compaction limits for the compaction of journals, for tests. Default: those of the store
 */
export async function serve(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  process: ServerProcess,
  compaction?: CompactionLimits,
): Promise<number | undefined> {
  // The server keeps running after its terminal or an output pipe is closed.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('SIGHUP', () => {});
  let given: Options;
  try {
    given = readOptions(argv, environment);
  } catch (error) {
    return reportError(error, process); // as text: the format of the log is not known
  }
  const notices = createLogNotices(given, process);
  redirectWarnings(notices, process);
  const opened = new OpenedParts();
  let module: LoadedModule | undefined;
  try {
    for (const warning of [...given.warnings, ...(await permissionWarnings(given))]) notices.warn(warning);
    const secretBox = given.memory
      ? undefined
      : (await import('../accounts/secret-box-key.ts')).readSecretBox(given, environment);
    // Removed, so that they appear in no diagnostic report and no child process.
    delete environment['COUNTERSIGN_KEY'];
    const control =
      given.controlPort === undefined
        ? undefined
        : (await import('../serve/control.ts')).prepareControl(given, environment, notices);
    delete environment['COUNTERSIGN_CONTROL_TOKEN'];
    module =
      given.module === undefined
        ? undefined
        : await (await import('../module/load-module.ts')).loadModule(given, environment);
    const options = module?.options ?? given;
    // The certificate is opened and the service loaded while the store is read.
    const opening = options.tlsPort === undefined ? undefined : openCertificate(options);
    opening?.catch(() => {}); // handled where it is awaited
    const log = opened.add(createLog(options, process.stderr), (each) => each.flush());
    const prepared = { options, notices, module, opening, control, process, opened, log };
    const [data, composition] = await Promise.all([
      openData(prepared, secretBox, compaction),
      import('../serve/compose.ts'),
    ]);
    await start(prepared, data, composition);
    return undefined;
  } catch (error) {
    await opened.close().catch(() => {}); // the first error is reported
    if (module === undefined) return notices.error(error);
    const { redactError } = await import('../with-module.ts');
    return notices.error(await redactError(error, environment));
  }
}

/** The parts of a server that are open. They are closed in the reverse order. */
class OpenedParts {
  readonly #closers: ((grace: number | undefined) => unknown)[] = [];

  /**
   * Adds a part, and returns it.
   * @param close its `grace` is the time for requests in progress to finish (ms); undefined after a start that failed
   */
  add<T>(part: T, close: (part: T & {}, grace: number | undefined) => unknown): T {
    if (part !== undefined && part !== null) this.#closers.push((grace) => close(part, grace));
    return part;
  }

  async close(grace?: number): Promise<void> {
    for (const close of this.#closers.toReversed()) await close(grace);
  }
}

/** The parts of a server that is about to start. */
interface Prepared {
  /** The options, with the schemes of the module. */
  readonly options: Options;
  readonly notices: Notices;
  readonly module: LoadedModule | undefined;
  readonly opening: Promise<Certificate> | undefined;
  readonly control: PreparedControl | undefined;
  readonly process: ServerProcess;
  readonly opened: OpenedParts;
  readonly log: AccessLog | undefined;
}

/** Starts the server on opened data: composes and opens its service, and reports what it does. */
async function start(prepared: Prepared, data: ServerData, composition: Composition): Promise<void> {
  const { notices, module, opening, control, process, opened, log } = prepared;
  const certificate = await opening;
  for (const note of certificate?.notes ?? []) notices.warn(note);
  const saving = certificate?.save();
  saving?.catch(() => {}); // handled where it is awaited
  const { accounts: storedAccounts, place, store } = data;
  const moduleUsers = module?.users ?? new Map();
  const files = storedAccounts?.files ?? noAccountFiles;
  const sources = { place, accountFiles: files, moduleUsers };
  const accounts = composition.listKnownAccounts(prepared.options, sources);
  const partner = await composition.readPartner(prepared.options, accounts);
  for (const reason of partner.unreachable) notices.warn(reason);
  const { options } = partner;
  const { users } = accounts;
  const first = data.isNew && users.size === 0 ? makeCredentials(randomBytes) : undefined;
  if (first !== undefined) users.set(firstUserName, first);
  for (const warning of await composition.checkNamedUsers(options, users, users.keys()))
    notices.warn(warning);
  const hashing = first === undefined || options.memory ? undefined : toStoredUser(first, randomBytes);
  hashing?.catch(() => {}); // handled where it is awaited
  if (accounts.consumers.size > 0) await data.storeMasterKey?.();
  const signing = await openSigning(options, data);
  const hook = opened.add(await loadRequestHook(module, notices), (each) => each.flush());
  const resources = await module?.resources(store);
  // Resources in code can have collections of any name.
  if (data.undeclared !== undefined && !composition.hasResources(resources)) notices.warn(data.undeclared);
  const service = composition.composeService(
    { ...options, seed: await selectSeed(options, module) },
    accounts,
    {
      store,
      resources,
      masterKey: data.masterKey,
      signingKeys: signing?.keys,
      nonces: module?.nonces ?? data.nonces,
      // Nonces in memory are lost at a restart, so requests signed before this start are rejected.
      ...(module?.nonces === undefined && !data.areNoncesStored ? { notBefore: systemClock.now() } : {}),
      onError: (error) => notices.fault(redact(module, formatStack(error))),
      check: () => (hasFailed(data) ? 'The store has failed: no change is stored.' : undefined),
      onRequest: combineHooks(log?.add, hook?.add),
    },
    control?.composer(data, partner.prepared) ?? partner.compose,
  );
  opened.add(service, (each, grace = 0) => each.close({ grace }));
  await service.ready;
  const revoke: Revoke = (selection) => service.revokeGrants(selection);
  await storedAccounts?.applyRevocations(revoke);
  const plaintext: (string | undefined)[] = [...(storedAccounts?.plaintextPaths ?? [])];
  const { plain, secure } = await open(service, options, certificate, saving);
  if (first !== undefined) {
    if (hashing !== undefined) plaintext.push(await data.storeUser?.(firstUserName, await hashing));
    const url = plain?.url ?? secure?.url ?? '';
    const { text, message, members } = introduction(first, url, options.basePath, certificate?.file);
    notices.info(text, message, members);
  }
  for (const path of plaintext) if (path !== undefined) notices.warn(plaintextWarning(path));
  if (users.size === 0) notices.warn(`there are no users; ${adviceForUsers(module)}`);
  if (!isLoopback(options.host)) notices.warn(addressWarning(options));
  const stop = once(async () => {
    process.exit(await stopServer(opened, data, notices));
  });
  stopOnSignal(stop, process);
  if (options.untilStdinCloses) stopAtEnd(process.stdin, stop);
  const watch = storedAccounts?.watch((line) => notices.warn(redact(module, line)));
  watch?.(accountFiles.users, files.users.mark, (stored) =>
    service.replaceUsers(composition.allUsers(options, stored, moduleUsers)),
  );
  watch?.(accountFiles.clients, files.clients.mark, (stored) =>
    service.replaceClients(composition.allClients(options, stored, place)),
  );
  watch?.(accountFiles.consumers, files.consumers.mark, async (entries) => {
    const all = composition.allRegistered(options, 'consumers', options.consumers, { entries, place });
    if (all.size > 0) await data.storeMasterKey?.();
    service.replaceConsumers(all);
  });
  watch?.(accountFiles.revocations, undefined, () => storedAccounts?.applyRevocations(revoke));
  if (signing !== undefined)
    watch?.(accountFiles.keys, signing.mark, (stored) => service.replaceSigningKeys(signing.list(stored)));
  if (certificate !== undefined && secure !== undefined) {
    const { renewCertificate } = await import('../tls/open-certificate.ts');
    renewCertificate(certificate, secure, notices.warn, process);
  }
  const urls = [plain, secure].flatMap((listening) => (listening === undefined ? [] : [listening.url]));
  if (control !== undefined) urls.push(`control=${await control.open(plain, secure, certificate)}`);
  printLines([`Countersign is ready: ${urls.join(' ')}`], process.stdout);
}

/** Returns a text without the passwords that the module has in its environment. */
function redact(module: LoadedModule | undefined, text: string): string {
  return module?.withoutPasswords(text) ?? text;
}

/** Opens the stored keys that sign tokens. Their code is loaded only if tokens are signed. */
async function openSigning({ oauth2 }: Options, { accounts }: ServerData) {
  if (oauth2 === undefined) return undefined;
  const { signsTokens, readOAuth2 } = await import('../../oauth/oauth2-options.ts');
  const settings = readOAuth2(oauth2);
  const stored = signsTokens(settings) ? await accounts?.openSigningKeys(settings.signing) : undefined;
  if (stored === undefined) return undefined;
  const { listSigningKeys: list } = await import('../accounts/signing-keys.ts');
  return { mark: stored.mark, keys: list(stored.entries), list };
}

/** Returns the warning for unencrypted secrets, with the command that creates a key. */
function plaintextWarning(path: string): string {
  const command = '(umask 077; openssl rand -hex 32 > countersign.key)';
  return `the secrets in ${path} are not encrypted; to encrypt them: ${command}, and start with --key-file countersign.key`;
}

/** Opens the listeners and waits until the certificate is saved. Waits for all of them even if one fails. */
async function open(
  service: Service,
  { host, port, tlsPort }: Options,
  certificate: Certificate | undefined,
  saving: Promise<void> | undefined,
): Promise<{ plain: Listener | undefined; secure: Listener | undefined }> {
  const [plain, secure, saved] = await Promise.allSettled([
    port === undefined ? undefined : service.listen({ host, port }),
    tlsPort === undefined || certificate === undefined
      ? undefined
      : service.listen({ host, port: tlsPort, tls: certificate.identity }),
    saving,
  ]);
  const opened = { plain: unwrapResult(plain), secure: unwrapResult(secure) };
  unwrapResult(saved);
  return opened;
}

function unwrapResult<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** Returns warnings if other users can read the configuration file. */
async function permissionWarnings(options: Options): Promise<readonly string[]> {
  return options.config === undefined
    ? []
    : (await import('../serve/file-permissions.ts')).findExposedConfiguration(options);
}

/** Returns the seed, without what another process adds to the store of the module. */
async function selectSeed({ seed }: Options, module: LoadedModule | undefined): Promise<Options['seed']> {
  const documents = module?.store?.documents;
  return documents === undefined
    ? seed
    : (await import('../module/module-data.ts')).claimSeed(documents, seed);
}

/** Opens the store of the module, or else the data directory or a store in memory. */
async function openData(
  { options, module, notices, control, process, opened }: Prepared,
  secretBox: SecretBox | undefined,
  compaction: CompactionLimits | undefined,
): Promise<ServerData> {
  const open = async (): Promise<ServerData> => {
    if (module?.store !== undefined) {
      const { openModuleData } = await import('../module/module-data.ts');
      return openModuleData(module, module.store, secretBox, notices.warn);
    }
    if (options.memory) {
      const memory = createMemoryStore({ storeId: createStoreId() });
      const close = async (): Promise<void> => {};
      return { store: memory, memory, place: options.data, areNoncesStored: false, isNew: true, close };
    }
    const { openDataDirectory } = await import('../serve/data-directory.ts');
    const outlet = notices.format === 'text' ? process.stderr : undefined;
    const reports = { report: notices.warn, outlet, onSync: control?.onSync };
    return openDataDirectory(options, secretBox, reports, compaction);
  };
  return opened.add(await open(), (data, grace) => {
    if (grace === undefined && data.isNew) data.undo?.();
    return data.close();
  });
}

/** Returns the hook of `onRequest`, if the module has it. */
async function loadRequestHook(
  module: LoadedModule | undefined,
  notices: Notices,
): Promise<RequestHook | undefined> {
  if (module?.onRequest === undefined) return undefined;
  const { createRequestHook } = await import('../module/request-hook.ts');
  return createRequestHook(module.onRequest, (error) =>
    notices.fault(module.withoutPasswords(`onRequest of ${module.file} failed: ${formatStack(error)}`)),
  );
}

/** Returns a function that calls both, one of them if the other is undefined, or undefined. */
function combineHooks(
  one: AccessLog['add'] | undefined,
  other: AccessLog['add'] | undefined,
): AccessLog['add'] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (entry) => {
    one(entry);
    other(entry);
  };
}

/** Returns how to add a user to the data directory, or to the store of the module. */
function adviceForUsers(module: LoadedModule | undefined): string {
  const command = 'to add one: countersign user add NAME';
  if (module?.store === undefined) return command;
  if (module.store.documents !== undefined) return `${command} --module ${module.file}`;
  return 'declare them in the configuration file or the module';
}

/** Loads the modules for certificates and opens the certificate. */
async function openCertificate(options: Options): Promise<Certificate> {
  return (await import('../tls/open-certificate.ts')).openCertificate(options);
}

function createLog(options: Options, stderr: ServerProcess['stderr']): AccessLog | undefined {
  return options.log === 'off' ? undefined : createAccessLog(chooseForm(options, stderr), stderr.fd);
}

function chooseForm({ log }: Options, { isTTY }: Outlet): 'pretty' | 'json' {
  if (log === 'pretty' || log === 'json') return log;
  return isTTY === true ? 'pretty' : 'json';
}

/** Creates the notices, which are JSON if the log is. */
function createLogNotices(options: Options, { stderr }: ServerProcess): Notices {
  const isJson = options.log !== 'off' && chooseForm(options, stderr) === 'json';
  return createNotices(isJson ? 'json' : 'text', { stderr, clock: systemClock });
}

/** Returns whether no change can be stored any more. */
function hasFailed(data: ServerData): boolean {
  return data.health?.().state === 'failed';
}

function formatStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Stops the server on the first signal, and ends the process immediately on the second. */
function stopOnSignal(stop: () => void, process: ServerProcess): void {
  let received = false;
  const onSignal = (): void => {
    if (received) process.exit(1);
    received = true;
    stop();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** Stops the server when an input ends or fails. What it contains is ignored. */
function stopAtEnd(input: NodeJS.ReadableStream, stop: () => void): void {
  for (const event of ['end', 'close', 'error']) input.on(event, stop);
  input.resume();
}

/** Shuts the server down. Returns the exit status. */
async function stopServer(opened: OpenedParts, data: ServerData, notices: Notices): Promise<number> {
  try {
    await opened.close(shutdownTimeout);
    return hasFailed(data) ? 1 : 0;
  } catch (error) {
    return notices.error(error);
  }
}

/** Returns the warning for an address that is not a loopback address. */
function addressWarning({ host, port }: Options): string {
  const plain = port === undefined ? '' : ', and plain HTTP can be intercepted';
  return `${host} can be reached from other hosts${plain}`;
}
