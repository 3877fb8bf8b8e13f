import { listGroups } from '../file.ts';
import { addressForm } from '../settings.ts';
import type { OptionSpec } from '../spec.ts';
import { optionSpecs, type TextKey } from '../table.ts';
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

/** Texts separated by commas, or an array of texts. */
const list: JsonSchema = { anyOf: [text, buildArray(text)] };

/** The text options whose value in a file has another form than a non-empty string. */
const forms: Readonly<Partial<Record<TextKey, JsonSchema>>> = {
  host: textOfForm(addressForm),
  quota: definition('quota'),
  trustProxy: list,
};

/** Returns the schemas of all options and groups of a configuration file, by key. */
export function optionSchemas(): Readonly<Record<string, JsonSchema>> {
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
