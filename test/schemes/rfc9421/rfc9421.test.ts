import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { signBase, verifyWith } from '../../../src/algorithms.ts';
import { createBase, formatBase, isBaseFault } from '../../../src/schemes/rfc9421/base.ts';
import type { Message } from '../../../src/schemes/rfc9421/message.ts';
import { type MessageSignature, parseSignatures } from '../../../src/schemes/rfc9421/signature-fields.ts';
import {
  type Example,
  examples,
  keyIds,
  publicKey,
  signingKey,
  toMessage,
} from '../../support/schemes/rfc9421.ts';

function parseSignature(message: Message, label: string | undefined): MessageSignature {
  const { fields } = message;
  const signatures = parseSignatures(fields.get('signature-input'), fields.get('signature'));
  if (typeof signatures === 'string') throw new Error(signatures);
  const found = signatures.find((signature) => label === undefined || signature.label === label);
  assert.ok(found);
  return found;
}

function buildBase(message: Message, { covered }: MessageSignature): string {
  const base = createBase(covered, message);
  if (isBaseFault(base)) throw new Error(base.fault);
  return formatBase(base);
}

function isValid(base: string, { parameters, signature }: MessageSignature): boolean {
  const key = signingKey(parameters.keyid ?? '');
  if (key.algorithm === 'hmac-sha256')
    return createHmac('sha256', key.secret).update(base).digest('base64') === signature;
  const { publicKey: verifying } = publicKey(key.id);
  return verifyWith(key.algorithm, verifying, Buffer.from(base), Buffer.from(signature, 'base64'));
}

function check(example: Example): void {
  const message = toMessage(example);
  const signature = parseSignature(message, example.label);
  const base = buildBase(message, signature);
  if (example.base !== undefined) assert.equal(base, example.base);
  assert.equal(isValid(base, signature), example.valid);
}

for (const example of examples) {
  test(`the RFC 9421 example ${example.name} has the signature base and the verdict of the standard`, () => {
    check(example);
  });
}

test('all examples of appendix B with a signature are covered', () => {
  const names = examples.map(({ name }) => name.slice(0, 5));
  for (const name of ['B.2.1', 'B.2.2', 'B.2.3', 'B.2.4', 'B.2.5', 'B.2.6', 'B.3'])
    assert.ok(names.includes(name), name);
  assert.equal(names.filter((name) => name.startsWith('B.4')).length, 6);
});

test('deterministic algorithms produce the signatures of the standard', () => {
  for (const name of ['B.2.5', 'B.2.6', '4.3, request of the proxy']) {
    const example = examples.find((each) => each.name === name);
    assert.ok(example);
    const message = toMessage(example);
    const { covered, parameters, signature, label } = parseSignature(message, example.label);
    const key = signingKey(parameters.keyid ?? '');
    const base = buildBase(message, { covered, parameters, signature, label });
    assert.equal(signBase(key, base), signature, name);
  }
});

test('a public key verifies the signature of its private key, and no signature of another base', () => {
  for (const id of keyIds) {
    const key = signingKey(id);
    if (key.algorithm === 'hmac-sha256') continue;
    const signature = Buffer.from(signBase(key, 'base'), 'base64');
    const { publicKey: verifying } = publicKey(id);
    assert.ok(verifyWith(key.algorithm, verifying, Buffer.from('base'), signature), id);
    assert.ok(!verifyWith(key.algorithm, verifying, Buffer.from('other'), signature), id);
  }
});
