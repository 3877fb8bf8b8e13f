/** The declarations of fields and attributes: their types for callers, and their shapes. */

import { didYouMean } from '../../did-you-mean.ts';
import { createFault } from '../../shape/fault.ts';
import {
  addKeywords,
  flag,
  type JsonSchema,
  leaf,
  mapOf,
  number,
  type Optional,
  object,
  optional,
  recursive,
  type Shape,
  text,
  uniqueListOf,
  variants,
  word,
} from '../../shape/shape.ts';
import { defaultJsonLength } from './any-json.ts';
import { deletionRules, type ReferenceTo, type SimpleTypeName, simpleTypes } from './simple-type.ts';
import { type FieldFormat, fieldFormatNames } from './text-format.ts';

/** Fields or attributes by name. */
export type Declarations<D> = Readonly<Record<string, D>>;

/** Text, including white space, of any characters that XML allows. */
interface TextDeclaration {
  /** Text. */
  readonly type: 'text';
  /** The minimum length in characters (code points). */
  readonly minLength?: number | undefined;
  /** The maximum length in characters (code points). */
  readonly maxLength?: number | undefined;
  /** The form of the value: an email address, an absolute URI (RFC 3986), or a UUID (RFC 9562). Default: any. */
  readonly format?: FieldFormat | undefined;
  /** An I-Regexp (RFC 9485) that must match the whole value. */
  readonly pattern?: string | undefined;
  /** The permitted values. Default: any. */
  readonly enum?: readonly string[] | undefined;
}

/** The permitted values of an ordered type. */
interface Ranged<Value> {
  /** The permitted values. Default: any. */
  readonly enum?: readonly Value[] | undefined;
  /** The least permitted value. Default: none. */
  readonly min?: Value | undefined;
  /** The greatest permitted value. Default: none. */
  readonly max?: Value | undefined;
  /** A value that is less than every permitted one. Default: none. */
  readonly exclusiveMin?: Value | undefined;
  /** A value that is greater than every permitted one. Default: none. */
  readonly exclusiveMax?: Value | undefined;
}

/** A decimal, stored as the digits that were sent. */
interface DecimalDeclaration extends Ranged<string> {
  /** A decimal number. */
  readonly type: 'decimal';
  /** The exact number of fraction digits. Default: 0. */
  readonly fractionDigits?: number | undefined;
}

/** An integer between −(2^53 − 1) and 2^53 − 1. */
interface IntegerDeclaration extends Ranged<number> {
  /** An integer. */
  readonly type: 'integer';
}

/** `true` or `false`. */
interface BooleanDeclaration {
  /** `true` or `false`. */
  readonly type: 'boolean';
}

/** A calendar date (`date`: YYYY-MM-DD) or a date and time with an offset (`dateTime`: RFC 3339). */
interface TimeDeclaration extends Ranged<string> {
  /** A date, or a date with a time. */
  readonly type: 'date' | 'dateTime';
}

/** An active currency code of ISO 4217. */
interface CurrencyDeclaration {
  /** A currency code. */
  readonly type: 'currency';
  /** The permitted values. Default: any. */
  readonly enum?: readonly string[] | undefined;
}

/** Any JSON value, nested at most 32 levels deep. In XML it is the text of the element. */
interface JsonDeclaration {
  /** Any JSON value. */
  readonly type: 'json';
  /** The maximum length of its text without white space, in characters. Default: 65,536. */
  readonly maxLength?: number | undefined;
}

/** The id of an item. Clients can also send its address; the id is stored. Only for fields of the item itself, without attributes. */
interface ReferenceDeclaration {
  /** The id of an item. */
  readonly type: 'reference';
  /** The path of the collection of that item, without parameters: `/products`. */
  readonly to: string;
  /**
   * What the deletion of that item does: it is refused (`restrict`: 409), the item with the field is deleted too (`cascade`), or the field,
   * which must not be required, is removed (`clear`). Default: `restrict`.
   */
  readonly onDelete?: ReferenceTo['onDelete'] | undefined;
}

/** A field with a single value. */
type SimpleDeclaration =
  | TextDeclaration
  | DecimalDeclaration
  | IntegerDeclaration
  | BooleanDeclaration
  | TimeDeclaration
  | CurrencyDeclaration
  | JsonDeclaration;

/** A field with fields of its own. */
interface ElementDeclaration {
  /** A field with fields of its own. */
  readonly type: 'element';
  /** The fields, in the order in which they are written. */
  readonly fields: Declarations<FieldDeclaration>;
}

/** A field with any number of values of one type. */
interface ListDeclaration {
  /** A list of values. */
  readonly type: 'list';
  /** The type of each value, or its declaration. */
  readonly of: SimpleTypeName | (FieldKind & WithAttributes);
  /** The element name of each value. Default: `item`. */
  readonly item?: string | undefined;
  /** The smallest number of values. Default: 0. */
  readonly minItems?: number | undefined;
  /** The greatest number of values. Default: any. */
  readonly maxItems?: number | undefined;
}

