// Mistakes in the names and values of the parameters: how they are encoded, and how often they count.

import { type Parameter, parseFormOctets, splitPairs } from '../../http/form.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import {
  decodeEscapes,
  decodeSome,
  encodeOctets,
  escapeOctet,
  mapEscapes,
} from '../../http/syntax/percent.ts';
import { findQuery } from '../../http/target.ts';
import { listMembers, readJsonNode } from '../../schemes/explain/json-writers.ts';
import { encodePair, normalizePairs } from '../../schemes/oauth1/base-string.ts';
import { isProtocol } from './parameters.ts';
import type { OAuth1Presented } from './presented.ts';

/** Parameters that clients sign by mistake, normalized; and how they encode the parts of the base string. */
interface ParameterMistake {
  readonly hint: string;
  readonly parameters: string;
  /** Default: as RFC 5849 §3.6 requires. */
  readonly encode?: (octets: string) => string;
}

/** The parameters of one place, as they are decoded, and as they were sent. */
interface Place {
  readonly name: string;
  readonly decoded: readonly Parameter[];
  readonly sent: readonly Parameter[];
}

/** Changes of a name or value. */
const changes: readonly (readonly [did: string, change: (decoded: string, sent: string) => string])[] = [
  ['percent-encoded twice', (_, sent) => encodeOctets(sent)],
  ['percent-encoded twice', (decoded) => encodeOctets(encodeOctets(decoded))],
  ['signed as they were sent', (_, sent) => sent],
  ['not percent-encoded', (decoded) => decoded],
];

/** Returns the parameters that are signed. */
function listSigned({ parameters: { signed, form = [] } }: OAuth1Presented): readonly Parameter[] {
  return [...signed, ...form].filter(([name]) => name !== 'oauth_signature');
}

/** Yields the mistakes in the encoding of the parameters. */
export function* encodingMistakes(
  presented: OAuth1Presented,
  content: Uint8Array,
): Generator<ParameterMistake> {
  const all = listSigned(presented);
  const encoded = all.map(encodePair);
  for (const rule of encodings) {
    const parameters = normalizePairs(encoded.map(rule.change));
    const encode = (octets: string): string => rule.change(encodeOctets(octets));
    yield { hint: `${rule.hint} in the parameters`, parameters };
    yield { hint: `${rule.hint} in the parameters and the base string`, parameters, encode };
    yield { hint: `${rule.hint} in the base string`, parameters: normalizePairs(encoded), encode };
  }
  for (const place of listPlaces(presented, content)) yield* changesIn(place, all);
}

function* changesIn({ name, decoded, sent }: Place, all: readonly Parameter[]): Generator<ParameterMistake> {
  const inPlace = new Set(decoded);
  const others = all.filter((parameter) => !inPlace.has(parameter)).map(encodePair);
  const isProtocolIn = decoded.map(isProtocol);
  for (const [did, change] of changes)
    for (const what of ['names', 'values', 'names and values'] as const) {
      const changed = decoded.flatMap((parameter, at): string[] => {
        const [ownName, ownValue] = parameter;
        if (ownName === 'oauth_signature') return [];
        const [sentName, sentValue] = sent[at] ?? parameter;
        if (isProtocolIn[at] === true) return [encodePair(parameter)];
        const signedName = what === 'values' ? encodeOctets(ownName) : change(ownName, sentName);
        return [`${signedName}=${what === 'names' ? encodeOctets(ownValue) : change(ownValue, sentValue)}`];
      });
      const hint = `the ${what} of the parameters in the ${name} were ${did}`;
      yield { hint, parameters: normalizePairs([...others, ...changed]) };
    }
}

/** Returns the places that have parameters beside those of the protocol. */
function listPlaces({ request, parameters }: OAuth1Presented, content: Uint8Array): readonly Place[] {
  const { signed, form = [] } = parameters;
  const query = splitPairs(findQuery(request.target));
  const inQuery = signed.slice(signed.length - query.length);
  const inForm = form.length === 0 ? [] : splitPairs(octetsOf(content));
  const places = [
    { name: 'query', decoded: inQuery, sent: query },
    { name: 'form', decoded: form, sent: inForm },
    { name: 'query and the form', decoded: [...inQuery, ...form], sent: [...query, ...inForm] },
  ];
  const used = places.filter(({ decoded }) => decoded.some((parameter) => !isProtocol(parameter)));
  return used.length === 3 ? used : used.slice(0, 1);
}

