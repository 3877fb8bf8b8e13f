// How programs write JSON: where white space stands, and which characters are escaped.
import { type JsonMember, type JsonNode, readJson } from '../../http/json.ts';
import { replaceInvalidUtf8, toOctets } from '../../http/syntax/octets.ts';

/** The deepest JSON that is read. */
const maxDepth = 64;

/** Reads JSON, each character of which is one octet. Returns undefined if it is none, repeats a name, or is too deep. */
export function readJsonNode(octets: string): JsonNode | undefined {
  try {
    return readJson(replaceInvalidUtf8(octets), maxDepth);
  } catch {
    return undefined;
  }
}

/** Creates an object of JSON. Of members with one name, it has the last. */
export function createObject(members: Iterable<readonly [name: string, value: JsonNode]>): JsonNode {
  return {
    kind: 'object',
    at: 0,
    members: new Map(Array.from(members, ([name, value]) => [name, { at: 0, value }])),
  };
}

/** Returns the values of the members of an object, and the elements of an array; none of other values. */
export function listValues(node: JsonNode): readonly JsonNode[] {
  if (node.kind === 'array') return node.items;
  return node.kind === 'object' ? Array.from(node.members.values(), ({ value }) => value) : [];
}

/** Where a program writes white space. */
interface Layout {
  /** The text after a comma, and around a colon. */
  readonly comma: string;
  readonly colon: string;
  /** What each level is indented by. Default: everything is on one line. */
  readonly indent?: string;
  readonly lineEnd?: string;
  /** Whether only objects begin new lines (Jackson). */
  readonly inlineArrays?: boolean;
}

const indented = (indent: string, lineEnd = '\n'): Layout => ({ comma: ',', colon: ': ', indent, lineEnd });

/** Without white space, which is how most programs write. */
const compact: Layout = { comma: ',', colon: ':' };

/** The layouts that programs use, most frequent first. */
const layouts: readonly Layout[] = [
  compact,
  // json.dumps of Python.
  { comma: ', ', colon: ': ' },
  indented('  '),
  indented('    '),
  indented('\t'),
  // System.Text.Json and Newtonsoft.Json on Windows.
  indented('  ', '\r\n'),
  // DefaultPrettyPrinter of Jackson.
  { comma: ',', colon: ' : ', indent: '  ', lineEnd: '\n', inlineArrays: true },
  indented('   '),
  indented(' '),
  indented('        '),
  { comma: ',', colon: ': ' },
  { comma: ', ', colon: ':' },
];

/** The layouts that stand on one line, and those that are tried first. */
const oneLine = layouts.slice(0, 2);
const usualLayouts = layouts.slice(0, 5);

/** Which characters a program escapes beside those that JSON requires to be escaped, and how. */
interface Escaping {
  readonly ascii?: 'lower' | 'upper';
  /** Characters that are written as \u escapes, and in which letter case. */
  readonly escaped?: string;
  readonly isUpper?: boolean;
  readonly slash?: boolean;
}

/** The escapings that programs use, most frequent first. */
const escapings: readonly Escaping[] = [
  {},
  // json.dumps of Python, and json_encode of PHP.
  { ascii: 'lower' },
  { ascii: 'lower', slash: true },
  { slash: true },
  // encoding/json of Go, ActiveSupport of Rails, and Gson.
  { escaped: '<>&\u2028\u2029' },
  { escaped: "<>&='\u2028\u2029" },
  // System.Text.Json with its default encoder.
  { ascii: 'upper', escaped: '<>&\'"+`', isUpper: true },
  // json_encode of PHP with JSON_HEX_TAG and its like.
  { ascii: 'lower', escaped: '<>&\'"', isUpper: true, slash: true },
  { ascii: 'lower', escaped: '<>&' },
  // The webhooks of Meta, which its documentation describes as escaped Unicode in lower case.
  { ascii: 'lower', escaped: '<', isUpper: true, slash: true },
  { ascii: 'lower', escaped: '<%@', isUpper: true, slash: true },
  { escaped: '<>&', slash: true },
  { ascii: 'upper' },
  { escaped: '<>&', isUpper: true },
];

