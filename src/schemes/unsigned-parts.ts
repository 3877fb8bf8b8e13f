// Finds what a scheme leaves unsigned, by signing an example again with a part of it changed. Loaded only by `countersign check`.

import { createHash } from 'node:crypto';
import { generateKeys } from '../algorithms.ts';
import type { AuthScheme } from './auth-scheme.ts';
import { nameAndOctets } from './message.ts';
import type { SigningIdentity } from './signing.ts';

/** An example of a request, without its credentials. */
interface ExampleRequest {
  readonly method: string;
  readonly target: string;
  readonly type: string;
  readonly content: string;
}

/** What a message leaves unsigned, and two requests with the same signature, the second of which differs in all of it. */
interface Unsigned {
  readonly parts: readonly string[];
  readonly first: ExampleRequest;
  readonly second: ExampleRequest;
}

/**
 * Returns a warning if a scheme leaves the method, the path, the query or the content unsigned, in one line. For a preset it is a
 * note, because the provider determines the message.
 *
 * @param where The path of the scheme in the configuration: `schemes.partner`.
 */
export function listUnsignedWarnings(scheme: AuthScheme, where: string): string[] {
  return describeUnsigned(describeSubject(scheme, where), findUnsigned(scheme));
}

/** Returns what the warning is about. */
function describeSubject({ preset, messageOption }: AuthScheme, where: string): string {
  if (preset !== undefined) return `note: ${where}: ${preset}`;
  return messageOption === undefined ? where : `${where}.${messageOption}`;
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

/** The changes of each part, and what follows the content. */
const changes: readonly (readonly [part: string, change: (one: ExampleRequest) => ExampleRequest])[] = [
  ['method', (one) => ({ ...one, method: 'DELETE' })],
  ['path', (one) => ({ ...one, target: one.target.replace('/a', '/x') })],
  ['query', (one) => ({ ...one, target: one.target.replace('b=1', 'b=2') })],
  ['content', (one) => ({ ...one, content: otherContents[one.content] ?? '' })],
];

/** Contents of which a scheme may be able to sign some only, by their types. */
const contents: readonly (readonly [type: string, content: string])[] = [
  ['text/plain', 'c'],
  ['application/json', '{"a":1}'],
  ['application/x-www-form-urlencoded', 'a=1'],
];

const otherContents: Readonly<Record<string, string>> = { c: 'd', '{"a":1}': '{"a":2}', 'a=1': 'a=2' };

/**
 * Returns what a scheme leaves unsigned of that content of which it signs most; undefined if it signs all, or if it can sign none of
 * the examples.
 */
function findUnsigned(scheme: AuthScheme): Unsigned | undefined {
  for (const identity of createIdentities(scheme)) {
    const sign = createProbe(scheme, identity);
    const found = contents.flatMap(([type, content]) => {
      const first = { method: 'POST', target: '/a?b=1', type, content };
      const signed = sign(first);
      return signed === undefined ? [] : [compareChanges(first, signed, sign)];
    });
    if (found.length > 0)
      return found.some(({ parts }) => parts.length === 0)
        ? undefined
        : found.toSorted((one, other) => one.parts.length - other.parts.length)[0];
  }
  return undefined;
}

function compareChanges(first: ExampleRequest, signed: string, sign: Probe): Unsigned {
  const ignored = changes.filter(([, change]) => sign(change(first)) === signed);
  const second = ignored.reduce((one, [, change]) => change(one), first);
  return { parts: ignored.map(([part]) => part), first, second };
}

/** Returns the message of a request; undefined if the scheme signs nothing, or not this request. */
type Probe = (request: ExampleRequest) => string | undefined;

const now = Date.UTC(2026, 10, 22, 12);
const random = (size: number): Uint8Array => new Uint8Array(size);
/** A secret that is text, hexadecimal and base64. */
const secret = '00112233445566778899aabbccddeeff';

function createProbe(scheme: AuthScheme, identity: SigningIdentity): Probe {
  return ({ method, target, type, content }) => {
    const url = new URL(`https://example.com${target}`);
    const bytes = Buffer.from(content);
    const digests = scheme.comparesDigests === true ? computeDigests(bytes) : [];
    const request = {
      method,
      url,
      target,
      fields: [['Content-Type', type], ...digests] as const,
      content: bytes,
    };
    try {
      const { parts } = scheme.sign(request, identity, { now, random });
      return parts.length === 0 ? undefined : JSON.stringify(parts.map(nameAndOctets));
    } catch (error) {
      // The scheme signs something that this example lacks.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
}

/** Yields identities with one of which the scheme can sign: with a secret, and with a private key of each kind. */
function* createIdentities(scheme: AuthScheme): Generator<SigningIdentity> {
  const identity = { user: scheme.user ?? 'ann', secret, passphrase: 'p' };
  if (canSign(scheme, identity)) yield identity;
  for (const algorithm of ['ed25519', 'ecdsa-p256-sha256', 'rsa-v1_5-sha256'] as const) {
    if (scheme.privateKeys === undefined) return;
    const owner = { ...identity, privateKey: generateKeys(algorithm).privateKey, algorithm };
    if (canSign(scheme, owner)) yield owner;
  }
}

function canSign(scheme: AuthScheme, identity: SigningIdentity): boolean {
  try {
    scheme.check(identity, {});
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Digests of content that are compared with it where a scheme signs them. */
function computeDigests(content: Uint8Array): readonly (readonly [string, string])[] {
  const digest = createHash('sha256').update(content).digest('base64');
  return [
    ['Digest', `SHA-256=${digest}`],
    ['Content-Digest', `sha-256=:${digest}:`],
  ];
}
