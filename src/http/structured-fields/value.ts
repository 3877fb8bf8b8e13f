// The data model of structured fields (RFC 9651 §3).

/** A bare item (RFC 9651 §3.3), with its type, because a decimal `1.0` and an integer `1` are different values. */
export type BareItem =
  | { readonly type: 'integer'; readonly value: number }
  /** A decimal has at most three digits after the point. */
  | { readonly type: 'decimal'; readonly value: number }
  /** Seconds since 1970-01-01T00:00:00Z. */
  | { readonly type: 'date'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'token'; readonly value: string }
  | { readonly type: 'display-string'; readonly value: string }
  /** The value is base64, canonical by default (RFC 4648 §3.5, §4). It is decoded only where the bytes are needed. */
  | { readonly type: 'bytes'; readonly value: string }
  | { readonly type: 'boolean'; readonly value: boolean };

/** The parameters of an item or inner list, in order (RFC 9651 §3.1.2). */
export type Parameters = ReadonlyMap<string, BareItem>;

/** An item (RFC 9651 §3.3). */
export interface Item {
  readonly bare: BareItem;
  readonly parameters: Parameters;
}

/** An inner list (RFC 9651 §3.1.1). */
export interface InnerList {
  readonly items: readonly Item[];
  readonly parameters: Parameters;
}

/** A member of a list or dictionary. */
export type Member = Item | InnerList;

/** A list (RFC 9651 §3.1). */
export type List = readonly Member[];

/** A dictionary, in order (RFC 9651 §3.2). */
export type Dictionary = ReadonlyMap<string, Member>;

/** The parameters of a value that has none. */
export const noParameters: Parameters = new Map();

/** The value of a member or parameter that is only named: the boolean true (RFC 9651 §3.1.2, §3.2). */
export const trueItem: BareItem = { type: 'boolean', value: true };

/** Returns whether a member is an inner list. */
export function isInnerList(member: Member): member is InnerList {
  return 'items' in member;
}

/** Creates a string item. */
export function stringItem(value: string, parameters: Parameters = noParameters): Item {
  return { bare: { type: 'string', value }, parameters };
}

/** Creates an item of bytes. */
export function bytesItem(bytes: Uint8Array): Item {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return { bare: { type: 'bytes', value }, parameters: noParameters };
}
