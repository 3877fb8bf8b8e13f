/** Reads the examples of RFC 9421; see fixtures/message-signatures/README.md. */

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MessageKey, SignatureAlgorithm } from '../../../src/algorithms.ts';
import { fieldSource, type Message, type RequestMessage } from '../../../src/schemes/rfc9421/message.ts';

type Line = [name: string, value: string];

interface ExampleRequest {
  readonly method: string;
  readonly target: string;
  readonly fields: Line[];
  readonly content?: string;
}

interface ExampleResponse {
  readonly status: number;
  readonly fields: Line[];
  readonly content?: string;
}

/** An example with a signature. */
export interface Example {
  readonly name: string;
  readonly message: ExampleRequest | ExampleResponse;
  readonly request?: ExampleRequest;
  readonly base?: string;
  readonly label?: string;
  readonly valid: boolean;
}

type ExampleKey =
  | {
      readonly algorithm: SignatureAlgorithm;
      readonly jwk: Record<string, string>;
      readonly publicKey: string;
      readonly privateKey: string;
    }
  | { readonly algorithm: 'hmac-sha256'; readonly secret: string };

const path = join(import.meta.dirname, '../../../fixtures/message-signatures/rfc9421.json');
const { keys, cases }: { keys: Record<string, ExampleKey>; cases: Example[] } = JSON.parse(
  readFileSync(path, 'utf8'),
);

export const examples: readonly Example[] = cases;
export const keyIds: readonly string[] = Object.keys(keys);

function findKey(id: string): ExampleKey {
  const key = keys[id];
  if (key === undefined) throw new RangeError(`there is no key ${id}`);
  return key;
}

/** The private key or secret, as a signer uses it. */
export function signingKey(id: string): MessageKey {
  const key = findKey(id);
  return key.algorithm === 'hmac-sha256'
    ? { id, algorithm: key.algorithm, secret: Buffer.from(key.secret, 'base64') }
    : { id, algorithm: key.algorithm, privateKey: createPrivateKey(key.privateKey) };
}

/** A public key as a verifier uses it. */
interface ExamplePublicKey {
  readonly algorithm: SignatureAlgorithm;
  readonly publicKey: KeyObject;
  readonly pem: string;
  readonly jwk: Record<string, string>;
}

/** The public key, in all forms. */
export function publicKey(id: string): ExamplePublicKey {
  const key = findKey(id);
  if (key.algorithm === 'hmac-sha256') throw new RangeError(`${id} has no public key`);
  const { algorithm, publicKey: pem, jwk } = key;
  return { algorithm, publicKey: createPublicKey(pem), pem, jwk };
}

/** Returns an example as a message, sent over HTTPS. */
export function toMessage({ message, request }: Example): Message {
  if ('method' in message) return toRequest(message);
  const { status, fields } = message;
  const answered = request ?? { method: 'GET', target: '/', fields: [] };
  return { status, fields: fieldSource(fields), request: toRequest(answered) };
}

function toRequest({ method, target, fields }: ExampleRequest): RequestMessage {
  return { method, target, secure: true, fields: fieldSource(fields) };
}
