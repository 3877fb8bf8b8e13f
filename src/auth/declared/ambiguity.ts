// Finds messages that two different requests have in common. Loaded only by `countersign check`.
import { sortForm } from '../../signature/declared/form.ts';
import {
  createJsonReader,
  type MessageSource,
  messageBytes,
  messagePieces,
  readPiece,
  sortQuery,
  splitTarget,
} from '../../signature/declared/message.ts';
import { fieldIn, writeTextAt } from '../../signature/declared/places.ts';
import { octets, partName, type TemplatePart } from '../../signature/declared/template.ts';
import { formatTimestamp } from '../../signature/declared/timestamp.ts';
import {
  type Change,
  describeRequest,
  describeUnsigned,
  type ExampleRequest,
  findIgnoredChanges,
  type Unsigned,
} from '../unsigned-parts.ts';
import type { DeclaredOptions } from './options.ts';
import { listGuards } from './plan.ts';

/** Two parts of a message between which the boundary is not certain, and two requests that have the same signature. */
export interface Ambiguity {
  /** The names of the parts: `path` and `query`. Equal if a part is ambiguous by itself. */
  readonly parts: readonly [first: string, second: string];
  /** Whether there is no text between the parts. */
  readonly adjacent: boolean;
  readonly first: ExampleRequest;
  readonly second: ExampleRequest;
}

/** The values from which examples are made. */
interface Example {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly host: string;
  readonly nonce: string;
  readonly id: string;
  readonly content: string;
  readonly hasForm: boolean;
  /** Field values by lower-case name. */
  readonly fields: ReadonlyMap<string, string>;
}

const plain: Example = {
  method: 'POST',
  path: '/a',
  query: 'b=1',
  host: 'example.com',
  nonce: 'n1',
  id: 'id1',
  content: 'c',
  hasForm: false,
  fields: new Map(),
};

/** The text around the boundary that may move from one part to the other. */
const moved = ['', 'x', '/x', '1', 'x=1'];

/**
 * Returns the ambiguities of a message. For each pair of parts, it tries to write the text between them into both. Every pair of
 * examples is checked by building both messages, so that none is reported wrongly.
 */
export function ambiguities(options: DeclaredOptions): Ambiguity[] {
  const { message } = options;
  const found: Ambiguity[] = [];
  for (const [at, one] of message.entries()) {
    if (one.kind === 'form-sorted') found.push(...findFormAmbiguities(options));
    for (const [distance, other] of message.slice(at + 1).entries()) {
      const between = message.slice(at + 1, at + 1 + distance);
      found.push(...findPairAmbiguity(one, between, other, options));
    }
  }
  return found;
}

/** Names and values of a form are joined without a separator. */
function findFormAmbiguities(options: DeclaredOptions): Ambiguity[] {
  const withForm = (content: string): Example => ({ ...plain, content, hasForm: true });
  return ambiguity(
    { parts: ['form-sorted', 'form-sorted'], adjacent: true },
    withForm('a=bc'),
    withForm('ab=c'),
    options,
  );
}

/** Returns the first ambiguity of two parts with the given parts between them. */
function findPairAmbiguity(
  one: TemplatePart,
  between: readonly TemplatePart[],
  other: TemplatePart,
  options: DeclaredOptions,
): Ambiguity[] {
  if (one.kind === 'literal' || other.kind === 'literal') return [];
  const parts = [partName(one), partName(other)] as const;
  const separator = formatParts(between, plain, options);
  const head = formatParts([one], plain, options);
  for (const middle of moved) {
    if (separator === '' && middle === '') continue;
    for (const tail of [formatParts([other], plain, options), 'x', '/x']) {
      const first = changePart(
        changePart(plain, one, head, options),
        other,
        middle + separator + tail,
        options,
      );
      const second = changePart(
        changePart(plain, one, head + separator + middle, options),
        other,
        tail,
        options,
      );
      if (first === undefined || second === undefined) continue;
      const found = ambiguity({ parts, adjacent: separator === '' }, first, second, options);
      if (found.length > 0) return found;
    }
  }
  return [];
}