type FieldKind = SimpleDeclaration | ElementDeclaration | ListDeclaration;

interface Requirable {
  /** Whether an item must have it. Default: false. */
  readonly required?: boolean;
}

interface WithAttributes {
  /** The attributes of its element in XML, by name. In JSON, they are members. Default: none. */
  readonly attributes?: Declarations<AttributeDeclaration>;
}

interface WithDefault {
  /**
   * The value of a field that is not sent, in the creation or replacement of an item. Only for fields with a single value, without
   * attributes. Default: the field is absent.
   */
  readonly default?: string | number | boolean;
}

interface SetByServer {
  /** Whether clients cannot send it: 422. The seed and an import can. Default: false, unless `set` is given. */
  readonly readOnly?: boolean;
  /**
   * What the server sets it to: the time of the creation or of the last change (type `dateTime`), the name of the user who created the
   * item, or its id (type `text`). Only for fields of the item itself. Default: clients send it.
   */
  readonly set?: ServerValue;
}

interface Unique {
  /**
   * Whether no two items of the collection have the same value: 409. Only for text, numbers, dates and currencies without attributes, of
   * the item itself. Default: false.
   */
  readonly unique?: boolean;
}

/** An attribute of a field. */
type AttributeDeclaration = Exclude<SimpleDeclaration, JsonDeclaration> & Requirable;

/** A field of an item. */
export type FieldDeclaration = (FieldKind | ReferenceDeclaration) &
  Requirable &
  SetByServer &
  Unique &
  WithAttributes &
  WithDefault;

/** What a server sets a field to, in the order of documents. */
const serverValues = ['created', 'modified', 'creator', 'id'] as const;

/** What the server sets a field to. */
export type ServerValue = (typeof serverValues)[number];

/** The members of any of several types. */
type AnyOf<Types> = {
  readonly [Name in Types extends unknown ? keyof Types : never]?:
    | (Types extends unknown ? (Name extends keyof Types ? Types[Name] : never) : never)
    | undefined;
};

/** A declaration of a field, an attribute or a value of a list, after it was read. */
export interface ReadField
  extends Omit<AnyOf<FieldDeclaration>, 'type' | 'attributes' | 'fields' | 'of' | 'enum'> {
  readonly type: FieldTypeName;
  readonly enum?: readonly Literal[] | undefined;
  readonly attributes?: Declarations<ReadField> | undefined;
  readonly fields?: Declarations<ReadField> | undefined;
  /** A type stands for a declaration without other members. */
  readonly of?: FieldTypeName | ReadField | undefined;
}

type FieldTypeName = SimpleTypeName | 'element' | 'list';
type Literal = string | number;

/** The members of a declaration beside its type. */
type FieldMembers = {
  readonly [Name in Exclude<keyof ReadField, 'type'>]?:
    | Optional<NonNullable<ReadField[Name]>>
    | Shape<NonNullable<ReadField[Name]>>;
};

/** The maximum of `fractionDigits`. */
const maxFractionDigits = 100;

