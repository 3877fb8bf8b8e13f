import type { AuthScheme } from '../../auth/auth-scheme.ts';
import { listRelatedFields } from '../../auth/explain/related-names.ts';

/** The places where the configured schemes have credentials. */
export interface CredentialPlaces {
  /** Names of fields in lower case. */
  readonly fields: ReadonlySet<string>;
  /** Names of parameters of the query. */
  readonly parameters: ReadonlySet<string>;
}

/** The parts of credentials that are secrets or signatures. */
const secretRoles: readonly string[] = ['', 'secret', 'passphrase'];

/** Returns the fields and parameters that contain secrets or signatures of these schemes. */
export function listCredentialPlaces(schemes: readonly AuthScheme[]): CredentialPlaces {
  const fields = new Set<string>();
  const parameters = new Set<string>();
  for (const { role, in: kind, name } of schemes.flatMap(({ places }) => places)) {
    if (!secretRoles.includes(role)) continue;
    if (kind === 'query') parameters.add(name);
    // Authorization and Cookie contain credentials anyway.
    if (kind === 'header') fields.add(name.toLowerCase());
  }
  // A signature in a misnamed field is one nevertheless.
  for (const name of [...fields]) for (const other of listRelatedFields(name)) fields.add(other);
  return { fields, parameters };
}
