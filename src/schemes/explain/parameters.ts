// The mistakes in the parameters of each place: a query, a form, and those that AWS, OAuth 1.0a and Twilio sign.

import { decodeEscapes, encodeOctets } from '../../http/syntax/percent.ts';
import { encoders } from './encoders.ts';
import { encodeInLatin1 } from './escapes.ts';
import type { TextMistake } from './mistake.ts';
import {
  all,
  decodeForm,
  keep,
  makeTexts,
  maxCostly,
  type Pairs,
  type Row,
  readMembers,
  readMultipart,
  type Steps,
  split,
  splitForm,
} from './parameter-steps.ts';
import {
  joinWith,
  keepDistinct,
  listEncoders,
  listEncodings,
  nameOf,
  orders,
  rewritings,
  selections,
  sortAsText,
  sortBy,
  sortByNameAndValue,
  textOf,
  toLowerCaseEscapes,
  writeObjects,
  writePair,
  writeQuery,
  writings,
} from './parameter-ways.ts';

/** Parameters that are signed as they are sent. */
const asSent: Steps = { split, decode: keep, select: all, encode: keep, order: all, write: writeQuery };

/** Parameters that are encoded again and sorted by name and value, as AWS and OAuth 1.0a require. */
export const canonical: Steps = {
  split: (text) => split(text).filter(([name, value]) => name !== '' || value !== undefined),
  decode: decodeForm,
  select: all,
  encode: encodeOctets,
  order: sortByNameAndValue,
  write: joinWith('=', '&'),
};

/** The parameters of Twilio: decoded, without repetitions, sorted by name and value, names and values without separators. */
export const ofTwilio: Steps = {
  limit: 64,
  split: splitForm,
  decode: decodeForm,
  select: keepDistinct,
  encode: keep,
  order: sortByNameAndValue,
  write: joinWith('', ''),
};

const objects: Partial<Steps> = {
  limit: maxCostly,
  decode: decodeForm,
  select: all,
  encode: keep,
  order: all,
  write: writeObjects,
};
const asObjects: Row = [
  'the parameters{of} were signed as JSON',
  objects,
  { ...objects, order: sortByNameAndValue },
];

/** As many partners sign parameters. */
const decodedWithout: Row = [
  'names and values{of} were decoded, and signed without "=" and "&"',
  { decode: decodeForm, write: joinWith('', '') },
];

/** The largest number of parameters of which each one is signed alone. */
const maxAlone = 32;

const areSorted: Row = [
  'the parameters{of} were sorted before they were signed',
  { order: sortAsText },
  { order: sortByNameAndValue },
  { order: sortBy(nameOf) },
];

/** The mistakes in the order, the choice and the form of the parameters of a query that are signed as they are sent. */
export const queryForms = listMistakes('query', asSent, [
  areSorted,
  ...orders,
  ...writings,
  decodedWithout,
  ...selections,
  asObjects,
  ...rewritings,
]);

/** The parameters of a query as JSON, which stands after the path. */
export const queryObjects = listMistakes('query', asSent, [
  ['the parameters of the query were signed as JSON after the path', objects],
]);

/** The mistakes in the encoding of the parameters of a query that are signed as they are sent. */
export const queryEncodings = listMistakes('query', asSent, [
  ...listEncoders(
    (name) => `the query was parsed and serialized again before it was signed, as by ${name}: {instead}`,
    {
      write: joinWith('=', '&'),
    },
  ),
  ...listEncodings(asSent),
]);

/** A form that is signed as it is sent. */
const ofForm: Steps = { ...asSent, split: splitForm };

/** The mistakes in a form that is signed as it is sent. */
export const formMistakes = listMistakes('form', ofForm, [
  [
    'the form was decoded before it was signed',
    ...[decodeForm, decodeEscapes].map((decode) => ({ decode, write: joinWith('=', '&') })),
  ],
  ['the escapes of the form were signed in lower case', { encode: toLowerCaseEscapes }],
  [
    'the form was percent-encoded in Latin-1 before it was signed; UTF-8 is expected',
    ...[0, 1].map((at) => ({ encode: (octets: string) => encodeInLatin1(octets)[at] })),
  ],
  ...listEncoders(
    (name) =>
      `the form was parsed and serialized again before it was signed, as by ${name}: {instead}; sign the bytes that are sent`,
    { write: joinWith('=', '&') },
  ),
  areSorted,
  [
    'the value of the only parameter of the form was signed; sign the bytes of the form that are sent',
    { decode: decodeForm, write: (pairs) => (pairs.length > 1 ? [] : pairs.map(textOf)) },
  ],
  [
    'the value of one parameter of the form was signed; sign the bytes of the form that are sent',
    { limit: maxAlone, decode: decodeForm, write: (pairs) => pairs.map(textOf) },
  ],
  [
    'one parameter of the form was signed, without the others',
    { limit: maxAlone, write: (pairs) => pairs.map(writePair) },
  ],
  asObjects,
  ...orders,
  ...selections,
  ...writings,
  decodedWithout,
  ...rewritings,
  ...listEncodings(asSent),
]);

