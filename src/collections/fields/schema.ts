import { isUnprefixedName } from '../../xml/name-form.ts';
import { defaultJsonLength } from './any-json.ts';
import { DeclarationError } from './error.ts';
import type { Declarations, ReadField, ServerValue } from './field.ts';
import { compilePattern, maxSteps, maxTextLength, type Pattern } from './pattern/match.ts';
import { PatternError } from './pattern/syntax.ts';
import {
  compare,
  listViolations,
  type ReferenceTo,
  type Simple,
  type SimpleTypeName,
  toStoredValue,
  type Violation,
} from './simple-type.ts';

/** The compiled structure of a collection's items. */
export interface Shape {
  /** The element name of the collection: `articles`. */
  readonly element: string;
  /** The element name of an item: `article`. */
  readonly item: string;
  readonly schema: Schema;
  /** The item as a field, which is the root of its document. */
  readonly root: Field;
  /** The fields that clients cannot send. */
  readonly readOnlyFields: readonly Field[];
  /** The name of the field that has the id of the item. */
  readonly idField: string | undefined;
}

/** The fields of an element, in the order in which they are written. */
export interface Schema {
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
}

/** The content of a field that has fields of its own. */
interface ElementContent {
  readonly kind: 'element';
  readonly schema: Schema;
}

/** The content of a list. `of` describes each of its items. */
export interface ListContent {
  readonly kind: 'list';
  readonly of: Field;
  /** The bounds of the number of items. */
  readonly minItems: number;
  readonly maxItems: number | undefined;
}

/** The content of a field. */
export type Content = Simple | ElementContent | ListContent;

/** A compiled field, with its markup. */
export interface Field {
  readonly name: string;
  /** The index in its element. */
  readonly index: number;
  readonly required: boolean;
  /** Whether clients cannot send it. */
  readonly readOnly: boolean;
  /** Whether no two items have the same value. */
  readonly unique: boolean;
  /** What the server sets it to. */
  readonly set: ServerValue | undefined;
  /** The value if it is not sent. */
  readonly default: string | number | boolean | undefined;
  readonly content: Content;
  readonly attributes: readonly Attribute[];
  readonly attributeByName: ReadonlyMap<string, Attribute>;
  /** `<price`, `<price>`, `</price>`, `"price":` */
  readonly begin: string;
  readonly open: string;
  readonly close: string;
  readonly key: string;
}

/** A compiled attribute, with its markup. */
export interface Attribute {
  readonly name: string;
  /** The index in its field. */
  readonly index: number;
  readonly required: boolean;
  readonly content: Simple;
  /** ` currency="`, `"currency":` */
  readonly begin: string;
  readonly key: string;
}

/**
 * Compiles the declaration of a collection's items.
 * @param element the element name of the collection
 * @param item the element name of an item
 * @param fields the declarations of the fields by name
 * @param path the position of the collection in the configuration
 * @throws {DeclarationError} for an invalid declaration, with its path
 */
export function compileShape(
  element: string,
  item: string,
  fields: Declarations<ReadField>,
  path: string,
): Shape {
  checkName(element, `${path}.element`);
  checkName(item, `${path}.item`);
  const schema = compileSchema(fields, `${path}.fields`);
  if (schema.byName.has('href')) {
    throw new DeclarationError(
      'clash',
      `${path}.fields.href`,
      'the name is reserved: in a list, href is the address of an item',
    );
  }
  const readOnlyFields = schema.fields.filter(({ readOnly }) => readOnly);
  const [idField, other] = readOnlyFields.filter((field) => field.set === 'id');
  if (other !== undefined)
    throw new DeclarationError('value', `${path}.fields.${other.name}.set`, 'another field has the id');
  const root = createField(item, 0, { required: true }, { kind: 'element', schema }, []);
  return { element, item, schema, root, readOnlyFields, idField: idField?.name };
}

