// Translates schemas of a document to JSON Schema 2020-12 that stands alone, and checks values with a validator that others wrote.
import { formatExpression } from '../../schema/pattern/ecma.ts';
import { findFaultInMode } from '../../schema/pattern/ecma-syntax.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { formatPlace, isObject, type LocatedSchema, type PartnerDocument } from './document.ts';
import type { Direction, SchemaChecker, Violation } from './schema-check.ts';
import { listTypes, readBounds, textsIn } from './schema-parts.ts';

/** A compiled schema: returns whether a value is valid, and leaves the errors in `errors`. Ajv's functions are of this type. */
export interface SchemaValidator {
  (value: unknown): unknown;
  readonly errors?: readonly SchemaError[] | null;
}

/** An error of a validator, as Ajv describes it. */
interface SchemaError {
  /** The JSON Pointer of the value. */
  readonly instancePath?: string;
  readonly schemaPath?: string;
  readonly message?: string;
  /** What the rule found, such as the name of a missing member. */
  readonly params?: object;
}

/** Compiles a schema of JSON Schema 2020-12, whose references are local. */
export type CompileSchema = (schema: Readonly<Record<string, unknown>>) => SchemaValidator;

/** Returns a checker that uses a validator. Each schema is compiled on first use. */
export function createValidatingChecker(
  document: Pick<PartnerDocument, 'version' | 'resolve' | 'patterns'>,
  compile: CompileSchema,
): SchemaChecker {
  const compiled = new Map<string, { readonly validate: SchemaValidator; readonly places: Places }>();
  const compileOnce = (schema: LocatedSchema, direction: Direction) => {
    const key = `${direction} ${schema.at}`;
    const existing = compiled.get(key);
    if (existing !== undefined) return existing;
    const { translated, places } = translateSchema(schema, document, direction);
    const made = { validate: compile(translated), places };
    compiled.set(key, made);
    return made;
  };
  return {
    check(given, value, direction) {
      const isReference = isObject(given.value) && Object.keys(given.value).join() === '$ref';
      const schema = isReference ? document.resolve(given) : given;
      const { validate, places } = compileOnce(schema, direction);
      if (validate(value) === true) return [];
      const errors = validate.errors ?? [{}];
      return errors.map(
        (error): Violation => ({
          ...describeError(error),
          rule: formatRule(error.schemaPath ?? '', schema.at, places),
        }),
      );
    },
  };
}

/** Members of `params` that name the member which an error is about, and what is wrong with it. */
const memberDetails: readonly (readonly [name: string, detail: string])[] = [
  ['missingProperty', 'is missing'],
  ['additionalProperty', 'is not a known member'],
  ['unevaluatedProperty', 'is not a known member'],
];

/** Returns the path of an error and what is wrong. The path of Ajv is that of the object if a member is missing or unknown. */
function describeError({ instancePath = '', message = 'is not valid', params = {} }: SchemaError) {
  for (const [name, detail] of memberDetails) {
    const member: unknown = Reflect.get(params, name);
    if (typeof member === 'string') return { path: formatPlace(instancePath, member), detail };
  }
  return { path: instancePath, detail: message };
}

/** Members of a schema that are a schema, a list of schemas or a map of them. */
const single = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];
const further = ['unevaluatedProperties', 'unevaluatedItems'];
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const maps = ['properties', 'dependentSchemas'];

/** Members that are not those of JSON Schema, or that only describe. */
const omitted: ReadonlySet<string> = new Set([
  ...['nullable', 'discriminator', 'example', 'examples', 'xml', 'externalDocs', 'deprecated', 'readOnly'],
  ...['writeOnly', 'title', 'description', 'default', '$defs', 'definitions', '$id', '$anchor', '$comment'],
]);

/** The places in the document of the definitions of a translated schema, by their names. */
type Places = ReadonlyMap<string, string>;

