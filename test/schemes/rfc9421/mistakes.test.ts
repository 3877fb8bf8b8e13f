// Mistakes that clients make, and the explanations that they get.
import assert from 'node:assert/strict';
import { constants } from 'node:crypto';
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
import { type Client, signRequest, standard, withKey } from './mistaken-client.ts';

/** What the explanation must contain. */
interface Expected {
  readonly hint: RegExp;
  readonly differs?: string;
}

const line = (name: string, value: string) => (base: string) =>
  base.replace(new RegExp(`^"${name}": .*$`, 'm'), `"${name}": ${value}`);

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 };

const cases: readonly (readonly [name: string, client: Client, expected: Expected])[] = [
  [
    '@target-uri with http',
    { base: line('@target-uri', 'http://example.com/a%20b/../c?b=2&a=1') },
    { hint: /http was signed, but the request arrived over https/, differs: '"@target-uri"' },
  ],
  [
    '@target-uri with https',
    { secure: false, base: line('@target-uri', 'https://example.com/a%20b/../c?b=2&a=1') },
    { hint: /https was signed, but the request arrived over http/, differs: '"@target-uri"' },
  ],
  [
    '@target-uri as a path',
    { base: line('@target-uri', '/a%20b/../c?b=2&a=1') },
    { hint: /only the target was signed, without scheme and host/, differs: '"@target-uri"' },
  ],
  [
    '@scheme of the other protocol',
    { components: [...standard, '@scheme'], base: line('@scheme', 'http') },
    { hint: /"@scheme" was signed as http, but the request arrived over TLS/, differs: '"@scheme"' },
  ],
  [
    '@request-target with the method',
    {
      components: [...standard, '@request-target'],
      base: line('@request-target', 'get /a%20b/../c?b=2&a=1'),
    },
    { hint: /was signed with the method, as in draft-cavage/, differs: '"@request-target"' },
  ],
  [
    '@query-param with + for a space',
    {
      target: '/a?q=x%20y',
      components: [...standard, '@query-param";name="q'],
      base: line('@query-param";name="q', 'x+y'),
    },
    { hint: /signed with \+ for a space; it is %20/, differs: '"@query-param";name="q"' },
  ],
  [
    'lines joined without a space',
    { base: line('x-list', 'a,b') },
    { hint: /x-list was signed without white space after its commas/, differs: '"x-list"' },
  ],
  [
    'components with commas between them',
    { base: (base) => base.replaceAll('" "', '", "') },
    { hint: /were signed with commas between them/, differs: '"@signature-params"' },
  ],
  [
    'names in title case',
    { base: (base) => base.replace('"accept"', '"Accept"').replace('"x-list"', '"X-List"') },
    { hint: /names of the components were signed in upper case; lower case is expected/ },
  ],
  [
    'ECDSA in DER',
    { keyid: 'test-key-ecc-p256', sign: withKey('sha256', 'test-key-ecc-p256') },
    { hint: /ASN\.1 DER/ },
  ],
  ['ECDSA over P-384 in DER', { keyid: 'p384', sign: withKey('sha384', 'p384') }, { hint: /ASN\.1 DER/ }],
  [
    'ECDSA with another hash',
    {
      keyid: 'test-key-ecc-p256',
      sign: withKey('sha512', 'test-key-ecc-p256', { dsaEncoding: 'ieee-p1363' }),
    },
    { hint: /SHA-512 was used; SHA-256 is expected/ },
  ],
  [
    'RSASSA-PSS with a salt of 32 bytes',
    {
      keyid: 'rsa-as-pss',
      sign: withKey('sha512', 'test-key-rsa', { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
    },
    { hint: /salt of RSASSA-PSS has another length/ },
  ],
  [
    'RSASSA-PSS with SHA-256',
    {
      keyid: 'rsa-as-pss',
      sign: withKey('sha256', 'test-key-rsa', { padding: constants.RSA_PKCS1_PSS_PADDING }),
    },
    { hint: /RSASSA-PSS with SHA-256 was used/ },
  ],
  [
    'another algorithm of RSA',
    { keyid: 'rsa-as-pss', sign: withKey('sha256', 'test-key-rsa') },
    { hint: /RSASSA-PKCS1-v1_5 with SHA-256 was used; RSASSA-PSS with SHA-512 is expected/ },
  ],
  ...[
    ['test-key-ed25519', withKey(null, 'test-key-ed25519')] as const,
    ['test-key-ecc-p256', withKey('sha256', 'test-key-ecc-p256', { dsaEncoding: 'ieee-p1363' })] as const,
    ['rsa-as-pss', withKey('sha512', 'test-key-rsa', pss)] as const,
  ].flatMap(([keyid, sign]): (readonly [string, Client, Expected])[] => [
    [
      `a component that is listed, but not signed, with ${keyid}`,
      { keyid, base: (base) => base.replace('"@authority": example.com\n', ''), sign },
      { hint: /"@authority" is listed in Signature-Input, but was not signed/, differs: '"@authority"' },
    ],
    [
      `parameters in another order, with ${keyid}`,
      { keyid, base: (base) => base.replace(/;(created=\d+);(keyid="[^"]*")/, ';$2;$1'), sign },
      { hint: /parameters were signed in another order/, differs: '"@signature-params"' },
    ],
  ]),
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
    const { judge } = openScheme({ ...client.setting, explain: true });
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
    const { verdict, trace } = await openScheme({ ...client.setting, explain: true }).judge(request);
    const members = verdict.outcome === 'bad' ? verdict.problem.members : {};
    const shown = JSON.stringify([members, trace.details]);
    const message = String(trace.details['message'] ?? '');
    assert.ok(!shown.includes(secret), name);
    assert.ok(!shown.includes(signBase(annsSecret, message).slice(0, -2)), name);
  }
});
