import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import {
  ambiguities,
  ambiguityWarnings,
  findUnsignedParts,
  listUnsignedWarnings,
} from '../../../src/auth/declared/ambiguity.ts';
import { readDeclaredOptions } from '../../../src/auth/declared/options.ts';
import { presets } from '../../../src/auth/declared/presets.ts';
import { createRequest } from '../../../src/http/message.ts';
import { openDeclared, start } from '../../support/auth/declared.ts';

function buildDeclaration(message: string): Record<string, unknown> {
  const roles = ['timestamp', 'nonce', 'id'].filter((role) => message.includes(`{${role}}`));
  const declared = Object.fromEntries(roles.map((role) => [role, { field: `X-${role}` }]));
  return { message, signature: { field: 'X-Signature' }, user: 'ann', ...declared };
}

const ambiguous: [message: string, parts: [string, string]][] = [
  ['{path}{query}', ['path', 'query']],
  ['{target}{body}', ['target', 'body']],
  ['{path}.{body}', ['path', 'body']],
  ['{path}.{timestamp}.{body}', ['path', 'body']],
  ['{timestamp}{id}{body}', ['id', 'body']],
  ['{host}{path}{field:X-Tenant}', ['path', 'field:X-Tenant']],
  ['{field:X-A}:{field:X-B}', ['field:X-A', 'field:X-B']],
  ['{method}+{path}+{timestamp}+{nonce}+{body}', ['path', 'body']],
];

for (const [message, parts] of ambiguous) {
  test(`the message ${message} is ambiguous, and both requests of the example have the same signature`, async () => {
    const declaration = buildDeclaration(message);
    const [found] = ambiguities(readDeclaredOptions(declaration, 's'));
    assert.deepEqual(found?.parts, parts);
    const { first, second } = found ?? assert.fail();
    assert.notDeepEqual(first, second);
    const verdicts = await Promise.all(
      [first, second].map(async (example) => {
        const { method, target, content } = example;
        const bytes = Buffer.from(content, 'latin1');
        const at =
          Number(example.fields.find(([name]) => name === 'X-timestamp')?.[1] ?? start / 1000) * 1000;
        // The signature of one request, which the test computes from what both have in common.
        const signature = createHmac('sha256', 'the secret of ann')
          .update(commonMessage(message, first))
          .digest('hex');
        const fields = [...example.fields, ['X-Signature', signature] as const];
        const request = createRequest({ method, target, headers: fields, body: bytes, secure: true });
        return openDeclared(declaration, { at }).verdictOn(request);
      }),
    );
    assert.deepEqual(verdicts, ['ann', 'ann']);
  });
}

/** Builds the message of an example by plain replacement. */
function commonMessage(
  message: string,
  { method, target, fields, content }: ReturnType<typeof ambiguities>[number]['first'],
): string {
  const field = (name: string): string =>
    fields.find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1] ?? '';
  const [path = '', query = ''] = target.split('?');
  const values: Record<string, string> = {
    method,
    target,
    path,
    query,
    'query-sorted': query.split('&').sort().join('&'),
    host: field('host'),
    url: `https://${field('host')}${target}`,
    timestamp: field('x-timestamp'),
    nonce: field('x-nonce'),
    id: field('x-id'),
    body: content,
  };
  return message.replace(/\{(field:)?([^}]*)\}/g, (_, isField: string | undefined, name: string) =>
    isField === undefined ? (values[name] ?? '') : field(name),
  );
}

const certain = [
  '{path}?{query}',
  '{timestamp}.{body}',
  '{timestamp}{body}',
  '{id}.{timestamp}.{body}',
  '{nonce}:{timestamp}:{body}',
  '{method}{path}\n{query}\n{timestamp}\n{body}',
  '{method}\n{host}\n{path}\n{query-sorted}\n{body-sha256}',
  '{user}{path}',
  '{host}{target}',
  '{body-sha256}{body}',
  // The URL contains the query, so it determines where the URL ends.
  '{url}{query-sorted}',
];

for (const message of certain) {
  test(`the message ${JSON.stringify(message)} is not ambiguous`, () => {
    assert.deepEqual(ambiguities(readDeclaredOptions(buildDeclaration(message), 's')), []);
  });
}

test('the ambiguous presets are those that join the target and the content, as their providers define', () => {
  const found = Object.entries(presets).filter(([preset, { declaration }]) => {
    const named = 'user' in declaration ? {} : { user: 'ann' };
    return ambiguities(readDeclaredOptions({ preset, ...named }, 's')).length > 0;
  });
  assert.deepEqual(
    found.map(([preset]) => preset),
    ['twilio', 'square', 'hubspot', 'coinbase', 'binance'],
  );
});

test('a warning names the parts and shows both requests', () => {
  assert.deepEqual(
    ambiguityWarnings(readDeclaredOptions(buildDeclaration('{path}{query}'), 's'), 'schemes.partner'),
    [
      'schemes.partner.message is ambiguous: there is no text between {path} and {query}. These requests have the same signature: POST /a?xb=1 and POST /ax?b=1',
    ],
  );
  assert.deepEqual(
    ambiguityWarnings(readDeclaredOptions(buildDeclaration('{path}.{body}'), 's'), 'schemes.partner'),
    [
      'schemes.partner.message is ambiguous: the text between {path} and {body} may occur in both. These requests have the same signature: POST /a?b=1 with the content ".c" and POST /a.?b=1 with the content "c"',
    ],
  );
});

test('a message that signs the method, the target and the content leaves nothing unsigned', () => {
  for (const message of ['{method}{target}.{body}', '{method-lower} {url}\n{body-sha512-hex}'])
    assert.equal(findUnsignedParts(readDeclaredOptions(buildDeclaration(message), 's')), undefined, message);
});

test('a warning names what a message leaves unsigned, with an example', () => {
  const warnings = (message: string): string[] =>
    listUnsignedWarnings(readDeclaredOptions(buildDeclaration(message), 's'), 'schemes.partner');
  assert.deepEqual(warnings('{body}'), [
    'schemes.partner.message leaves the method, the path and the query unsigned: POST /a?b=1 could be changed to DELETE /x?b=2 unnoticed',
  ]);
  assert.deepEqual(warnings('{method}{path}{json:/id}'), [
    'schemes.partner.message leaves the query and the content unsigned: POST /a?b=1 with the content "{\\"id\\":\\"v\\"}" could be changed to POST /a?b=2 with the content "{\\"id\\":\\"v\\",\\"more\\":\\"1\\"}" unnoticed',
  ]);
});

test('a note names what the provider of a preset leaves unsigned', () => {
  assert.deepEqual(
    listUnsignedWarnings(readDeclaredOptions({ preset: 'mailgun', user: 'ann' }, 's'), 'schemes.m'),
    [
      'note: schemes.m: mailgun leaves the method, the path, the query and the content unsigned: POST /a?b=1 with the content "c" could be changed to DELETE /x?b=2 with the content "d" unnoticed',
    ],
  );
  assert.deepEqual(listUnsignedWarnings(readDeclaredOptions({ preset: 'coinbase' }, 's'), 'schemes.c'), []);
});