/** Returns the place in the document of a rule in a translated schema. */
function formatRule(schemaPath: string, at: string, places: Places): string {
  const [, name = '', rest = ''] = /^#\/\$defs\/([^/]+)(.*)$/s.exec(schemaPath) ?? [];
  const place = places.get(name);
  return place === undefined ? at + schemaPath.replace(/^#/, '') : place + rest;
}

/** Returns a schema with all that it refers to, without the members that do not belong to the direction. */
function translateSchema(
  schema: LocatedSchema,
  document: Pick<PartnerDocument, 'version' | 'resolve' | 'patterns'>,
  direction: Direction,
): { readonly translated: JsonSchema; readonly places: Places } {
  const definitions = new Map<string, unknown>();
  const names = new Map<string, string>();
  const other = direction === 'request' ? 'readOnly' : 'writeOnly';
  const isOmitted = (property: unknown, at: string): boolean =>
    isObject(property) &&
    (property[other] === true ||
      Object.is(getMember(document.resolve({ value: property, at }).value, other), true));

  /** Returns a pattern in Unicode mode, which validators use; one that matches all texts if it is not enforced. */
  const translatePattern = (source: string): string => {
    const pattern = document.patterns.find(source);
    if (pattern === undefined) return '';
    return findFaultInMode(source, 'u') === undefined ? source : formatExpression(pattern.expression);
  };
  /** Returns a map of patterns. One that is not enforced permits all members. */
  const translatePatterns = (patterns: JsonSchema, at: string): JsonSchema =>
    Object.fromEntries(
      Object.entries(patterns).map(([source, each]) => [
        translatePattern(source),
        document.patterns.find(source) === undefined ? true : translate(each, at),
      ]),
    );
  const translate = (value: unknown, at: string): unknown => {
    if (!isObject(value)) return value;
    const reference = referenceOf(value, at);
    if (reference !== undefined && document.version === '3.0') return reference;
    const translated: Record<string, unknown> = { ...reference };
    for (const [name, member] of Object.entries(value)) {
      if (name === '$ref' || omitted.has(name) || name.startsWith('x-')) continue;
      if (single.includes(name) || further.includes(name)) translated[name] = translate(member, at);
      else if (lists.includes(name) && Array.isArray(member))
        translated[name] = member.map((each) => translate(each, at));
      else if (name === 'pattern' && typeof member === 'string') translated[name] = translatePattern(member);
      else if (name === 'patternProperties' && isObject(member))
        translated[name] = translatePatterns(member, at);
      else if (maps.includes(name) && isObject(member))
        translated[name] = Object.fromEntries(
          Object.entries(member).map(([key, each]) => [key, translate(each, at)]),
        );
      else translated[name] = member;
    }
    const { properties } = value;
    if (isObject(properties))
      translated['required'] = textsIn(value['required']).filter(
        (name) => !isOmitted(Object.hasOwn(properties, name) ? properties[name] : undefined, at),
      );
    return document.version === '3.0' ? withoutOldKeywords(value, translated) : translated;
  };
  const referenceOf = (value: JsonSchema, at: string): JsonSchema | undefined => {
    if (typeof value['$ref'] !== 'string') return undefined;
    const target = document.resolve({ value: { $ref: value['$ref'] }, at });
    const name =
      names.get(target.at) ?? `${target.at.replace(/^.*\//, '').replace(/[^\w-]+/g, '.')}.${names.size}`;
    if (!names.has(target.at)) {
      names.set(target.at, name);
      definitions.set(name, translate(target.value, target.at));
    }
    return { $ref: `#/$defs/${name}` };
  };

  const translated = translate(schema.value, schema.at);
  const root = isObject(translated) ? translated : { allOf: [translated] };
  const places = new Map([...names].map(([at, name]) => [name, at]));
  if (definitions.size === 0) return { translated: root, places };
  return { translated: { ...root, $defs: Object.fromEntries(definitions) }, places };
}

function getMember(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** Replaces the members of OpenAPI 3.0 that JSON Schema writes in another way. */
function withoutOldKeywords(value: JsonSchema, translated: Record<string, unknown>): JsonSchema {
  const types = listTypes(value);
  const { above, below } = readBounds(value);
  const { exclusiveMinimum, exclusiveMaximum } = value;
  if (types !== undefined) translated['type'] = types.length === 1 ? types[0] : types;
  for (const [name, flag, bound, plain] of [
    ['exclusiveMinimum', exclusiveMinimum, above, 'minimum'],
    ['exclusiveMaximum', exclusiveMaximum, below, 'maximum'],
  ] as const) {
    if (typeof flag !== 'boolean') continue;
    delete translated[name];
    if (!flag) continue;
    delete translated[plain];
    translated[name] = bound;
  }
  return translated;
}
