// Mistakes in a message of lines, each of which has a name and a value: the headers of AWS, and the signature bases of RFC 9421 and of
// draft-cavage-http-signatures.

import type { HttpHeaders } from '../../http/fields.ts';
import type { MessageMistake } from '../scheme.ts';
import { permutations } from './mistake.ts';

/** A line of a message. Each character is one octet. */
export interface Line {
  readonly name: string;
  readonly value: string;
}

/** How a scheme writes lines, and what its hints call them. */
interface LineForm {
  /** What a line is: `header`. */
  readonly item: string;
  /** What names the lines: `SignedHeaders`. */
  readonly list: string;
  /** The text between a name and its value. */
  readonly colon: ': ' | ':';
  /** Whether the lines are sorted by name. Default: they stand in the order of `list`. */
  readonly isSorted?: boolean;
  /** A line that is the last one in any order. Default: there is none. */
  readonly last?: Line | undefined;
  /** The fields of the request, in the order sent. */
  readonly fields: HttpHeaders;
  /** Returns the line of a field that the request has, by its name in lower case. */
  readonly lineOf: (field: string) => Line;
  /**
   * Returns the messages with this text in place of that of the lines. `names` are the names of the lines in it, if they are others or
   * in another order.
   */
  readonly build: (text: string, names?: readonly string[]) => readonly Omit<MessageMistake, 'hint'>[];
}

/** The texts with which clients join what belongs apart, and their names in hints. */
export const separators: readonly (readonly [name: string, separator: string])[] = [
  ['no separator', ''],
  ['"."', '.'],
  ['":"', ':'],
  ['line feeds', '\n'],
  ['CR LF', '\r\n'],
  ['carriage returns', '\r'],
  ['the two characters \\n', '\\n'],
  ['"&"', '&'],
  ['"|"', '|'],
  ['"+"', '+'],
  ['" + "', ' + '],
  ['"%2B"', '%2B'],
  ['","', ','],
  ['";"', ';'],
  ['"-"', '-'],
  ['"_"', '_'],
  ['"/"', '/'],
  ['spaces', ' '],
  ['tabs', '\t'],
];

/** A way to write lines. What is left out is as the scheme requires. */
interface Way {
  readonly name?: (name: string) => string;
  readonly colon?: string;
  readonly separator?: string;
  readonly end?: string;
}

/** Yields the messages that clients build by mistake: lines in another form or order, lines that are missing, and further ones. */
export function* lineMistakes(lines: readonly Line[], form: LineForm): Generator<MessageMistake> {
  const { item, list } = form;
  for (const [at, { name }] of lines.entries())
    yield* buildLines(`${name} is listed in ${list}, but was not signed`, lines.toSpliced(at, 1), form, name);
  for (const [hint, way] of listWays(form))
    for (const text of writeLines(lines, way, form)) yield* build(hint, text, form);
  for (const order of listOrders(lines, form)) {
    const names = form.isSorted === true ? '' : `: ${order.map(({ name }) => name).join(' ')}`;
    const hint =
      form.isSorted === true ? 'are not sorted by name' : `were signed in another order than in ${list}`;
    yield* buildLines(`the ${item}s ${hint}${names}`, order, form);
  }
  yield* additions(lines, form);
}

function listWays({ item, colon, fields }: LineForm): readonly (readonly [hint: string, way: Way])[] {
  const sent = new Map(readNames(fields).map((name) => [name.toLowerCase(), name]));
  const capitals = 'in upper case; lower case is expected';
  return [
    colon === ':'
      ? [`there is a space after the colon of each ${item}`, { colon: ': ' }]
      : [`there was no space after the colon of each ${item}`, { colon: ':' }],
    [`the values were signed without the names of the ${item}s`, { name: () => '', colon: '' }],
    [
      `the names of the ${item}s were signed without quotes`,
      { name: (name) => name.replace(/^"([^"]*)"/, '$1') },
    ],
    [`the names of the ${item}s were signed ${capitals}`, { name: (name) => sent.get(name) ?? name }],
    [`the names of the ${item}s were signed ${capitals}`, { name: capitalize }],
    ...separators
      .filter(([, separator]) => !separator.includes('\n'))
      .map(
        ([named, separator]) =>
          [`the lines were joined with ${named}; a line feed is expected`, { separator }] as const,
      ),
    ['the lines were signed with CR LF at their ends', { separator: '\r\n', end: '\r\n' }],
  ];
}

/** Writes the name of a field with a capital at the beginning of each word; others as they are. */
export function capitalize(name: string): string {
  return /^"?[@(]/.test(name) ? name : name.replace(/(?<=^"?|-)[a-z]/g, (letter) => letter.toUpperCase());
}

function writeLine({ name, value }: Line, way: Way, { colon }: LineForm): string {
  return `${way.name?.(name) ?? name}${way.colon ?? colon}${value}`;
}

