// Mistakes in parameters: contents and queries that were signed in another form than they are sent.
import { parseFormOctets } from '../../http/form.ts';
import { isFormType } from '../../http/headers/media-type.ts';
import type { JsonNode } from '../../http/json.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { encodePairs } from './encoders.ts';
import { createObject, listMembers, readJsonNode, writeUsualJson } from './json-writers.ts';
import type { Facts, TextMistake, Variant } from './mistake.ts';
import {
  addUnsent,
  formVariants,
  isForm,
  longestAdded,
  type Pairs,
  readMultipart,
  unsentNames,
} from './parameter-steps.ts';

const formAgain =
  'the form was parsed and serialized again before it was signed; sign the bytes that are sent';

/** The mistakes of clients that sign parameters, or JSON, in another form than they send it. */
export const parameterMistakes: readonly TextMistake[] = [
  [formAgain, (content) => changeForm(content, encodePairs)],
  [
    'the form was decoded before it was signed',
    (content) => changeForm(content, (pairs) => [joinPairs(pairs, (text) => text)]),
  ],
  [
    'the parameters of the form were sorted before they were signed',
    (content) => changeForm(content, () => [content.split('&').sort().join('&')]),
  ],
  [
    'the content was signed as the parameter payload of a form, but it was sent as JSON',
    (content) => (readJsonNode(content) ? encodePairs([['payload', content]]) : undefined),
  ],
  [
    'the value of the only parameter of the form was signed; sign the bytes of the form that are sent',
    (content) =>
      changeForm(content, ([[, value] = ['', ''], ...others]) => (others.length > 0 ? [] : [value])),
  ],
  [
    'the members of the JSON were signed as parameters; sign the bytes that are sent',
    (content) => listParameters(readPairs(content)),
  ],
  [
    'the form was signed as JSON; sign the bytes that are sent',
    (content) => changeForm(content, (pairs) => listObjects(pairs)),
  ],
  [
    'the content is a JSON string that contains the JSON that was signed: it was serialized twice',
    (content) => {
      const node = readJsonNode(content);
      return node?.kind === 'string' ? Buffer.from(node.text) : undefined;
    },
  ],
  [
    'the fields of the multipart content were signed as a form; sign the bytes that are sent',
    (content) => listParameters(readMultipart(content)),
  ],
];

function readPairs(content: string): Pairs | undefined {
  const node = readJsonNode(content);
  return node && listMembers(node);
}

/** Returns parameters in the forms in which they are signed, in their order and sorted. */
function listParameters(pairs: Pairs | undefined): string[] {
  if (pairs === undefined || pairs.length === 0) return [];
  return [pairs, sortPairs(pairs, (name) => name)].flatMap((ordered) => [
    joinPairs(ordered, (text) => text),
    ...encodePairs(ordered),
    ordered.flat().join(''),
    ordered.map((pair) => pair.join('=')).join(''),
    ordered.map((pair) => pair.join(':')).join(''),
    ordered.map(([, value]) => value).join(''),
  ]);
}

/** Yields a form with one more parameter, or a JSON object with one more member, which has not been sent. */
export function* addUnsentContent(content: string): Generator<string> {
  if (isForm(content)) yield* addUnsent(content);
  const [, start, end] = /^(\s*\{.*[^{\s])(\s*\}\s*)$/s.exec(content.slice(0, longestAdded + 1)) ?? [];
  if (start === undefined || end === undefined || content.length > longestAdded) return;
  for (const name of unsentNames)
    for (const value of ['null', '""', 'false', '"undefined"', '[]', '{}', '0'])
      for (const added of [`,"${name}":${value}`, `, "${name}": ${value}`]) yield start + added + end;
}

/** Returns a form as an object of JSON; undefined if the content is none. */
export function readFormNode(content: string): JsonNode | undefined {
  const pairs = isForm(content) ? parseFormOctets(content) : undefined;
  return pairs && createObject(pairs.map(([name, value]) => [decodeUtf8(name), toText(value)]));
}

function toText(octets: string): JsonNode {
  return { kind: 'string', at: 0, text: decodeUtf8(octets) };
}

/** Returns the parameters of a query as JSON. */
export function listQueryObjects(query: string): string[] {
  const pairs = parseFormOctets(query);
  return pairs === undefined || pairs.length === 0 ? [] : listObjects(pairs);
}

/** Returns parameters as objects of JSON, with their values as texts, and as numbers where they are some. */
function listObjects(pairs: Pairs): string[] {
  const literals = (value: string): JsonNode =>
    /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false|null)$/.test(value)
      ? (readJsonNode(value) ?? toText(value))
      : toText(value);
  return [toText, literals].flatMap((read) => {
    const members = pairs.map(([name, value]) => [decodeUtf8(name), read(value)] as const);
    return [...writeUsualJson(createObject(members))];
  });
}

function decodeUtf8(octets: string): string {
  return Buffer.from(octets, 'latin1').toString('utf8');
}

/** Yields the values that clients sign in place of the sorted parameters of a form (Twilio). */
export function* formMistakes({ content, request }: Facts): Generator<Variant> {
  const octets = octetsOf(content);
  yield* formVariants(octets, 1);
  yield ['the parameters of the form were left out', ''];
  yield [
    isFormType(request.headers.get('content-type'))
      ? 'the form was signed as sent'
      : 'the content was signed, but it is not a form',
    octets,
  ];
  for (const json of changeForm(octets, listObjects))
    yield ['the form was signed as JSON; sign its parameters, sorted by name', json];
}

function changeForm(content: string, change: (pairs: Pairs) => string[]): string[] {
  const pairs = isForm(content) ? parseFormOctets(content) : undefined;
  return pairs === undefined ? [] : change(pairs);
}

function joinPairs(pairs: Pairs, write: (text: string) => string): string {
  return pairs.map(([name, value]) => `${write(name)}=${write(value)}`).join('&');
}

function sortPairs(pairs: Pairs, key: (name: string) => string): Pairs {
  return pairs.toSorted(([one], [other]) => (key(one) < key(other) ? -1 : 1));
}
