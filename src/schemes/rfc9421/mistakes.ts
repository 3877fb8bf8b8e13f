// Mistakes that only clients of RFC 9421 make: in components without a counterpart in other schemes, in the parameters of the
// signature, and in the form of the signature base.

import { serializeBareItem } from '../../http/structured-fields/serialize.ts';
import { bytesOf } from '../../http/syntax/octets.ts';
import { decodeEscapes } from '../../http/syntax/percent.ts';
import { lineMistakes } from '../explain/lines.ts';
import { permutations, type Variant } from '../explain/mistake.ts';
import { variantsOfPart } from '../explain/parts.ts';
import { readFacts } from '../explain/search.ts';
import { octetsOfPiece, type Part, type PartKind } from '../message.ts';
import type { MessageMistake } from '../scheme.ts';
import { formatBase, parametersName } from './base.ts';
import type { PresentedSignature } from './presented.ts';

/** Returns the values that clients sign in place of a component or of the parameters. */
export function partMistakes({ name, value }: Part, presented: PresentedSignature): readonly Variant[] {
  const text = octetsOfPiece(value);
  if (name === parametersName) return parameterMistakes(text, presented);
  const [, component] = /^"(@[^"]*)"/.exec(name) ?? [];
  switch (component) {
    case '@scheme':
      return text === 'https'
        ? [['"@scheme" was signed as http, but the request arrived over TLS', 'http']]
        : [['"@scheme" was signed as https, but the request arrived without TLS', 'https']];
    case '@query-param':
      return [
        ['the value of "@query-param" was signed decoded', decodeEscapes(text)],
        ['the value of "@query-param" was signed with + for a space; it is %20', text.replaceAll('%20', '+')],
      ];
    case '@request-target':
      return [
        [
          '"@request-target" was signed with the method, as in draft-cavage-http-signatures',
          `${presented.request.method.toLowerCase()} ${text}`,
        ],
      ];
    default:
      return [];
  }
}

/** Returns other values of the last line (RFC 9421 §2.3). */
function parameterMistakes(value: string, presented: PresentedSignature): Variant[] {
  const { label, covered, parameters } = presented.signature;
  const list = value.slice(0, value.lastIndexOf(')') + 1);
  const written = Array.from(covered.parameters, ([key, bare]): [string, string] => [
    key,
    `;${key}=${serializeBareItem(bare)}`,
  ]);
  return [
    ['the parameters of the signature were not signed', list],
    ...listOrders(written).map(
      (order): Variant => [
        'the parameters were signed in another order than in Signature-Input',
        list + order.map(([, text]) => text).join(''),
      ],
    ),
    ...written.map(
      ([key, text]): Variant => [
        `the parameter ${key} is in Signature-Input, but was not signed`,
        value.replace(text, ''),
      ],
    ),
    ...listUnsent(value, presented),
    ['the label must not be a part of "@signature-params"', `${label}=${value}`],
    ['created was signed in milliseconds', value.replace(/;created=(\d+)/, ';created=$1000')],
    ['created was signed as a string', value.replace(/;created=(\d+)/, ';created="$1"')],
    [
      'the components in "@signature-params" were not signed in quotes',
      value.replace(/"(@?[\w-]+)"(?=[ );])/g, '$1'),
    ],
    [
      'the texts in "@signature-params" were not signed in quotes: keyid="…" is expected',
      value.replace(/="([^"]*)"/g, '=$1'),
    ],
    [
      'the components in "@signature-params" were signed with commas between them',
      value.replaceAll('" "', '", "'),
    ],
    ['"@signature-params" was signed without parentheses', value.replace(/^\((.*?)\)/, '$1')],
    ['a space was signed before each parameter', value.replaceAll(';', '; ')],
    ...valueMistakes(value, 'created', 'time', String(parameters.created), presented),
    ...valueMistakes(value, 'nonce', 'nonce', parameters.nonce, presented),
  ];
}

/** Returns the last line with a parameter that Signature-Input does not have, with its usual values. */
function listUnsent(
  line: string,
  { kinds, signature: { covered, parameters } }: PresentedSignature,
): Variant[] {
  const { created } = parameters;
  const usual: readonly (readonly [key: string, values: readonly string[]])[] = [
    ['alg', kinds.map((kind) => `"${kind === 'secret' ? 'hmac-sha256' : kind}"`)],
    ['expires', created === undefined ? [] : [60, 300, 600, 3600].map((after) => String(created + after))],
    ['nonce', ['""', '"undefined"']],
    ['tag', ['""', '"undefined"']],
  ];
  return usual.flatMap(([key, values]) =>
    covered.parameters.has(key)
      ? []
      : values.flatMap((value): Variant[] => {
          const hint = `the parameter ${key} was signed, but is not in Signature-Input`;
          const added = `;${key}=${value}`;
          return [
            [hint, line + added],
            [hint, line.replace(/(?=;keyid=)/, added)],
            [hint, line.replace(/\)(?=;|$)/, `)${added}`)],
          ];
        }),
  );
}

/** Returns the last line with another value of a parameter, as clients of every scheme sign it. */
function valueMistakes(
  line: string,
  key: string,
  kind: PartKind,
  sent: string | undefined,
  presented: PresentedSignature,
): Variant[] {
  if (sent === undefined) return [];
  const facts = readFacts(presented, new Uint8Array(0));
  const place = new RegExp(`(;${key}="?)[^";]*`);
  return [...variantsOfPart({ kind, name: `parameter ${key}`, value: sent }, facts)].flatMap(
    ([hint, signed]): Variant[] =>
      typeof signed === 'string' ? [[hint, line.replace(place, (_, start: string) => start + signed)]] : [],
  );
}

/** The order of the parameters in RFC 9421 §2.3. */
const usualOrder = ['created', 'expires', 'nonce', 'alg', 'keyid', 'tag'];

/** The largest number of parameters of which all orders are tried. */
const maxOrdered = 4;

type Written = readonly (readonly [key: string, text: string])[];

function listOrders(written: Written): readonly Written[] {
  if (written.length <= maxOrdered) return permutations(written);
  const sorted = written.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const usual = written.toSorted(([one], [other]) => usualOrder.indexOf(one) - usualOrder.indexOf(other));
  return [sorted, usual, written.toReversed()];
}

/** Yields other signature bases: lines that were left out, in another order, or in another form. */
export function* messageMistakes({ lines, request }: PresentedSignature): Generator<MessageMistake> {
  const { headers: fields } = request;
  const [components, last] = [lines.slice(0, -1), lines.at(-1)];
  yield* lineMistakes(components, {
    item: 'component',
    list: 'Signature-Input',
    colon: ': ',
    last,
    fields,
    lineOf: (name) => ({ name: `"${name}"`, value: fields.get(name) ?? '' }),
    build: (text) => [{ message: bytesOf(text) }],
  });
  if (last === undefined) return;
  yield {
    hint: 'the line "@signature-params" was not signed',
    message: bytesOf(formatBase(components)),
    differs: { name: last.name, signed: '' },
  };
  yield {
    hint: '"@signature-params" must be the last line',
    message: bytesOf(formatBase([last, ...components])),
  };
}
