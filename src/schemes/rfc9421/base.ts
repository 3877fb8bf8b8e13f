// The signature base (RFC 9421 §2.5).

import {
  ignoreFault,
  parseDictionary,
  parseItem,
  parseList,
  readDictionary,
} from '../../http/structured-fields/parse.ts';
import {
  serializeDictionary,
  serializeItem,
  serializeList,
  serializeMember,
  serializeParameters,
} from '../../http/structured-fields/serialize.ts';
import {
  bytesItem,
  type Dictionary,
  type InnerList,
  type Item,
  type Parameters,
} from '../../http/structured-fields/value.ts';
import { bytesOf } from '../../http/syntax/octets.ts';
import { isRequestComponent, queryParameters, requestComponent } from './derived-components.ts';
import {
  identifierFault,
  identifierKey,
  type MessageKind,
  readName,
  stringParameter,
} from './identifiers.ts';
import {
  type FieldSource,
  isResponse,
  type Message,
  type RequestMessage,
  registeredTypes,
  type StructuredFieldType,
  type StructuredFieldTypes,
  typeOfField,
} from './message.ts';

/** A line of the signature base. */
export interface BaseLine {
  /** The component identifier, serialized: `"@method"`. */
  readonly name: string;
  readonly value: string;
}

/** The reason why there is no signature base. */
export interface BaseFault {
  /** `malformed` if the covered components are invalid for every message, `absent` if this message lacks one of them. */
  readonly kind: 'malformed' | 'absent';
  readonly fault: string;
}

/** The maximum number of components that a signature may cover. It bounds the work for a request that is not authenticated. */
const maxComponents = 64;

/** Returns whether the base could not be created. */
export function isBaseFault(base: object): base is BaseFault {
  return 'fault' in base;
}

/** Covered components whose identifiers are valid, so that they can be read from any message of a kind. */
export interface CoveredComponents {
  readonly items: readonly Item[];
  /** The identifiers, serialized: `"@method"`. */
  readonly names: readonly string[];
  /** The identifiers in the form of `identifierKey`. */
  readonly keys: ReadonlySet<string>;
}

/** Checks the identifiers of covered components. Returns a fault if one is invalid or occurs twice. */
export function coverComponents(items: readonly Item[], kind: MessageKind): CoveredComponents | BaseFault {
  if (items.length > maxComponents)
    return malformed(`the signature covers more than ${maxComponents} components`);
  const keys = new Set<string>();
  const names: string[] = [];
  for (const identifier of items) {
    const fault = identifierFault(identifier, kind);
    if (fault !== undefined) return malformed(fault);
    const name = serializeItem(identifier);
    const key = identifier.parameters.size < 2 ? name : identifierKey(identifier);
    if (keys.size === keys.add(key).size) return malformed(`the component ${name} is covered twice`);
    names.push(name);
  }
  return { items, names, keys };
}

/**
 * Creates the lines of the signature base, the last one for `@signature-params`. Returns a fault if the message does not have a
 * component.
 *
 * @param parameters The signature parameters, as in Signature-Input.
 * @param types The types of structured fields beside the registered ones.
 */
export function baseLines(
  { items, names }: CoveredComponents,
  parameters: Parameters,
  message: Message,
  types: StructuredFieldTypes = {},
): readonly BaseLine[] | BaseFault {
  const components = new Components(message, types);
  const lines: BaseLine[] = [];
  for (const identifier of items) {
    const name = names[lines.length] ?? '';
    const value = components.computeValue(identifier);
    if (value === undefined) return absent(`the message has no component ${name}`);
    if (typeof value === 'object') return value;
    // Neither a line feed nor anything outside ASCII (RFC 9421 §2.5).
    if (!/^[\t -~]*$/.test(value))
      return absent(`the component ${name} has characters outside ASCII; use bs`);
    lines.push({ name, value });
  }
  const list = names.join(' ');
  lines.push({ name: parametersName, value: `(${list})${serializeParameters(parameters)}` });
  return lines;
}

/** The name of the last line. */
export const parametersName = '"@signature-params"';

/**
 * Creates the lines of the signature base like `baseLines`. Also returns a fault if a component identifier is invalid or occurs
 * twice.
 *
 * @param covered The covered components and the signature parameters, as in Signature-Input.
 */
export function createBase(
  covered: InnerList,
  message: Message,
  types: StructuredFieldTypes = {},
): readonly BaseLine[] | BaseFault {
  const components = coverComponents(covered.items, isResponse(message) ? 'response' : 'request');
  return isBaseFault(components) ? components : baseLines(components, covered.parameters, message, types);
}

function malformed(fault: string): BaseFault {
  return { kind: 'malformed', fault };
}

function absent(fault: string): BaseFault {
  return { kind: 'absent', fault };
}

/** Joins the lines to the text that is signed. It has no line feed at its end. */
export function formatBase(lines: readonly BaseLine[]): string {
  let text = '';
  for (const { name, value } of lines) text += text === '' ? `${name}: ${value}` : `\n${name}: ${value}`;
  return text;
}

/** The value of a component; undefined if the message does not have it, or the reason why it cannot be covered. */
type ComponentValue = string | BaseFault | undefined;

