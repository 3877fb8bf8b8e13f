import { didYouMean } from '../../did-you-mean.ts';
import {
  derivedComponents,
  identifierFault,
  identifierKey,
  parseIdentifier,
} from '../../signature/message-signatures/identifiers.ts';
import { defaultComponents } from '../../signature/message-signatures/sign.ts';
import type {
  StructuredFieldType,
  StructuredFieldTypes,
} from '../../signature/message-signatures/structured-field-types.ts';
import { readMembers, readWindow, readWord } from '../option-values.ts';
import { type ResponseSigningOptions, readResponseSigning } from './response-signing.ts';

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

const known = ['components', 'window', 'nonce', 'tag', 'structuredFields', 'signResponses'];
/** The values of `nonce`. */
export const nonceModes = ['off', 'optional', 'required'] as const;
/** The types of structured fields. */
export const fieldTypes = ['item', 'list', 'dictionary'] as const;

/**
 * Reads the options of the scheme from a configuration.
 *
 * @param where The path of the value, for error messages: `schemes.message-signatures`.
 * @throws RangeError if a key is unknown or a value is invalid
 */
export function readMessageSignaturesOptions(value: unknown, where: string): MessageSignaturesOptions {
  const members = readMembers(value, where, known);
  return {
    components: componentsOf(members['components'], `${where}.components`),
    window: readWindow(members['window'], `${where}.window`, 300),
    nonce: readWord(members['nonce'], `${where}.nonce`, nonceModes, 'optional'),
    tag: tagOf(members['tag'], `${where}.tag`),
    structuredFields: typesOf(members['structuredFields'], `${where}.structuredFields`),
    signResponses: signingOf(members['signResponses'], `${where}.signResponses`),
  };
}

function signingOf(value: unknown, where: string): ResponseSigningOptions | undefined {
  return value === undefined ? undefined : readResponseSigning(value, where);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the type of a structured field. Throws RangeError if it is not one. */
function fieldTypeOf(value: unknown, where: string): StructuredFieldType {
  if (value === undefined) throw new RangeError(`${where}: a type is expected`);
  return readWord(value, where, fieldTypes, 'item');
}

function componentsOf(value: unknown, where: string): readonly string[] {
  if (value === undefined) return defaultComponents;
  if (!Array.isArray(value) || value.length === 0)
    throw new RangeError(`${where}: a list with at least one component is expected`);
  const keys = new Set<string>();
  return value.map((component: unknown, index) => {
    const at = `${where}[${index}]`;
    if (typeof component !== 'string')
      throw new RangeError(`${at}: a component such as "@method" is expected`);
    const key = keyOf(component, at);
    if (keys.has(key)) throw new RangeError(`${at}: the component ${key} is listed twice`);
    keys.add(key);
    return component;
  });
}

/** Returns the identifier in one form. Throws RangeError if it is invalid in a request. */
function keyOf(component: string, where: string): string {
  const identifier = withoutSyntaxError(() => parseIdentifier(component));
  if (typeof identifier === 'string') throw new RangeError(`${where}: ${identifier}`);
  const fault = identifierFault(identifier, 'request');
  if (fault !== undefined) throw new RangeError(`${where}: ${fault}${nearestDerived(component, fault)}`);
  return identifierKey(identifier);
}

function withoutSyntaxError<Value>(parse: () => Value): Value | string {
  try {
    return parse();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function nearestDerived(component: string, fault: string): string {
  return fault.endsWith('is not known') ? didYouMean(component, derivedComponents) : '';
}

/** The value of the parameter `tag`. */
export const tagForm = /^[ -~]+$/;

function tagOf(value: unknown, where: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !tagForm.test(value))
    throw new RangeError(`${where}: a text of printable ASCII characters is expected`);
  return value;
}

function typesOf(value: unknown, where: string): StructuredFieldTypes {
  if (value === undefined) return {};
  if (!isRecord(value)) throw new RangeError(`${where}: an object is expected`);
  const types = Object.entries(value).map(([name, type]): [string, StructuredFieldType] => {
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name))
      throw new RangeError(`${where}: ${JSON.stringify(name)} is not the name of a field`);
    return [name.toLowerCase(), fieldTypeOf(type, `${where}.${name}`)];
  });
  return Object.fromEntries(types);
}
