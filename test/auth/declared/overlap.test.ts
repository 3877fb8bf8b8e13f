// The warning of schemes that accept each other's signatures.
import assert from 'node:assert/strict';
import test from 'node:test';
import { readSchemes } from '../../../src/auth/configured-schemes.ts';
import { overlapWarnings } from '../../../src/auth/declared/overlap.ts';

const user = { field: 'X-User' };
const signature = { field: 'X-Signature' };

const cases: readonly (readonly [schemes: Record<string, unknown>, pairs: readonly string[]])[] = [
  [{ github: { preset: 'github', user } }, ['hmac and github']],
  [{ slack: { preset: 'slack', user } }, []],
  [{ slack: { preset: 'slack', user }, zoom: { preset: 'zoom', user } }, ['slack and zoom']],
  [{ stripe: { preset: 'stripe', user }, slack: { preset: 'slack', user } }, []],
  [{ twilio: { preset: 'twilio', user } }, []],
  [{ 'message-signatures': {} }, []],
  [
    { 'message-signatures': {}, shop: { preset: 'shopify', user } },
    ['hmac and shop', 'message-signatures and shop'],
  ],
  [{ partner: { message: '{method}+{target}', hash: 'sha512', signature, user } }, []],
  [{ partner: { message: '{method}+{target}', key: 'hex', signature, user } }, []],
  [{ partner: { message: '{method}+{target}', signature, user } }, ['hmac and partner']],
  [{ partner: { message: '{method}{target}', signature, user } }, []],
  [{ partner: { message: '{target}{method}', signature, user } }, []],
  [{ aws4: { region: 'eu-central-1', service: 'execute-api' } }, []],
];

for (const [schemes, pairs] of cases) {
  test(`warnings name the schemes with messages in common: ${JSON.stringify(schemes)}`, () => {
    const warnings = overlapWarnings(readSchemes(schemes), new Map([['ann', {}]]));
    assert.deepEqual(
      warnings.map((warning) => /^the schemes (.*) have messages in common/.exec(warning)?.[1]),
      pairs,
    );
  });
}

test('only users that can use both schemes are named', () => {
  const schemes = readSchemes({ github: { preset: 'github', user: 'ann' } });
  const warned = (users: Record<string, object>): string | undefined =>
    overlapWarnings(schemes, new Map(Object.entries(users)))[0];
  assert.equal(
    warned({ bob: {}, ann: {} }),
    'the schemes hmac and github have messages in common, so a signature of one can be valid in the other with the secret of the user ann; limit the user with "schemes", or use another secret',
  );
  assert.equal(warned({ bob: {}, ann: { schemes: ['github'] } }), undefined);
  assert.equal(warned({ ann: { schemes: ['hmac', 'github'] } }) === undefined, false);
  assert.equal(warned({ bob: {} }), undefined);
  const any = readSchemes({ github: { preset: 'github', user: { field: 'X-User' } } });
  assert.match(
    overlapWarnings(
      any,
      new Map([
        ['ann', {}],
        ['bob', {}],
      ]),
    )[0] ?? '',
    /of the user ann and 1 more;/,
  );
});
