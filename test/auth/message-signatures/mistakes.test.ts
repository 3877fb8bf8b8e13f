// Mistakes that clients make, and the explanations that they get.
import assert from 'node:assert/strict';
import { constants, createHash, createHmac } from 'node:crypto';
import test from 'node:test';
import type { ProblemMember } from '../../../src/http/problem.ts';
import { signBase } from '../../../src/signature/message-signatures/algorithms.ts';
import {
  accountsWithKeys,
  annsSecret,
  openScheme,
  problemOf,
  secret,
  start,
} from '../../support/signature/message-scheme.ts';
import { type Client, hmac, requestOf, standard, withKey } from '../../support/signature/mistaken-client.ts';

/** What the explanation must contain. */
interface Expected {
  readonly hint: RegExp;
  readonly differs?: string;
}

const line = (name: string, value: string) => (base: string) =>
  base.replace(new RegExp(`^"${name}": .*$`, 'm'), `"${name}": ${value}`);

const cases: readonly (readonly [name: string, client: Client, expected: Expected])[] = [
  [
    '@query without its question mark',
    { base: line('@query', 'b=2&a=1') },
    { hint: /without its question mark/, differs: '"@query"' },
  ],
  [
    'no query signed as empty text',
    { target: '/a', base: line('@query', '') },
    { hint: /without its question mark/, differs: '"@query"' },
  ],
  ['@query sorted', { base: line('@query', '?a=1&b=2') }, { hint: /were sorted/, differs: '"@query"' }],
  [
    '@authority with the default port',
    { base: line('@authority', 'example.com:443') },
    { hint: /default port/, differs: '"@authority"' },
  ],
  [
    '@authority as sent, with the default port',
    { host: 'example.com:443', base: line('@authority', 'example.com:443') },
    { hint: /default port/, differs: '"@authority"' },
  ],
  [
    '@authority in upper case',
    { host: 'Example.COM', base: line('@authority', 'Example.COM') },
    { hint: /lower case/, differs: '"@authority"' },
  ],
  [
    '@authority without its port',
    { host: 'example.com:8443', base: line('@authority', 'example.com') },
    { hint: /without the port/, differs: '"@authority"' },
  ],
  ['@path normalized', { base: line('@path', '/c') }, { hint: /normalized/, differs: '"@path"' }],
  ['@path decoded', { base: line('@path', '/a b/../c') }, { hint: /decoded/, differs: '"@path"' }],
  [
    '@path with the query',
    { base: line('@path', '/a%20b/../c?b=2&a=1') },
    { hint: /with the query/, differs: '"@path"' },
  ],
  [
    '@target-uri with http',
    { base: line('@target-uri', 'http://example.com/a%20b/../c?b=2&a=1') },
    { hint: /signed with http,/, differs: '"@target-uri"' },
  ],
  [
    '@target-uri with https',
    { secure: false, base: line('@target-uri', 'https://example.com/a%20b/../c?b=2&a=1') },
    { hint: /signed with https,/, differs: '"@target-uri"' },
  ],
  [
    '@target-uri as a path',
    { base: line('@target-uri', '/a%20b/../c?b=2&a=1') },
    { hint: /without scheme and authority/, differs: '"@target-uri"' },
  ],
  [
    'the method in lower case',
    { base: line('@method', 'get') },
    { hint: /method was signed in lower case/, differs: '"@method"' },
  ],
  [
    'a value that is not trimmed',
    { base: line('accept', ' application/json') },
    { hint: /accept was signed with white space/, differs: '"accept"' },
  ],
  [
    'lines joined without a space',
    { base: line('x-list', 'a,b') },
    { hint: /comma without a space/, differs: '"x-list"' },
  ],
  [
    'only the last line of a field',
    { base: line('x-list', 'b') },
    { hint: /only the last line of x-list/, differs: '"x-list"' },
  ],
  [
    'a component that is listed, but not signed',
    { base: (base) => base.replace('"accept": application/json\n', '') },
    { hint: /"accept" is listed, but was not signed/, differs: '"accept"' },
  ],
  [
    'another order',
    { base: (base) => base.replace(/^(.*)\n(.*)\n/, '$2\n$1\n') },
    { hint: /another order than in Signature-Input/ },
  ],
  [
    'parameters in another order',
    { base: (base) => base.replace(/;(created=\d+);(keyid="ann")/, ';$2;$1') },
    { hint: /parameters were signed in another order/, differs: '"@signature-params"' },
  ],
  [
    'a parameter that is not signed',
    { more: ';tag="t"', base: (base) => base.replace(';tag="t"', '') },
    { hint: /parameter tag is in Signature-Input, but was not signed/, differs: '"@signature-params"' },
  ],
  [
    'parameters that are not signed',
    { base: (base) => base.replace(/\);.*$/, ')') },
    { hint: /parameters of the signature were not signed/, differs: '"@signature-params"' },
  ],
  [
    'the label is signed',
    { base: (base) => base.replace('params": (', 'params": sig1=(') },
    { hint: /label must not be a part/, differs: '"@signature-params"' },
  ],
  [
    'no line for the parameters',
    { base: (base) => base.replace(/\n"@signature-params".*$/, '') },
    { hint: /line "@signature-params" was not signed/, differs: '"@signature-params"' },
  ],
  [
    'created in milliseconds, in the base alone',
    { base: (base) => base.replace(`created=${start}`, `created=${start}000`) },
    { hint: /created was signed in milliseconds/, differs: '"@signature-params"' },
  ],
  ['a line feed at the end', { base: (base) => `${base}\n` }, { hint: /line feed at its end/ }],
  ['CR LF', { base: (base) => base.replaceAll('\n', '\r\n') }, { hint: /CR LF between/ }],
  [
    'names without quotes',
    { base: (base) => base.replace(/^"([^"]*)"/gm, '$1') },
    { hint: /without quotes/ },
  ],
  [
    'names in title case',
    { base: (base) => base.replace('"accept"', '"Accept"').replace('"x-list"', '"X-List"') },
    { hint: /lower case/ },
  ],
  [
    'no space after the colon',
    { base: (base) => base.replace(/^("[^"]*":) /gm, '$1') },
    { hint: /space after each colon/ },
  ],
  [
    'hexadecimal in base64',
    { encode: (signature) => Buffer.from(signature.toString('hex')) },
    { hint: /hexadecimal before base64/ },
  ],
  [
    'base64 twice',
    { encode: (signature) => Buffer.from(signature.toString('base64')) },
    { hint: /base64 twice/ },
  ],
  [
    'a secret that is decoded',
    { sign: (base) => createHmac('sha256', Buffer.from(secret, 'base64')).update(base).digest() },
    { hint: /decoded from base64/ },
  ],
  [
    'HMAC with SHA-512',
    { sign: (base) => createHmac('sha512', secret).update(base).digest() },
    { hint: /HMAC with SHA-512 was used/ },
  ],
  [
    'a hashed base',
    { sign: (base) => hmac(createHash('sha256').update(base).digest('hex')) },
    { hint: /hashed before it was signed/ },
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
    { hint: /rsa-v1_5-sha256 was used, but/ },
  ],
  [
    'a hash signed with Ed25519',
    {
      keyid: 'test-key-ed25519',
      sign: (base) => withKey(null, 'test-key-ed25519')(createHash('sha256').update(base).digest('hex')),
    },
    { hint: /Ed25519 hashes it itself/ },
  ],
  [
    '@query without its question mark, with Ed25519',
    { keyid: 'test-key-ed25519', base: line('@query', 'b=2&a=1'), sign: withKey(null, 'test-key-ed25519') },
    { hint: /without its question mark/, differs: '"@query"' },
  ],
  [
    'another key of the user',
    {
      keyid: 'test-key-ed25519',
      sign: withKey('sha256', 'test-key-ecc-p256', { dsaEncoding: 'ieee-p1363' }),
    },
    { hint: /another key of the user: test-key-ecc-p256/ },
  ],
  ['a key that does not exist', { keyid: 'ann-key-7' }, { hint: /no user has a key with this id/ }],
  [
    'another secret',
    { sign: (base) => createHmac('sha256', 'x').update(base).digest() },
    { hint: /another key, or the signed message differs/ },
  ],
  [
    'an expired key',
    {
      keyid: 'test-key-ed25519',
      sign: withKey(null, 'test-key-ed25519'),
      setting: { accounts: accountsWithKeys(start * 1000) },
    },
    { hint: /expired key/ },
  ],
  [
    'alg of another key',
    { more: ';alg="ed25519"' },
    { hint: /alg is "ed25519", but the key with this id is for hmac-sha256/ },
  ],
  ['created in milliseconds', { created: start * 1000 }, { hint: /created is in milliseconds/ }],
  ['created in another time zone', { created: start + 7200 }, { hint: /off by 2 h: probably a time zone/ }],
  ['a slow clock', { created: start - 700 }, { hint: /clock is wrong/ }],
  [
    'a required component is missing',
    { components: ['@method', '@path'] },
    { hint: /add "@authority", "@query" to the covered components/ },
  ],
  [
    'a field that is not sent',
    { components: [...standard, 'x-absent'] },
    { hint: /the message has no component "x-absent"/ },
  ],
  ['labels that differ', { signatureLabel: 'sig2' }, { hint: /Signature lacks the label sig1/ }],
  ['an unknown component', { components: [...standard, '@host'] }, { hint: /"@host" is not known/ }],
];

function hintOf(members: Readonly<Record<string, ProblemMember>>): string {
  return String(members['hint'] ?? '');
}

for (const [name, client, { hint, differs }] of cases) {
  test(`the mistake is explained: ${name}`, async () => {
    const { judge } = openScheme({ ...client.setting, explain: true });
    const { verdict, trace } = await judge(requestOf(client));
    assert.equal(verdict.outcome, 'bad');
    assert.match(hintOf(trace.details), hint);
    assert.equal(trace.details['differs'], differs);
    const { members } = problemOf(verdict);
    if (!/no user has|another key/.test(hintOf(trace.details)) && members['hint'] !== undefined)
      assert.match(hintOf(members), hint, 'the response explains the same');
  });
}

test('there are at least fifteen mistakes', () => {
  assert.ok(cases.length >= 50, `${cases.length}`);
});

test('the clients of these tests sign correctly but for their mistake', async () => {
  assert.equal((await openScheme().judge(requestOf({}))).outcome, 'good ann');
  for (const host of ['example.com:443', 'Example.COM', 'example.com:8443'])
    assert.equal((await openScheme().judge(requestOf({ host }))).outcome, 'good ann', host);
  const key = { keyid: 'test-key-ed25519', sign: withKey(null, 'test-key-ed25519') };
  assert.equal((await openScheme().judge(requestOf(key))).outcome, 'good ann');
});

test('an expired signature is explained', async () => {
  const { judge, clock } = openScheme({ explain: true });
  clock.advance(10_000);
  const { trace } = await judge(requestOf({ more: `;expires=${start + 5}` }));
  assert.match(hintOf(trace.details), /the time in expires has passed/);
});

test('an explanation shows the parts of the signature base, and the part as the client signed it', async () => {
  const request = requestOf({
    components: ['@method', '@authority', '@path', '@query'],
    target: '/a?b',
    base: line('@query', 'b'),
  });
  const { verdict } = await openScheme({ explain: true }).judge(request);
  const params = `("@method" "@authority" "@path" "@query");created=${start};keyid="ann"`;
  assert.deepEqual(problemOf(verdict).members, {
    check: 'signature',
    message: `"@method": GET\n"@authority": example.com\n"@path": /a\n"@query": ?b\n"@signature-params": ${params}`,
    hint: '"@query" was signed without its question mark',
    differs: '"@query"',
    parts: [
      { name: '"@method"', expected: 'GET' },
      { name: '"@authority"', expected: 'example.com' },
      { name: '"@path"', expected: '/a' },
      { name: '"@query"', expected: '?b', signed: 'b' },
      { name: '"@signature-params"', expected: params },
    ],
  });
});

test('no explanation contains a secret or a valid signature', async () => {
  for (const [name, client] of cases) {
    const request = requestOf(client);
    const { verdict, trace } = await openScheme({ ...client.setting, explain: true }).judge(request);
    const members = verdict.outcome === 'bad' ? verdict.problem.members : {};
    const shown = JSON.stringify([members, trace.details]);
    const message = String(trace.details['message'] ?? '');
    assert.ok(!shown.includes(secret), name);
    assert.ok(!shown.includes(signBase(annsSecret, message).slice(0, -2)), name);
  }
});
