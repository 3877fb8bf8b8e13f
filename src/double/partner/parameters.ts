// Reads the parameters and forms of a request as the document describes their serialization (OpenAPI 3.1, Style Values), and checks them.

import type { HttpHeaders } from '../../http/fields.ts';
import { cookiesIn } from '../../http/headers/cookie.ts';
import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import { toPrintable } from '../../http/syntax/characters.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import type { Media, Operation, Parameter, PartnerDocument } from './document.ts';
import { formatPlace, isObject, type LocatedSchema } from './located.ts';
import { decodeQueryValue, decodeValue, type ReceivedParameters } from './received.ts';
import type { SchemaChecker } from './schema-check.ts';
import {
  type ConvertTexts,
  createConvertTexts,
  JsonPart,
  parseValue,
  type Structure,
} from './text-values.ts';
import { describe, listMembers, type Violation } from './violations.ts';

/** Checks parameters. */
export interface ParameterChecker {
  /** Throws a Problem (400) if parameters are missing, unknown or malformed. */
  check(operation: Operation, received: ReceivedParameters): void;
  /** Returns whether the values of a path are those of an operation; if its key has a fragment, also the fields. */
  fits(operation: Operation, received: ReceivedParameters): boolean;
  /** Returns the names of the documented parameters that a request has, with their places: `query.limit`. */
  present(operation: Operation, received: ReceivedParameters): readonly string[];
  /** Returns the value of a form, with the types of its schema. Throws a Problem (400) if the brackets of a name are malformed. */
  readForm(form: Iterable<readonly [string, unknown]>, media: Media): unknown;
}

/** What else a query may have. */
export interface QueryRules {
  /** Whether unknown parameters are refused. */
  readonly strictQuery: boolean;
  /** Returns whether a parameter belongs to credentials. */
  readonly isCredential: (name: string) => boolean;
}

/** Creates the checker. */
export function createParameterChecker(
  document: PartnerDocument,
  checker: SchemaChecker,
  { strictQuery, isCredential }: QueryRules,
): ParameterChecker {
  const reading = new Reading(document, checker, isCredential);
  return {
    check(operation, received) {
      const violations = operation.parameters.flatMap((parameter) =>
        reading.violations(parameter, operation, received),
      );
      if (strictQuery) violations.push(...unknownParameters(operation, received, isCredential, reading));
      const [first] = violations;
      if (first !== undefined) throw createProblem(first, violations);
    },
    fits: (operation, received) =>
      operation.parameters
        .filter(({ place }) => place === 'path' || (place === 'header' && operation.key.includes('#')))
        .every((parameter) => reading.violations(parameter, operation, received).length === 0),
    present: (operation, received) =>
      operation.parameters
        .filter((parameter) => reading.structure(parameter, operation, received) !== undefined)
        .map(formatName),
    readForm: (form, media) => reading.readForm(form, media),
  };
}

/** Returns the name of a parameter with its place: `query.limit`. */
export function formatName({ place, name }: Parameter): string {
  return `${place}.${name}`;
}

const problemTypes: Readonly<Record<Parameter['place'], ProblemType>> = {
  path: 'malformed-target',
  query: 'malformed-query',
  header: 'malformed-field',
  cookie: 'malformed-field',
};

function createProblem(first: Violation, violations: readonly Violation[]): Problem {
  const [place] = first.path.split('.');
  const type = Object.entries(problemTypes).find(([name]) => name === place)?.[1] ?? 'malformed-query';
  return new Problem(type, describe(first), { members: listMembers(violations) });
}

function unknownParameters(
  operation: Operation,
  received: ReceivedParameters,
  isCredential: (name: string) => boolean,
  reading: Reading,
): Violation[] {
  const inQuery = operation.parameters.filter(({ place }) => place === 'query');
  if (inQuery.some((parameter) => reading.isFree(parameter))) return [];
  const listed = inQuery.flatMap((parameter) => [...reading.queryNames(parameter)]);
  const known = new Set([...listed, ...operation.query.map(([name]) => name)]);
  const sent = new Set(received.query.map(({ name }) => name));
  return [...sent]
    .filter((name) => !known.has(name) && !known.has(`${beforeBracket(name)}[]`) && !isCredential(name))
    .map((name) => ({
      path: `query.${name}`,
      rule: formatPlace(operation.at, 'parameters'),
      detail: 'is not a parameter of this operation',
    }));
}

function beforeBracket(name: string): string {
  const at = name.indexOf('[');
  return at === -1 ? name : name.slice(0, at);
}