/** Reads the components of one message. Queries and dictionaries are parsed once, however many of their members are covered. */
class Components {
  readonly #message: Message;
  readonly #types: StructuredFieldTypes;
  #query: ReadonlyMap<string, readonly string[]> | undefined;
  #dictionaries: Map<string, Dictionary | undefined> | undefined;

  constructor(message: Message, types: StructuredFieldTypes) {
    this.#message = message;
    this.#types = types;
  }

  /** Returns the value of a component. The identifier is valid. */
  computeValue(identifier: Item): ComponentValue {
    const name = readName(identifier);
    const { parameters } = identifier;
    const message = this.#message;
    if (!isResponse(message)) return this.#valueIn(message, name, parameters);
    if (name === '@status') return String(message.status);
    return this.#valueIn(parameters.has('req') ? message.request : message, name, parameters);
  }

  #valueIn(message: Message, name: string, parameters: Parameters): ComponentValue {
    if (!isResponse(message)) {
      if (isRequestComponent(name)) return requestComponent(name, message);
      if (name === '@query-param') return this.#queryParameter(message, stringParameter(parameters, 'name'));
    }
    if (parameters.size === 0) return readPlainValue(message.fields, name);
    const source = parameters.has('tr') ? message.trailers : message.fields;
    return source === undefined ? undefined : this.#fieldValue(source, name, parameters);
  }

  #queryParameter(request: RequestMessage, name = ''): ComponentValue {
    this.#query ??= queryParameters(request);
    const [value, ...others] = this.#query.get(name) ?? [];
    // RFC 9421 §2.2.8.
    return others.length === 0
      ? value
      : absent(`the query has several parameters "${name}", so a signature must not cover one of them`);
  }

  #fieldValue(source: FieldSource, name: string, parameters: Parameters): ComponentValue {
    if (parameters.has('bs')) return readWrappedValue(source, name);
    const value = readPlainValue(source, name);
    if (value === undefined) return undefined;
    const key = stringParameter(parameters, 'key');
    if (key !== undefined) return this.#memberValue(value, name, key, parameters);
    return parameters.has('sf') ? this.#strictValue(value, name) : value;
  }

  /** Returns the strict serialization of a field of known type (RFC 9421 §2.1.1). */
  #strictValue(value: string, name: string): string | BaseFault {
    const type = this.#findType(name);
    if (type === undefined)
      return absent(`the type of the structured field "${name}" is not known, which sf requires`);
    return (
      ignoreFault(() => serializeStrictly(value, type)) ??
      absent(`the value of "${name}" is not a structured field of the type ${type}`)
    );
  }

  /** Returns a member of a dictionary (RFC 9421 §2.1.2). A field of unknown type is one if it can be parsed as one. */
  #memberValue(value: string, name: string, key: string, parameters: Parameters): ComponentValue {
    const isDictionary = (this.#findType(name) ?? 'dictionary') === 'dictionary';
    const place = `${name}${parameters.has('tr') ? ';tr' : ''}${parameters.has('req') ? ';req' : ''}`;
    this.#dictionaries ??= new Map();
    if (!this.#dictionaries.has(place))
      this.#dictionaries.set(place, isDictionary ? readDictionary(value) : undefined);
    const dictionary = this.#dictionaries.get(place);
    if (dictionary === undefined) return absent(`"${name}" is not a dictionary, which key requires`);
    const member = dictionary.get(key);
    return member === undefined ? undefined : serializeMember(member);
  }

  #findType(name: string): StructuredFieldType | undefined {
    return typeOfField(name, registeredTypes) ?? typeOfField(name, this.#types);
  }
}

function serializeStrictly(value: string, type: StructuredFieldType): string {
  switch (type) {
    case 'item':
      return serializeItem(parseItem(value));
    case 'list':
      return serializeList(parseList(value));
    case 'dictionary':
      return serializeDictionary(parseDictionary(value));
  }
}

/** Returns the lines of a field without surrounding white space and line folding, joined with a comma and a space (RFC 9421 §2.1). */
function readPlainValue(source: FieldSource, name: string): string | undefined {
  const value = source.get(name);
  if (value === undefined || isCanonical(value)) return value;
  return source.getAll(name).map(canonicalLine).join(', ');
}

/** Returns whether a value is surely one canonical line, or lines that need no change. */
function isCanonical(value: string): boolean {
  if (isSpace(value.charCodeAt(0)) || isSpace(value.charCodeAt(value.length - 1))) return false;
  return !value.includes('\n') && (!value.includes(',') || !/[ \t],|,[ \t]{2}|,\t/.test(value));
}

/** Replaces line folding with a space, and removes white space around the line, in linear time. */
function canonicalLine(line: string): string {
  return line.includes('\n') ? line.split('\n').map(trimLine).join(' ') : trimLine(line);
}

function trimLine(line: string): string {
  let start = 0;
  let end = line.length;
  while (isSpace(line.charCodeAt(start))) start += 1;
  while (end > start && isSpace(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d;
}

/** Returns a list with the bytes of each line (RFC 9421 §2.1.3). */
function readWrappedValue(source: FieldSource, name: string): string | undefined {
  const lines = source.getAll(name);
  if (lines.length === 0) return undefined;
  return serializeList(lines.map((line) => bytesItem(bytesOf(canonicalLine(line)))));
}
