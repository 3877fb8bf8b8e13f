import assert from 'node:assert/strict';
import { createHash, createHmac, sign, verify } from 'node:crypto';
import { test } from 'node:test';
import { readSchemes } from '../../../src/auth/configured-schemes.ts';
import type { SchemeRequest } from '../../../src/auth/defined/definition.ts';
import type { SchemeDeclarations } from '../../../src/auth/scheme-declarations.ts';
import { describeUnsigned, findUnsignedByDefinition } from '../../../src/auth/unsigned-parts.ts';
import { defineScheme } from '../../../src/index.ts';

type Message = (request: SchemeRequest) => [name: string, value: string | Uint8Array][];

/** A scheme with one field for each part of its credentials. */
const places = {
  headers: ['X-Key', 'X-Signature'],
  needsBody: true,
  parse: ({ headers }: SchemeRequest) => ({
    user: headers.get('X-Key'),
    signature: headers.get('X-Signature'),
  }),
  format: ({ user, signature }: { user: string; signature: string }) => ({
    headers: { 'X-Key': user, 'X-Signature': signature },
  }),
};

function defineWith(message: Message): SchemeDeclarations[string] {
  return defineScheme({
    ...places,
    message,
    sign: (bytes, key) => createHmac('sha256', key).update(bytes).digest('hex'),
  });
}

function describe(schemes: SchemeDeclarations): string {
  const [scheme] = readSchemes(schemes);
  assert.equal(scheme?.kind, 'defined');
  const found = findUnsignedByDefinition(scheme.options);
  return found === undefined ? 'signs all' : describeUnsigned(found);
}

test('the unsigned parts of a scheme in code are named, with two requests that have the same signature', () => {
  assert.equal(
    describe({
      partner: defineWith(({ path, body }) => [
        ['path', path],
        ['body', body],
      ]),
    }),
    'leaves the method and the query unsigned: POST /a?b=1 could be changed to DELETE /a?b=2 unnoticed',
  );
});

test('a digest of the content in the message signs the content', () => {
  const digest = (body: Uint8Array): Buffer => createHash('sha256').update(body).digest();
  const message: Message = ({ method, target, body }) => [
    ['method', method],
    ['target', target],
    ['digest', digest(body)],
  ];
  assert.equal(describe({ partner: defineWith(message) }), 'signs all');
});

test('a scheme that requires JSON in its message is examined with JSON', () => {
  const message: Message = ({ body }) => [['other', String(JSON.parse(String(body)).a)]];
  assert.match(
    describe({ partner: defineWith(message) }),
    /^leaves the method, the path and the query unsigned/,
  );
});

test('a scheme with public keys is examined with a generated key', () => {
  const scheme = defineScheme({
    ...places,
    algorithms: ['ed25519'],
    message: ({ method, target }: SchemeRequest) => [
      ['method', method],
      ['target', target],
    ],
    sign: (bytes, key) => sign(null, bytes, key).toString('base64'),
    verify: (bytes, key, signature) => verify(null, bytes, key, Buffer.from(signature, 'base64')),
  });
  assert.match(describe({ partner: scheme }), /^leaves the content unsigned/);
});

test('draft-cavage signs all by default, and less if fewer fields are required', () => {
  assert.equal(describe({ 'draft-cavage': {} }), 'signs all');
  assert.equal(
    describe({ 'draft-cavage': { headers: ['host'] } }),
    'leaves the method, the path and the query unsigned: POST /a?b=1 could be changed to DELETE /x?b=2 unnoticed',
  );
});