function compileSchema(declared: Declarations<ReadField>, path: string): Schema {
  const fields = Object.entries(declared).map(([name, declaration], index) => {
    checkName(name, `${path}.${name}`);
    return compileField(name, index, declaration, `${path}.${name}`);
  });
  return { fields, byName: new Map(fields.map((field) => [field.name, field])) };
}

function compileField(name: string, index: number, declared: ReadField, path: string): Field {
  const content = compileContent(declared, path);
  const attributes = compileAttributes(declared.attributes, content, `${path}.attributes`);
  checkServerValue(declared, content, attributes, path);
  checkReference(declared, content, attributes, path);
  const missing = compileDefault(declared, content, attributes, `${path}.default`);
  return createField(name, index, declared, content, attributes, missing);
}

/** Refuses a reference that is no field of the item itself, has attributes, or could not be cleared. */
function checkReference(
  { required, onDelete }: ReadField,
  content: Content,
  attributes: readonly Attribute[],
  path: string,
): void {
  const within = content.kind === 'element' && content.schema.fields.find((field) => referenceIn(field));
  if (within) {
    const at = `${path}.fields.${within.name}`;
    throw new DeclarationError('value', at, 'reference is for fields of the item itself');
  }
  if (content.kind !== 'simple' || content.reference === undefined) return;
  if (attributes.length > 0)
    throw new DeclarationError('value', `${path}.attributes`, 'a reference has no attributes');
  if (onDelete === 'clear' && required === true)
    throw new DeclarationError('value', `${path}.onDelete`, 'clear is for a field that is not required');
}

/** Returns what a field refers to; undefined if it is no reference. */
export function referenceIn({ content }: Field): ReferenceTo | undefined {
  return content.kind === 'simple' ? content.reference : undefined;
}

/** The types of the fields that a server sets. */
const serverTypes: Readonly<Record<ServerValue, SimpleTypeName>> = {
  created: 'dateTime',
  modified: 'dateTime',
  creator: 'text',
  id: 'text',
};

/** Refuses a field that a server cannot set. */
function checkServerValue(
  { set, readOnly }: ReadField,
  content: Content,
  attributes: readonly Attribute[],
  path: string,
): void {
  if (content.kind === 'element' && content.schema.fields.some((field) => field.readOnly))
    throw new DeclarationError('value', path, 'readOnly and set are for fields of the item itself');
  if (content.kind === 'element' && content.schema.fields.some((field) => field.unique))
    throw new DeclarationError('value', path, 'unique is for fields of the item itself');
  if (set === undefined) return;
  if (readOnly === false)
    throw new DeclarationError('value', `${path}.readOnly`, 'a field that the server sets is read-only');
  const type = serverTypes[set];
  if (content.kind !== 'simple' || content.type !== type || attributes.length > 0)
    throw new DeclarationError(
      'value',
      `${path}.set`,
      `${set} is for a field of the type ${type} without attributes`,
    );
}

function compileContent(declared: ReadField, path: string): Content {
  const { type, fields = {}, of, item = 'item' } = declared;
  if (type === 'element') return { kind: 'element', schema: compileSchema(fields, `${path}.fields`) };
  if (type !== 'list') return compileSimple(type, declared, path);
  if (of === undefined) throw new Error('a list that was read has `of`');
  checkName(item, `${path}.item`);
  const value = typeof of === 'string' ? { type: of } : of;
  const { minItems = 0, maxItems } = declared;
  if (maxItems !== undefined && minItems > maxItems)
    throw new DeclarationError(
      'range',
      `${path}.minItems`,
      `${minItems} is greater than maxItems, which is ${maxItems}`,
    );
  return { kind: 'list', of: compileField(item, 0, value, `${path}.of`), minItems, maxItems };
}

