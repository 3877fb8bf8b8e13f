import { schemeNameForm } from '../accounts/user-rights.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { JsonSchema, Shape } from '../shape/shape.ts';
import { apiKeyShape, readApiKeyOptions } from './api-key/options.ts';
import { createApiKeyScheme } from './api-key/scheme.ts';
import { aws4Shape, readAws4Options } from './aws4/options.ts';
import { aws4Label, createAws4Scheme } from './aws4/scheme.ts';
import { describeDeclared, readDeclaredOptions } from './declared/options.ts';
import { createDeclaredScheme } from './declared/scheme.ts';
import { findDefinition } from './defined/define-scheme.ts';
import { createDefinedScheme } from './defined/scheme.ts';
import { draftCavageShape, readDraftCavage } from './draft-cavage/scheme.ts';
import { messageSignaturesShape, readMessageSignaturesOptions } from './rfc9421/options.ts';
import { createMessageSignaturesScheme, messageSignaturesLabel } from './rfc9421/scheme.ts';
import type { SchemeDeclarations } from './scheme-declarations.ts';
import type { AcceptedSchemes } from './verifier.ts';

/** A scheme of a configuration, with its options read and checked. */
export type ConfigurableScheme = ReturnType<
  | typeof createAws4Scheme
  | typeof createApiKeyScheme
  | typeof createDeclaredScheme
  | typeof createDefinedScheme
  | typeof createMessageSignaturesScheme
>;

/** The names of the schemes that need no configuration. */
export const builtInSchemes: readonly string[] = ['basic', 'hmac', 'bearer', 'oauth'];

/** The names that are reserved for schemes with options of their own. */
export const namedSchemes = ['message-signatures', 'aws4', 'draft-cavage'] as const;

/** A scheme with a name of its own. */
interface NamedScheme {
  // Functions, so that the code of the scheme is loaded on first use.
  readonly label: () => string;
  /** Describes its options. */
  readonly shape: () => Shape<unknown>;
  /** Creates the scheme. Throws RangeError if an option is invalid. */
  readonly create: (name: string, declared: unknown, where: string) => ConfigurableScheme;
}

const named: Readonly<Record<(typeof namedSchemes)[number], NamedScheme>> = {
  'message-signatures': {
    label: () => messageSignaturesLabel,
    shape: () => messageSignaturesShape,
    create: (name, declared, where) =>
      createMessageSignaturesScheme(name, readMessageSignaturesOptions(declared, where)),
  },
  aws4: {
    label: () => aws4Label,
    shape: () => aws4Shape,
    create: (name, declared, where) => createAws4Scheme(name, readAws4Options(declared, where)),
  },
  'draft-cavage': {
    label: () => 'draft-cavage-http-signatures-12',
    shape: () => draftCavageShape,
    create: (name, declared, where) => createDefinedScheme(name, readDraftCavage(declared, where)),
  },
};

/**
 * Reads the schemes of a configuration.
 * @param where The path of the value, with which every message begins.
 * @throws RangeError if a scheme is invalid, with the nearest known name of a misspelt key
 */
export function readSchemes(value: unknown, where = 'schemes'): readonly ConfigurableScheme[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${where} must be an object of schemes by name`);
  return Object.entries(value).flatMap(([name, declared]) =>
    declared === undefined ? [] : [readScheme(name, declared, `${where}.${name}`)],
  );
}

/** Checks the schemes of a configuration, as `readSchemes` does. Throws RangeError. */
export function checkSchemes(value: unknown, where?: string): asserts value is SchemeDeclarations {
  readSchemes(value, where);
}

/** Returns the JSON Schema of schemes by name. */
export function describeSchemes(): JsonSchema {
  return {
    description: 'authentication schemes by name',
    type: 'object',
    propertyNames: {
      pattern: schemeNameForm.source,
      not: { pattern: `^(?:${builtInSchemes.map(ignoreCase).join('|')})$` },
    },
    properties: Object.fromEntries(
      Object.entries(named).map(([name, { label, shape }]) => [
        name,
        { description: label(), ...shape().schema },
      ]),
    ),
    additionalProperties: { anyOf: [apiKeyShape.schema, ...describeDeclared()] },
  };
}

/** Returns an expression that matches a word without regard to case. JSON Schema has no flags. */
function ignoreCase(word: string): string {
  return [...word].map((each) => `[${each.toLowerCase()}${each.toUpperCase()}]`).join('');
}

/**
 * Reads a scheme.
 *
 * @param user The user of a declared scheme that names none. Default: one must be declared.
 * @throws RangeError as `readSchemes`
 */
export function readScheme(
  name: string,
  declared: unknown,
  where: string,
  user?: string,
): ConfigurableScheme {
  if (!schemeNameForm.test(name))
    throw new RangeError(`${where}: the name of a scheme has letters, digits and . _ - only, at most 64`);
  if (builtInSchemes.includes(name.toLowerCase()))
    throw new RangeError(`${where}: this scheme is built in and needs no configuration`);
  const defined = findDefinition(declared);
  const reserved = namedSchemes.find((each) => each === name);
  if (defined !== undefined) {
    if (reserved !== undefined)
      throw new RangeError(`${where}: this name is that of a built-in scheme; choose another`);
    return createDefinedScheme(name, defined);
  }
  if (reserved !== undefined) return named[reserved].create(name, declared, where);
  if (isApiKey(declared)) return createApiKeyScheme(name, readApiKeyOptions(declared, where));
  return createDeclaredScheme(name, readDeclaredOptions(declared, where, user));
}

function isApiKey(declared: unknown): boolean {
  return (
    typeof declared === 'object' &&
    declared !== null &&
    'secret' in declared &&
    !('message' in declared || 'preset' in declared)
  );
}

/**
 * Checks that a resource or a user names only schemes that exist.
 * @param what The place in messages: `schemes of the resource at /x`.
 * @throws RangeError with the nearest known name
 */
export function checkSchemeNames(
  names: AcceptedSchemes | undefined,
  configured: readonly Pick<ConfigurableScheme, 'name'>[],
  what: string,
): void {
  const known = [...builtInSchemes, ...configured.map(({ name }) => name)];
  // A string would be read letter by letter.
  if (names !== undefined && !Array.isArray(names))
    throw new RangeError(`${what} must be a list of names, such as ['${known.at(-1) ?? 'hmac'}']`);
  for (const name of names?.flat() ?? [])
    if (!known.includes(name))
      throw new RangeError(`${what}: there is no scheme ${JSON.stringify(name)}${didYouMean(name, known)}`);
}
