type Name = 'signature' | 'timestamp';

/** An element of the value: literals around one or two placeholders. `literals` has one more member than `names`. */
interface Element {
  readonly literals: readonly string[];
  readonly names: readonly Name[];
}

/** A parsed format of the value that contains the signature: `t={timestamp},v1={signature}`. */
export interface SignatureFormat {
  readonly text: string;
  readonly elements: readonly Element[];
  /** Separates the elements of a list, in which unknown elements are ignored; undefined if the value is not a list. */
  readonly separator: string | undefined;
  /** The element that contains a signature by a private key: `v1a,{signature}`. Default: none. */
  readonly asymmetric: Element | undefined;
  readonly hasTimestamp: boolean;
}

/** The signatures in a value, as sent. */
export interface ReadSignatures {
  readonly signatures: readonly string[];
  /** Signatures by a private key. */
  readonly asymmetric: readonly string[];
  readonly timestamp: string | undefined;
}

/** The number of signatures of a list that are verified. */
export const maxSignatures = 16;
/** The number of elements of a list that are examined, so that a long list costs no more than a short one. */
const maxElements = 64;

/** Parses a format. Returns an error message if it is invalid. */
export function parseSignatureFormat(
  text: string,
  separator?: string,
  asymmetric?: string,
): SignatureFormat | string {
  if (separator === '') return 'the separator must not be empty';
  const elements: Element[] = [];
  for (const piece of separator === undefined ? [text] : text.split(separator)) {
    const element = parseElement(piece);
    if (typeof element === 'string') return element;
    elements.push(element);
  }
  const other = asymmetric === undefined ? undefined : parseElement(asymmetric);
  if (typeof other === 'string') return other;
  const names = elements.flatMap((element) => element.names);
  if (names.filter((name) => name === 'signature').length !== 1)
    return 'the format must contain {signature} once';
  if (names.filter((name) => name === 'timestamp').length > 1)
    return 'the format must contain {timestamp} at most once';
  return { text, elements, separator, asymmetric: other, hasTimestamp: names.includes('timestamp') };
}

function parseElement(text: string): Element | string {
  const literals = text.split(/\{[^{}]*\}/);
  const names: Name[] = [];
  for (const [placeholder] of text.matchAll(/\{[^{}]*\}/g)) {
    if (placeholder !== '{signature}' && placeholder !== '{timestamp}')
      return `${placeholder} is not {signature} or {timestamp}`;
    names.push(placeholder === '{signature}' ? 'signature' : 'timestamp');
  }
  if (literals.some((literal) => /[{}]/.test(literal))) return 'a brace is not part of a placeholder';
  if (literals.slice(1, -1).includes('')) return 'two placeholders must have text between them';
  if (literals.some((literal) => !/^[\t -~]*$/.test(literal))) return 'the format must be visible ASCII';
  return { literals, names };
}

const none: readonly string[] = [];

/** Reads the signatures in a value. Returns an error message, which contains nothing of the value, if it is malformed. */
export function readSignatures(format: SignatureFormat, value: string): ReadSignatures | string {
  const { separator, elements } = format;
  const [only] = elements;
  if (separator === undefined) {
    if (format.text === '{signature}' && value !== '')
      return { signatures: [value], asymmetric: none, timestamp: undefined };
    const found = only === undefined ? undefined : match(only, value);
    if (found?.signature === undefined) return `the value does not have the form ${format.text}`;
    return { signatures: [found.signature], asymmetric: none, timestamp: found.timestamp };
  }
  return readList(format, separator, value);
}

function readList(format: SignatureFormat, separator: string, value: string): ReadSignatures | string {
  const signatures: string[] = [];
  const asymmetric: string[] = [];
  let timestamp: string | undefined;
  let start = 0;
  for (let count = 0; count < maxElements && start <= value.length; count += 1) {
    const found = value.indexOf(separator, start);
    const end = found < 0 ? value.length : found;
    const element = value.slice(start, end).trim();
    start = end + separator.length;
    const other = format.asymmetric === undefined ? undefined : match(format.asymmetric, element)?.signature;
    if (signatures.length + asymmetric.length === maxSignatures) break;
    if (other !== undefined) asymmetric.push(other);
    for (const known of format.elements) {
      const read = match(known, element);
      if (read?.signature !== undefined) signatures.push(read.signature);
      if (read?.timestamp === undefined) continue;
      if (timestamp !== undefined && timestamp !== read.timestamp) return 'the value contains two timestamps';
      timestamp = read.timestamp;
    }
  }
  if (signatures.length + asymmetric.length > 0) return { signatures, asymmetric, timestamp };
  return `the value contains no element of the form ${signatureElement(format)}`;
}

function signatureElement({ elements }: SignatureFormat): string {
  const element = elements.find(({ names }) => names.includes('signature'));
  return element === undefined ? '' : textOf(element, { signature: '{signature}', timestamp: '{timestamp}' });
}

type Values = { readonly [name in Name]?: string };

/** Returns the values of the placeholders; undefined if the text does not have the form of the element. */
function match({ literals, names }: Element, text: string): Values | undefined {
  const [first = ''] = literals;
  if (!text.startsWith(first)) return undefined;
  const values: { [name in Name]?: string } = {};
  let at = first.length;
  const last = names.length - 1;
  // Faster than `entries()`, which creates an array for each member.
  for (let index = 0; index <= last; index += 1) {
    const name = names[index] ?? 'signature';
    const literal = literals[index + 1] ?? '';
    const end = index === last ? text.length - literal.length : text.indexOf(literal, at);
    if (end <= at || (index === last && !text.endsWith(literal))) return undefined;
    values[name] = text.slice(at, end);
    at = end + literal.length;
  }
  return last < 0 ? undefined : values;
}

function textOf({ literals, names }: Element, values: Values): string {
  const pieces = names.map((name, index) => `${values[name] ?? ''}${literals[index + 1] ?? ''}`);
  return (literals[0] ?? '') + pieces.join('');
}

/** Formats a value with one or more signatures. */
export function formatSignatures(
  format: SignatureFormat,
  signatures: readonly string[],
  timestamp: string | undefined,
  asymmetric: readonly string[] = [],
): string {
  const values = timestamp === undefined ? {} : { timestamp };
  const written = format.elements.flatMap((element) =>
    element.names.includes('signature')
      ? signatures.map((signature) => textOf(element, { ...values, signature }))
      : [textOf(element, values)],
  );
  const { asymmetric: other } = format;
  const further = other === undefined ? [] : asymmetric.map((signature) => textOf(other, { signature }));
  return [...written, ...further].join(format.separator ?? '');
}
