import type { SimpleTypeName } from './simple-type.ts';

/** Fields or attributes by their names. */
export type Declarations<D> = Readonly<Record<string, D>>;

/** Text, white space included; every character that XML can carry. */
export interface TextDeclaration {
  readonly type: 'text';
  /** In characters (code points). */
  readonly maxLength?: number;
  /** An I-Regexp (RFC 9485) that the whole value matches. */
  readonly pattern?: string;
  readonly enum?: readonly string[];
}

/** A decimal, kept as the digits that were sent. */
export interface DecimalDeclaration {
  readonly type: 'decimal';
  /** Exactly so many, in and out; 0 when left out. */
  readonly fractionDigits?: number;
  readonly enum?: readonly string[];
  readonly min?: string;
  readonly max?: string;
}

/** A whole number of at most 2^53 - 1 in magnitude. */
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

/** A day (`date`: YYYY-MM-DD) or a moment (`dateTime`: RFC 3339). */
export interface TimeDeclaration {
  readonly type: 'date' | 'dateTime';
  readonly enum?: readonly string[];
  readonly min?: string;
  readonly max?: string;
}

/** An active code of ISO 4217. */
export interface CurrencyDeclaration {
  readonly type: 'currency';
  readonly enum?: readonly string[];
}

/** A field that holds a single value. */
export type SimpleDeclaration =
  | TextDeclaration
  | DecimalDeclaration
  | IntegerDeclaration
  | BooleanDeclaration
  | TimeDeclaration
  | CurrencyDeclaration;

/** A field with fields of its own. */
export interface ElementDeclaration {
  readonly type: 'element';
  readonly fields: Declarations<FieldDeclaration>;
}

/** A field that holds any number of values of one kind. */
export interface ListDeclaration {
  readonly type: 'list';
  readonly of: SimpleTypeName | (FieldKind & WithAttributes);
  /** The name of each one's element; `item` when left out. */
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
export type AttributeDeclaration = SimpleDeclaration & Requirable;

/** A field of an item. */
export type FieldDeclaration = FieldKind & Requirable & WithAttributes;