const writtenText = text(undefined, { expected: 'a JSON string' });
const writtenNumber = leaf(
  { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  'a JSON number',
  (value): value is number => typeof value === 'number',
);

function whole(min: number, max: number, description?: string): Shape<number> {
  return number({ min, max, expected: `a whole number from ${min} to ${max}` }, description);
}

function permitted(value: Shape<Literal>): FieldMembers {
  const values = uniqueListOf(value, 'the permitted values', {
    expected: 'an array of at least one value',
    schema: { minItems: 1 },
  });
  return { enum: optional(values) };
}

function range(value: Shape<Literal>): FieldMembers {
  return {
    ...permitted(value),
    min: optional(value),
    max: optional(value),
    exclusiveMin: optional(value),
    exclusiveMax: optional(value),
  };
}

/** The types that need no other members. A reference is of an item. */
const plainTypes = simpleTypes.filter((type) => type !== 'reference');

/** The members of each type, in addition to those of its place. */
const ownMembers: Readonly<Record<FieldTypeName, FieldMembers>> = {
  text: {
    minLength: optional(whole(0, Number.MAX_SAFE_INTEGER, 'characters')),
    maxLength: optional(whole(1, Number.MAX_SAFE_INTEGER, 'characters')),
    format: optional(word(fieldFormatNames, 'the form of the value')),
    pattern: optional(text('an I-Regexp (RFC 9485) that must match the whole value')),
    ...permitted(writtenText),
  },
  decimal: { fractionDigits: optional(whole(0, maxFractionDigits)), ...range(writtenText) },
  integer: range(writtenNumber),
  boolean: {},
  date: range(writtenText),
  dateTime: range(writtenText),
  currency: permitted(writtenText),
  json: {
    maxLength: optional(
      addKeywords(whole(1, Number.MAX_SAFE_INTEGER, 'characters'), { default: defaultJsonLength }),
    ),
  },
  reference: {
    to: text('the path of the collection of the item', { min: 1, expected: 'the path of a collection' }),
    onDelete: optional(
      addKeywords(word(deletionRules, 'what the deletion of the item does'), { default: 'restrict' }),
    ),
  },
  element: { fields: recursive('fields', () => fieldsShape) },
  list: {
    of: describeValues(),
    minItems: optional(whole(0, Number.MAX_SAFE_INTEGER, 'values')),
    maxItems: optional(whole(1, Number.MAX_SAFE_INTEGER, 'values')),
    item: optional(
      addKeywords(text('the element name of each value', { min: 1, expected: 'non-empty text' }), {
        default: 'item',
      }),
    ),
  },
};

/** The values that a field of each type can have if it is not sent. */
const defaults: Readonly<Partial<Record<FieldTypeName, Shape<Literal | boolean>>>> = {
  text: writtenText,
  decimal: writtenText,
  integer: writtenNumber,
  boolean: flag(),
  date: writtenText,
  dateTime: writtenText,
  currency: writtenText,
};

/** Describes `of` of a list: a declaration, or the name of a type. */
function describeValues(): Shape<FieldTypeName | ReadField> {
  return {
    schema: { anyOf: [{ enum: plainTypes }, { $ref: '#/$defs/value' }] },
    expected: 'an object',
    read(value, path) {
      if (typeof value !== 'string') return valueShape.read(value, path);
      const read = valueShape.read({ type: value }, path);
      return 'faults' in read ? read : { value: read.value.type };
    },
  };
}

/**
 * Describes a declaration of one of several types.
 * @param general the members of its place
 * @param isOfItem whether it is of a field with a name, which can have a default
 */
function describeField(
  types: readonly FieldTypeName[],
  general: FieldMembers,
  isOfItem = false,
): Shape<ReadField> {
  const shapes = new Map<unknown, Shape<ReadField>>(
    types.map((type) => {
      const missing = isOfItem ? defaults[type] : undefined;
      return [type, describeType(type, missing ? { ...general, default: optional(missing) } : general)];
    }),
  );
  const unknown = unknownType(types);
  return variants([...shapes.values()], (value) => shapes.get(readType(value)) ?? unknown);
}

function describeType(type: FieldTypeName, general: FieldMembers): Shape<ReadField> {
  const name = leaf({ const: type }, type, (value): value is FieldTypeName => value === type);
  const members: FieldMembers & { readonly type: Shape<FieldTypeName> } = {
    type: name,
    ...general,
    ...ownMembers[type],
  };
  return object(members, undefined, { member: `an option of ${type}` });
}

/** Refuses a declaration without one of the types. */
function unknownType(types: readonly FieldTypeName[]): Shape<never> {
  const expected = 'an object';
  const expectedType = `one of ${types.join(', ')}`;
  return {
    schema: { not: {} },
    expected,
    read(value, path = []) {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return { faults: [{ path, kind: 'type', expected, value }] };
      const at = [...path, 'type'];
      const type = readType(value);
      if (typeof type !== 'string')
        return { faults: [{ path: at, kind: 'type', expected: expectedType, value: type }] };
      const says =
        type === 'reference'
          ? 'reference is for fields of the item itself'
          : `"${type}" is not a field type${didYouMean(type, types)}`;
      return { faults: [createFault(at, says, 'unknown-type')] };
    },
  };
}

function readType(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
}

const names: JsonSchema = { type: 'string', minLength: 1 };
const allTypes: readonly FieldTypeName[] = [...simpleTypes, 'element', 'list'];
const required = optional(addKeywords(flag('whether every item has it'), { default: false }));
/** An attribute cannot have any JSON: in JSON, attributes are members beside the value. */
const attributeShape = describeField(
  plainTypes.filter((type) => type !== 'json'),
  { required },
);
const attributes = optional(
  mapOf(
    recursive('attribute', () => attributeShape),
    'attributes by name',
    { names },
  ),
);

const valueShape = describeField([...plainTypes, 'element', 'list'], { attributes });
const readOnly = optional(addKeywords(flag('whether clients cannot send it'), { default: false }));
const set = optional(word(serverValues, 'what the server sets it to'));
const unique = optional(
  addKeywords(flag('whether no two items of the collection have the same value'), { default: false }),
);
const fieldShape = describeField(allTypes, { required, readOnly, set, unique, attributes }, true);

/** The fields of an item or an element, by name. */
export const fieldsShape: Shape<Declarations<ReadField>> = mapOf(
  recursive('field', () => fieldShape),
  'fields by name, in the order in which they are written',
  { names },
);

/** The definitions that the schema of `fieldsShape` refers to. */
export function fieldDefinitions(): Readonly<Record<string, JsonSchema>> {
  return {
    fields: fieldsShape.schema,
    field: fieldShape.schema,
    value: valueShape.schema,
    attribute: attributeShape.schema,
  };
}
