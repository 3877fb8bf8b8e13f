import assert from 'node:assert/strict';
import { createHash, createHmac, sign, verify } from 'node:crypto';
import { test } from 'node:test';
import { defineScheme } from '../../src/index.ts';
import { readSchemes } from '../../src/schemes/configured-schemes.ts';
import type { SchemeRequest } from '../../src/schemes/defined/definition.ts';
import type { SchemeDeclarations } from '../../src/schemes/scheme-declarations.ts';
import { listUnsignedWarnings } from '../../src/schemes/unsigned-parts.ts';

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

/** Returns the warning of the only scheme; undefined if it signs all. */
function describe(schemes: Readonly<Record<string, unknown>>): string | undefined {
  const [scheme] = readSchemes(schemes);
  const [warning, ...others] = listUnsignedWarnings(scheme ?? assert.fail(), 'schemes.s');
  assert.deepEqual(others, []);
  return warning;
}

test('the unsigned parts of a scheme in code are named, with two requests that have the same signature', () => {
  assert.equal(
    describe({
      partner: defineWith(({ path, body }) => [
        ['path', path],
        ['body', body],
      ]),
    }),
    'schemes.s leaves the method and the query unsigned: POST /a?b=1 could be changed to DELETE /a?b=2 unnoticed',
  );
});

test('a digest of the content in the message signs the content', () => {
  const digest = (body: Uint8Array): Buffer => createHash('sha256').update(body).digest();
  const message: Message = ({ method, target, body }) => [
    ['method', method],
    ['target', target],
    ['digest', digest(body)],
  ];
  assert.equal(describe({ partner: defineWith(message) }), undefined);
});

test('a scheme that requires JSON in its message is examined with JSON', () => {
  const message: Message = ({ body }) => [['other', String(JSON.parse(String(body)).a)]];
  assert.match(
    describe({ partner: defineWith(message) }) ?? '',
    /^schemes\.s leaves the method, the path and the query unsigned/,
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
  assert.match(describe({ partner: scheme }) ?? '', /^schemes\.s leaves the content unsigned/);
});

test('draft-cavage signs all by default, and less if fewer fields are required', () => {
  assert.equal(describe({ 'draft-cavage': {} }), undefined);
  assert.equal(
    describe({ 'draft-cavage': { headers: ['host'] } }),
    'schemes.s leaves the method, the path and the query unsigned: POST /a?b=1 could be changed to DELETE /x?b=2 unnoticed',
  );
});

const declared = (message: string): string | undefined => {
  const roles = ['timestamp', 'nonce', 'id'].filter((role) => message.includes(`{${role}}`));
  const fields = Object.fromEntries(roles.map((role) => [role, { field: `X-${role}` }]));
  return describe({ s: { message, signature: { field: 'X-Signature' }, user: 'ann', ...fields } });
};

test('a declared message that signs the method, the target and the content leaves nothing unsigned', () => {
  for (const message of [
    '{method}{target}.{body}',
    '{method-lower} {url}\n{body-sha512-hex}',
    '{timestamp}{nonce}{method}{path}?{query}.{body-md5-base64}',
    '{method} {path} {query-sorted} {form-sorted}',
  ])
    assert.equal(declared(message), undefined, message);
});

test('a warning names what a declared message leaves unsigned, with a request that could be changed', () => {
  const rows: readonly (readonly [message: string, warning: string])[] = [
    [
      '{body}',
      'the method, the path and the query unsigned: POST /a?b=1 could be changed to DELETE /x?b=2 unnoticed',
    ],
    ['{method}{path}{body}', 'the query unsigned: POST /a?b=1 could be changed to POST /a?b=2 unnoticed'],
    ['{host}{target}{body}', 'the method unsigned: POST /a?b=1 could be changed to DELETE /a?b=1 unnoticed'],
    [
      '{method}{query}{field:X-Path}{body}',
      'the path unsigned: POST /a?b=1 could be changed to POST /x?b=1 unnoticed',
    ],
    [
      '{method}{target}',
      'the content unsigned: POST /a?b=1 with the content "c" could be changed to POST /a?b=1 with the content "d" unnoticed',
    ],
    [
      '{method}{path}{json:/id}',
      'the query and the content unsigned: POST /a?b=1 with the content "c" could be changed to POST /a?b=2 with the content "d" unnoticed',
    ],
  ];
  for (const [message, warning] of rows)
    assert.equal(declared(message), `schemes.s.message leaves ${warning}`, message);
});

test('a note names what the provider of a preset leaves unsigned', () => {
  const rows: readonly (readonly [preset: string, note: string | undefined])[] = [
    [
      'mailgun',
      'the method, the path, the query and the content unsigned: POST /a?b=1 with the content "{\\"a\\":1}" could be changed to DELETE /x?b=2 with the content "{\\"a\\":2}" unnoticed',
    ],
    ['twilio', 'the method unsigned: POST /a?b=1 could be changed to DELETE /a?b=1 unnoticed'],
    ['coinbase', undefined],
  ];
  for (const [preset, note] of rows) {
    const named = preset === 'coinbase' ? {} : { user: 'ann' };
    assert.equal(
      describe({ s: { preset, ...named } }),
      note === undefined ? undefined : `note: schemes.s: ${preset} leaves ${note}`,
    );
  }
});

test('HTTP Message Signatures sign all by default, and less if fewer components are required', () => {
  const rows: readonly (readonly [components: readonly string[], warning: string | undefined])[] = [
    [['@method', '@target-uri'], undefined],
    [['@method', '@request-target'], undefined],
    [
      ['@authority'],
      'the method, the path and the query unsigned: POST /a?b=1 could be changed to DELETE /x?b=2 unnoticed',
    ],
    [['@method', '@path'], 'the query unsigned: POST /a?b=1 could be changed to POST /a?b=2 unnoticed'],
    [
      ['@query-param;name="b"', '@path'],
      'the method unsigned: POST /a?b=1 could be changed to DELETE /a?b=1 unnoticed',
    ],
  ];
  assert.equal(describe({ 'message-signatures': {} }), undefined);
  for (const [components, warning] of rows)
    assert.equal(
      describe({ 'message-signatures': { components } }),
      warning === undefined ? undefined : `schemes.s.components leaves ${warning}`,
    );
});