/** Returns the ambiguity if both requests have the same message. */
function ambiguity(
  { parts, adjacent }: Pick<Ambiguity, 'parts' | 'adjacent'>,
  first: Example,
  second: Example,
  options: DeclaredOptions,
): Ambiguity[] {
  const { message } = options;
  const [one, other] = [first, second].map((example) =>
    messageBytes(messagePieces(message, buildSource(example, options))),
  );
  const examples = { first: buildRequest(first, options), second: buildRequest(second, options) };
  const isSame = JSON.stringify(examples.first) === JSON.stringify(examples.second);
  if (isSame || one === undefined || other === undefined || !one.equals(other)) return [];
  return [{ parts, adjacent, ...examples }];
}

function formatParts(parts: readonly TemplatePart[], example: Example, options: DeclaredOptions): string {
  const source = buildSource(example, options);
  return messageBytes(parts.map((part) => readPiece(part, source))).toString('latin1');
}

const pathForm = /^\/[\w\-.~!$&'()*+,;=:@/]*$/;
const queryForm = /^[\w\-.~!$&'()*+,;=:@/?]*$/;
const hostForm = /^[a-z0-9.-]+(?::\d{1,5})?$/;

/** Returns the example with another value of a part; undefined if the part cannot have this value. */
function changePart(
  example: Example | undefined,
  part: TemplatePart,
  text: string,
  options: DeclaredOptions,
): Example | undefined {
  if (example === undefined) return undefined;
  switch (part.kind) {
    case 'target':
      return replaceTarget(example, text);
    case 'path':
      return pathForm.test(text) ? { ...example, path: text } : undefined;
    case 'query':
      return queryForm.test(text) ? { ...example, query: text } : undefined;
    case 'query-sorted':
      return queryForm.test(text) && sortQuery(text) === text ? { ...example, query: text } : undefined;
    case 'url':
      return replaceUrl(example, text);
    case 'host':
      return hostForm.test(text) ? { ...example, host: text } : undefined;
    case 'nonce':
    case 'id':
      return isToken(text, listGuards(options)[part.kind]) ? { ...example, [part.kind]: text } : undefined;
    case 'body':
      return { ...example, content: text };
    case 'form-sorted':
      return withForm(example, text);
    case 'field':
      return /^[!-~](?:[ -~]*[!-~])?$/.test(text)
        ? { ...example, fields: new Map([...example.fields, [part.field.toLowerCase(), text]]) }
        : undefined;
    default:
      return undefined;
  }
}

function isToken(text: string, guards: readonly string[]): boolean {
  return /^[!-~]{1,128}$/.test(text) && !guards.some((guard) => text.includes(guard));
}

function replaceTarget(example: Example, text: string): Example | undefined {
  const { path, query } = splitTarget(text);
  return pathForm.test(path) && queryForm.test(query) ? { ...example, path, query } : undefined;
}

function replaceUrl(example: Example, url: string): Example | undefined {
  const [, host = '', target = ''] = /^https:\/\/([^/?]*)(\/.*)$/s.exec(url) ?? [];
  const other = hostForm.test(host) ? replaceTarget(example, target) : undefined;
  return other === undefined ? undefined : { ...other, host };
}

/** Writes the text as the name of a parameter without a value. */
function withForm(example: Example, text: string): Example | undefined {
  const content = `${encodeURIComponent(text)}=`;
  return text !== '' && sortForm(content) === text ? { ...example, content, hasForm: true } : undefined;
}

const time = Date.UTC(2024, 1, 29, 12);

function buildSource(example: Example, options: DeclaredOptions): MessageSource {
  const { user, timestamp } = options;
  return {
    method: example.method,
    target: formatTarget(example),
    secure: true,
    host: example.host,
    field: (name) => example.fields.get(name) ?? 'f',
    content: Buffer.from(example.content, 'latin1'),
    json: createJsonReader(Buffer.from(example.content, 'latin1')),
    hasForm: example.hasForm,
    user: octets(typeof user === 'string' ? user : 'ann'),
    keyId: octets(typeof user === 'string' ? user : 'ann'),
    timestamp: timestamp === undefined ? '' : formatTimestamp(time, timestamp.unit),
    nonce: example.nonce,
    id: example.id,
  };
}

function formatTarget({ path, query }: Example): string {
  return query === '' ? path : `${path}?${query}`;
}

function buildRequest(example: Example, options: DeclaredOptions): ExampleRequest {
  const { message, timestamp, nonce, id } = options;
  const source = buildSource(example, options);
  const line = (name: string | undefined, value: string): [string, string][] =>
    name === undefined ? [] : [[name, value]];
  return {
    method: source.method,
    target: source.target,
    fields: [
      ['Host', source.host],
      ...line(fieldIn(timestamp?.place), source.timestamp),
      ...line(fieldIn(nonce), source.nonce),
      ...line(id?.field, source.id),
      ...message.flatMap((part) =>
        part.kind === 'field' ? line(part.field, source.field(part.field.toLowerCase()) ?? '') : [],
      ),
      ...(example.hasForm ? line('Content-Type', 'application/x-www-form-urlencoded') : []),
    ],
    content: example.content,
  };
}

/**
 * Returns a warning for each ambiguity, in one line.
 *
 * @param where The path of the scheme in the configuration: `schemes.partner`.
 */
export function ambiguityWarnings(options: DeclaredOptions, where: string): string[] {
  return ambiguities(options).map(({ parts: [one, other], adjacent, first, second }) => {
    const cause =
      one === other
        ? `names and values of {${one}} are joined without a separator`
        : `${adjacent ? 'there is no' : 'the'} text between {${one}} and {${other}}${adjacent ? '' : ' may occur in both'}`;
    return `${where}.message is ambiguous: ${cause}. These requests have the same signature: ${describeRequest(first, second)} and ${describeRequest(second, first)}`;
  });
}

/**
 * Returns what of the method, the path, the query and the content a message leaves unsigned; undefined if it signs all. Each part is
 * found by changing it in an example and building both messages.
 */
export function findUnsignedParts(options: DeclaredOptions): Unsigned | undefined {
  const example = { ...plain, content: exampleContent(options) };
  const changes: readonly Change<Example>[] = [
    ['method', (one) => ({ ...one, method: 'DELETE' })],
    ['path', (one) => ({ ...one, path: '/x' })],
    ['query', (one) => ({ ...one, query: 'b=2' })],
    ['content', (one) => ({ ...one, content: otherContent(one.content) })],
  ];
  const { parts, changed } = findIgnoredChanges(example, changes, (one) => buildMessage(one, options));
  if (parts.length === 0) return undefined;
  return { parts, first: buildRequest(example, options), second: buildRequest(changed, options) };
}

function buildMessage(example: Example, options: DeclaredOptions): Buffer {
  return messageBytes(messagePieces(options.message, buildSource(example, options)));
}

/** Returns content with the members that a message contains, if it contains some. */
function exampleContent({ message }: DeclaredOptions): string {
  const pointers = message.flatMap((part) => (part.kind === 'json' ? [part.pointer] : []));
  return pointers.length === 0
    ? 'c'
    : pointers.reduce((json, pointer) => writeTextAt(json, pointer, 'v'), '{}');
}

/** Returns content that is different beside the members of a message. */
function otherContent(content: string): string {
  return content.startsWith('{') ? writeTextAt(content, '/more', '1') : 'd';
}

/**
 * Returns a warning if a message leaves a part of the request unsigned, in one line. For a preset it is a note, because the
 * provider determines the message.
 *
 * @param where The path of the scheme in the configuration: `schemes.partner`.
 */
export function listUnsignedWarnings(options: DeclaredOptions, where: string): string[] {
  const found = findUnsignedParts(options);
  if (found === undefined) return [];
  return options.preset === undefined
    ? [`${where}.message ${describeUnsigned(found)}`]
    : [`note: ${where}: ${options.preset} ${describeUnsigned(found)}`];
}
