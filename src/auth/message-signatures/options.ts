import { didYouMean } from '../../did-you-mean.ts';
import { isToken } from '../../http/syntax/token.ts';
import type { ShapeFault, ShapePath } from '../../shape/fault.ts';
import { grammar, mapOf, object, optional, read, type ShapesOf, text, word } from '../../shape/shape.ts';
import {
  derivedComponents,
  identifierFault,
  identifierKey,
  parseIdentifier,
} from '../../signature/message-signatures/identifiers.ts';
import type { StructuredFieldTypes } from '../../signature/message-signatures/message.ts';
import { defaultComponents } from '../../signature/message-signatures/sign.ts';
import type { MessageSignaturesDeclaration } from '../scheme-declarations.ts';
import { fieldNameShape, windowShape } from '../scheme-shapes.ts';
import { type ResponseSigningOptions, responseSigningShape } from './response-signing.ts';

/** The options of the scheme for HTTP Message Signatures (RFC 9421). */
export interface MessageSignaturesOptions {
  /**
   * The components that a signature must cover, as in `@method`, `content-type;sf` or `@query-param;name="id"`.
   * `content-digest` is required in addition if there is content. Default: method, authority, path and query.
   */
  readonly components: readonly string[];
  /** Maximum difference between `created` and the clock, in either direction (s). Default: 300. */
  readonly window: number;
  /** Whether a signature must have a nonce. A nonce is accepted once, unless this is `off`. Default: `optional`. */
  readonly nonce: 'off' | 'optional' | 'required';
  /** The value that the parameter `tag` must have. Default: any, or none. */
  readonly tag: string | undefined;
  /** The types of structured fields that are not registered, for the component parameters `sf` and `key`. Default: none. */
  readonly structuredFields: StructuredFieldTypes;
  /** How responses are signed. Default: not at all. */
  readonly signResponses: ResponseSigningOptions | undefined;
}

/** Describes the declaration of the scheme. */
export const messageSignaturesShape = object({
  components: optional(
    grammar(
      {
        description: 'components that a signature must cover',
        type: 'array',
        items: { type: 'string', minLength: 1 },
        minItems: 1,
      },
      'a list of components',
      readComponents,
    ),
  ),
  window: optional(windowShape),
  nonce: optional(word(['off', 'optional', 'required'], 'whether a signature must have a nonce')),
  tag: optional(
    text('the value of the parameter tag', {
      form: /^[ -~]+$/,
      expected: 'a text of printable ASCII characters',
    }),
  ),
  structuredFields: optional(
    mapOf(word(['item', 'list', 'dictionary']), 'types of structured fields that are not registered', {
      names: fieldNameShape.schema,
      checkName: checkFieldName,
    }),
  ),
  signResponses: optional(responseSigningShape),
} satisfies ShapesOf<MessageSignaturesDeclaration>);

/**
 * Reads the options of the scheme from a configuration.
 *
 * @param where The path of the value, for error messages: `schemes.message-signatures`.
 * @throws RangeError if a key is unknown or a value is invalid
 */
export function readMessageSignaturesOptions(value: unknown, where: string): MessageSignaturesOptions {
  const declared = read(messageSignaturesShape, value, [where]);
  const { components = defaultComponents, window = 300, nonce = 'optional', tag, signResponses } = declared;
  const { structuredFields = {} } = declared;
  const types = Object.entries(structuredFields).map(([name, type]) => [name.toLowerCase(), type]);
  return { components, window, nonce, tag, structuredFields: Object.fromEntries(types), signResponses };
}

function checkFieldName(name: string, path: ShapePath): readonly ShapeFault[] {
  if (isToken(name)) return [];
  const says = (what: string): string => `${what}: ${JSON.stringify(name)} is not the name of a field`;
  return [{ path: path.slice(0, -1), kind: 'rule', says }];
}

function readComponents(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new RangeError(`${where} must be a list with at least one component`);
  const keys = new Set<string>();
  return value.map((component: unknown, index) => {
    const at = `${where}[${index}]`;
    if (typeof component !== 'string') throw new RangeError(`${at} must be a component such as "@method"`);
    const key = normalizeComponent(component, at);
    if (keys.has(key)) throw new RangeError(`${at}: the component ${key} is listed twice`);
    keys.add(key);
    return component;
  });
}

/** Returns the identifier in one form. Throws RangeError if it is invalid in a request. */
function normalizeComponent(component: string, where: string): string {
  const identifier = catchSyntaxError(() => parseIdentifier(component));
  if (typeof identifier === 'string') throw new RangeError(`${where}: ${identifier}`);
  const fault = identifierFault(identifier, 'request');
  if (fault !== undefined) throw new RangeError(`${where}: ${fault}${suggestDerived(component, fault)}`);
  return identifierKey(identifier);
}

function catchSyntaxError<Value>(parse: () => Value): Value | string {
  try {
    return parse();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function suggestDerived(component: string, fault: string): string {
  return fault.endsWith('is not known') ? didYouMean(component, derivedComponents) : '';
}
