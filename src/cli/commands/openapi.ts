import { type Options, readOptions } from '../../options/options.ts';
import { createMemoryStore } from '../../store/memory.ts';
import { type AccountFiles, noAccountFiles, readAccountFiles } from '../accounts/account-files.ts';
import { readSecretBox } from '../accounts/secret-box-key.ts';
import { reportError } from '../errors.ts';
import type { LoadedModule } from '../module/load-module.ts';
import { composeService, type KnownAccounts, listKnownAccounts } from '../serve/compose.ts';
import { newStoreId } from '../serve/store-id.ts';
import { printLines, printMessage, type Terminal } from '../terminal.ts';
import { withModule } from '../with-module.ts';

/**
 * Runs `countersign openapi`: prints the OpenAPI document of the server that the options describe, and changes nothing. Returns the
 * exit status.
 */
export async function openapi(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const given = readOptions(argv, environment);
    for (const warning of given.warnings) printMessage(warning, terminal.stderr);
    const secretBox = given.memory ? undefined : readSecretBox(given, environment);
    const document = await withModule(given, environment, (module) =>
      buildDocument(given, module, secretBox),
    );
    // A line break in the text of a document is escaped in JSON already.
    printLines(JSON.stringify(document, undefined, 2).split('\n'), terminal.stdout);
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}

/** Composes the service in memory, as a start does, and returns its document. */
async function buildDocument(
  given: Options,
  module: LoadedModule | undefined,
  secretBox: ReturnType<typeof readSecretBox>,
): Promise<object> {
  const configured = module?.options ?? given;
  const place = module?.store?.documents ?? configured.data;
  const hasAccounts = module?.store === undefined ? !configured.memory : module.store.documents !== undefined;
  const accountFiles: AccountFiles = hasAccounts ? await readAccountFiles(place, secretBox) : noAccountFiles;
  const accounts = listKnownAccounts(configured, {
    place,
    accountFiles,
    moduleUsers: module?.users ?? new Map(),
  });
  const { options, compose } = await withPartnerOptions(configured, accounts);
  const store = module?.store ?? createMemoryStore({ storeId: newStoreId() });
  const resources = (await module?.resources(store)) ?? {};
  const service = composeService(options, accounts, { resources }, compose);
  try {
    return await service.openapi(listOrigins(options));
  } finally {
    await service.close({ grace: 0 });
  }
}

/** Adds the schemes of the document of `--partner`, and its operations. Its code is loaded only if there is one. */
async function withPartnerOptions(
  options: Options,
  accounts: KnownAccounts,
): Promise<{ options: Options; compose?: Parameters<typeof composeService>[3] }> {
  if (options.partner === undefined) return { options };
  const { createComposer, loadPartner } = await import('../serve/partner.ts');
  const partner = await loadPartner(options, options.partner, accounts);
  return { options: partner.options, compose: createComposer(partner.prepared, options) };
}

/** Returns the origins of the server, without ports that are chosen only when it starts. */
function listOrigins({ host, port, tlsPort }: Options): string[] {
  const name = host.includes(':') ? `[${host}]` : host;
  return [
    ...(port === undefined || port === 0 ? [] : [`http://${name}:${port}`]),
    ...(tlsPort === undefined || tlsPort === 0 ? [] : [`https://${name}:${tlsPort}`]),
  ];
}
