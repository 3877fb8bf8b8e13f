// Mistakes that only clients of OAuth 1.0a make, beside those of the catalogue.

import { parseFormOctets } from '../../http/form.ts';
import { bytesOf, octetsOf } from '../../http/syntax/octets.ts';
import { decodeEscapes, encodeOctets } from '../../http/syntax/percent.ts';
import { findQuery } from '../../http/target.ts';
import { encoders } from '../../schemes/explain/encoders.ts';
import { describe, listTextVariants, type Variant } from '../../schemes/explain/mistake.ts';
import { canonical, listCanonicalMistakes } from '../../schemes/explain/parameters.ts';
import { orderMistakes, separatorMistakes } from '../../schemes/explain/whole.ts';
import { octetsOfPiece, type Part } from '../../schemes/message.ts';
import { assemble, encodePair, normalizePairs, pairsIn } from '../../schemes/oauth1/base-string.ts';
import type { MessageMistake } from '../../schemes/scheme.ts';
import { additions, encodingMistakes, repetitions } from './parameter-mistakes.ts';
import type { OAuth1Presented } from './presented.ts';

/** Returns the values that clients sign in place of a part. */
export function partMistakes({ name, value }: Part): Variant[] {
  if (name === 'form parameters') return [['the parameters of the form were left out', '']];
  if (name !== 'scheme') return [];
  return value === 'https'
    ? [['http was signed instead of https', 'http']]
    : [['https was signed instead of http', 'https']];
}

/** Returns the base string URIs that clients sign by mistake, in which more than one part differs. */
function uriMistakes(
  { target, headers: fields }: OAuth1Presented['request'],
  scheme: string,
  authority: string,
  path: string,
): (readonly [hint: string, uri: string])[] {
  const host = (fields.get('host') ?? '').toLowerCase();
  const other = scheme === 'https' ? 'http' : 'https';
  const uri = `${scheme}://${authority}${path}`;
  return [
    ['the query was left in the base URI', `${uri}?${findQuery(target)}`],
    ...(host === authority
      ? []
      : [scheme, other].map(
          (each) =>
            [
              `the host of Host was signed, ${host}, but the server is ${authority}`,
              `${each}://${host}${path}`,
            ] as const,
        )),
    ['the path was signed without scheme and host', path],
  ];
}

/** The mistakes in all parameters, those of the protocol among them, which are encoded already. */
const parameterMistakes = listCanonicalMistakes(undefined, canonical);

/** Yields the base strings that clients sign by mistake. Each is computed on demand: a form can have 64 KiB. */
export function* messageMistakes(
  presented: OAuth1Presented,
  parts: readonly Part[],
  content: Uint8Array,
): Generator<MessageMistake> {
  const { request } = presented;
  const readText = (name: string): string =>
    octetsOfPiece(parts.find((part) => part.name === name)?.value ?? '');
  const [method, scheme, host, path] = ['method', 'scheme', 'host', 'path'].map(readText);
  const uri = `${scheme}://${host}${path}`;
  const pairs = pairsIn(parts);
  const normalized = normalizePairs(pairs);
  const queryPairs = new Set((parseFormOctets(findQuery(request.target)) ?? []).map(encodePair));
  const [right = ''] = assemble(parts);
  const mistake = (hint: string, base: string): MessageMistake => ({
    hint,
    message: bytesOf(base),
  });
  const buildMistake = (hint: string, parameters: string): MessageMistake =>
    mistake(hint, [method, uri, parameters].map((each = '') => encodeOctets(each)).join('&'));
  for (const { hint, parameters } of repetitions(presented)) yield buildMistake(hint, parameters);
  for (const [hint, other] of uriMistakes(request, scheme ?? '', host ?? '', path ?? ''))
    yield mistake(hint, [method, other, normalized].map((each = '') => encodeOctets(each)).join('&'));
  yield mistake('the parts of the base string were not percent-encoded', [method, uri, normalized].join('&'));
  yield mistake(
    'the parameters were encoded once instead of twice',
    [...[method, uri].map((each = '') => encodeOctets(each)), normalized].join('&'),
  );
  yield mistake(
    'the base URI was not percent-encoded in the base string',
    [method, uri, encodeOctets(normalized)].join('&'),
  );
  const own = pairs.filter((pair) => queryPairs.has(pair));
  const others = pairs.filter((pair) => !queryPairs.has(pair));
  for (const order of [
    [...own, ...others],
    [...others, ...own],
    [...own.toSorted(), ...others.toSorted()],
    [...others.toSorted(), ...own.toSorted()],
  ])
    yield buildMistake(
      'the parameters of the query and those of the protocol were not sorted together',
      order.join('&'),
    );
  for (const { hint, parameters } of encodingMistakes(presented, content, normalized))
    yield buildMistake(hint, parameters);
  for (const [hint, parameters] of listTextVariants(
    parameterMistakes,
    'the parameters',
    pairs.join('&'),
    normalized,
  ))
    yield buildMistake(hint, octetsOfPiece(parameters));
  const withoutQuery = normalizePairs(pairs.filter((pair) => !queryPairs.has(pair)));
  yield mistake(
    'the query was left in the base URI, and its parameters were not signed as parameters',
    [method, `${uri}?${findQuery(request.target)}`, withoutQuery]
      .map((each = '') => encodeOctets(each))
      .join('&'),
  );
  for (const { hint, parameters } of additions(presented, content))
    yield buildMistake(hint, normalizePairs([...pairs, ...parameters]));
  for (const { name, encode } of encoders) {
    const encoded = normalizePairs(pairs.map((pair) => pair.split('=').map(reencode(encode)).join('=')));
    const [both = '', alone = ''] = [encoded, normalized].map((parameters) =>
      [method, uri, parameters].map((each = '') => encode(each)).join('&'),
    );
    const how = `percent-encoded as by ${name}: {instead}`;
    yield mistake(describe(`the parameters and the base string were ${how}`, '', normalized, encoded), both);
    yield mistake(describe(`the base string was ${how}`, '', right, alone), alone);
  }
  for (const [hint, added] of additionalPairs)
    if (!pairs.some((pair) => pair.startsWith(added.slice(0, added.indexOf('=') + 1))))
      yield buildMistake(hint, normalizePairs([...pairs, added]));
  const segments = buildSegments(method, uri, normalized);
  yield* separatorMistakes(segments, (changed) => changed.map(({ value }) => value));
  yield* orderMistakes(segments, (changed) =>
    changed.map(({ kind, value }) => (kind === 'text' ? value : encodeOctets(octetsOfPiece(value)))),
  );
}

