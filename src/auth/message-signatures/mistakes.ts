// Signature bases that clients sign by mistake.
import type { BaseLine } from '../../signature/message-signatures/base.ts';
import { formatBase } from '../../signature/message-signatures/base.ts';
import type { RequestMessage } from '../../signature/message-signatures/message.ts';
import type { MessageSignature } from '../../signature/message-signatures/signature-fields.ts';
import { serializeBareItem } from '../../signature/structured-fields/serialize.ts';
import { componentMistakes } from './component-mistakes.ts';

/** A text that a client may have signed in place of the signature base. */
export interface BaseMistake {
  readonly hint: string;
  readonly text: string;
  /** The name of the line that differs, if it is one. */
  readonly differs?: string;
  /** The value of that line in the text. */
  readonly signed?: string;
}

/** The signature base of a request, and what it is made from. */
export interface SignedBase {
  readonly lines: readonly BaseLine[];
  readonly message: RequestMessage;
  readonly signature: MessageSignature;
}

/** Yields the mistakes, each with a text that differs from the signature base and from the others. */
export function* baseMistakes(base: SignedBase): Generator<BaseMistake> {
  const texts = new Set([formatBase(base.lines)]);
  for (const mistake of allMistakes(base)) if (texts.size < texts.add(mistake.text).size) yield mistake;
}

function* allMistakes(base: SignedBase): Generator<BaseMistake> {
  yield* lineMistakes(base);
  yield* parameterMistakes(base);
  yield* orderMistakes(base);
  yield* formMistakes(base);
}

function withLine(lines: readonly BaseLine[], index: number, line: BaseLine): readonly BaseLine[] {
  return lines.map((each, at) => (at === index ? line : each));
}

/** Mistakes in the value of one component. */
function* lineMistakes({ lines, message }: SignedBase): Generator<BaseMistake> {
  for (const [index, { name, value }] of lines.slice(0, -1).entries()) {
    for (const { hint, signed } of componentMistakes(name, value, message)) {
      const text = formatBase(withLine(lines, index, { name, value: signed }));
      yield { hint, text, differs: name, signed };
    }
    const without = formatBase(lines.filter((_, at) => at !== index));
    yield { hint: `the component ${name} is listed, but was not signed`, text: without, differs: name };
  }
}

const parametersName = '"@signature-params"';

/** Mistakes in the last line. */
function parameterMistakes({ lines, signature }: SignedBase): readonly BaseMistake[] {
  const last = lines.length - 1;
  const value = lines[last]?.value ?? '';
  const { label, covered } = signature;
  const components = value.slice(0, value.lastIndexOf(')') + 1);
  const written = Array.from(covered.parameters, ([key, bare]): [string, string] => [
    key,
    `;${key}=${serializeBareItem(bare)}`,
  ]);
  const all = (list: readonly (readonly [string, string])[]): string =>
    components + list.map(([, text]) => text).join('');
  const sorted = [...written].sort(([one], [other]) => (one < other ? -1 : 1));
  const values: [hint: string, signed: string][] = [
    ['the parameters of the signature were not signed', components],
    ['the label must not be a part of "@signature-params"', `${label}=${value}`],
    ['the parameters were signed in another order than in Signature-Input', all(sorted)],
    ['the parameters were signed in another order than in Signature-Input', all([...written].reverse())],
    ['the parameters were signed in another order than in Signature-Input', all(inUsualOrder(written))],
    [
      'the components in "@signature-params" were not signed in quotes',
      value.replace(/"(@?[\w-]+)"(?=[ );])/g, '$1'),
    ],
    [
      'the components in "@signature-params" were signed with commas between them',
      value.replaceAll('" "', '", "'),
    ],
    ['"@signature-params" was signed without parentheses', value.replace(/^\((.*?)\)/, '$1')],
    ['a space was signed before each parameter', value.replaceAll(';', '; ')],
    ['created was signed in milliseconds', value.replace(/;created=(\d+)/, ';created=$1000')],
    ['created was signed as a string', value.replace(/;created=(\d+)/, ';created="$1"')],
    ...written.map(([key, text]): [string, string] => [
      `the parameter ${key} is in Signature-Input, but was not signed`,
      value.replace(text, ''),
    ]),
  ];
  return values.map(([hint, signed]) => {
    const text = formatBase(withLine(lines, last, { name: parametersName, value: signed }));
    return { hint, text, differs: parametersName, signed };
  });
}

