import {
  maxPolicies,
  maxQuotaWindow,
  maxRequests,
  policyForm,
  policyNameForm,
} from '../../auth/quota/policy.ts';
import { groupsOf } from '../file.ts';
import { addressForm } from '../settings.ts';
import type { OptionSpec } from '../spec.ts';
import { optionSpecs, type TextKey } from '../table.ts';
import {
  arrayOf,
  definition,
  described,
  type JsonSchema,
  objectOf,
  text,
  textOfForm,
  wholeNumber,
  word,
} from './json-schema.ts';

/** Texts separated by commas, or an array of texts. */
const list: JsonSchema = { anyOf: [text, arrayOf(text)] };

/** The text options whose value in a file has another form than a non-empty string. */
const forms: Readonly<Partial<Record<TextKey, JsonSchema>>> = {
  host: textOfForm(addressForm),
  quota: definition('quota'),
  trustProxy: list,
};

/** A policy as text within a quota, where spaces may surround it. */
const policyText = `\\s*${policyForm.source.slice(1, -1)}\\s*`;

const policy = objectOf(
  {
    name: described('name in the fields RateLimit and RateLimit-Policy; by default the window', {
      ...textOfForm(policyNameForm),
    }),
    requests: wholeNumber(1, maxRequests),
    window: described('seconds, or a duration such as 30s, 1h or 7d', {
      anyOf: [wholeNumber(1, maxQuotaWindow), text],
    }),
  },
  ['requests', 'window'],
);

/** The schema of a quota. */
export const quotaSchema: JsonSchema = {
  description: 'how many requests are permitted in a time, such as 1000/1h; none: no limit',
  anyOf: [
    {
      type: 'string',
      pattern: `^(?:none|${policyText}(?:,${policyText}){0,${maxPolicies - 1}})$`,
    },
    policy,
    arrayOf(
      { anyOf: [{ type: 'string', pattern: `^${policyText}$` }, policy] },
      {
        minItems: 1,
        maxItems: maxPolicies,
      },
    ),
  ],
};

/** Returns the schemas of all options and groups of a configuration file, by key. */
export function optionSchemas(): Readonly<Record<string, JsonSchema>> {
  const options = [...optionSpecs].filter(([key]) => key !== 'config');
  const groups = [...groupsOf(optionSpecs)].map(([name, keys]) => [name, groupSchema(name, keys)] as const);
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
  const group = objectOf(
    Object.fromEntries(specs.map(({ member, key, spec }) => [member, optionSchema(key, spec)])),
  );
  const lists = specs.some(({ spec }) => spec.kind === 'list') ? [arrayOf(text)] : [];
  return described(`options of ${name}`, lists.length === 0 ? group : { anyOf: [...lists, group] });
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
