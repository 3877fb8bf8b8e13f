import assert from 'node:assert/strict';
import test from 'node:test';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import { readApiKeyOptions } from '../../../src/schemes/api-key/options.ts';
import { createApiKeyScheme } from '../../../src/schemes/api-key/scheme.ts';
import { createKey } from '../../../src/schemes/hmac/credentials.ts';
import { type DeclaredParts, openScheme, type SchemeTest } from '../../support/schemes/clients/declared.ts';

const declaration = { user: { field: 'X-Api-Key' }, secret: { field: 'X-Api-Secret' } };

function open(parts: DeclaredParts = {}): SchemeTest {
  const options = readApiKeyOptions(declaration, 'schemes.key');
  return openScheme(createApiKeyScheme('key', options), parts);
}

function sent(
  user: string | undefined,
  secret: string | undefined,
  more: [string, string][] = [],
): IncomingRequest {
  const fields: [string, string][] = [];
  if (user !== undefined) fields.push(['X-Api-Key', user]);
  if (secret !== undefined) fields.push(['X-Api-Secret', secret]);
  return createRequest({ method: 'GET', target: '/', headers: [...fields, ...more], secure: true });
}

test('names and secrets are decoded as UTF-8', async () => {
  const users = new Map([['Zo\u00eb', { secrets: [{ secret: 'schl\u00fcssel' }] }]]);
  const octets = (text: string): string => Buffer.from(text).toString('latin1');
  assert.equal(
    await open({ users }).verdictOn(sent(octets('Zo\u00eb'), octets('schl\u00fcssel'))),
    'Zo\u00eb',
  );
});

test('the id of a key authenticates its user, with the secret of the key only', async () => {
  const keys = {
    ann: [{ id: 'key-1', algorithm: 'hmac-sha256', secret: createKey('secret of the key') } as const],
  };
  assert.equal(await open({ keys }).verdictOn(sent('key-1', 'secret of the key')), 'ann');
  assert.equal(await open({ keys }).verdictOn(sent('key-1', 'the secret of ann')), 'credentials-refused');
});

test('a secret that is empty or has 2 KiB is malformed', async () => {
  for (const secret of ['', 'x'.repeat(2048)]) {
    const { type, detail } = await open().problemWith(sent('ann', secret));
    assert.deepEqual([type, detail], ['malformed-credentials', 'The value of X-Api-Secret is malformed.']);
  }
});

test('the scheme is offered over TLS only', () => {
  const { scheme } = open();
  assert.equal(scheme.tlsOnly, true);
  assert.equal(scheme.challenge({ peer: '::1', secure: false }), undefined);
  assert.equal(scheme.challenge({ peer: '::1', secure: true }), 'key realm="test"');
});

test('the trace lists the checks, without the secret', async () => {
  const trace = await open().trace(sent('ann', 'the secret of bob'));
  assert.deepEqual(
    [trace.passed, trace.failedAt, trace.details],
    [['parse', 'user'], 'secret', { hint: 'the secret is different' }],
  );
  assert.deepEqual((await open().trace(sent('ann', 'the secret of ann'))).passed, [
    'parse',
    'user',
    'secret',
  ]);
});

const refused: [what: string, value: unknown, message: RegExp][] = [
  [
    'one field for both',
    { user: { field: 'A' }, secret: { field: 'a' } },
    /a is named twice; it is also the field of user/,
  ],
  ['a secret in the field Host', { secret: { field: 'Host' } }, /Host cannot contain an API key/],
  [
    'the user in Authorization',
    { user: { field: 'authorization' }, secret: { field: 'B' } },
    /Authorization cannot contain the name of a user/,
  ],
];

for (const [what, value, message] of refused) {
  test(`options with ${what} are rejected`, () => {
    assert.throws(() => readApiKeyOptions(value, 'schemes.key'), message);
  });
}
