import type { ConfiguredScheme } from '../../auth/configured-schemes.ts';

/** The places where the configured schemes have credentials. */
export interface CredentialPlaces {
  /** Names of fields in lower case. */
  readonly fields: ReadonlySet<string>;
  /** Names of parameters of the query. */
  readonly parameters: ReadonlySet<string>;
}

/** Returns the fields and parameters that contain secrets or signatures of these schemes. */
export function credentialPlacesOf(schemes: readonly ConfiguredScheme[]): CredentialPlaces {
  const fields = new Set<string>();
  const parameters = new Set<string>();
  for (const scheme of schemes) {
    if (scheme.kind === 'api-key') fields.add(scheme.options.secret.field.toLowerCase());
    if (scheme.kind !== 'declared' && scheme.kind !== 'defined') continue;
    const { place } = scheme.options;
    if ('field' in place) fields.add(place.field.toLowerCase());
    else parameters.add(place.query);
  }
  return { fields, parameters };
}