/** The order of the parameters in RFC 9421 §2.3. */
const usualOrder = ['created', 'expires', 'nonce', 'alg', 'keyid', 'tag'];

function inUsualOrder<Entry>(entries: readonly (readonly [string, Entry])[]): (readonly [string, Entry])[] {
  return [...entries].sort(([one], [other]) => usualOrder.indexOf(one) - usualOrder.indexOf(other));
}

/** Mistakes in the order of the lines. */
function orderMistakes({ lines }: SignedBase): readonly BaseMistake[] {
  const components = lines.slice(0, -1);
  const parameters = lines.slice(-1);
  const byName = [...components].sort((one, other) => (one.name < other.name ? -1 : 1));
  const isDerived = ({ name }: BaseLine): boolean => name.startsWith('"@');
  const [derived, fields] = [components.filter(isDerived), components.filter((line) => !isDerived(line))];
  const hint = 'the components were signed in another order than in Signature-Input';
  const orders = [byName, [...components].reverse(), [...derived, ...fields], [...fields, ...derived]];
  const texts = [...orders, ...swaps(components)].map((order) => formatBase([...order, ...parameters]));
  return [
    ...texts.map((text) => ({ hint, text })),
    { hint: '"@signature-params" must be the last line', text: formatBase([...parameters, ...components]) },
    {
      hint: 'the line "@signature-params" was not signed',
      text: formatBase(components),
      differs: parametersName,
    },
  ];
}

/** Each order in which two neighbouring lines are swapped. */
function swaps(lines: readonly BaseLine[]): readonly (readonly BaseLine[])[] {
  return lines.slice(1).map((line, index) => {
    const before = lines[index];
    return [
      ...lines.slice(0, index),
      line,
      ...(before === undefined ? [] : [before]),
      ...lines.slice(index + 2),
    ];
  });
}

/** Mistakes in the form of all lines. */
function formMistakes({ lines }: SignedBase): readonly BaseMistake[] {
  const text = formatBase(lines);
  const joined = (separator: string, format: (line: BaseLine) => string): string =>
    lines.map(format).join(separator);
  const plain = ({ name, value }: BaseLine): string => `${name}: ${value}`;
  const bare = (name: string): string => name.replace(/^"([^"]*)"/, '$1');
  const titled = (name: string): string =>
    name.startsWith('"@') ? name : name.replace(/(?<=^"|-)[a-z]/g, (letter) => letter.toUpperCase());
  return [
    { hint: 'the signature base was signed with a line feed at its end', text: `${text}\n` },
    { hint: 'the lines were signed with CR LF between them', text: joined('\r\n', plain) },
    { hint: 'the lines were signed with CR LF at their ends', text: `${joined('\r\n', plain)}\r\n` },
    { hint: 'the lines were signed without line feeds', text: joined('', plain) },
    {
      hint: 'the names were signed without quotes',
      text: joined('\n', ({ name, value }) => `${bare(name)}: ${value}`),
    },
    {
      hint: 'the names must be signed in lower case',
      text: joined('\n', ({ name, value }) => `${titled(name)}: ${value}`),
    },
    {
      hint: 'the space after each colon was not signed',
      text: joined('\n', ({ name, value }) => `${name}:${value}`),
    },
    { hint: 'only the values were signed, without the names', text: joined('\n', ({ value }) => value) },
    {
      hint: 'the signature base was encoded in base64 before it was signed',
      text: Buffer.from(text, 'latin1').toString('base64'),
    },
  ];
}
