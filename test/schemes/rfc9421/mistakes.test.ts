// Mistakes that clients make, and the explanations that they get.
import assert from 'node:assert/strict';
import test from 'node:test';
import { signBase } from '../../../src/algorithms.ts';
import type { ProblemMember } from '../../../src/http/problem.ts';
import {
  annsSecret,
  openScheme,
  requireProblem,
  secret,
  start,
} from '../../support/schemes/message-scheme.ts';
import { type Client, signRequest, withKey } from './mistaken-client.ts';

/** What the explanation must contain. */
interface Expected {
  readonly hint: RegExp;
  readonly differs?: string;
}

const line = (name: string, value: string) => (base: string) =>
  base.replace(new RegExp(`^"${name}": .*$`, 'm'), `"${name}": ${value}`);

const cases: readonly (readonly [name: string, client: Client, expected: Expected])[] = [
  ['ECDSA over P-384 in DER', { keyid: 'p384', sign: withKey('sha384', 'p384') }, { hint: /ASN\.1 DER/ }],
  [
    'another key of the user',
    {
      keyid: 'test-key-ed25519',
      sign: withKey('sha256', 'test-key-ecc-p256', { dsaEncoding: 'ieee-p1363' }),
    },
    { hint: /another key of the user: test-key-ecc-p256/ },
  ],
];

function readHint(members: Readonly<Record<string, ProblemMember>>): string {
  return String(members['hint'] ?? '');
}

for (const [name, client, { hint, differs }] of cases) {
  test(`the mistake is explained: ${name}`, async () => {
    const { judge } = openScheme({ explain: true });
    const { verdict, trace } = await judge(signRequest(client));
    assert.equal(verdict.outcome, 'bad');
    assert.match(readHint(trace.details), hint);
    assert.equal(trace.details['differs'], differs);
    if (!/another key of|another length/.test(readHint(trace.details)))
      assert.match(readHint(requireProblem(verdict).members), hint, 'the response explains the same');
  });
}

test('the clients of these tests sign correctly without a mistake', async () => {
  assert.equal((await openScheme().judge(signRequest({}))).outcome, 'good ann');
  for (const host of ['example.com:443', 'Example.COM', 'example.com:8443'])
    assert.equal((await openScheme().judge(signRequest({ host }))).outcome, 'good ann', host);
  const key = { keyid: 'test-key-ed25519', sign: withKey(null, 'test-key-ed25519') };
  assert.equal((await openScheme().judge(signRequest(key))).outcome, 'good ann');
});

test('an explanation shows the parts of the signature base, and the part as the client signed it', async () => {
  const request = signRequest({
    components: ['@method', '@authority', '@path', '@query'],
    target: '/a?b',
    base: line('@query', 'b'),
  });
  const { verdict } = await openScheme({ explain: true }).judge(request);
  const params = `("@method" "@authority" "@path" "@query");created=${start};keyid="ann"`;
  assert.deepEqual(requireProblem(verdict).members, {
    check: 'signature',
    message: `"@method": GET\n"@authority": example.com\n"@path": /a\n"@query": ?b\n"@signature-params": ${params}`,
    hint: 'the query was signed without its question mark',
    differs: '"@query"',
    firstDifference: 63,
    signedMessage: `"@method": GET\n"@authority": example.com\n"@path": /a\n"@query": b\n"@signature-params": ${params}`,
    parts: [
      { name: '"@method"', expected: 'GET' },
      { name: '"@authority"', expected: 'example.com' },
      { name: '"@path"', expected: '/a' },
      { name: '"@query"', expected: '?b', signed: 'b' },
      { name: '"@signature-params"', expected: params },
    ],
  });
});

test('a wrong signature with a time out of range is refused like any other', async () => {
  for (const created of [999_999_999_999_999, 1_795_348_348_800]) {
    const request = signRequest({ created, base: (base) => `${base}.` });
    const { outcome, trace } = await openScheme({ explain: true }).judge(request);
    assert.deepEqual([outcome, trace.failedAt], ['credentials-refused', 'signature']);
  }
});

test('no explanation contains a secret or a valid signature', async () => {
  for (const [name, client] of cases) {
    const request = signRequest(client);
    const { verdict, trace } = await openScheme({ explain: true }).judge(request);
    const members = verdict.outcome === 'bad' ? verdict.problem.members : {};
    const shown = JSON.stringify([members, trace.details]);
    const message = String(trace.details['message'] ?? '');
    assert.ok(!shown.includes(secret), name);
    assert.ok(!shown.includes(signBase(annsSecret, message).slice(0, -2)), name);
  }
});
