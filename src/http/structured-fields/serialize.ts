// The strict serialization of structured fields (RFC 9651 §4.1).
import { keyEnd, tokenEnd } from './characters.ts';
import {
  type BareItem,
  type Dictionary,
  type InnerList,
  type Item,
  isInnerList,
  type List,
  type Member,
  type Parameters,
} from './value.ts';

/** Serializes a list (RFC 9651 §4.1.1). Returns '' for an empty one, which is not sent. Throws RangeError for an invalid value. */
export function serializeList(list: List): string {
  return list.map(serializeMember).join(', ');
}

/** Serializes a dictionary (RFC 9651 §4.1.2). Returns '' for an empty one, which is not sent. Throws RangeError like `serializeList`. */
export function serializeDictionary(dictionary: Dictionary): string {
  return Array.from(dictionary, ([key, member]) => {
    const isTrue = !isInnerList(member) && member.bare.type === 'boolean' && member.bare.value;
    const value = isTrue ? serializeParameters(member.parameters) : `=${serializeMember(member)}`;
    return requireKey(key) + value;
  }).join(', ');
}

/** Serializes a member of a list or dictionary. Throws RangeError like `serializeList`. */
export function serializeMember(member: Member): string {
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member);
}

/** Serializes an inner list (RFC 9651 §4.1.1.1). Throws RangeError like `serializeList`. */
function serializeInnerList({ items, parameters }: InnerList): string {
  let text = '(';
  for (const item of items) text += text.length === 1 ? serializeItem(item) : ` ${serializeItem(item)}`;
  return `${text})${serializeParameters(parameters)}`;
}

/** Serializes an item (RFC 9651 §4.1.3). Throws RangeError like `serializeList`. */
export function serializeItem({ bare, parameters }: Item): string {
  return serializeBareItem(bare) + serializeParameters(parameters);
}

/** Serializes parameters (RFC 9651 §4.1.1.2). Throws RangeError like `serializeList`. */
export function serializeParameters(parameters: Parameters): string {
  if (parameters.size === 0) return '';
  let text = '';
  for (const [key, bare] of parameters) {
    const isTrue = bare.type === 'boolean' && bare.value;
    text += isTrue ? `;${requireKey(key)}` : `;${requireKey(key)}=${serializeBareItem(bare)}`;
  }
  return text;
}

/** Serializes a bare item (RFC 9651 §4.1.3.1). Throws RangeError like `serializeList`. */
export function serializeBareItem(bare: BareItem): string {
  switch (bare.type) {
    case 'string':
      return serializeString(bare.value);
    case 'integer':
      return serializeInteger(bare.value);
    case 'decimal':
      return serializeDecimal(bare.value);
    case 'date':
      return `@${serializeInteger(bare.value)}`;
    case 'token':
      return requireToken(bare.value);
    case 'display-string':
      return serializeDisplayString(bare.value);
    case 'bytes':
      return `:${bare.value}:`;
    case 'boolean':
      return bare.value ? '?1' : '?0';
  }
}

function requireKey(key: string): string {
  if (key === '' || keyEnd(key, 0) !== key.length)
    throw new RangeError(`${JSON.stringify(key)} is not a key`);
  return key;
}

function requireToken(token: string): string {
  if (token === '' || tokenEnd(token, 0) !== token.length)
    throw new RangeError(`${JSON.stringify(token)} is not a token`);
  return token;
}

function serializeString(value: string): string {
  if (!/^[ -~]*$/.test(value)) throw new RangeError('a string has characters other than printable ASCII');
  return value.includes('"') || value.includes('\\') ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`;
}

const maxInteger = 999_999_999_999_999;

function serializeInteger(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) > maxInteger)
    throw new RangeError('an integer has more than 15 digits');
  return String(value);
}

/** Rounds to three digits after the point, half to even (RFC 9651 §4.1.5). */
function serializeDecimal(value: number): string {
  const thousandths = roundHalfToEven(value * 1000);
  if (!Number.isFinite(value) || Math.abs(thousandths) >= 1e15)
    throw new RangeError('a decimal has more than 12 digits before the point');
  const digits = String(Math.abs(thousandths)).padStart(4, '0');
  const fraction = digits.slice(-3).replace(/0{1,2}$/, '');
  return `${thousandths < 0 ? '-' : ''}${digits.slice(0, -3)}.${fraction}`;
}

function roundHalfToEven(value: number): number {
  const below = Math.floor(value);
  const isHalf = value - below === 0.5;
  return isHalf ? below + Math.abs(below % 2) : Math.round(value);
}

/** Escapes the percent sign, the quote and everything but printable ASCII, in lower case (RFC 9651 §4.1.11). */
function serializeDisplayString(value: string): string {
  if (/[\ud800-\udfff]/u.test(value)) throw new RangeError('a display string has a lone surrogate');
  const escaped = value.replace(/[^ !#$&-~]/gu, (character) =>
    Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  return `%"${escaped}"`;
}
