// Finds what a message leaves unsigned, by changing a part of an example. Loaded only by `countersign check`.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { messageBytes } from '../signature/message.ts';
import { joinParts } from './defined/message.ts';
import type { SealedDefinition } from './defined/sealed.ts';
import { signByDefinition } from './defined/sign.ts';

/** An example of a request, without its signature. */
export interface ExampleRequest {
  readonly method: string;
  readonly target: string;
  /** The field lines in order; `Host` is the first. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content: string;
}

/** What a message leaves unsigned, and two requests with the same signature, the second of which differs in all of it. */
export interface Unsigned {
  readonly parts: readonly string[];
  readonly first: ExampleRequest;
  readonly second: ExampleRequest;
}

/** A change of a part of an example. */
export type Change<Example> = readonly [part: string, change: (one: Example) => Example];

/** Returns the parts whose change does not change the message, and the example with all these changes. */
export function findIgnoredChanges<Example>(
  example: Example,
  changes: readonly Change<Example>[],
  build: (example: Example) => Buffer,
): { readonly parts: readonly string[]; readonly changed: Example } {
  const signed = build(example);
  const ignored = changes.filter(([, change]) => build(change(example)).equals(signed));
  const changed = ignored.reduce((one, [, change]) => change(one), example);
  return { parts: ignored.map(([part]) => part), changed };
}

/** Describes what is left unsigned, with the two requests. */
export function describeUnsigned({ parts, first, second }: Unsigned): string {
  const names = parts.map((part) => `the ${part}`);
  const listed = [names.slice(0, -1).join(', '), ...names.slice(-1)]
    .filter((name) => name !== '')
    .join(' and ');
  return `leaves ${listed} unsigned: ${describeRequest(first, second)} could be changed to ${describeRequest(second, first)} unnoticed`;
}

/** Describes a request by its request line and what else differs from the other one. */
export function describeRequest(request: ExampleRequest, other: ExampleRequest): string {
  const lines = request.fields.filter(
    ([name, value], at) => other.fields[at]?.[0] !== name || other.fields[at]?.[1] !== value,
  );
  return [
    `${request.method} ${request.target}`,
    ...lines.map(([name, value]) => `with ${name}: ${value}`),
    ...(request.content === other.content ? [] : [`with the content ${JSON.stringify(request.content)}`]),
  ].join(' ');
}

const host = 'example.com';
/** A secret that is text, hexadecimal and base64. */
const secret = '00112233445566778899aabbccddeeff';
type Lines = ExampleRequest['fields'];
const digests: Lines = [
  ['Digest', 'SHA-256=AAAA'],
  ['Content-Digest', 'sha-256=:AAAA:'],
];
/** Contents of which a scheme may be able to read one, each with another one. */
const contents: readonly (readonly [content: string, other: string, type: string])[] = [
  ['c', 'd', 'text/plain'],
  ['{"a":1}', '{"a":2}', 'application/json'],
  ['a=1', 'a=2', 'application/x-www-form-urlencoded'],
];

/**
 * Returns what the message of a scheme in code, or of draft-cavage, leaves unsigned; undefined if it signs all, or if the scheme can
 * sign none of the examples.
 */
export function findUnsignedByDefinition(definition: SealedDefinition): Unsigned | undefined {
  const sign = createProbe(definition);
  // A digest that the scheme does not require may be missing.
  for (const [first, other] of [...listExamples([]), ...listExamples(digests)]) {
    const changes: readonly Change<ExampleRequest>[] = [
      ['method', (one) => ({ ...one, method: 'DELETE' })],
      ['path', (one) => ({ ...one, target: one.target.replace('/a', '/x') })],
      ['query', (one) => ({ ...one, target: one.target.replace('b=1', 'b=2') })],
      ['content', (one) => ({ ...one, content: other })],
    ];
    try {
      const { parts, changed } = findIgnoredChanges(first, changes, sign);
      return parts.length === 0 ? undefined : { parts, first, second: changed };
    } catch (error) {
      // The scheme signs something that this example lacks.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return undefined;
}

/** Returns examples with other content for each. */
function listExamples(fields: Lines): (readonly [first: ExampleRequest, other: string])[] {
  return contents.map(([content, other, type]) => {
    const lines: Lines = [['Host', host], ['Content-Type', type], ...fields];
    return [{ method: 'POST', target: '/a?b=1', fields: lines, content }, other];
  });
}

/** Returns a function that returns the message of a request. A digest that is signed and compared stands for the content. */
function createProbe(definition: SealedDefinition): (request: ExampleRequest) => Buffer {
  const key = createProbeKey(definition);
  return ({ method, target, fields, content }) => {
    const { parts } = signByDefinition(
      { method, target, fields, host, secure: true, content: Buffer.from(content) },
      definition,
      { user: 'ann', key, now: Date.UTC(2026, 10, 22, 12), nonce: 'n1' },
    );
    const hasDigest =
      definition.digestFault !== undefined && parts.some(({ name }) => /\bdigest$/i.test(name));
    const message = messageBytes(joinParts(parts, definition));
    return hasDigest ? Buffer.concat([message, Buffer.from(content)]) : message;
  };
}

function createProbeKey({ kinds }: SealedDefinition): string | KeyObject {
  if (kinds.includes('secret')) return secret;
  const [kind = ''] = kinds;
  if (kind.startsWith('rsa')) return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  if (kind.startsWith('ecdsa'))
    return generateKeyPairSync('ec', { namedCurve: kind.includes('p384') ? 'P-384' : 'P-256' }).privateKey;
  return generateKeyPairSync('ed25519').privateKey;
}