/** Returns functions that write texts with no other characters than these, each in a way of its own. */
function listTextWriters(characters: string): readonly ((text: string) => string)[] {
  const distinct = [...new Set(characters)].join('');
  const writers = new Map<string, (text: string) => string>();
  for (const escaping of escapings) {
    const write = createTextWriter(escaping);
    const key = write(distinct);
    if (!writers.has(key)) writers.set(key, write);
  }
  return [...writers.values()];
}

/** Creates the function that writes a text as a JSON string. Names occur often, so each text is written once. */
function createTextWriter(escaping: Escaping): (text: string) => string {
  const { ascii, escaped = '', isUpper = false, slash = false } = escaping;
  const others = `${slash ? '/' : ''}${escaped.replaceAll('"', '')}`;
  const units = `${others.replace(/[\\\]^-]/g, '\\$&')}${ascii === undefined ? '' : '\u0080-\uffff'}`;
  const changed = units === '' ? undefined : new RegExp(`[${units}]`, 'g');
  const change = (unit: string): string => {
    if (unit === '/' && slash) return '\\/';
    return escapeUnit(unit, escaped.includes(unit) ? isUpper : ascii === 'upper');
  };
  const written = new Map<string, string>();
  return (text) => {
    const known = written.get(text);
    if (known !== undefined) return known;
    const quoted = JSON.stringify(text);
    const inner = escaped.includes('"') ? `"${quoted.slice(1, -1).replaceAll('\\"', '\\u0022')}"` : quoted;
    const result = changed === undefined ? inner : inner.replace(changed, change);
    written.set(text, result);
    return result;
  };
}