/** Returns the text of lines. Clients write the last line in the same way, or as the scheme requires. */
function writeLines(lines: readonly Line[], way: Way, form: LineForm): readonly string[] {
  const { separator = '\n', end = '' } = way;
  const written = lines.map((line) => writeLine(line, way, form));
  if (form.last === undefined) return [written.join(separator) + end];
  return [way, {}].map(
    (each) => [...written, writeLine(form.last ?? { name: '', value: '' }, each, form)].join(separator) + end,
  );
}

function* build(
  hint: string,
  text: string,
  form: LineForm,
  names?: readonly string[],
  leftOut?: string,
): Generator<MessageMistake> {
  const missing = leftOut === undefined ? {} : { differs: { name: leftOut, signed: '' } };
  for (const made of form.build(text, names)) yield { hint, ...missing, ...made };
}

function* buildLines(
  hint: string,
  lines: readonly Line[],
  form: LineForm,
  leftOut?: string,
): Generator<MessageMistake> {
  const [text = ''] = writeLines(lines, {}, form);
  yield* build(
    hint,
    text,
    form,
    lines.map(({ name }) => name),
    leftOut,
  );
}

/** The largest number of lines of which all orders are tried. */
const maxOrdered = 5;

function listOrders(lines: readonly Line[], { isSorted = false, fields, lineOf }: LineForm): Line[][] {
  const sent = readNames(fields).map((name) => lineOf(name.toLowerCase()).name);
  const asSent = lines.toSorted((one, other) => sent.indexOf(one.name) - sent.indexOf(other.name));
  if (isSorted) return [asSent, lines.toReversed()];
  if (lines.length <= maxOrdered) return permutations(lines);
  const isDerived = ({ name }: Line): boolean => /^"?[@(]/.test(name);
  const [derived, others] = [lines.filter(isDerived), lines.filter((line) => !isDerived(line))];
  const swapped = lines.slice(1).map((line, at) => lines.toSpliced(at, 2, line, ...lines.slice(at, at + 1)));
  const sorted = lines.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return [sorted, lines.toReversed(), asSent, [...derived, ...others], [...others, ...derived], ...swapped];
}

/** The number of fields that are tried one by one: a request may have thousands. The usual ones are the first. */
const maxAdded = 24;
const usual: readonly string[] = ['content-type', 'content-length', 'digest', 'date', 'user-agent', 'accept'];

/** Values of fields that client libraries set after signing or drop, or that the next hop replaces. */
export const libraryValues: ReadonlyMap<string, readonly string[]> = new Map([
  ['accept', ['*/*', 'application/json', 'application/json, text/plain, */*']],
  [
    'accept-encoding',
    ['gzip', 'identity', 'gzip, deflate', 'gzip,deflate', 'gzip, deflate, br', 'gzip, deflate, br, zstd'],
  ],
  ['connection', ['close', 'keep-alive', 'Keep-Alive']],
  ['content-length', ['0']],
  [
    'content-type',
    [
      'application/json',
      'application/json; charset=utf-8',
      'application/x-www-form-urlencoded',
      'application/octet-stream',
      'text/plain',
      'text/plain;charset=UTF-8',
      'binary/octet-stream',
      'image/png',
      'image/jpeg',
      'application/pdf',
      'text/html',
      'text/csv',
      'application/xml',
    ],
  ],
]);

/** Fields that no signature covers, because they contain it. */
const proofs: readonly string[] = ['authorization', 'signature', 'signature-input'];

/** Yields the messages with a line for a field that the request has, and the list does not name. */
function* additions(lines: readonly Line[], form: LineForm): Generator<MessageMistake> {
  const { fields, list, isSorted = false, lineOf } = form;
  const own = new Set(lines.map(({ name }) => name));
  const sent = readNames(fields).map((name) => name.toLowerCase());
  const candidates = new Set([...usual.filter((name) => fields.has(name)), ...sent]);
  for (const field of [...candidates].slice(0, maxAdded)) {
    const line = lineOf(field);
    if (own.has(line.name) || proofs.includes(field)) continue;
    const hint = `${field} was signed, but is missing in ${list}`;
    const places = isSorted ? [findPlace(lines, line)] : lines.map((_, at) => lines.length - at).concat(0);
    for (const at of places) yield* buildLines(hint, lines.toSpliced(at, 0, line), form);
  }
  for (const [field, values] of libraryValues)
    for (const value of fields.has(field) ? [] : ['', ...values.slice(0, maxUnsent)]) {
      const line = { name: lineOf(field).name, value };
      if (own.has(line.name)) continue;
      for (const at of new Set([findPlace(lines, line), lines.length]))
        yield* buildLines(`${field} was signed, but was not sent`, lines.toSpliced(at, 0, line), form);
    }
}

/** The number of values of a field that are tried if it was not sent. */
const maxUnsent = 3;

/** Returns where a line stands among lines that are sorted by name. */
function findPlace(lines: readonly Line[], { name }: Line): number {
  const after = lines.findIndex((line) => line.name > name);
  return after < 0 ? lines.length : after;
}

/** Returns the names of the fields as sent. */
function readNames({ raw }: HttpHeaders): string[] {
  return raw.filter((_, at) => at % 2 === 0);
}
