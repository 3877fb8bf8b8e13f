import { clientsShape, consumersShape } from '../accounts/registration.ts';
import { describeSchemes } from '../auth/configured-schemes.ts';
import { quotaShape } from '../auth/quota-policy.ts';
import { configuredUsersShape } from '../auth/user-declaration.ts';
import { collectionDefinitions, collectionsSchema } from '../collections/declaration-shape.ts';
import { seedShape } from '../collections/seed.ts';
import { oauth2Shape } from '../oauth/oauth2-shape.ts';
import { seconds } from '../shape/duration.ts';
import { flag, type JsonSchema, number, type Shape, text, word } from '../shape/shape.ts';
import { listGroups, type parts, schemaMember } from './file.ts';
import type { OptionSpec } from './spec.ts';
import { nonEmptyText, optionSpecs, textOrTexts, texts } from './table.ts';

const partSchemas: Readonly<Record<(typeof parts)[number], JsonSchema>> = {
  users: configuredUsersShape.schema,
  schemes: describeSchemes(),
  clients: clientsShape.schema,
  consumers: consumersShape.schema,
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
  const groups = [...listGroups(optionSpecs)].map(([name, keys]) => [name, groupSchema(name, keys)] as const);
  return Object.fromEntries([...options.map(([key, spec]) => [key, optionSchema(spec)] as const), ...groups]);
}

/** Returns the schema of a group of options. A list stands for the only list of the group. */
function groupSchema(name: string, keys: ReadonlyMap<string, string>): JsonSchema {
  const specs = [...keys].flatMap(([member, key]) => {
    const spec = optionSpecs.get(key);
    return spec === undefined ? [] : [{ member, spec }];
  });
  const properties = Object.fromEntries(specs.map(({ member, spec }) => [member, optionSchema(spec)]));
  const group = { type: 'object', properties, additionalProperties: false };
  const hasList = specs.some(({ spec }) => spec.kind === 'list');
  const description = `options of ${name}`;
  return hasList ? { description, anyOf: [texts.schema, group] } : { description, ...group };
}

function optionSchema(spec: OptionSpec): JsonSchema {
  const { about = '', byDefault } = spec;
  const description = byDefault === undefined ? about : `${about} (default: ${byDefault})`;
  const fallback = spec.kind === 'toggle' ? false : 'fallback' in spec ? spec.fallback : undefined;
  return {
    ...describeValue(spec).schema,
    ...(description === '' ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}

/** Describes the value of an option in a file. */
function describeValue(spec: OptionSpec): Shape<unknown> {
  switch (spec.kind) {
    case 'toggle':
      return flag();
    case 'whole':
      return spec.value === 'SECONDS'
        ? seconds({ min: spec.min, max: spec.max })
        : number({ min: spec.min, max: spec.max });
    case 'choice':
      return word(spec.words);
    case 'text':
      return spec.inFile ?? nonEmptyText;
    case 'list':
      return textOrTexts;
  }
}