/** Parameters of the protocol that clients sign, but do not send as signed. */
const additionalPairs: readonly (readonly [hint: string, pair: string])[] = [
  ['oauth_signature was signed too', 'oauth_signature='],
  ['an empty oauth_token was signed, but not sent', 'oauth_token='],
  ['oauth_version was signed, but not sent', 'oauth_version=1.0'],
  ['oauth_callback was signed, but not sent', 'oauth_callback=oob'],
];

/** Returns the function that encodes a name or a value again, in another way. */
function reencode(encode: (octets: string) => string): (encoded: string) => string {
  return (encoded) => encode(decodeEscapes(encoded));
}

/** Returns the three parts of the base string that are encoded and joined. */
function buildSegments(method: string | undefined, uri: string, parameters: string): Part[] {
  const ampersand: Part = { kind: 'text', name: '', value: '&' };
  const segments = [
    ['method', method ?? ''],
    ['base URI', uri],
    ['parameters', parameters],
  ] as const;
  return segments.flatMap(([name, value], at): Part[] => {
    const part: Part = { kind: 'other', name, value };
    return at === 0 ? [part] : [ampersand, part];
  });
}

/**
 * Returns keys that clients make of the secrets of consumer and token by mistake.
 *
 * @param token The token as sent; empty if there is none.
 * @param otherTokenSecret The secret that the other kind of token of this value would have.
 */
export function keyMistakes(
  secret: Buffer,
  token: string,
  tokenSecret: string,
  otherTokenSecret: string,
): (readonly [hint: string, key: Buffer])[] {
  const octets = octetsOf(secret);
  const once = encodeOctets(octets);
  const keys: readonly (readonly [hint: string, key: string])[] = [
    [
      !/^(?:undefined|null|None|nil)$/.test(token)
        ? 'the secret of the token was left out of the key'
        : `oauth_token is ${JSON.stringify(token)}: a variable that is not set? Leave it out to sign without a token`,
      `${once}&`,
    ],
    ['the key was the secret of the consumer alone, without "&" and the secret of the token', octets],
    ['the key was used without its "&"', `${octets}${tokenSecret}`],
    ...['undefined', 'null', 'None'].map(
      (word) =>
        [
          `the text ${word} was used as the secret of the token: a variable that is not set?`,
          `${once}&${word}`,
        ] as const,
    ),
    ['the secrets were not percent-encoded in the key', `${octets}&${tokenSecret}`],
    [
      'spaces of the secrets were encoded as "+" in the key; %20 is expected',
      `${once}&${tokenSecret}`.replaceAll('%20', '+'),
    ],
    ['the secrets were percent-encoded twice in the key', `${encodeOctets(once)}&${tokenSecret}`],
    ['the key was percent-encoded as a whole', encodeOctets(`${octets}&${tokenSecret}`)],
    ['the secrets of consumer and token were swapped in the key', `${tokenSecret}&${once}`],
    [
      'the secret of the request token was used instead of that of the access token, or the reverse',
      `${once}&${otherTokenSecret}`,
    ],
  ];
  return keys.map(([hint, key]) => [hint, bytesOf(key)] as const);
}
