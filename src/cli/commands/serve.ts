import { randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { type Options, readOptions } from '../../options/options.ts';
import type { Listening, Service } from '../../service/service.ts';
import type { CompactionLimits } from '../../store/snapshot/compaction.ts';
import type { AccountUpdates } from '../accounts/account-files.ts';
import { makeCredentials, storedUser } from '../accounts/credentials.ts';
import { reportError } from '../errors.ts';
import { type AccessLog, createAccessLog } from '../serve/access-log.ts';
import type { ControlledService } from '../serve/control.ts';
import type { DataDirectory } from '../serve/data-directory.ts';
import { firstUserName, introduction } from '../serve/first-user.ts';
import { inMemoryData } from '../serve/in-memory.ts';
import type { Certificate } from '../tls/certificate.ts';

/** Milliseconds for what is in flight when the server is told to stop. */
const grace = 10_000;

type Composition = typeof import('../serve/compose.ts');

/**
 * `countersign serve`: runs until it is told to stop. Gives the exit status when it could not start. `compaction` says
 * when the journals are worth a new snapshot, where that is not to be left to the store.
 */
export async function serve(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  compaction?: CompactionLimits,
): Promise<number | undefined> {
  // Who closes the terminal or the pipe does not end the server.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('SIGHUP', () => {}); // nor does a hang-up, whether or not there is a certificate to read again
  try {
    const options = readOptions(argv, environment);
    for (const warning of [...options.warnings, ...(await exposures(options))]) warn(warning);
    const secretBox = options.memory
      ? undefined
      : (await import('../accounts/secret-box-key.ts')).readSecretBox(options, environment);
    // Who started this process put it there for it alone: not for reports, nor for what it may start.
    delete environment['COUNTERSIGN_KEY'];
    const steering = await readSteering(options, environment);
    delete environment['COUNTERSIGN_CONTROL_TOKEN'];
    // The certificate is read or made, and the service loaded, while the disk is busy.
    const opening = options.tlsPort === undefined ? undefined : openCertificate(options);
    opening?.catch(() => {}); // told where it is waited for
    const [keeping, composition] = await Promise.all([
      options.memory ? inMemoryData() : openDirectory(options, secretBox, warn, compaction),
      import('../serve/compose.ts'),
    ]);
    await start(options, keeping, composition, opening, steering).catch(async (error: unknown) => {
      if (keeping.fresh) keeping.undo();
      await keeping.close();
      throw error;
    });
    return undefined;
  } catch (error) {
    return reportError(error, process);
  }
}

async function start(
  options: Options,
  keeping: DataDirectory,
  { allRegistered, allUsers, composeService, knownAccountsOf }: Composition,
  opening: Promise<Certificate> | undefined,
  steering: Steering | undefined,
): Promise<void> {
  const certificate = await opening;
  for (const note of certificate?.notes ?? []) warn(note);
  const kept = certificate?.keep();
  kept?.catch(() => {}); // told where it is waited for
  const everybody = knownAccountsOf(options, keeping.rosters);
  const { users } = everybody;
  const first = keeping.fresh && users.size === 0 ? makeCredentials(randomBytes) : undefined;
  if (first !== undefined) users.set(firstUserName, first);
  const hashed = first === undefined || options.memory ? undefined : storedUser(first, randomBytes);
  hashed?.catch(() => {}); // told where it is waited for
  const log = logOf(options);
  if (everybody.consumers.size > 0) await keeping.keepMasterKey();
  const service = composeService(
    options,
    everybody,
    {
      store: keeping.store,
      ...(keeping.masterKey === undefined ? {} : { masterKey: keeping.masterKey }),
      ...(keeping.nonces === undefined ? {} : { nonces: keeping.nonces }),
      // What was signed for an earlier life of this server is not to be used in this one.
      ...(options.memory ? { notBefore: systemClock.now() } : {}),
      onError: (error) => tellFault(error, log === undefined ? undefined : formOf(options)),
      ...(log === undefined ? {} : { log: log.add }),
    },
    steering?.make(keeping),
  );
  try {
    await service.ready;
    const clear: (string | undefined)[] = [...keeping.clear];
    const { plain, secure } = await open(service, options, certificate, kept);
    if (first !== undefined) {
      if (hashed !== undefined) clear.push(await keeping.keepUser(firstUserName, await hashed));
      process.stderr.write(introduction(first, plain?.url ?? secure?.url ?? '', certificate?.file));
    }
    for (const path of clear) if (path !== undefined) warn(clearLine(path));
    if (users.size === 0) warn('there are no users, so nobody can sign; countersign user add NAME makes one');
    if (!isLoopback(options.host)) warn(openness(options));
    stopOnSignal(service, keeping, log);
    const uses: AccountUpdates = {
      users: (kept) => service.replaceUsers(allUsers(options, kept)),
      clients: (kept) =>
        service.replaceClients(allRegistered(options, 'clients', options.clients, { entries: kept })),
      async consumers(kept) {
        const all = allRegistered(options, 'consumers', options.consumers, { entries: kept });
        if (all.size > 0) await keeping.keepMasterKey();
        service.replaceConsumers(all);
      },
    };
    keeping.watch(uses, warn);
    if (certificate !== undefined && secure !== undefined) await tend(certificate, secure);
    const urls = [plain, secure].flatMap((listening) => (listening === undefined ? [] : [listening.url]));
    if (steering !== undefined) urls.push(`control=${await steering.open(plain, secure, certificate)}`);
    process.stdout.write(`Countersign is ready: ${urls.join(' ')}\n`);
  } catch (error) {
    await service.close(0);
    throw error;
  }
}

/** How a server is made that can be steered, and steered. */
interface Steering {
  /** What makes its service. */
  make(keeping: DataDirectory): NonNullable<Parameters<Composition['composeService']>[3]>;
  /** Opens the control interface, and gives its address. */
  open(
    plain: Listening | undefined,
    secure: Listening | undefined,
    certificate: Certificate | undefined,
  ): Promise<string>;
}

/** What steers is loaded only where that is asked for. Throws Refusal on a token that cannot be. */
async function readSteering(
  { controlPort: port, tlsCert }: Options,
  environment: NodeJS.ProcessEnv,
): Promise<Steering | undefined> {
  if (port === undefined) return undefined;
  const { composeControlled, controlToken } = await import('../serve/control.ts');
  const token = controlToken(environment);
  let steered: ControlledService | undefined;
  return {
    make: (keeping) => (options) => {
      steered = composeControlled(options, { port, token, keeping });
      return steered.service;
    },
    async open(plain, secure, certificate) {
      // Who gave a certificate knows what vouches for it.
      const own = tlsCert === undefined ? certificate?.identity.cert.toString() : undefined;
      const control = await steered?.open({ url: plain?.url, secureUrl: secure?.url, certificate: own });
      if (control === undefined) throw new Error('what was not composed cannot be steered');
      if (token === undefined) warn(`the token of the control interface, told once: ${control.token}`);
      return control.url;
    },
  };
}

/** How secrets come to be encrypted. */
function clearLine(path: string): string {
  const make = '(umask 077; openssl rand -hex 32 > countersign.key)';
  return `the secrets in ${path} are in the clear; to encrypt them: ${make}, and start with --key-file countersign.key`;
}

/** Opens what the options ask for, and waits until the certificate is kept. Nothing is under way when it fails. */
async function open(
  service: Service,
  { host, port, tlsPort }: Options,
  certificate: Certificate | undefined,
  keeping: Promise<void> | undefined,
): Promise<{ plain: Listening | undefined; secure: Listening | undefined }> {
  const [plain, secure, kept] = await Promise.allSettled([
    port === undefined ? undefined : service.listen({ host, port }),
    tlsPort === undefined || certificate === undefined
      ? undefined
      : service.listen({ host, port: tlsPort, tls: certificate.identity }),
    keeping,
  ]);
  const opened = { plain: settledValue(plain), secure: settledValue(secure) };
  settledValue(kept);
  return opened;
}

function settledValue<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** Reports what others can read of the configuration file. */
async function exposures(options: Options): Promise<readonly string[]> {
  return options.config === undefined
    ? []
    : (await import('../serve/file-permissions.ts')).exposedConfiguration(options);
}

/** Opens the data directory. The modules of the durable store are loaded only here. */
async function openDirectory(
  ...parameters: Parameters<typeof import('../serve/data-directory.ts').openDataDirectory>
): Promise<DataDirectory> {
  return (await import('../serve/data-directory.ts')).openDataDirectory(...parameters);
}

/** What is about certificates is loaded only where there is HTTPS. */
async function openCertificate(options: Options): Promise<Certificate> {
  return (await import('../tls/open-certificate.ts')).openCertificate(options);
}

async function tend(certificate: Certificate, secure: Listening): Promise<void> {
  (await import('../tls/open-certificate.ts')).renewCertificate(certificate, secure, warn);
}

function logOf(options: Options): AccessLog | undefined {
  return options.log === 'off' ? undefined : createAccessLog(formOf(options), process.stderr.fd);
}

function formOf({ log }: Options): 'pretty' | 'json' {
  if (log === 'pretty' || log === 'json') return log;
  return process.stderr.isTTY ? 'pretty' : 'json';
}

/** Tells a fault of the server itself, in one line where the log is made of such. */
function tellFault(error: unknown, form: 'pretty' | 'json' | undefined): void {
  const fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (form !== 'json') {
    warn(fault);
    return;
  }
  process.stderr.write(`${JSON.stringify({ time: new Date(systemClock.now()).toISOString(), fault })}\n`);
}

/** A first signal ends the server in order, a second one at once. */
function stopOnSignal(service: Service, keeping: DataDirectory, log: AccessLog | undefined): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    finish(service, keeping, log).then(
      () => process.exit(keeping.health()?.state === 'failed' ? 1 : 0),
      (error: unknown) => process.exit(reportError(error, process)),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

async function finish(service: Service, keeping: DataDirectory, log: AccessLog | undefined): Promise<void> {
  await service.close(grace);
  await keeping.close();
  await log?.flush();
}

function openness({ host, port }: Options): string {
  const plainly = port === undefined ? '' : ', and plain HTTP to who listens';
  return `${host} is open to others than this host${plainly}`;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.[0-9]{1,3}){3}$/.test(host);
}

function warn(message: string): void {
  process.stderr.write(`countersign: ${message}\n`);
}