/** Yields the parameters without those that were sent in a second place, where they count again (RFC 5849 §3.4.1.3.1). */
export function* repetitions(presented: OAuth1Presented): Generator<ParameterMistake> {
  const {
    request,
    parameters: { signed, form = [] },
  } = presented;
  const all = listSigned(presented);
  const query = parseFormOctets(findQuery(request.target)) ?? [];
  const inField = signed.slice(0, signed.length - query.length).filter((each) => !isProtocol(each));
  const inQuery = query.filter((each) => !isProtocol(each));
  const pairsIn = (parameters: readonly Parameter[]): ReadonlySet<string> =>
    new Set(parameters.map(encodePair));
  const places = [
    ['Authorization', inField, pairsIn([...inQuery, ...form])],
    ['the form', form, pairsIn(inQuery)],
  ] as const;
  for (const [place, own, others] of places) {
    const repeated = own.filter((each) => !isProtocol(each) && others.has(encodePair(each)));
    if (repeated.length === 0) continue;
    const left = new Set(repeated.map(encodePair));
    const once = all.map(encodePair).filter((pair) => !left.has(pair));
    const names = [...new Set(repeated.map(([name]) => name))].join(', ');
    const hint = `${names} is in ${place}, too, and so counts twice; send each parameter in one place`;
    yield { hint, parameters: normalizePairs([...once, ...left]) };
    const without = new Set<Parameter>(
      place === 'Authorization' ? signed.slice(0, signed.length - query.length) : form,
    );
    yield {
      hint,
      parameters: normalizePairs(
        all.filter((each) => isProtocol(each) || !without.has(each)).map(encodePair),
      ),
    };
  }
  const isOnlyThere = inField.length > 0;
  if (isOnlyThere) {
    const own = new Set(inField);
    yield {
      hint: `the parameters in Authorization beside those of OAuth were left out: ${inField.map(([name]) => name).join(', ')}`,
      parameters: normalizePairs(all.filter((each) => !own.has(each)).map(encodePair)),
    };
  }
}

/** Parameters that are signed, and do not belong to the message. */
interface Addition {
  readonly hint: string;
  readonly parameters: readonly string[];
}

/** Returns the parameters that clients sign though RFC 5849 §3.4.1.3.1 excludes them. */
export function additions(
  { request, parameters }: OAuth1Presented,
  content: Uint8Array,
): readonly Addition[] {
  const found: Addition[] = [];
  const [, realm] = /[\s,]realm="([^"]*)"/.exec(request.headers.get('authorization') ?? '') ?? [];
  if (realm !== undefined)
    found.push({
      hint: 'realm was signed; it is the only parameter of Authorization that is not',
      parameters: [encodePair(['realm', decodeEscapes(realm)])],
    });
  if (parameters.form !== undefined && parameters.form.length > 0) return found;
  const octets = octetsOf(content);
  const node = readJsonNode(octets);
  const members = node && listMembers(node);
  if (members !== undefined)
    found.push({
      hint: 'the members of the JSON were signed as parameters; only those of a form are',
      parameters: members.map(encodePair),
    });
  const form = /^[!-~]+$/.test(octets) && octets.includes('=') ? parseFormOctets(octets) : undefined;
  const type = request.headers.get('content-type') ?? 'missing';
  if (form !== undefined && node === undefined)
    found.push({
      hint: `the content was signed as a form, but its Content-Type is ${type}: parameters of a form need application/x-www-form-urlencoded`,
      parameters: form.map(encodePair),
    });
  return found;
}

/** An encoding that differs from that of RFC 5849 §3.6. */
interface Encoding {
  readonly hint: string;
  /** Changes text that is encoded as it must be. */
  readonly change: (encoded: string) => string;
}

/** The characters that clients leave as they are, most often those that `encodeURIComponent` leaves. */
const leftCharacters = ["!*'()", '*', '!', "'", '()', "'()", "!'()", "*'()", '/', ':', ','];

const encodings: readonly Encoding[] = [
  ...leftCharacters.map((characters) => ({
    hint: `the character${characters.length === 1 ? '' : 's'} ${characters} ${characters.length === 1 ? 'was' : 'were'} not percent-encoded`,
    change: leaving(characters),
  })),
  {
    hint: 'the encoding of forms was used: "+" for a space, "~" encoded and "*" not (URLEncoder)',
    change: (encoded) => leaving('*')(encoded).replaceAll('%20', '+').replaceAll('~', '%7E'),
  },
  { hint: 'a space was encoded as "+" instead of %20', change: (encoded) => encoded.replaceAll('%20', '+') },
  { hint: '"~" was percent-encoded', change: (encoded) => encoded.replaceAll('~', '%7E') },
  {
    hint: 'characters other than ASCII were encoded in Latin-1 instead of UTF-8',
    change: (encoded) =>
      encoded.replace(/(?:%[89A-F][0-9A-F])+/g, (octets) =>
        Array.from(Buffer.from(decodeEscapes(octets), 'latin1').toString('utf8'), escapeOctet).join(''),
      ),
  },
  {
    hint: 'escapes were written in lower case',
    change: (encoded) => mapEscapes(encoded, (octet) => octet.toLowerCase()),
  },
];

/** Returns the function that replaces the escapes of these characters by the characters. */
function leaving(characters: string): (encoded: string) => string {
  return (encoded) => decodeSome(encoded, (character) => characters.includes(character));
}
