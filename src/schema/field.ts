import type { SimpleTypeName } from './simple-type.ts';

/** Fields or attributes by name. */
export type Declarations<D> = Readonly<Record<string, D>>;

/** Text, including white space, of any characters that XML allows. */
export interface TextDeclaration {
  readonly type: 'text';
  /** The maximum length in characters (code points). */
  readonly maxLength?: number;
  /** An I-Regexp (RFC 9485) that must match the whole value. */
  readonly pattern?: string;
  readonly enum?: readonly string[];
}

/** A decimal, stored as the digits that were sent. */
export interface DecimalDeclaration {
  readonly type: 'decimal';
  /** The exact number of fraction digits. Default: 0. */
  readonly fractionDigits?: number;
  readonly enum?: readonly string[];
  readonly min?: string;
  readonly max?: string;
}

/** An integer between −(2^53 − 1) and 2^53 − 1. */
export interface IntegerDeclaration {
  readonly type: 'integer';
  readonly enum?: readonly number[];
  readonly min?: number;
  readonly max?: number;
}

/** `true` or `false`. */
export interface BooleanDeclaration {
  readonly type: 'boolean';
}

/** A calendar date (`date`: YYYY-MM-DD) or a date and time with an offset (`dateTime`: RFC 3339). */
export interface TimeDeclaration {
  readonly type: 'date' | 'dateTime';
  readonly enum?: readonly string[];
  readonly min?: string;
  readonly max?: string;
}

/** An active currency code of ISO 4217. */
export interface CurrencyDeclaration {
  readonly type: 'currency';
  readonly enum?: readonly string[];
}

/** Any JSON value, nested at most 32 levels deep. In XML it is the text of the element. */
export interface JsonDeclaration {
  readonly type: 'json';
  /** The maximum length of its text without white space, in characters. Default: 65,536. */
  readonly maxLength?: number;
}

/** A field with a single value. */
export type SimpleDeclaration =
  | TextDeclaration
  | DecimalDeclaration
  | IntegerDeclaration
  | BooleanDeclaration
  | TimeDeclaration
  | CurrencyDeclaration
  | JsonDeclaration;

/** A field with fields of its own. */
export interface ElementDeclaration {
  readonly type: 'element';
  readonly fields: Declarations<FieldDeclaration>;
}

/** A field with any number of values of one type. */
export interface ListDeclaration {
  readonly type: 'list';
  readonly of: SimpleTypeName | (FieldKind & WithAttributes);
  /** The element name of each value. Default: `item`. */
  readonly item?: string;
}

type FieldKind = SimpleDeclaration | ElementDeclaration | ListDeclaration;

interface Requirable {
  readonly required?: boolean;
}

interface WithAttributes {
  readonly attributes?: Declarations<AttributeDeclaration>;
}

/** An attribute of a field. */
export type AttributeDeclaration = Exclude<SimpleDeclaration, JsonDeclaration> & Requirable;

/** A field of an item. */
export type FieldDeclaration = FieldKind & Requirable & WithAttributes;
