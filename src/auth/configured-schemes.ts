import { didYouMean } from '../did-you-mean.ts';
import type { JsonSchema } from '../shape/shape.ts';
import { createApiKeyScheme } from './api-key.ts';
import { apiKeyShape, readApiKeyOptions } from './api-key-options.ts';
import { aws4Shape, readAws4Options } from './aws4/options.ts';
import { createAws4Scheme } from './aws4/scheme.ts';
import { describeDeclared, readDeclaredOptions } from './declared/options.ts';
import { createDeclaredScheme } from './declared/scheme.ts';
import { findDefinition } from './defined/define-scheme.ts';
import { createDefinedScheme } from './defined/scheme.ts';
import type { SealedDefinition } from './defined/sealed.ts';
import { draftCavageShape, readDraftCavage } from './draft-cavage.ts';
import { messageSignaturesShape, readMessageSignaturesOptions } from './message-signatures/options.ts';
import { createMessageSignaturesScheme } from './message-signatures/scheme.ts';
import type { AcceptedSchemes, Scheme } from './scheme.ts';
import type { SchemeContext } from './scheme-context.ts';
import type { SchemeDeclarations } from './scheme-declarations.ts';
import { schemeNameForm } from './scheme-limits.ts';

/** A scheme of a configuration, with its options read and checked. */
export type ConfiguredScheme = {
  /** The name in the configuration. */
  readonly name: string;
  /** How long (ms) nonces or signatures are stored, in both directions; 0 if none are. */
  readonly window: number;
  /** Creates the scheme for a service. */
  create(context: SchemeContext): Scheme;
} & (
  | { readonly kind: 'message-signatures'; readonly options: ReturnType<typeof readMessageSignaturesOptions> }
  | { readonly kind: 'aws4'; readonly options: ReturnType<typeof readAws4Options> }
  | { readonly kind: 'api-key'; readonly options: ReturnType<typeof readApiKeyOptions> }
  | { readonly kind: 'declared'; readonly options: ReturnType<typeof readDeclaredOptions> }
  | { readonly kind: 'defined'; readonly options: SealedDefinition }
);

/** The names of the schemes that need no configuration. */
export const builtInSchemes: readonly string[] = ['basic', 'hmac', 'bearer', 'oauth'];

/**
 * Reads the schemes of a configuration.
 * @param where The path of the value, with which every message begins.
 * @throws RangeError if a scheme is invalid, with the nearest known name of a misspelt key
 */
export function readSchemes(value: unknown, where = 'schemes'): readonly ConfiguredScheme[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${where}: an object of schemes by name is expected`);
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
    properties: {
      'message-signatures': {
        description: 'HTTP Message Signatures (RFC 9421)',
        ...messageSignaturesShape.schema,
      },
      aws4: { description: 'AWS Signature Version 4', ...aws4Shape.schema },
      'draft-cavage': { description: 'draft-cavage-http-signatures-12', ...draftCavageShape.schema },
    },
    additionalProperties: { anyOf: [apiKeyShape.schema, ...describeDeclared()] },
  };
}

/** Returns an expression that matches a word without regard to case. JSON Schema has no flags. */
function ignoreCase(word: string): string {
  return [...word].map((each) => `[${each.toLowerCase()}${each.toUpperCase()}]`).join('');
}

function readScheme(name: string, declared: unknown, where: string): ConfiguredScheme {
  if (!schemeNameForm.test(name))
    throw new RangeError(`${where}: the name of a scheme has letters, digits and . _ - only, at most 64`);
  if (builtInSchemes.includes(name.toLowerCase()))
    throw new RangeError(`${where}: this scheme is built in and needs no configuration`);
  const defined = findDefinition(declared);
  if (defined !== undefined) {
    if (reservedNames.includes(name))
      throw new RangeError(`${where}: this name is that of a built-in scheme; choose another`);
    return configureDefined(name, defined);
  }
  if (name === 'message-signatures') {
    const options = readMessageSignaturesOptions(declared, where);
    const window = options.nonce === 'off' ? 0 : options.window * 1000;
    const create = (context: SchemeContext) => createMessageSignaturesScheme(name, options, context);
    return { kind: name, name, window, options, create };
  }
  if (name === 'aws4') {
    const options = readAws4Options(declared, where);
    const window = options.replay === 'refuse' ? options.window : 0;
    return {
      kind: name,
      name,
      window,
      options,
      create: (context) => createAws4Scheme(name, options, context),
    };
  }
  if (name === 'draft-cavage') return configureDefined(name, readDraftCavage(declared, where));
  if (isApiKey(declared)) {
    const options = readApiKeyOptions(declared, where);
    const create = (context: SchemeContext) => createApiKeyScheme(name, options, context);
    return { kind: 'api-key', name, window: 0, options, create };
  }
  const options = readDeclaredOptions(declared, where);
  const stores = options.nonce !== undefined || options.replay === 'refuse';
  const window = stores ? Math.max(options.timestamp?.window ?? 0, options.lifetime?.longest ?? 0) : 0;
  const create = (context: SchemeContext) => createDeclaredScheme(name, options, context);
  return { kind: 'declared', name, window, options, create };
}

/** The names that are reserved for schemes with options. */
const reservedNames: readonly string[] = ['message-signatures', 'aws4', 'draft-cavage'];

function configureDefined(name: string, options: SealedDefinition): ConfiguredScheme {
  const stores = options.nonce !== 'off' || options.replay === 'refuse';
  const create = (context: SchemeContext) => createDefinedScheme(name, options, context);
  const window = options.isDated ? options.window : options.undatedWindow;
  return { kind: 'defined', name, window: stores ? window : 0, options, create };
}

function isApiKey(declared: unknown): boolean {
  return (
    typeof declared === 'object' && declared !== null && 'secret' in declared && !('message' in declared)
  );
}

/**
 * Checks that a resource or a user names only schemes that exist.
 * @param what The place in messages: `schemes of the resource at /x`.
 * @throws RangeError with the nearest known name
 */
export function checkSchemeNames(
  names: AcceptedSchemes | undefined,
  configured: readonly ConfiguredScheme[],
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
