import { quotaShape } from '../accounts/quota-policy.ts';
import { describeClients, describeConsumers } from '../accounts/registration.ts';
import { configuredUsersShape } from '../accounts/user-declaration.ts';
import { collectionDefinitions, collectionsSchema } from '../collections/declaration-shape.ts';
import { seedShape } from '../collections/seed.ts';
import { oauth2Shape } from '../oauth/oauth2-shape.ts';
import { describeSchemes } from '../schemes/configured-schemes.ts';
import { type JsonSchema, listOf, text } from '../shape/shape.ts';
import { listGroups, type parts, schemaMember } from './file.ts';
import { type Option, textOption } from './option.ts';
import { optionSpecs } from './table.ts';

const partSchemas: Readonly<Record<(typeof parts)[number], JsonSchema>> = {
  users: configuredUsersShape.schema,
  schemes: describeSchemes(),
  clients: describeClients({ secretForms: ['text'] }).schema,
  consumers: describeConsumers().schema,
  oauth2: oauth2Shape.schema,
  collections: collectionsSchema(),
  seed: seedShape.schema,
};

/**
 * Returns the JSON Schema (draft 2020-12) of a configuration file. It accepts every file that the server accepts. The server
 * also checks the grammar of values and references between parts.
 */
export function configurationSchema(): JsonSchema {
  const members = {
    [schemaMember]: text('address of this schema, for editors').schema,
    ...optionSchemas(),
    ...partSchemas,
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Countersign',
    type: 'object',
    properties: members,
    additionalProperties: false,
    $defs: { quota: quotaShape.schema, ...collectionDefinitions() },
  };
}

/** Returns the schemas of all options and groups of a configuration file, by key. */
function optionSchemas(): Readonly<Record<string, JsonSchema>> {
  const options = [...optionSpecs].filter(([key]) => key !== 'config');
  const groups = [...listGroups()].map(([name, keys]) => [name, groupSchema(name, keys)] as const);
  return Object.fromEntries([
    ...options.map(([key, option]) => [key, optionSchema(option)] as const),
    ...groups,
  ]);
}

/** Returns the schema of a group of options. A list stands for the only list of the group. */
function groupSchema(name: string, keys: ReadonlyMap<string, string>): JsonSchema {
  const options = [...keys].flatMap(([member, key]) => {
    const option = optionSpecs.get(key);
    return option === undefined ? [] : [{ member, option }];
  });
  const properties = Object.fromEntries(options.map(({ member, option }) => [member, optionSchema(option)]));
  const group = { type: 'object', properties, additionalProperties: false };
  const description = `options of ${name}`;
  if (!options.some(({ option }) => option.repeatable)) return { description, ...group };
  return { description, anyOf: [listOf(textOption()).schema, group] };
}

function optionSchema({ shape, about, byDefault, fallback }: Option<unknown>): JsonSchema {
  const isFixed = fallback !== undefined && !Array.isArray(fallback);
  return {
    ...shape.schema,
    description: byDefault === undefined ? about : `${about} (default: ${byDefault})`,
    ...(isFixed && { default: fallback }),
  };
}