function escapeUnit(unit: string, isUpper: boolean): string {
  const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${isUpper ? digits.toUpperCase() : digits}`;
}

/** How one program writes JSON. */
interface Writer {
  readonly layout: Layout;
  readonly text: (text: string) => string;
  readonly literal: (digits: string) => string;
}

function write(node: JsonNode, writer: Writer, depth = 0): string {
  if (node.kind === 'string') return writer.text(node.text);
  if (node.kind === 'number') return writer.literal(node.text);
  if (node.kind === 'boolean' || node.kind === 'null') return node.text;
  const { layout } = writer;
  const isObject = node.kind === 'object';
  const inner = isObject
    ? Array.from(
        node.members,
        ([name, { value }]) => `${writer.text(name)}${layout.colon}${write(value, writer, depth + 1)}`,
      )
    : node.items.map((item) => write(item, writer, depth + 1));
  const [open, close] = isObject ? ['{', '}'] : ['[', ']'];
  if (inner.length === 0) return open + close;
  const { indent, lineEnd = '\n', inlineArrays = false } = layout;
  if (indent === undefined) return open + inner.join(layout.comma) + close;
  if (!isObject && inlineArrays) return `${open} ${inner.join(', ')} ${close}`;
  const [line, last] = [lineEnd + indent.repeat(depth + 1), lineEnd + indent.repeat(depth)];
  return open + line + inner.join(`,${line}`) + last + close;
}

/** Returns all texts of a node, one after the other. */
function collectTexts(node: JsonNode): string {
  if (node.kind === 'string') return node.text;
  if (node.kind === 'array') return node.items.map(collectTexts).join('');
  if (node.kind !== 'object') return '';
  return Array.from(node.members, ([name, { value }]) => name + collectTexts(value)).join('');
}

function countLines(node: JsonNode): number {
  if (node.kind === 'array') return node.items.reduce((sum, item) => sum + 1 + countLines(item), 1);
  if (node.kind !== 'object') return 0;
  return valuesOf(node.members).reduce((sum, value) => sum + 1 + countLines(value), 1);
}

function depthOf(node: JsonNode): number {
  if (node.kind === 'array') return 1 + Math.max(0, ...node.items.map(depthOf));
  if (node.kind !== 'object') return 0;
  return 1 + Math.max(0, ...valuesOf(node.members).map(depthOf));
}

function valuesOf(members: ReadonlyMap<string, JsonMember>): JsonNode[] {
  return Array.from(members.values(), ({ value }) => value);
}

/** The largest estimate of indented JSON (bytes), and how much longer it may be: deep JSON grows by its depth on each line. */
const longestIndented = 262_144;
const maxGrowth = 8;

/** How numbers are written: as sent, as JavaScript does, and each with a fraction. */
const numbers: readonly ((digits: string) => string)[] = [
  (digits) => digits,
  (digits) => JSON.stringify(JSON.parse(digits)),
  (digits) => (/^-?\d+$/.test(digits) ? `${digits}.0` : digits),
];

function removeTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits.includes('.') && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, digits[end - 1] === '.' ? end - 1 : end);
}

/** Returns a number as `repr` of Python writes a float: with an exponent from 1e16 on and below 1e-4, and always with a fraction or an exponent. */
function writeFloat(digits: string): string {
  const value = Number(digits);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4))
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** Other notations of a number: JavaScript, floats of Python, without zeros at the end of a fraction, and as an exponent. */
export const numberNotations: readonly ((digits: string) => string)[] = [
  (digits) => String(Number(digits)),
  writeFloat,
  (digits) =>
    Number(digits)
      .toExponential()
      .replace(/e([+-])(\d)$/, 'e$10$2'),
  removeTrailingZeros,
  (digits) => (digits.includes('.') ? digits : `${digits}.0`),
  (digits) => Number(digits).toFixed(2),
];

/** The number of characters that are written for one value: long JSON is written in fewer ways. */
const maxWritten = 524_288;

/** Yields what programs write most often for a value, in octets: about 20 texts, and as many if they write its numbers otherwise. */
export function* writeUsualJson(node: JsonNode): Generator<string> {
  const [asSent = String, asParsed = String, ...notations] = numbers;
  const [plain = JSON.stringify, ...escaping] = listTextWriters(collectTexts(node));
  const make = (layout: Layout, text: Writer['text'], literal: Writer['literal']): string =>
    toOctets(write(node, { layout, text, literal }));
  const isSame = make(compact, plain, asSent) === make(compact, plain, asParsed);
  for (const literal of isSame ? [asSent] : [asSent, asParsed]) {
    for (const layout of listFitting(node, usualLayouts)) yield make(layout, plain, literal);
    for (const text of escaping) for (const layout of oneLine) yield make(layout, text, literal);
  }
  for (const literal of notations) yield make(compact, plain, literal);
}

/** Yields what programs write for a value, in octets, in all ways that are not too long together. */
export function* writeJson(node: JsonNode): Generator<string> {
  const texts = listTextWriters(collectTexts(node));
  const fitting = listFitting(node, layouts);
  let left = maxWritten;
  for (const literal of numbers)
    for (const text of texts)
      for (const layout of fitting) {
        const written = write(node, { layout, text, literal });
        left -= written.length;
        if (left < 0) return;
        yield toOctets(written);
      }
}

/** Returns the layouts in which a value is not longer than is tried. */
function listFitting(node: JsonNode, some: readonly Layout[]): readonly Layout[] {
  const size = write(node, { layout: compact, text: JSON.stringify, literal: String }).length;
  const deepest = countLines(node) * depthOf(node);
  const longest = Math.max(longestIndented, maxGrowth * size);
  return some.filter(({ indent = '' }) => size + deepest * indent.length <= longest);
}

/** Returns a value with the members of its objects sorted by their names. */
export function sortMembers(node: JsonNode): JsonNode {
  if (node.kind === 'array') return { ...node, items: node.items.map(sortMembers) };
  if (node.kind !== 'object') return node;
  const members = [...node.members].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createObject(members.map(([name, { value }]) => [name, sortMembers(value)]));
}

/** The largest number of members that are left out one by one. */
const maxLeftOut = 64;

/** Returns a value without each of its members, and without each of those of its members' objects. */
export function omitMembers(node: JsonNode): JsonNode[] {
  if (node.kind !== 'object') return [];
  const members = Array.from(node.members, ([name, { value }]) => [name, value] as const);
  const own = members.map((_, at) => createObject(members.toSpliced(at, 1)));
  const inner = members.flatMap(([name, value], at) =>
    omitMembers(value).map((fewer) => createObject(members.with(at, [name, fewer]))),
  );
  return [...own, ...inner].slice(0, maxLeftOut);
}

/** Returns an object as parameters with the texts of its members; undefined if a member is no single value. */
export function listMembers(node: JsonNode): (readonly [name: string, value: string])[] | undefined {
  if (node.kind !== 'object') return undefined;
  const pairs: (readonly [name: string, value: string])[] = [];
  for (const [name, { value }] of node.members) {
    if (value.kind === 'object' || value.kind === 'array') return undefined;
    pairs.push([toOctets(name), toOctets(value.text)]);
  }
  return pairs;
}

/** The notations of numbers in Python: as sent, those of other programs for all numbers or for fractions alone, and decimals. */
const pythonNumbers: readonly ((digits: string) => string)[] = [
  (digits) => digits,
  ...numberNotations.flatMap((notation) => [
    notation,
    (digits: string) => (/[.e]/i.test(digits) ? notation(digits) : digits),
  ]),
  (digits) => (/[.e]/i.test(digits) ? `Decimal('${digits}')` : digits),
  (digits) => `Decimal('${digits}')`,
];

/** Yields a value as `str()` of Python writes it, and with double quotes and without spaces, in octets. */
export function* listPython(node: JsonNode): Generator<string> {
  const numbers: string[] = [];
  print(node, python, (digits) => String(numbers.push(digits)));
  const written = new Set<string>();
  for (const literal of numbers.length === 0 ? [String] : pythonNumbers) {
    const text = toOctets(print(node, python, literal));
    if (written.has(text)) continue;
    written.add(text);
    const replaced = text.replaceAll("'", '"');
    yield* [text, replaced, text.replaceAll(' ', ''), replaced.replaceAll(' ', '')];
  }
}

/** How a language prints a value. */
interface Notation {
  readonly quote: (text: string) => string;
  /** The text between a name and its value, and between members. */
  readonly arrow: string;
  readonly comma: string;
  readonly object: readonly [open: string, close: string];
  readonly words: Readonly<Record<'null' | 'true' | 'false', string>>;
}

const python: Notation = {
  quote: quotePython,
  arrow: ': ',
  comma: ', ',
  object: ['{', '}'],
  words: { null: 'None', true: 'True', false: 'False' },
};
const ruby: Notation = {
  quote: JSON.stringify,
  arrow: '=>',
  comma: ', ',
  object: ['{', '}'],
  words: { null: 'nil', true: 'true', false: 'false' },
};
const java: Notation = {
  quote: (text) => text,
  arrow: '=',
  comma: ', ',
  object: ['{', '}'],
  words: { null: 'null', true: 'true', false: 'false' },
};
const go: Notation = {
  ...java,
  arrow: ':',
  comma: ' ',
  object: ['map[', ']'],
  words: { ...java.words, null: '<nil>' },
};

/** The notations of other languages: those of Ruby to 3.3 and from 3.4 on, Java, and Go, which sorts the names. */
const notationsOf = { Ruby: [ruby, { ...ruby, arrow: ' => ' }], Java: [java], Go: [go] };

/** Returns a value as another language than Python prints it, in octets, with its numbers as sent and as JavaScript writes them. */
export function listPrinted(node: JsonNode, language: keyof typeof notationsOf): string[] {
  const printed = language === 'Go' ? sortMembers(node) : node;
  return notationsOf[language].flatMap((notation) =>
    numbers.slice(0, 2).map((literal) => toOctets(print(printed, notation, literal))),
  );
}

function print(node: JsonNode, notation: Notation, literal: (digits: string) => string): string {
  const { quote, arrow, comma, object, words } = notation;
  if (node.kind === 'array')
    return `[${node.items.map((item) => print(item, notation, literal)).join(comma)}]`;
  if (node.kind === 'string') return quote(node.text);
  if (node.kind === 'number') return literal(node.text);
  if (node.kind !== 'object') return words[node.text];
  const members = Array.from(
    node.members,
    ([name, { value }]) => quote(name) + arrow + print(value, notation, literal),
  );
  return object[0] + members.join(comma) + object[1];
}

function quotePython(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
  return quote + inside + quote;
}
