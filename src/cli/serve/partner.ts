import { randomBytes } from 'node:crypto';
import type { ClientRegistration } from '../../accounts/registration.ts';
import { DeclarationError } from '../../collections/fields/error.ts';
import { compose } from '../../double/compose.ts';
import { type PreparedPartner, withPartner } from '../../double/partner/partner.ts';
import type { Options } from '../../options/options.ts';
import type { Service } from '../../service/service.ts';
import { CommandError } from '../errors.ts';
import { shellQuote } from '../terminal.ts';

/** The options with which a service with the routes of a document is composed. */
type ComposedOptions = Omit<Parameters<typeof compose>[0], 'tls'>;

/** The document of a partner that has been read, and the options with the schemes that it declares. */
interface LoadedPartner {
  readonly options: Options;
  readonly prepared: PreparedPartner;
  /** Creates the service with the routes of the document. */
  readonly compose: (options: ComposedOptions) => Service;
  /** Why no request can be accepted by some operations, with the command that adds the client that is missing. */
  readonly unreachable: readonly string[];
}

/**
 * Reads the document of `--partner`.
 *
 * @throws CommandError with the place in the document
 */
export async function loadPartner(
  options: Options,
  file: string,
  { clients }: { readonly clients: ReadonlyMap<string, ClientRegistration> },
): Promise<LoadedPartner> {
  try {
    const { schemes, collections, strict, validation } = options;
    const declared = { schemes, collections, ...(clients.size > 0 && { clients }) };
    const completed = await withPartner(declared, { document: file, strict, validation });
    const { prepared } = completed;
    return {
      options: { ...options, schemes: completed.options.schemes },
      prepared,
      compose: createComposer(prepared, options),
      unreachable: prepared.unreachable.map((reason) => reason + describeCommand(options, prepared)),
    };
  } catch (error) {
    if (error instanceof DeclarationError) throw new CommandError([`--partner: ${error.message}`]);
    throw error;
  }
}

/** Returns the command that registers the missing client in the data directory. Without one, the option does. */
function describeCommand({ memory, data }: Options, { neededClient }: PreparedPartner): string {
  if (memory || neededClient === undefined) return '';
  const { grants, redirectUris = [], scopes = [] } = neededClient;
  const flags = [
    ...redirectUris.map((uri) => ['--redirect-uri', uri]),
    ...grants.map((grant) => ['--grant', grant]),
    ...scopes.map((scope) => ['--scope', scope]),
    ...(data === undefined ? [] : [['--data', data]]),
  ];
  const command = ['countersign', 'client', 'add', 'app', ...flags.flat()].map(shellQuote).join(' ');
  return `; or run: ${command}`;
}

function createComposer(prepared: PreparedPartner, { tls }: Pick<Options, 'tls'>): LoadedPartner['compose'] {
  const random = { seed: randomBytes(16).toString('hex'), bytes: randomBytes };
  return (options) => compose({ ...options, tls }, { random, partner: prepared, observed: false }).service;
}
