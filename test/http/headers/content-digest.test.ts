import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  decodeCanonicalBase64,
  parseContentDigest,
  parseContentMd5,
} from '../../../src/http/headers/content-digest.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

// RFC 9530 §2 and Appendix B.1: the content {"hello": "world"} and a line feed.
const sha256 = 'RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=';
const sha512 = 'YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==';
const content = '{"hello": "world"}\n';

function read(value: string): readonly string[] | undefined {
  return parseContentDigest(value)?.map(
    ({ algorithm, digest }) => `${algorithm} ${Buffer.from(digest).toString('base64')}`,
  );
}

test('the digests of RFC 9530 are read', () => {
  assert.deepEqual(read(`sha-256=:${sha256}:`), [`sha-256 ${sha256}`]);
  assert.deepEqual(read(`sha-512=:${sha512}:`), [`sha-512 ${sha512}`]);
  const [digest] = parseContentDigest(`sha-256=:${sha256}:`) ?? [];
  assert.deepEqual(Buffer.from(digest?.digest ?? []), createHash('sha256').update(content).digest());
  assert.deepEqual(read(`sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:,sha-512=:${sha512}:`), [
    'sha-256 d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=',
    `sha-512 ${sha512}`,
  ]);
});

test('unknown algorithms and parameters are ignored', () => {
  assert.deepEqual(read('md5=:1B2M2Y8AsgTpgAmY7PhCfg==:'), []);
  assert.deepEqual(read(''), []);
  assert.deepEqual(read('  '), []);
  assert.deepEqual(read(`md5=::,sha-256=:${sha256}: \t,\t unixsum=:AAAA:  `), [`sha-256 ${sha256}`]);
  const items = '1;-0.5;"a\\"\\\\,b";tok/en:*;:AA==:;?0;@-1659578233;%"f%c3%bc"';
  const parameters = items.split(';').map((item, index) => `; p${index}=${item}`);
  assert.deepEqual(read(`sha-256=:${sha256}:${parameters.join('')};bare;*.-_9`), [`sha-256 ${sha256}`]);
});

test('the last digest of the same algorithm is used', () => {
  const other = createHash('sha256').digest('base64');
  assert.deepEqual(read(`sha-256=:${other}:, sha-256=:${sha256}:`), [`sha-256 ${sha256}`]);
});

test('a field that is malformed anywhere is rejected as a whole', () => {
  const good = `sha-256=:${sha256}:`;
  const refused = [
    'sha-256',
    `sha-256=${sha256}`,
    `sha-256=:${sha256}`,
    `sha-256=${sha256}:`,
    `SHA-256=:${sha256}:`,
  ];
  refused.push(
    `sha-256 =:${sha256}:`,
    `sha-256= :${sha256}:`,
    `\t${good}`,
    `${good},`,
    `,${good}`,
    `${good},,${good}`,
  );
  refused.push(
    `${good} ${good}`,
    `${good}x`,
    `${good};`,
    `${good};A`,
    `${good};a=`,
    `${good} ;a`,
    `${good};a =1`,
  );
  refused.push(
    `${good}, md5`,
    `${good}, md5=1`,
    `${good}, md5="x"`,
    `${good}, md5=(:AA==:)`,
    `${good}, md5=:A-_=:`,
  );
  refused.push(`${good}, 5md=:AA==:`, `${good}, md5=:AA==`, `${good}\u00e9`, `sha-256="${sha256}"`);
  for (const item of [
    ...['-', '1.', '1.1234', '1234567890123.1', '1234567890123456', '.5', '"a', '"\\a"', '"ü"', '?2'],
    '@1.5',
  ])
    refused.push(`${good};a=${item}`);
  for (const item of ['@', '%', '%"', '%"%C3%BC"', '%"%c3"', '%"\t"', '(1)', ':A A:', '=', '"\\', ''])
    refused.push(`${good};a=${item}`);
  for (const value of refused) assert.equal(read(value), undefined, value);
});