/** Returns the rule that a number of items violates; undefined if it violates none. */
export function findCountViolation(
  { minItems, maxItems }: ListContent,
  count: number,
): Violation | undefined {
  if (count < minItems)
    return { rule: 'minItems', detail: `must have at least ${minItems} values, has ${count}` };
  if (maxItems !== undefined && count > maxItems)
    return { rule: 'maxItems', detail: `must have at most ${maxItems} values, has ${count}` };
  return undefined;
}

/** Returns the value of a field that is not sent. Refuses one that the field cannot have. */
function compileDefault(
  { default: value, readOnly, set }: ReadField,
  content: Content,
  attributes: readonly Attribute[],
  path: string,
): Field['default'] {
  if (value === undefined) return undefined;
  if (content.kind !== 'simple' || attributes.length > 0)
    throw new DeclarationError('value', path, 'is for a field with a single value, without attributes');
  if (set !== undefined || readOnly === true)
    throw new DeclarationError('value', path, 'is for a field that clients send');
  const [violation] = listViolations(content, String(value));
  if (violation !== undefined) throw new DeclarationError('value', path, violation.detail);
  return toStoredValue(content, String(value));
}

function compileAttributes(
  declared: Declarations<ReadField> = {},
  content: Content,
  path: string,
): Attribute[] {
  return Object.entries(declared).map(([name, declaration], index) => {
    const { type, required = false } = declaration;
    const at = `${path}.${name}`;
    checkName(name, at);
    refuseClash(name, content, at);
    if (type === 'element' || type === 'list') throw new Error('an attribute that was read is simple');
    const simple = compileSimple(type, declaration, at);
    return { name, index, required, content: simple, begin: ` ${name}="`, key: `"${name}":` };
  });
}

/**
 * In JSON, attributes are members beside an element's fields, or beside the member `value` of any other
 * field.
 */
function refuseClash(name: string, content: Content, path: string): void {
  if (content.kind !== 'element' && name === 'value') {
    throw new DeclarationError(
      'clash',
      path,
      'the name is reserved: in JSON, value is the content of a field with attributes',
    );
  }
  if (content.kind === 'element' && content.schema.byName.has(name)) {
    throw new DeclarationError(
      'clash',
      path,
      'is also a field of this element; in JSON, both are members of one object',
    );
  }
}

function createField(
  name: string,
  index: number,
  {
    required = false,
    readOnly,
    unique = false,
    set,
  }: Pick<ReadField, 'required' | 'readOnly' | 'unique' | 'set'>,
  content: Content,
  attributes: readonly Attribute[],
  missing?: Field['default'],
): Field {
  const attributeByName = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  const markup = {
    begin: `<${name}`,
    open: `<${name}>`,
    close: `</${name}>`,
    key: `${JSON.stringify(name)}:`,
  };
  const isReadOnly = readOnly === true || set !== undefined;
  // A field with a default is never missing.
  const isRequired = required && !isReadOnly && missing === undefined;
  const rules = { required: isRequired, readOnly: isReadOnly, unique, set, default: missing };
  return { name, index, ...rules, content, attributes, attributeByName, ...markup };
}

/**
 * Checks the name of an element or an attribute.
 * @throws {DeclarationError} if it is not an XML name, has a colon, begins with "xml" (reserved by XML 1.0
 * §2.3; `xmlns` is one), or is `__proto__`
 */
function checkName(source: string, path: string): void {
  if (source === '__proto__') throw new DeclarationError('name', path, 'is not allowed as a name');
  if (!isUnprefixedName(source)) {
    throw new DeclarationError('name', path, 'must be an XML name without a colon');
  }
  if (/^xml/i.test(source)) {
    throw new DeclarationError('name', path, 'names that begin with "xml" are reserved by XML');
  }
}

/** The members of a declaration that restrict the values of its type. */
const ruleNames = [
  'minLength',
  'maxLength',
  'format',
  'pattern',
  'enum',
  'min',
  'max',
  'exclusiveMin',
  'exclusiveMax',
] as const;

