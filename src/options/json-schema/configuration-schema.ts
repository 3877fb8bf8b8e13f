import { clientsShape, consumersShape } from '../../accounts/registration.ts';
import { describeSchemes } from '../../auth/configured-schemes.ts';
import { quotaShape } from '../../auth/quota/policy.ts';
import { configuredUsersShape } from '../../auth/user-declaration.ts';
import { type parts, schemaMember } from '../file.ts';
import { collectionDefinitions, collectionsSchema, seedSchema } from './collection-schemas.ts';
import { addDescription, buildObject, type JsonSchema } from './json-schema.ts';
import { optionSchemas } from './option-schemas.ts';

const partSchemas: Readonly<Record<(typeof parts)[number], JsonSchema>> = {
  users: configuredUsersShape.schema,
  schemes: describeSchemes(),
  clients: clientsShape.schema,
  consumers: consumersShape.schema,
  collections: collectionsSchema,
  seed: seedSchema,
};

/**
 * Returns the JSON Schema (draft 2020-12) of a configuration file. It accepts every file that the server accepts. The server
 * also checks the grammar of values and references between parts.
 */
export function configurationSchema(): JsonSchema {
  const members = {
    [schemaMember]: addDescription('address of this schema, for editors', { type: 'string' }),
    ...optionSchemas(),
    ...partSchemas,
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Countersign',
    ...buildObject(members),
    $defs: { quota: quotaShape.schema, ...collectionDefinitions },
  };
}