class Reading {
  readonly #document: PartnerDocument;
  readonly #checker: SchemaChecker;
  readonly #isCredential: (name: string) => boolean;
  readonly #convert: ConvertTexts;

  constructor(document: PartnerDocument, checker: SchemaChecker, isCredential: (name: string) => boolean) {
    this.#document = document;
    this.#checker = checker;
    this.#isCredential = isCredential;
    this.#convert = createConvertTexts(document, checker);
  }

  violations(parameter: Parameter, operation: Operation, received: ReceivedParameters): Violation[] {
    const structure = this.structure(parameter, operation, received);
    const path = formatName(parameter);
    const violation = (rule: string, detail: string): Violation[] => [
      { path, rule: formatPlace(parameter.at, rule), detail },
    ];
    if (structure === undefined) return parameter.required ? violation('required', 'is missing') : [];
    if (structure instanceof MalformedName) return violation('style', structure.detail);
    const { schema, media, value: declared, place } = parameter;
    if (schema === undefined) return [];
    if (structure === '' && place === 'query' && declared['allowEmptyValue'] === true) return [];
    const value =
      media === undefined ? this.#convert(structure, schema) : parseValue(structure, media.essence);
    if (value === undefined) return violation('content', `is not ${media?.essence ?? 'readable'}`);
    return this.#checker
      .check(schema, value, 'request')
      .map((each) => ({ ...each, path: `${path}${each.path}` }));
  }

  /** Returns the parameter as it was sent; undefined if it is absent. */
  structure(parameter: Parameter, operation: Operation, received: ReceivedParameters): Structure {
    const { name, place } = parameter;
    switch (place) {
      case 'path': {
        const sent = received.path.get(name);
        return sent === undefined ? undefined : this.#splitPath(parameter, sent);
      }
      case 'header': {
        const text = received.headers.get(name.toLowerCase());
        return text === undefined ? undefined : this.#splitField(parameter, text);
      }
      case 'cookie':
        return this.#cookie(parameter, received.headers);
      case 'query':
        return this.#query(parameter, operation, received);
    }
  }

  #cookie(parameter: Parameter, headers: HttpHeaders): Structure {
    if (isExploded(parameter) && this.#isOnlyObject(parameter)) {
      const members = [...this.#propertiesOf(parameter).keys()].flatMap((name) =>
        cookiesIn(headers, name).map((text) => [name, decodeValue(text)] as const),
      );
      return members.length === 0 ? undefined : Object.fromEntries(members);
    }
    const [text, ...others] = cookiesIn(headers, parameter.name);
    if (text === undefined) return undefined;
    if (others.length > 0 && this.#isList(parameter)) return [text, ...others].map(decodeValue);
    return this.#split(parameter, text, ',', decodeValue);
  }