test('a digest that is not canonical or has the wrong length for its algorithm is rejected', () => {
  const bytes = (length: number): string => Buffer.alloc(length).toString('base64');
  for (const length of [0, 16, 31, 33, 64]) assert.equal(read(`sha-256=:${bytes(length)}:`), undefined);
  for (const length of [0, 32, 63, 65]) assert.equal(read(`sha-512=:${bytes(length)}:`), undefined);
  assert.equal(read(`sha-256=:${sha256.slice(0, -1)}:`), undefined, 'no padding');
  assert.equal(read(`sha-256=:${sha256.replace('g=', 'h=')}:`), undefined, 'bits in the padding');
  assert.equal(read(`sha-256=:${sha256.replaceAll('/', '_')}:`), undefined, 'the alphabet for URLs');
});

test('Content-MD5 is 16 bytes', () => {
  // The digest of nothing, RFC 1321 §A.5.
  assert.equal(
    Buffer.from(parseContentMd5('1B2M2Y8AsgTpgAmY7PhCfg==') ?? []).toString('hex'),
    'd41d8cd98f00b204e9800998ecf8427e',
  );
  for (const value of [
    '',
    '1B2M2Y8AsgTpgAmY7PhCfg',
    '1B2M2Y8AsgTpgAmY7PhCfg==, x',
    'd41d8cd98f00b204e9800998ecf8427e',
    sha256,
  ])
    assert.equal(parseContentMd5(value), undefined, value);
});

test('base64 has one form for each sequence of bytes', () => {
  // RFC 4648 §10
  const vectors = {
    '': '',
    f: 'Zg==',
    fo: 'Zm8=',
    foo: 'Zm9v',
    foob: 'Zm9vYg==',
    fooba: 'Zm9vYmE=',
    foobar: 'Zm9vYmFy',
  };
  for (const [text, encoded] of Object.entries(vectors))
    assert.equal(Buffer.from(decodeCanonicalBase64(encoded) ?? [0]).toString(), text);
  const refused = [
    ...['Zg', 'Zg=', 'Zg===', 'Zh==', 'Zm9', 'Zm8', 'Zm9=', 'Z', '=', '====', 'Zg==Zg==', ' Zg=='],
    ...['Zg== ', 'Z g=='],
  ];
  refused.push('Zg==\n', '-_8=', 'Zm9v\0', 'Zm9vü', 'Zm9v=', 'Zm=v');
  for (const value of refused) assert.equal(decodeCanonicalBase64(value), undefined, value);
});

// The last letter before one or two padding signs may have only its upper four or two bits set (RFC 4648 §3.5).
const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;

test('decoded base64 is encoded back unchanged, and only canonical base64 is decoded', () => {
  const random = seeded();
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let round = 0; round < 3000; round += 1) {
    const value =
      random.text(alphabet, 12) + random.pick(['', '', 'A=', 'A==', 'w==', 'E=', '=', '===', '\n', '_']);
    const bytes = decodeCanonicalBase64(value);
    const message = `${JSON.stringify(value)}, seed ${random.seed}`;
    if (bytes !== undefined) assert.equal(btoa(String.fromCharCode(...bytes)), value, message);
    assert.equal(bytes !== undefined, canonical.test(value), message);
  }
});

test('no value makes the parser throw', () => {
  const random = seeded();
  const pieces = [...'=:,;a"@1.- \\(', ...[`sha-256=:${sha256}:`, 'sha-512', '%"', '?1']];
  for (let round = 0; round < 5000; round += 1) {
    const value = hostile(random, pieces);
    for (const { digest } of parseContentDigest(value) ?? [])
      assert.ok(
        digest.length === 32 || digest.length === 64,
        `${JSON.stringify(value)}, seed ${random.seed}`,
      );
    parseContentMd5(value);
  }
});
