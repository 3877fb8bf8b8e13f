import { randomBytes } from 'node:crypto';
import { compose } from '../../double/compose.ts';
import { type PreparedPartner, withPartner } from '../../double/partner/partner.ts';
import type { Options } from '../../options/options.ts';
import { DeclarationError } from '../../schema/error.ts';
import type { ServiceOptions } from '../../service/options.ts';
import type { Service } from '../../service/service.ts';
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
  const random = { seed: randomBytes(16).toString('hex'), bytes: randomBytes };
  return (options) => compose({ ...options, tls }, { random, partner: prepared, observed: false }).service;
}
