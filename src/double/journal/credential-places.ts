import type { ConfiguredScheme } from '../../auth/configured-schemes.ts';
import { listRelatedFields } from '../../auth/explain/related-names.ts';
import { fieldIn, parameterIn } from '../../signature/declared/places.ts';

/** The places where the configured schemes have credentials. */
export interface CredentialPlaces {
  /** Names of fields in lower case. */
  readonly fields: ReadonlySet<string>;
  /** Names of parameters of the query. */
  readonly parameters: ReadonlySet<string>;
}

/** Returns the fields and parameters that contain secrets or signatures of these schemes. */
export function listCredentialPlaces(schemes: readonly ConfiguredScheme[]): CredentialPlaces {
  const fields = new Set<string>();
  const parameters = new Set<string>();
  for (const scheme of schemes) {
    if (scheme.kind === 'api-key') {
      // Authorization and Cookie are credentials anyway.
      const { secret } = scheme.options;
      if ('field' in secret) fields.add(secret.field.toLowerCase());
      if ('query' in secret) parameters.add(secret.query);
    }
    if (scheme.kind !== 'declared' && scheme.kind !== 'defined') continue;
    const { place } = scheme.options;
    const { passphrase, otherFields = [] } = scheme.kind === 'declared' ? scheme.options : {};
    for (const name of [fieldIn(place), ...otherFields, passphrase?.field])
      if (name !== undefined) fields.add(name.toLowerCase());
    const parameter = parameterIn(place);
    if (parameter !== undefined) parameters.add(parameter);
  }
  // A signature in a misnamed field is one nevertheless.
  for (const name of [...fields]) for (const other of listRelatedFields(name)) fields.add(other);
  return { fields, parameters };
}
