import { type Options, readOptions } from '../../options/options.ts';
import { noAccountFiles, readAccountFiles } from '../accounts/account-files.ts';
import { readSecretBox } from '../accounts/secret-box-key.ts';
import type { LoadedModule } from '../module/load-module.ts';
import { listKnownAccounts, readPartner, withComposed } from '../serve/compose.ts';
import { type Command, printLines, printMessage } from '../terminal.ts';
import { withModule } from '../with-module.ts';

/** Runs `countersign openapi`: prints the OpenAPI document of the server that the options describe, and changes nothing. */
export const openapi: Command = async (argv, environment, terminal) => {
  const given = readOptions(argv, environment);
  for (const warning of given.warnings) printMessage(warning, terminal.stderr);
  const secretBox = given.memory ? undefined : readSecretBox(given, environment);
  const document = await withModule(given, environment, (module) => buildDocument(given, module, secretBox));
  // A line break in the text of a document is escaped in JSON already.
  printLines(JSON.stringify(document, undefined, 2).split('\n'), terminal.stdout);
  return 0;
};

/** Composes the service in memory, as a start does, and returns its document. */
async function buildDocument(
  given: Options,
  module: LoadedModule | undefined,
  secretBox: ReturnType<typeof readSecretBox>,
): Promise<object> {
  const configured = module?.options ?? given;
  const place = module?.store?.documents ?? configured.data;
  const hasAccounts = module?.store === undefined ? !configured.memory : module.store.documents !== undefined;
  const accountFiles = hasAccounts ? await readAccountFiles(place, secretBox) : noAccountFiles;
  const moduleUsers = module?.users ?? new Map();
  const accounts = listKnownAccounts(configured, { place, accountFiles, moduleUsers });
  const { options, compose } = await readPartner(configured, accounts);
  return withComposed({ options, accounts, module, compose }, (service) =>
    service.openapi(listOrigins(options)),
  );
}

/** Returns the origins of the server, without ports that are chosen only when it starts. */
function listOrigins({ host, port, tlsPort }: Options): string[] {
  const name = host.includes(':') ? `[${host}]` : host;
  return [
    ...(port === undefined || port === 0 ? [] : [`http://${name}:${port}`]),
    ...(tlsPort === undefined || tlsPort === 0 ? [] : [`https://${name}:${tlsPort}`]),
  ];
}
