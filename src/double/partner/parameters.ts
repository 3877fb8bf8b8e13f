// Reads the parameters and forms of a request as the document describes their serialization (OpenAPI 3.1, Style Values), and checks them.
import type { HttpHeaders } from '../../http/fields.ts';
import { cookiesIn } from '../../http/headers/cookie.ts';
import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import { MalformedName, readBracketedNames } from './bracketed-names.ts';
import type { Operation, Parameter, PartnerDocument } from './document.ts';
import { formatPlace, isObject, type LocatedSchema } from './located.ts';
import type { SchemaChecker, Violation } from './schema-check.ts';

/** What a request has. */
export interface ReceivedParameters {
  /** The values of the path template by name, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: HttpHeaders;
}

/** Checks parameters. */
export interface ParameterChecker {
  /** Throws a Problem (400) if parameters are missing, unknown or malformed. */
  check(operation: Operation, received: ReceivedParameters): void;
  /** Returns the names of the documented parameters that a request has, with their places: `query.limit`. */
  present(operation: Operation, received: ReceivedParameters): readonly string[];
  /** Returns the value of a form, with the types of its schema. Throws a Problem (400) if the brackets of a name are malformed. */
  readForm(form: Iterable<readonly [string, unknown]>, schema: LocatedSchema): unknown;
}

/** Creates the checker. `isForeign` returns whether a query parameter belongs to credentials; undefined if any may be sent. */
export function createParameterChecker(
  document: PartnerDocument,
  checker: SchemaChecker,
  isForeign: ((name: string) => boolean) | undefined,
): ParameterChecker {
  const reading = new Reading(document, checker);
  return {
    check(operation, received) {
      const violations = operation.parameters.flatMap((parameter) => reading.violations(parameter, received));
      if (isForeign !== undefined)
        violations.push(...unknownParameters(operation, received, isForeign, reading));
      const [first] = violations;
      if (first !== undefined) throw createProblem(first, violations);
    },
    present: (operation, received) =>
      operation.parameters
        .filter((parameter) => reading.structure(parameter, received) !== undefined)
        .map(formatName),
    readForm(form, schema) {
      const structure = readBracketedNames(form);
      if (structure instanceof MalformedName)
        throw new Problem('malformed-content', `The content ${structure.detail}.`);
      return reading.convert(structure, schema);
    },
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

/** Describes a violation: the member, what is wrong, and the place of the rule. */
export function describe({ path, detail, rule }: Violation): string {
  return `${path === '' ? 'The content' : path} ${detail} (${rule}).`;
}

/** Returns the members of a problem with all violations. */
export function listMembers(violations: readonly Violation[]) {
  return {
    field: violations[0]?.path ?? '',
    errors: violations.map(({ path, rule, detail }) => ({ field: path, rule, detail })),
  };
}

function unknownParameters(
  operation: Operation,
  { query }: ReceivedParameters,
  isForeign: (name: string) => boolean,
  reading: Reading,
): Violation[] {
  const known = new Set<string>();
  for (const parameter of operation.parameters)
    if (parameter.place === 'query') {
      const names = reading.queryNames(parameter);
      if (names === undefined) return [];
      for (const name of names) known.add(name);
    }
  const unknown = [...new Set(query.keys())].filter(
    (name) => !known.has(name) && !known.has(`${beforeBracket(name)}[]`) && !isForeign(name),
  );
  return unknown.map((name) => ({
    path: `query.${name}`,
    rule: formatPlace(operation.at, 'parameters'),
    detail: 'is not a parameter of this operation',
  }));
}

function beforeBracket(name: string): string {
  const at = name.indexOf('[');
  return at === -1 ? name : name.slice(0, at);
}

/** Text, or a list or an object of it, before it gets the types of a schema. */
type Structure = unknown;

class Reading {
  readonly #document: PartnerDocument;
  readonly #checker: SchemaChecker;

  constructor(document: PartnerDocument, checker: SchemaChecker) {
    this.#document = document;
    this.#checker = checker;
  }

  violations(parameter: Parameter, received: ReceivedParameters): Violation[] {
    const structure = this.structure(parameter, received);
    const path = formatName(parameter);
    const violation = (rule: string, detail: string): Violation[] => [
      { path, rule: formatPlace(parameter.at, rule), detail },
    ];
    if (structure === undefined) return parameter.required ? violation('required', 'is missing') : [];
    if (structure instanceof MalformedName) return violation('style', structure.detail);
    const { schema, media } = parameter;
    if (schema === undefined) return [];
    const value =
      media === undefined ? this.convert(structure, schema) : parseValue(structure, media.essence);
    if (value === undefined) return violation('content', `is not ${media?.essence ?? 'readable'}`);
    return this.#checker
      .check(schema, value, 'request')
      .map((each) => ({ ...each, path: `${path}${each.path}` }));
  }

  /** Returns the parameter as it was sent; undefined if it is absent. */
  structure(parameter: Parameter, { path, query, headers }: ReceivedParameters): Structure {
    const { name, place, value } = parameter;
    const style = chooseStyle(parameter);
    switch (place) {
      case 'path':
        return Object.hasOwn(path, name)
          ? this.#split(parameter, unprefix(path[name] ?? '', style, name))
          : undefined;
      case 'header': {
        const text = headers.get(name.toLowerCase());
        return text === undefined ? undefined : this.#split(parameter, text);
      }
      case 'cookie': {
        const [text] = cookiesIn(headers, name);
        return text === undefined ? undefined : this.#split(parameter, text);
      }
      case 'query': {
        if (style === 'deepObject') {
          const own = [...query].filter(([key]) => beforeBracket(key) === name);
          const read = readBracketedNames(own);
          return read instanceof MalformedName ? read : read[name];
        }
        const isExploded = value['explode'] ?? style === 'form';
        if (isExploded === true && style === 'form' && this.#isOnlyObject(parameter)) {
          const known = this.#propertiesOf(parameter);
          const own = [...query].filter(([key]) => known.has(key));
          return own.length === 0 ? undefined : readBracketedNames(own);
        }
        const values = [...query.getAll(name), ...query.getAll(`${name}[]`)];
        if (values.length === 0) return undefined;
        if (values.length > 1) return values;
        return isExploded === true
          ? values[0]
          : this.#split(parameter, values[0] ?? '', chooseSeparator(style));
      }
    }
  }

  /** Returns the names that a parameter can have in a query; undefined for any. Those of lists and objects end in brackets too. */
  queryNames(parameter: Parameter): readonly string[] | undefined {
    const { name, value } = parameter;
    const style = chooseStyle(parameter);
    const isExploded = value['explode'] ?? style === 'form';
    if (style !== 'form' || isExploded !== true || !this.#isOnlyObject(parameter)) return [name, `${name}[]`];
    const known = [...this.#propertiesOf(parameter).keys()];
    return known.length === 0 ? undefined : known;
  }

  /** Splits a list or an object that is sent as one text. */
  #split(parameter: Parameter, text: string, separator = ','): Structure {
    const { types } = this.#document.combine(parameter.schema);
    if (parameter.media !== undefined || types.size === 0 || types.has('string')) return text;
    if (types.has('array')) return text === '' ? [] : text.split(separator);
    if (!types.has('object')) return text;
    const parts = text.split(separator);
    if (parameter.value['explode'] === true)
      return Object.fromEntries(
        parts.map((part) => [part.replace(/=.*$/s, ''), part.replace(/^[^=]*=?/, '')]),
      );
    return Object.fromEntries(
      parts.flatMap((part, index) => (index % 2 === 0 ? [[part, parts[index + 1] ?? '']] : [])),
    );
  }

  #isOnlyObject({ schema, media }: Parameter): boolean {
    const { types } = this.#document.combine(schema);
    return media === undefined && types.has('object') && !types.has('string') && !types.has('array');
  }

  #propertiesOf({ schema }: Parameter): ReadonlyMap<string, LocatedSchema> {
    return this.#document.combine(schema).properties;
  }

  /** Gives texts the types of a schema. */
  convert(structure: Structure, schema: LocatedSchema | undefined): unknown {
    if (schema === undefined) return structure;
    const { types, properties, additional, items } = this.#document.combine(schema);
    if (Array.isArray(structure)) {
      if (!types.has('array') && types.size > 0 && structure.length === 1)
        return this.convert(structure[0], schema);
      return structure.map((item) => this.convert(item, items));
    }
    if (isObject(structure)) {
      const isList = types.has('array') && !types.has('object');
      if (isList) return this.convert(Object.values(structure), schema);
      return Object.fromEntries(
        Object.entries(structure).map(([name, each]) => [
          name,
          this.convert(each, properties.get(name) ?? additional),
        ]),
      );
    }
    if (typeof structure !== 'string') return structure;
    if (types.has('array') && !types.has('string'))
      return this.convert(structure === '' ? [] : [structure], schema);
    const candidates = listCandidates(structure, types);
    if (candidates.length === 1) return candidates[0];
    return (
      candidates.find((each) => this.#checker.check(schema, each, 'request').length === 0) ?? candidates[0]
    );
  }
}

function chooseStyle({ value: { style }, place }: Parameter): string {
  if (typeof style === 'string') return style;
  return place === 'query' || place === 'cookie' ? 'form' : 'simple';
}

function chooseSeparator(style: string): string {
  if (style === 'spaceDelimited') return ' ';
  return style === 'pipeDelimited' ? '|' : ',';
}

/** Removes what the styles label and matrix write before a value. */
function unprefix(text: string, style: string, name: string): string {
  if (style === 'label') return text.replace(/^\./, '');
  return style === 'matrix' && text.startsWith(`;${name}=`) ? text.slice(name.length + 2) : text;
}

function parseValue(text: Structure, type: string): unknown {
  if (typeof text !== 'string' || !/[/+]json$/.test(type)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Returns the values that a text can stand for, the most specific one first. */
function listCandidates(text: string, types: ReadonlySet<string>): readonly unknown[] {
  const isAny = types.size === 0;
  const found: unknown[] = [];
  if ((types.has('integer') || types.has('number')) && numberForm.test(text)) found.push(Number(text));
  if (types.has('boolean') && (text === 'true' || text === 'false')) found.push(text === 'true');
  if (types.has('null') && (text === '' || text === 'null')) found.push(null);
  if (types.has('object') && /^\s*[{[]/.test(text)) found.push(parseValue(text, 'application/json'));
  if (isAny || types.has('string') || found.length === 0) found.push(text);
  return found;
}