/** Two mistakes at once: parameters that are written again, and in another order. */
const rewritten: readonly Row[] = listPairs([
  ...listEncoders((name) => `the parameters{of} were written again as by ${name}`, {
    write: joinWith('=', '&'),
  }),
  ['the parameters{of} were decoded', { decode: decodeForm, write: joinWith('=', '&') }],
  areSorted,
  ['the parameters{of} were not sorted', { order: all }],
]);
export const furtherFormMistakes = listMistakes('form', ofForm, rewritten);
export const furtherQueryForms = listMistakes('query', asSent, rewritten);

/** Returns the mistakes in the encoding of parameters that are encoded again, of one place or of several. */
export function listEncodingMistakes(name: string | undefined, steps: Steps): readonly TextMistake[] {
  return listMistakes(name, steps, [
    ...listEncoders((program) => `the parameters{of} were percent-encoded as by ${program}: {instead}`),
    ...listEncodings(steps),
  ]);
}

/** Returns the mistakes in parameters that are encoded again and sorted. */
export function listCanonicalMistakes(name: 'query' | undefined, steps: Steps): readonly TextMistake[] {
  return [
    ...listMistakes(name, steps, orders),
    ...listEncodingMistakes(name, steps),
    ...listMistakes(name, steps, [...selections, ...writings, asObjects, ...rewritings]),
  ];
}

const twilioRows: readonly Row[] = [
  ['the members of the JSON were signed as the parameters of a form', { split: readMembers, decode: keep }],
  [
    'the fields of the multipart content were signed as the parameters of a form',
    { split: readMultipart, decode: keep },
  ],
  ...listEncodings(ofTwilio),
  ...selections,
  ...orders,
  ...writings,
];

/** The mistakes in the parameters of a form that are signed without separators. */
export const twilioMistakes = listMistakes('form', ofTwilio, [
  ...twilioRows,
  asObjects,
  ...listEncoders((name) => `the parameters{of} were percent-encoded as by ${name}: {instead}`),
  ...listEncoders((name) => `the parameters{of} were joined with "=" and "&", and encoded as by ${name}`, {
    write: joinWith('=', '&'),
  }),
  ...rewritings.slice(0, -1),
]);

/** Two mistakes at once in these parameters. */
export const twilioPairs = listMistakes('form', ofTwilio, listPairs(twilioRows));

/** Returns two mistakes at once, in different steps. */
function listPairs(rows: readonly Row[]): Row[] {
  return rows.flatMap(([hint, ...ways], at) =>
    rows.slice(at + 1).map(([other, ...otherWays]): Row => {
      const both = ways.flatMap((one) =>
        otherWays.flatMap((another) =>
          Object.keys(one).some((step) => step in another) ? [] : [{ ...one, ...another }],
        ),
      );
      return [`${hint}; and ${other}`, ...both];
    }),
  );
}

/** Returns parameters in the forms in which clients sign them in place of what is sent, in their order and sorted. */
export function listTexts(pairs: Pairs | undefined): string[] {
  if (pairs === undefined || pairs.length === 0) return [];
  const ways = [
    ...writings.flatMap(([, ...each]) => each),
    ...encoders.map(({ encode }) => ({ encode, write: joinWith('=', '&') })),
  ];
  return [all, sortBy(nameOf)].flatMap((order) =>
    ways.flatMap((way) => [...makeTexts('', { ...asSent, split: () => pairs, order, ...way })]),
  );
}

/** Returns mistakes in the parameters of a place, which stand in several places if it has no name. */
function listMistakes(name: string | undefined, right: Steps, rows: readonly Row[]): readonly TextMistake[] {
  const [ofPlace, inPlace] = name === undefined ? ['', ''] : [` of the ${name}`, ` in the ${name}`];
  return rows.map(([hint, ...ways]): TextMistake => {
    const made = ways.map((way): Steps => ({ ...right, ...way }));
    return [
      hint.replaceAll('{of}', ofPlace).replaceAll('{in}', inPlace),
      function* (text) {
        for (const steps of text === '' ? [] : made) yield* makeTexts(text, steps);
      },
    ];
  });
}