  #query(parameter: Parameter, operation: Operation, received: ReceivedParameters): Structure {
    const { name } = parameter;
    const style = chooseStyle(parameter);
    const select = (isOwn: (name: string) => boolean): Structure => {
      const own = received.query.filter((pair) => isOwn(pair.name));
      return own.length === 0
        ? undefined
        : readBracketedNames(
            own.map((pair) => [pair.name, pair.value] as const),
            this.#propertiesOf(parameter),
          );
    };
    if (style === 'deepObject') {
      const read = select((key) => beforeBracket(key) === name);
      return read instanceof MalformedName || !isObject(read) ? read : read[name];
    }
    if (style === 'form' && isExploded(parameter) && this.#isOnlyObject(parameter)) {
      const known = this.#propertiesOf(parameter);
      if (!this.isFree(parameter)) return select((key) => known.has(key) || known.has(beforeBracket(key)));
      const others = operation.parameters.filter((each) => each.place === 'query' && each !== parameter);
      const foreign = new Set(others.flatMap((each) => [...this.queryNames(each)]));
      return select(
        (key) => !foreign.has(key) && !foreign.has(beforeBracket(key)) && !this.#isCredential(key),
      );
    }
    const own = received.query.filter((pair) => pair.name === name || pair.name === `${name}[]`);
    const [first] = own;
    if (first === undefined) return undefined;
    if (isExploded(parameter)) return own.length > 1 ? own.map(({ value }) => value) : first.value;
    const parts = own.map(({ value, encoded }) => {
      // Spaces and bars cannot stand in a URI, so the delimiters themselves are encoded.
      if (style === 'spaceDelimited') return this.#split(parameter, value, ' ', String);
      if (style === 'pipeDelimited') return this.#split(parameter, value, '|', String);
      return this.#split(parameter, encoded, ',', decodeQueryValue);
    });
    return parts.length > 1 ? parts.flat() : parts[0];
  }

  /** Returns the names that a parameter can have in a query. Those of lists and objects end in brackets too. */
  queryNames(parameter: Parameter): Iterable<string> {
    const { name } = parameter;
    const isSpread = chooseStyle(parameter) === 'form' && isExploded(parameter);
    if (!isSpread || !this.#isOnlyObject(parameter)) return [name, `${name}[]`];
    return [...this.#propertiesOf(parameter).keys()].flatMap((each) => [each, `${each}[]`]);
  }

  /** Returns whether a parameter of a query is an object whose members have names of any kind. */
  isFree(parameter: Parameter): boolean {
    const isSpread = chooseStyle(parameter) === 'form' && isExploded(parameter);
    if (!isSpread || !this.#isOnlyObject(parameter)) return false;
    const { properties, additional } = this.#document.combine(parameter.schema);
    return additional === undefined ? properties.size === 0 : additional.value !== false;
  }

  /** Splits a list or an object in a path (OpenAPI, Style Examples). */
  #splitPath(parameter: Parameter, sent: string): Structure {
    const { name } = parameter;
    const exploded = isExploded(parameter);
    switch (chooseStyle(parameter)) {
      case 'label': {
        const text = sent.replace(/^\./, '');
        // In OpenAPI 3.0, points separate in both forms.
        const separator = exploded || !text.includes(',') ? '.' : ',';
        return this.#split(parameter, text, separator, decodeValue);
      }
      case 'matrix': {
        const text = sent.replace(/^;/, '');
        const prefix = `${name}=`;
        if (exploded && this.#isOnlyObject(parameter)) return this.#split(parameter, text, ';', decodeValue);
        if (!exploded || !this.#isList(parameter))
          return this.#split(parameter, withoutPrefix(text, prefix, name), ',', decodeValue);
        return text.split(';').map((each) => decodeValue(withoutPrefix(each, prefix, name)));
      }
      default:
        return this.#split(parameter, sent, ',', decodeValue);
    }
  }

  /** Splits a list or an object in a field. White space around its parts and empty parts mean nothing (RFC 9110 §5.6.1). */
  #splitField(parameter: Parameter, text: string): Structure {
    if (parameter.media !== undefined || !this.#isSplit(parameter)) return text;
    const parts = text.split(',').map((part) => part.trim());
    const isKept = (part: string): boolean => part !== '' || !this.#isList(parameter);
    return this.#split(parameter, parts.filter(isKept).join(), ',', String);
  }

  /** Splits a list or an object that is sent as one text. `decode` decodes each of its parts. */
  #split(parameter: Parameter, text: string, separator: string, decode: (part: string) => string): Structure {
    if (parameter.media !== undefined || !this.#isSplit(parameter)) return decode(text);
    const parts = text === '' ? [] : text.split(separator);
    if (this.#isList(parameter)) return parts.map(decode);
    const pairs = isExploded(parameter)
      ? parts.map((part) => [part.replace(/=.*$/s, ''), part.replace(/^[^=]*=?/, '')])
      : parts.flatMap((part, index) => (index % 2 === 0 ? [[part, parts[index + 1] ?? '']] : []));
    return Object.fromEntries(pairs.map((pair) => pair.map(decode)));
  }

  /** Returns whether the value is a list or an object: one that may be a text is not split. */
  #isSplit({ schema }: Parameter): boolean {
    const { types } = this.#document.combine(schema);
    return !types.has('string') && (types.has('array') || types.has('object'));
  }

  #isList({ schema }: Parameter): boolean {
    const { types } = this.#document.combine(schema);
    return types.has('array') && !types.has('string');
  }

  #isOnlyObject({ schema, media }: Parameter): boolean {
    const { types } = this.#document.combine(schema);
    return media === undefined && types.has('object') && !types.has('string') && !types.has('array');
  }

  #propertiesOf({ schema }: Parameter): ReadonlyMap<string, LocatedSchema> {
    return this.#document.combine(schema).properties;
  }

  /** Returns the members of a form. The Encoding Object says which ones are JSON, or are lists or objects in one text. */
  readForm(form: Iterable<readonly [string, unknown]>, { value, schema }: Media): unknown {
    const { properties } = this.#document.combine(schema);
    const members = readBracketedNames(form, properties);
    if (members instanceof MalformedName)
      throw new Problem('malformed-content', `The content ${members.detail}.`);
    const encodings = isObject(value['encoding']) ? value['encoding'] : {};
    const decoded = Object.entries(members).map(([name, member]) => {
      const encoding = Object.hasOwn(encodings, name) ? encodings[name] : undefined;
      const property = properties.get(name);
      return [name, isObject(encoding) && property ? this.#decode(member, encoding, property) : member];
    });
    return this.#convert(Object.fromEntries(decoded), schema);
  }

  /** Reads a member of a form by its Encoding Object. */
  #decode(member: Structure, encoding: JsonSchema, schema: LocatedSchema): Structure {
    if (Array.isArray(member)) return member.map((each) => this.#decode(each, encoding, schema));
    if (typeof member !== 'string') return member;
    const { contentType, style, explode = style === undefined || style === 'form' } = encoding;
    if (typeof contentType === 'string' && /^[\w.+-]+\/(?:[\w.+-]+\+)?json\b/.test(contentType)) {
      const value = parseValue(member, 'application/json');
      return value === undefined ? member : new JsonPart(value);
    }
    if (explode === true) return member;
    const parameter = { name: '', place: 'query', required: false, media: undefined, at: schema.at } as const;
    return this.#split(
      { ...parameter, schema, value: encoding },
      member,
      delimiters[String(style)] ?? ',',
      String,
    );
  }
}

