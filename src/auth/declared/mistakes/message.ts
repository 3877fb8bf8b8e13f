// Messages that clients sign by mistake, reconstructed from the request that arrived.
import { createHash } from 'node:crypto';
import {
  type MessageSource,
  messageBytes,
  type Piece,
  pieceOf,
} from '../../../signature/declared/message.ts';
import { partName, type Template, type TemplatePart } from '../../../signature/declared/template.ts';
import type { DeclaredOptions } from '../options.ts';
import { variantsOf } from './parts.ts';

/** A message that a client may have signed, and a hint that describes the mistake. */
export interface MessageMistake {
  readonly hint: string;
  readonly message: Buffer;
  /** The part that differs, and the value that was signed; undefined if more than one part differs. */
  readonly differs?: { readonly name: string; readonly signed: Piece };
}

/** Yields the common mistakes, most likely first. Omits those that do not change the message of this request. */
export function* messageMistakes(
  source: MessageSource,
  time: number | undefined,
  options: DeclaredOptions,
): Generator<MessageMistake> {
  const { message: template } = options;
  const pieces = template.map((part) => pieceOf(part, source));
  const right = messageBytes(pieces);
  const all = function* (): Generator<MessageMistake> {
    yield* endings(right);
    for (const at of template.keys()) yield* partMistakes(template, at, pieces, source, time, options);
    yield* omissions(template, pieces);
    yield* separators(template, pieces);
    yield* swaps(template, pieces);
    yield* wholes(right, options);
  };
  for (const mistake of all()) if (!mistake.message.equals(right)) yield mistake;
}

function endings(message: Buffer): MessageMistake[] {
  const added = (hint: string, ...parts: Piece[]): MessageMistake => ({ hint, message: messageBytes(parts) });
  return [
    added('a line feed was signed at the end (echo without -n?)', message, '\n'),
    added('a line ending (CR LF) was signed at the end', message, '\r\n'),
    added('a space was signed at the end', message, ' '),
    added('a null byte was signed at the end', message, '\0'),
  ];
}

function* partMistakes(
  template: Template,
  at: number,
  pieces: readonly Piece[],
  source: MessageSource,
  time: number | undefined,
  options: DeclaredOptions,
): Generator<MessageMistake> {
  const part = template[at];
  if (part === undefined) return;
  for (const [hint, signed] of variantsOf(part, source, time, options))
    yield { hint, message: messageBytes(pieces.with(at, signed)), differs: { name: partName(part), signed } };
}

/** Messages without one part and a separator beside it, of one part alone, or without literal text at either end. */
function omissions(template: Template, pieces: readonly Piece[]): MessageMistake[] {
  const without = (from: number, to: number): Buffer =>
    messageBytes(pieces.filter((_, at) => at < from || at >= to));
  const omitted = template.flatMap((part, at): MessageMistake[] => {
    const name = partName(part);
    if (part.kind === 'literal') {
      const isEnd = at === 0 || at === template.length - 1;
      return isEnd
        ? [
            {
              hint: `the text ${JSON.stringify(part.text)} was left out of the message`,
              message: without(at, at + 1),
            },
          ]
        : [];
    }
    const hint = `the part ${name} was left out of the message`;
    const spans: readonly (readonly [number, number])[] = [
      [at, at + 1],
      [at, at + 2],
      [Math.max(0, at - 1), at + 1],
    ];
    return spans.map(([from, to]) => ({ hint, message: without(from, to), differs: { name, signed: '' } }));
  });
  const alone = template.flatMap((part, at): MessageMistake[] =>
    part.kind === 'literal'
      ? []
      : [
          {
            hint: `only the part ${partName(part)} was signed`,
            message: messageBytes(pieces.slice(at, at + 1)),
          },
        ],
  );
  return [...omitted, ...alone];
}

const separatorNames: readonly (readonly [name: string, separator: string])[] = [
  ['no separator', ''],
  ['"."', '.'],
  ['":"', ':'],
  ['line feeds', '\n'],
  ['"&"', '&'],
  ['"|"', '|'],
  ['"+"', '+'],
  ['","', ','],
  ['";"', ';'],
  ['"-"', '-'],
  ['"_"', '_'],
  ['spaces', ' '],
];

/** Messages whose inner literals are all replaced by another separator, or are between all parts. */
function separators(template: Template, pieces: readonly Piece[]): MessageMistake[] {
  const last = template.length - 1;
  const isInner = (part: TemplatePart | undefined, at: number): boolean =>
    part?.kind === 'literal' && at > 0 && at < last;
  const values = pieces.filter((_, at) => template[at]?.kind !== 'literal');
  return separatorNames.flatMap(([name, separator]): MessageMistake[] => {
    const hint = `the parts were joined with ${name}`;
    const replaced = pieces.map((piece, at) => (isInner(template[at], at) ? separator : piece));
    const joined = values.flatMap((value, at) => (at === 0 ? [value] : [separator, value]));
    return [
      { hint, message: messageBytes(replaced) },
      { hint, message: messageBytes(joined) },
    ];
  });
}

/** Messages in which two parts are exchanged. */
function swaps(template: Template, pieces: readonly Piece[]): MessageMistake[] {
  const places = template.flatMap(({ kind }, at) => (kind === 'literal' ? [] : [at]));
  return places.flatMap((one, index) =>
    places.slice(index + 1).map((other): MessageMistake => {
      const names = [template[one], template[other]].map((part) =>
        part === undefined ? '' : partName(part),
      );
      const swapped = pieces.with(one, pieces[other] ?? '').with(other, pieces[one] ?? '');
      return { hint: `the parts ${names.join(' and ')} were exchanged`, message: messageBytes(swapped) };
    }),
  );
}

function wholes(message: Buffer, { hash }: DeclaredOptions): MessageMistake[] {
  const digest = createHash(hash).update(message).digest();
  const text = message.toString('latin1');
  const hashed = 'the message was hashed before it was signed';
  return [
    { hint: hashed, message: digest },
    { hint: hashed, message: Buffer.from(digest.toString('hex'), 'latin1') },
    { hint: hashed, message: Buffer.from(digest.toString('base64'), 'latin1') },
    {
      hint: 'the message was encoded in base64 before it was signed',
      message: Buffer.from(message.toString('base64'), 'latin1'),
    },
    { hint: 'the message was signed in lower case', message: Buffer.from(text.toLowerCase(), 'latin1') },
    {
      hint: 'the message was signed in UTF-16 instead of UTF-8',
      message: Buffer.from(message.toString('utf8'), 'utf16le'),
    },
    { hint: 'nothing was signed: the message was empty', message: Buffer.alloc(0) },
  ];
}
