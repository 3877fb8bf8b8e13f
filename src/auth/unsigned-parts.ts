// Finds what a message leaves unsigned, by changing a part of an example. Loaded only by `countersign check`.

import type { KeyObject } from 'node:crypto';
import { toOctets } from '../http/syntax/octets.ts';
import { splitTarget } from '../http/target.ts';
import { generateKeys } from '../signature/algorithms.ts';
import { createJsonReader, messagePieces } from '../signature/declared/message.ts';
import { isInContent, writeTextAt } from '../signature/declared/places.ts';
import { formatTimestamp } from '../signature/declared/timestamp.ts';
import { messageBytes } from '../signature/message.ts';
import type { ConfiguredScheme } from './configured-schemes.ts';
import type { DeclaredOptions } from './declared/options.ts';
import { joinParts } from './defined/message.ts';
import type { SealedDefinition } from './defined/sealed.ts';
import { signByDefinition } from './defined/sign.ts';

/** An example of a request, without its credentials. */
interface ExampleRequest {
  readonly method: string;
  readonly target: string;
  /** The field lines in order; `Host` is the first. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content: string;
}

/** What a message leaves unsigned, and two requests with the same signature, the second of which differs in all of it. */
interface Unsigned {
  readonly parts: readonly string[];
  readonly first: ExampleRequest;
  readonly second: ExampleRequest;
}

/** Returns the message of a request. */
type Probe = (request: ExampleRequest) => Buffer;

/**
 * Returns a warning if the message of a scheme leaves the method, the path, the query or the content unsigned, in one line. For a
 * preset it is a note, because the provider determines the message.
 *
 * @param where The path of the scheme in the configuration: `schemes.partner`.
 */
export function listUnsignedWarnings(scheme: ConfiguredScheme, where: string): string[] {
  if (scheme.kind === 'declared') {
    const { preset } = scheme.options;
    const subject = preset === undefined ? `${where}.message` : `note: ${where}: ${preset}`;
    return describeUnsigned(subject, findUnsignedByDeclaration(scheme.options));
  }
  if (scheme.kind === 'message-signatures')
    return describeUnsigned(`${where}.components`, findUnsignedByComponents(scheme.options.components));
  return scheme.kind === 'defined' ? describeUnsigned(where, findUnsignedByDefinition(scheme.options)) : [];
}

function describeUnsigned(subject: string, unsigned: Unsigned | undefined): string[] {
  if (unsigned === undefined) return [];
  const { parts, first, second } = unsigned;
  const names = parts.map((part) => `the ${part}`);
  const listed = [names.slice(0, -1).join(', '), ...names.slice(-1)]
    .filter((name) => name !== '')
    .join(' and ');
  return [
    `${subject} leaves ${listed} unsigned: ${describeRequest(first, second)} could be changed to ${describeRequest(second, first)} unnoticed`,
  ];
}

/** Describes a request by its request line and its content, if that differs from the content of the other one. */
function describeRequest({ method, target, content }: ExampleRequest, other: ExampleRequest): string {
  const line = `${method} ${target}`;
  return content === other.content ? line : `${line} with the content ${JSON.stringify(content)}`;
}

/** Returns the parts whose change does not change the message; undefined if there are none. */
function findUnsigned(first: ExampleRequest, otherContent: string, build: Probe): Unsigned | undefined {
  const changes: readonly (readonly [part: string, change: (one: ExampleRequest) => ExampleRequest])[] = [
    ['method', (one) => ({ ...one, method: 'DELETE' })],
    ['path', (one) => ({ ...one, target: one.target.replace('/a', '/x') })],
    ['query', (one) => ({ ...one, target: one.target.replace('b=1', 'b=2') })],
    ['content', (one) => ({ ...one, content: otherContent })],
  ];
  const signed = build(first);
  const ignored = changes.filter(([, change]) => build(change(first)).equals(signed));
  if (ignored.length === 0) return undefined;
  const second = ignored.reduce((one, [, change]) => change(one), first);
  return { parts: ignored.map(([part]) => part), first, second };
}

const host = 'example.com';
const time = Date.UTC(2026, 10, 22, 12);
type Lines = ExampleRequest['fields'];
/** A content, another one, and their type. */
type Contents = readonly [content: string, other: string, type: string];
const textContents: Contents = ['c', 'd', 'text/plain'];
const formContents: Contents = ['a=1', 'a=2', 'application/x-www-form-urlencoded'];

function createExample([content, , type]: Contents, fields: Lines): ExampleRequest {
  const lines: Lines = [['Host', host], ['Content-Type', type], ...fields];
  return { method: 'POST', target: '/a?b=1', fields: lines, content };
}

/** Returns what the message of a declared scheme leaves unsigned; undefined if it signs all. */
function findUnsignedByDeclaration(options: DeclaredOptions): Unsigned | undefined {
  const contents = chooseContents(options);
  return findUnsigned(createExample(contents, []), contents[1], (request) =>
    declaredMessage(request, options),
  );
}

/** Returns contents that the scheme can read, which have the members that the message contains. */
function chooseContents({ message, place, user, timestamp, nonce }: DeclaredOptions): Contents {
  const places = [place, user, timestamp?.place, nonce].filter(isInContent);
  const pointers = message.flatMap((part) => (part.kind === 'json' ? [part.pointer] : []));
  if (pointers.length > 0 || places.some((each) => 'json' in each)) {
    const content = pointers.reduce((json, pointer) => writeTextAt(json, pointer, 'v'), '{}');
    return [content, writeTextAt(content, '/more', '1'), 'application/json'];
  }
  const isForm = places.length > 0 || message.some(({ kind }) => kind === 'form-sorted');
  return isForm ? formContents : textContents;
}

/** Returns the message of a request; a field that the example lacks has the value `f`. */
function declaredMessage(request: ExampleRequest, { message, user, timestamp }: DeclaredOptions): Buffer {
  const content = Buffer.from(request.content);
  const name = toOctets(typeof user === 'string' ? user : 'ann');
  const pieces = messagePieces(message, {
    method: request.method,
    target: request.target,
    secure: true,
    host,
    field: (field) => request.fields.find(([own]) => own.toLowerCase() === field)?.[1] ?? 'f',
    content,
    json: createJsonReader(content),
    hasForm: request.fields.some(([, value]) => value === formContents[2]),
    user: name,
    keyId: name,
    timestamp: timestamp === undefined ? '' : formatTimestamp(time, timestamp.unit),
    nonce: 'n1',
    id: 'id1',
  });
  return messageBytes(pieces);
}

/** Returns what signatures that cover these components leave unsigned. A digest of the content is always required. */
function findUnsignedByComponents(components: readonly string[]): Unsigned | undefined {
  return findUnsigned(createExample(textContents, []), textContents[1], ({ method, target, content }) => {
    const { path, query } = splitTarget(target);
    const covered = components.map((component) => {
      // A parameter of the query can be covered alone (RFC 9421 §2.2.8).
      if (component === '@query' || component.startsWith('@query-param')) return query;
      if (component === '@target-uri' || component === '@request-target') return target;
      if (component === '@path') return path;
      return component === '@method' ? method : '';
    });
    return Buffer.from([...covered, content].join('\n'));
  });
}

/** A secret that is text, hexadecimal and base64. */
const secret = '00112233445566778899aabbccddeeff';
const digests: Lines = [
  ['Digest', 'SHA-256=AAAA'],
  ['Content-Digest', 'sha-256=:AAAA:'],
];
/** Contents of which a scheme may be able to read one. */
const allContents: readonly Contents[] = [
  textContents,
  ['{"a":1}', '{"a":2}', 'application/json'],
  formContents,
];

/**
 * Returns what the message of a scheme in code, or of draft-cavage, leaves unsigned; undefined if it signs all, or if the scheme can
 * sign none of the examples.
 */
function findUnsignedByDefinition(definition: SealedDefinition): Unsigned | undefined {
  const build = createProbe(definition);
  // A digest that the scheme does not require may be missing.
  for (const fields of [[], digests]) {
    for (const contents of allContents) {
      try {
        return findUnsigned(createExample(contents, fields), contents[1], build);
      } catch (error) {
        // The scheme signs something that this example lacks.
        if (!(error instanceof RangeError)) throw error;
      }
    }
  }
  return undefined;
}

/** Returns a function that returns the message of a request. A digest that is signed and compared stands for the content. */
function createProbe(definition: SealedDefinition): Probe {
  const key = createProbeKey(definition);
  return ({ method, target, fields, content }) => {
    const { parts } = signByDefinition(
      { method, target, fields, host, secure: true, content: Buffer.from(content) },
      definition,
      { user: 'ann', key, now: time, nonce: 'n1' },
    );
    const hasDigest =
      definition.digestFault !== undefined && parts.some(({ name }) => /\bdigest$/i.test(name));
    const message = messageBytes(joinParts(parts, definition));
    return hasDigest ? Buffer.concat([message, Buffer.from(content)]) : message;
  };
}

function createProbeKey({ kinds }: SealedDefinition): string | KeyObject {
  if (kinds.includes('secret')) return secret;
  const kind = kinds.find((each) => each !== 'secret') ?? 'ed25519';
  return generateKeys(kind).privateKey;
}
