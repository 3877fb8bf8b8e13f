/** The placeholders of a format beside `{signature}`. */
const formatNames = ['timestamp', 'nonce', 'user', 'key-id'] as const;
export type FormatName = (typeof formatNames)[number];
type Name = 'signature' | FormatName;

/** Values by the names of placeholders. */
export type FormatValues = { readonly [name in FormatName]?: string | undefined };

/** An element of the value: literals around placeholders. `literals` has one more member than `names`. */
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
  /** The placeholders beside `{signature}`. */
  readonly has: ReadonlySet<FormatName>;
}

/** The signatures in a value, as sent. */
export interface ReadSignatures {
  readonly signatures: readonly string[];
  /** Signatures by a private key. */
  readonly asymmetric: readonly string[];
  /** What stands at the other placeholders. */
  readonly values: FormatValues;
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
  const has = new Set<FormatName>();
  for (const name of formatNames) {
    const count = names.filter((each) => each === name).length;
    if (count > 1) return `the format must contain {${name}} at most once`;
    if (count === 1) has.add(name);
  }
  return { text, elements, separator, asymmetric: other, has };
}

const allNames: readonly Name[] = ['signature', ...formatNames];

function parseElement(text: string): Element | string {
  const literals = text.split(/\{[^{}]*\}/);
  const names: Name[] = [];
  for (const [placeholder] of text.matchAll(/\{[^{}]*\}/g)) {
    const name = allNames.find((known) => placeholder === `{${known}}`);
    if (name === undefined)
      return `${placeholder} is not one of ${allNames.map((known) => `{${known}}`).join(', ')}`;
    names.push(name);
  }
  if (literals.some((literal) => /[{}]/.test(literal))) return 'a brace is not part of a placeholder';
  if (literals.slice(1, -1).includes('')) return 'two placeholders must have text between them';
  if (literals.some((literal) => !/^[\t -~]*$/.test(literal))) return 'the format must be visible ASCII';
  return { literals, names };
}

const none: readonly string[] = [];
const noValues: FormatValues = {};

/** Reads the signatures in a value. Returns an error message, which contains nothing of the value, if it is malformed. */
export function readSignatures(format: SignatureFormat, value: string): ReadSignatures | string {
  const { separator, elements } = format;
  const [only] = elements;
  if (separator === undefined) {
    if (format.text === '{signature}' && value !== '')
      return { signatures: [value], asymmetric: none, values: noValues };
    const found = only === undefined ? undefined : match(only, value);
    if (found?.signature === undefined) return `the value does not have the form ${format.text}`;
    const { signature, ...values } = found;
    return { signatures: [signature], asymmetric: none, values };
  }
  return readList(format, separator, value);
}

function readList(format: SignatureFormat, separator: string, value: string): ReadSignatures | string {
  const signatures: string[] = [];
  const asymmetric: string[] = [];
  let values: { [name in FormatName]?: string } = {};
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
      if (read === undefined) continue;
      for (const name of formatNames) {
        if (read[name] === undefined) continue;
        const before = values[name];
        if (before !== undefined && before !== read[name])
          return name === 'timestamp'
            ? 'the value contains two timestamps'
            : `the value contains two values of {${name}}`;
        values = { ...values, [name]: read[name] };
      }
    }
  }
  if (signatures.length + asymmetric.length > 0) return { signatures, asymmetric, values };
  return `the value contains no element of the form ${signatureElement(format)}`;
}

function signatureElement({ elements }: SignatureFormat): string {
  const element = elements.find(({ names }) => names.includes('signature'));
  return element === undefined ? '' : formatElement(element, placeholderTexts);
}

type Values = { readonly [name in Name]?: string | undefined };

const placeholderTexts: Values = Object.fromEntries(allNames.map((name) => [name, `{${name}}`]));

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

function formatElement({ literals, names }: Element, values: Values): string {
  const pieces = names.map((name, index) => `${values[name] ?? ''}${literals[index + 1] ?? ''}`);
  return (literals[0] ?? '') + pieces.join('');
}

/** Formats a value with one or more signatures. */
export function formatSignatures(
  format: SignatureFormat,
  signatures: readonly string[],
  values: FormatValues,
  asymmetric: readonly string[] = [],
): string {
  const written = format.elements.flatMap((element) =>
    element.names.includes('signature')
      ? signatures.map((signature) => formatElement(element, { ...values, signature }))
      : [formatElement(element, values)],
  );
  const { asymmetric: other } = format;
  const further =
    other === undefined ? [] : asymmetric.map((signature) => formatElement(other, { signature }));
  return [...written, ...further].join(format.separator ?? '');
}