/** Compiles the declaration of a simple field or attribute. */
function compileSimple(type: SimpleTypeName, declared: ReadField, path: string): Simple {
  const { fractionDigits = 0, maxLength = type === 'json' ? defaultJsonLength : undefined } = declared;
  const { minLength, format, to, onDelete = 'restrict' } = declared;
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength)
    throw new DeclarationError(
      'range',
      `${path}.minLength`,
      `${minLength} is greater than maxLength, which is ${maxLength}`,
    );
  const bare: Simple = {
    kind: 'simple',
    hasRules: ruleNames.some((name) => declared[name] !== undefined) || maxLength !== undefined,
    type,
    fractionDigits,
    minLength,
    maxLength,
    format,
    pattern: compileDeclaredPattern(declared.pattern, maxLength, `${path}.pattern`),
    oneOf: undefined,
    min: undefined,
    max: undefined,
    exclusiveMin: undefined,
    exclusiveMax: undefined,
    reference: to === undefined ? undefined : { to, onDelete },
  };
  const ranged = { ...bare, ...checkRange(bare, declared, path) };
  return { ...ranged, oneOf: checkChoices(ranged, declared.enum, `${path}.enum`) };
}

function compileDeclaredPattern(
  source: string | undefined,
  maxLength: number | undefined,
  path: string,
): Pattern | undefined {
  if (source === undefined) return undefined;
  const pattern = compileSource(source, path);
  if (pattern.cost * (maxLength ?? maxTextLength) <= maxSteps) return pattern;
  const longest = Math.floor(maxSteps / pattern.cost);
  throw new DeclarationError(
    'pattern',
    path,
    `has ${pattern.size} states, too many for a text of this length; set maxLength to at most ${longest}`,
  );
}

function compileSource(source: string, path: string): Pattern {
  try {
    return compilePattern(source);
  } catch (error) {
    if (error instanceof PatternError) throw new DeclarationError('pattern', path, error.message);
    throw error;
  }
}

function checkRange(
  bare: Simple,
  declared: ReadField,
  path: string,
): Pick<Simple, 'min' | 'max' | 'exclusiveMin' | 'exclusiveMax'> {
  const min = checkLiteral(bare, declared.min, `${path}.min`);
  const max = checkLiteral(bare, declared.max, `${path}.max`);
  if (min !== undefined && max !== undefined && compare(bare.type, min, max) > 0)
    throw new DeclarationError('range', `${path}.min`, `${min} is greater than max, which is ${max}`);
  const exclusiveMin = checkLiteral(bare, declared.exclusiveMin, `${path}.exclusiveMin`);
  const exclusiveMax = checkLiteral(bare, declared.exclusiveMax, `${path}.exclusiveMax`);
  if (
    exclusiveMin !== undefined &&
    exclusiveMax !== undefined &&
    compare(bare.type, exclusiveMin, exclusiveMax) >= 0
  )
    throw new DeclarationError(
      'range',
      `${path}.exclusiveMin`,
      `no value is between ${exclusiveMin} and ${exclusiveMax}`,
    );
  return { min, max, exclusiveMin, exclusiveMax };
}

function checkChoices(
  simple: Simple,
  values: ReadField['enum'],
  path: string,
): ReadonlySet<string> | undefined {
  if (values?.length === 0)
    throw new DeclarationError('type', path, 'must be an array of at least one value, is an empty array');
  const texts = values?.flatMap((value, at) => checkLiteral(simple, value, `${path}[${at}]`) ?? []);
  return texts && new Set(texts);
}

/** Returns a value of the declaration as text. Throws a {@link DeclarationError} if it violates the rules of its field. */
function checkLiteral(simple: Simple, value: string | number | undefined, path: string): string | undefined {
  if (value === undefined) return undefined;
  const text = String(value);
  const [violation] = listViolations(simple, text);
  if (violation !== undefined) throw new DeclarationError('value', path, violation.detail);
  return text;
}
