import { randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { MatchedRequests } from '../../double/matched-requests.ts';
import { type PreparedPartner, withPartner } from '../../double/partner/partner.ts';
import type { Options } from '../../options/options.ts';
import { DeclarationError } from '../../schema/error.ts';
import { defaultLimits, type ServiceOptions } from '../../service/options.ts';
import { createControllableService, type Service } from '../../service/service.ts';
import { CommandError } from '../errors.ts';
import type { KnownAccounts } from './compose.ts';

/** The document of a partner that has been read, and the options with the schemes that it declares. */
interface LoadedPartner {
  readonly options: Options;
  readonly prepared: PreparedPartner;
}

/**
 * Reads the document of `--partner`.
 *
 * @throws CommandError with the place in the document
 */
export async function loadPartner(
  options: Options,
  file: string,
  { clients }: Pick<KnownAccounts, 'clients'>,
): Promise<LoadedPartner> {
  try {
    const { schemes, collections, strict, validation } = options;
    const declared = { schemes, collections, ...(clients.size > 0 && { clients }) };
    const completed = await withPartner(declared, { document: file, strict, validation });
    return { options: { ...options, schemes: completed.options.schemes }, prepared: completed.prepared };
  } catch (error) {
    if (error instanceof DeclarationError) throw new CommandError([`--partner: ${error.message}`]);
    throw error;
  }
}

/** Returns the function that creates the service with the routes of the document. */
export function createComposer(
  prepared: PreparedPartner,
  { tls }: Pick<Options, 'tls'>,
): (options: ServiceOptions & KnownAccounts) => Service {
  return (options) => {
    const maxDepth = { ...defaultLimits, ...options.limits }.xmlDepth;
    const { fallback } = prepared.create({
      seed: randomBytes(16).toString('hex'),
      now: () => systemClock.now(),
      maxDepth,
      strictQuery: options.strictQuery === true,
      isCredential: (name) => service.isCredentialParameter(name),
      onError: options.onError,
      // Without a control port, there are no responses whose match could ask for a user or a scheme.
      requests: new MatchedRequests({
        findUser: async () => undefined,
        findScheme: () => undefined,
        bodyLimit: 0,
        maxDepth,
      }),
    });
    const service = createControllableService(options, {
      fallbacks: [fallback],
      scopes: prepared.scopes,
      assumesTls: tls === 'assumed',
    });
    return service;
  };
}
