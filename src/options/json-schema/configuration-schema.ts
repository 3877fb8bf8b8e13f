import { clientsShape, consumersShape } from '../../accounts/registration.ts';
import { describeSchemes } from '../../auth/configured-schemes.ts';
import { quotaShape } from '../../auth/quota/policy.ts';
import { configuredUsersShape } from '../../auth/user-declaration.ts';
import { listGroups, type parts, schemaMember } from '../file.ts';
import { addressForm } from '../settings.ts';
import type { OptionSpec } from '../spec.ts';
import { optionSpecs, type TextKey } from '../table.ts';
import { collectionDefinitions, collectionsSchema, seedSchema } from './collection-schemas.ts';
import {
  addDescription,
  buildArray,
  buildObject,
  definition,
  type JsonSchema,
  text,
  textOfForm,
  wholeNumber,
  word,
} from './json-schema.ts';

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

/** Texts separated by commas, or an array of texts. */
const list: JsonSchema = { anyOf: [text, buildArray(text)] };

/** The text options whose value in a file has another form than a non-empty string. */
const forms: Readonly<Partial<Record<TextKey, JsonSchema>>> = {
  host: textOfForm(addressForm),
  quota: definition('quota'),
  trustProxy: list,
};

/** Returns the schemas of all options and groups of a configuration file, by key. */
function optionSchemas(): Readonly<Record<string, JsonSchema>> {
  const options = [...optionSpecs].filter(([key]) => key !== 'config');
  const groups = [...listGroups(optionSpecs)].map(([name, keys]) => [name, groupSchema(name, keys)] as const);
  return Object.fromEntries([
    ...options.map(([key, spec]) => [key, optionSchema(key, spec)] as const),
    ...groups,
  ]);
}

/** Returns the schema of a group of options. A list stands for the only list of the group. */
function groupSchema(name: string, keys: ReadonlyMap<string, string>): JsonSchema {
  const specs = [...keys].flatMap(([member, key]) => {
    const spec = optionSpecs.get(key);
    return spec === undefined ? [] : [{ member, key, spec }];
  });
  const group = buildObject(
    Object.fromEntries(specs.map(({ member, key, spec }) => [member, optionSchema(key, spec)])),
  );
  const lists = specs.some(({ spec }) => spec.kind === 'list') ? [buildArray(text)] : [];
  return addDescription(`options of ${name}`, lists.length === 0 ? group : { anyOf: [...lists, group] });
}

function optionSchema(key: string, spec: OptionSpec): JsonSchema {
  const { about = '', byDefault } = spec;
  const description = byDefault === undefined ? about : `${about} (default: ${byDefault})`;
  const fallback = spec.kind === 'toggle' ? false : 'fallback' in spec ? spec.fallback : undefined;
  return {
    ...(description === '' ? {} : { description }),
    ...valueSchema(key, spec),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}

function valueSchema(key: string, spec: OptionSpec): JsonSchema {
  switch (spec.kind) {
    case 'toggle':
      return { type: 'boolean' };
    case 'whole':
      return wholeNumber(spec.least, spec.most);
    case 'choice':
      return word(spec.words);
    case 'text':
      return new Map(Object.entries(forms)).get(key) ?? text;
    case 'list':
      return list;
  }
}