function chooseStyle({ value: { style }, place }: Parameter): string {
  if (typeof style === 'string') return style;
  return place === 'query' || place === 'cookie' ? 'form' : 'simple';
}

function isExploded(parameter: Parameter): boolean {
  const { explode } = parameter.value;
  return typeof explode === 'boolean' ? explode : ['form', 'cookie'].includes(chooseStyle(parameter));
}

/** The delimiters of styles other than `form`. */
const delimiters: Readonly<Record<string, string>> = { spaceDelimited: ' ', pipeDelimited: '|' };

function withoutPrefix(text: string, prefix: string, name: string): string {
  if (text === name) return '';
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

// Reads names with brackets, as forms and the style deepObject write objects and lists: `a[b]=1` is `{ a: { b: '1' } }`.

/** A name whose brackets are not read. */
class MalformedName {
  /** What is wrong: `has the name a[b, whose bracket is not closed`. */
  readonly detail: string;

  constructor(name: string, what: string) {
    this.detail = `has the name ${toPrintable(name)}, ${what}`;
  }
}

/** The brackets in one name, at most. */
const maxBrackets = 32;

/** What was sent with one name: texts or decoded parts, and members by the names in brackets. */
interface Entry {
  readonly texts: unknown[];
  isList: boolean;
  readonly members: Map<string, Entry>;
}

/**
 * Returns the values of a form or a query by name.
 *
 * @param documented The names whose brackets are a part of them, as documents write `ids[]` and `order[name]`. Default: none
 */
export function readBracketedNames(
  form: Iterable<readonly [string, unknown]>,
  documented: { has(name: string): boolean } = new Set(),
): Readonly<Record<string, unknown>> | MalformedName {
  const root = createEntry();
  for (const [key, value] of form) {
    const names = documented.has(key) ? [key] : splitName(key);
    if (names instanceof MalformedName) return names;
    insert(root, names, value);
  }
  return toMembers(root);
}

/** Splits `a[b][c]` into its names. */
function splitName(key: string): readonly string[] | MalformedName {
  const first = key.indexOf('[');
  if (first === -1) return [key];
  const names = [key.slice(0, first)];
  for (let at = first; at < key.length; ) {
    if (key[at] !== '[') return new MalformedName(key, 'which goes on behind a bracket');
    const end = key.indexOf(']', at);
    if (end === -1) return new MalformedName(key, 'whose bracket is not closed');
    if (names.length > maxBrackets)
      return new MalformedName(key, `which has more than ${maxBrackets} brackets`);
    names.push(key.slice(at + 1, end));
    at = end + 1;
  }
  return names;
}

function createEntry(): Entry {
  return { texts: [], isList: false, members: new Map() };
}

function insert(root: Entry, names: readonly string[], text: unknown): void {
  // `a[]` is an item of the list a.
  const isList = names.length > 1 && names.at(-1) === '';
  let entry = root;
  for (const name of isList ? names.slice(0, -1) : names) {
    const inner = entry.members.get(name) ?? createEntry();
    entry.members.set(name, inner);
    entry = inner;
  }
  entry.texts.push(text);
  entry.isList ||= isList;
}

function toMembers({ members }: Entry): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Array.from(members, ([name, entry]) => [name, toValue(entry)]));
}

function toValue(entry: Entry): unknown {
  const { texts, isList, members } = entry;
  if (members.size > 0) return texts.length === 0 ? toMembers(entry) : [toMembers(entry), ...texts];
  return isList || texts.length > 1 ? texts : texts[0];
}
