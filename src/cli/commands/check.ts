import type { SecretBox } from '../../accounts/secret-box.ts';
import { formatUndeclaredWarning } from '../../collections/stored-data-check.ts';
import { formatCount } from '../../counted.ts';
import { OptionsError } from '../../options/error.ts';
import { type Options, readOptions } from '../../options/options.ts';
import { readSchemes } from '../../schemes/configured-schemes.ts';
import { plaintextPaths } from '../accounts/account-files.ts';
import { readSecretBox } from '../accounts/secret-box-key.ts';
import { reportError } from '../errors.ts';
import { awaitAll, type InspectedData, inspectData } from '../inspect-data.ts';
import type { LoadedModule } from '../module/load-module.ts';
import {
  checkNamedUsers,
  hasResources,
  type KnownAccounts,
  listKnownAccounts,
  readPartner,
  withComposed,
} from '../serve/compose.ts';
import { findExposedConfiguration } from '../serve/file-permissions.ts';
import { firstUserName } from '../serve/first-user.ts';
import { collectionName } from '../serve/stored-data.ts';
import { printLines, printMessage, type Terminal } from '../terminal.ts';
import type { Certificate } from '../tls/certificate.ts';
import { openCertificate } from '../tls/open-certificate.ts';
import { withModule } from '../with-module.ts';
import { repair } from './copy.ts';

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
    const given = readOptions(argv, environment, new Map([['--repair', 'value']]));
    const repairTo = given.flags.get('--repair');
    for (const warning of [...given.warnings, ...findExposedConfiguration(given)])
      printMessage(warning, terminal.stderr);
    if (repairTo !== undefined) return await repair(given, String(repairTo), terminal);
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
  const [data, certificate] = await awaitAll([
    inspectData(given, module, secretBox, terminal),
    given.tlsPort === undefined ? undefined : openCertificate(given),
  ]);
  for (const warning of data.warnings) printMessage(warning, terminal.stderr);
  for (const note of certificate?.notes ?? []) printMessage(note, terminal.stderr);
  const moduleUsers = module?.users ?? new Map();
  const accounts = listKnownAccounts(given, { ...data, moduleUsers });
  const { options, prepared, unreachable, compose } = await readPartner(given, accounts);
  const { faults = [], operations } = prepared ?? {};
  for (const warning of [...faults, ...unreachable, ...(prepared?.examine() ?? [])])
    printMessage(warning, terminal.stderr);
  const users = data.isNew && accounts.users.size === 0 ? [firstUserName] : accounts.users.keys();
  for (const warning of await checkNamedUsers(options, accounts.users, users))
    printMessage(warning, terminal.stderr);
  const resources = await withComposed({ options, accounts, module, compose }, async (service, inCode) => {
    await service.ready;
    return inCode;
  });
  printLines(summary(options, data, accounts, { certificate, secretBox, operations }), terminal.stdout);
  const isReachable = faults.length === 0 && unreachable.length === 0;
  // Resources in code can have collections of any name.
  const undeclared = hasResources(resources)
    ? undefined
    : formatUndeclaredWarning(data.items, options.collections);
  if (undeclared === undefined) return isReachable ? 0 : 1;
  printMessage(undeclared, terminal.stderr);
  return 1;
}

/** Returns a warning for each message that leaves a part of the request unsigned. */
async function findUnsignedParts({ schemes, config }: Options): Promise<string[]> {
  const configured = readSchemes(schemes);
  if (configured.length === 0) return [];
  const { listUnsignedWarnings } = await import('../../schemes/unsigned-parts.ts');
  return configured.flatMap((scheme) => listUnsignedWarnings(scheme, `${config}: schemes.${scheme.name}`));
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
