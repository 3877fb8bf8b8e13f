import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { type Parameter, parseFormOctets } from '../../../src/http/form.ts';
import { toOctets } from '../../../src/http/syntax/octets.ts';
import { encodeOctets } from '../../../src/http/syntax/percent.ts';
import {
  computeSignature,
  createKeyCheck,
  formatBaseString,
  formatKeyText,
  type OAuth1Request,
} from '../../../src/schemes/oauth1/base-string.ts';
import { parseHeaderParameters } from '../../../src/schemes/oauth1/parameters.ts';
import { isSameSignature } from '../../../src/schemes/signature-form.ts';
import { seeded } from '../../support/seeded.ts';

interface Case {
  readonly name: string;
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  readonly authorization: string;
  readonly form: string | null;
  readonly baseString: string;
  readonly consumerSecret: string;
  readonly tokenSecret: string;
  readonly hmacSha1: string;
  readonly hmacSha256: string;
  readonly plaintext: string;
}
interface Vectors {
  readonly cases: readonly Case[];
  readonly rsaSha1: { readonly publicKey: string; readonly baseString: string; readonly signature: string };
}
const fixture = new URL('../../../fixtures/oauth1/base-strings.json', import.meta.url);
const { cases, rsaSha1 }: Vectors = JSON.parse(readFileSync(fixture, 'utf8'));

function buildRequest({ method, origin, target, authorization, form }: Omit<Case, 'name'>): OAuth1Request {
  const [path = '', ...queries] = target.split('?');
  const query = queries.join('?');
  const header = parseHeaderParameters(authorization);
  const parameters = [parseFormOctets(query), header, parseFormOctets(form ?? '')].flatMap((part) => {
    assert.ok(typeof part === 'object', `malformed: ${part}`);
    return part;
  });
  return { method, origin, path, parameters };
}

test('the file of cases has at least 35 of them', () => assert.ok(cases.length >= 35));

for (const each of cases) {
  test(`the base string and the signatures match an independent implementation: ${each.name}`, () => {
    const baseString = formatBaseString(buildRequest(each));
    assert.equal(baseString, each.baseString);
    const key = formatKeyText(each.consumerSecret, each.tokenSecret);
    assert.equal(computeSignature('HMAC-SHA1', baseString, key), each.hmacSha1);
    assert.equal(computeSignature('HMAC-SHA256', baseString, key), each.hmacSha256);
    assert.equal(computeSignature('PLAINTEXT', baseString, key), each.plaintext);
  });
}

/** The requests of RFC 5849 §1.2, with the signatures that stand there. */
const delegation = [
  {
    path: '/initiate',
    method: 'POST',
    query: '',
    header: [
      ['oauth_timestamp', '137131200'],
      ['oauth_nonce', 'wIjqoS'],
      ['oauth_callback', 'http://printer.example.com/ready'],
    ],
    secret: '',
    signature: '74KNZJeDHnMBp0EMJ9ZHt/XKycU=',
  },
  {
    path: '/token',
    method: 'POST',
    query: '',
    header: [
      ['oauth_token', 'hh5s93j4hdidpola'],
      ['oauth_timestamp', '137131201'],
      ['oauth_nonce', 'walatlh'],
      ['oauth_verifier', 'hfdp7dh39dks9884'],
    ],
    secret: 'hdhd0244k9j7ao03',
    signature: 'gKgrFCywp7rO0OXSjdot/IHF7IU=',
  },
  {
    path: '/photos',
    method: 'GET',
    query: 'file=vacation.jpg&size=original',
    header: [
      ['oauth_token', 'nnch734d00sl2jdk'],
      ['oauth_timestamp', '137131202'],
      ['oauth_nonce', 'chapoH'],
    ],
    secret: 'pfkkdhi9sl3r4s00',
    signature: 'MdpQcU8iPSUjWoN/UDMsK2sui9I=',
  },
] as const;

for (const { path, method, query, header, secret, signature } of delegation) {
  test(`RFC 5849 §1.2: ${method} ${path} has the signature of the RFC`, () => {
    const origin = path === '/photos' ? 'http://photos.example.net' : 'https://photos.example.net';
    const parameters: Parameter[] = [
      ['oauth_consumer_key', 'dpf43f3p2l4k3l03'],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ...header,
      ...(parseFormOctets(query) ?? []),
    ];
    const baseString = formatBaseString({ method, origin, path, parameters });
    const key = formatKeyText('kd94hf93k423kf44', secret);
    assert.equal(computeSignature('HMAC-SHA1', baseString, key), signature);
  });
}

test('RFC 5849 §3.4.1.1: the base string equals that of the RFC, character by character', () => {
  const [first] = cases;
  assert.equal(
    first && formatBaseString(buildRequest(first)),
    'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7',
  );
});

test('RFC 5849 §2.1 and §2.3: a PLAINTEXT signature joins both secrets with an ampersand', () => {
  assert.equal(formatKeyText('ja893SD9', ''), 'ja893SD9&');
  assert.equal(formatKeyText('ja893SD9', 'xyz4992k83j47x0b'), 'ja893SD9&xyz4992k83j47x0b');
});

test('the key check accepts an RSA signature made by openssl, and rejects any other', () => {
  const isSigned = createKeyCheck(createPublicKey(rsaSha1.publicKey));
  assert.equal(isSigned('RSA-SHA1', rsaSha1.baseString, rsaSha1.signature), true);
  assert.equal(isSigned('RSA-SHA1', `${rsaSha1.baseString}x`, rsaSha1.signature), false);
  assert.equal(isSigned('RSA-SHA1', rsaSha1.baseString, rsaSha1.signature.replace(/^./, '*')), false);
  assert.equal(isSigned('RSA-SHA1', rsaSha1.baseString, `${rsaSha1.signature}\n`), false);
  assert.equal(isSigned('RSA-SHA1', rsaSha1.baseString, ''), false);
  for (const size of [1, 255, 256, 257, 512])
    assert.equal(
      isSigned('RSA-SHA1', rsaSha1.baseString, Buffer.alloc(size, 0xff).toString('base64')),
      false,
    );
});

test('signatures are equal only if every character is equal', () => {
  assert.equal(isSameSignature('abc=', 'abc='), true);
  for (const other of ['abc', 'abd=', 'abc= ', 'ABC=', '', 'abc=ü', 'abc==']) {
    assert.equal(isSameSignature('abc=', other), false, other);
  }
});

/** The base string by way of arrays of bytes and percent signs, which the code under test never makes. */
function derived({ method, origin, path, parameters }: OAuth1Request): string {
  const unreserved = new Set(
    Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~'),
  );
  const encoded = (octets: Buffer): Buffer => {
    const parts = Array.from(octets, (octet) =>
      unreserved.has(octet)
        ? [octet]
        : [...Buffer.from(`%${Buffer.from([octet]).toString('hex').toUpperCase()}`)],
    );
    return Buffer.from(parts.flat());
  };
  const bytes = (octets: string): Buffer => Buffer.from(octets, 'latin1');
  const pairs = parameters
    .filter(([name]) => name !== 'oauth_signature')
    .map(([name, value]) => ({ name: encoded(bytes(name)), value: encoded(bytes(value)) }));
  pairs.sort((one, other) => Buffer.compare(one.name, other.name) || Buffer.compare(one.value, other.value));
  const normalized = pairs.map(({ name, value }) => `${name}=${value}`).join('&');
  return [method, origin + path, normalized].map((part) => encoded(bytes(part)).toString()).join('&');
}

test('the base string of random octets matches an independent derivation', () => {
  const random = seeded();
  const octets = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
  const alphabets = [octets, 'aA[]%~-.!', 'ab=&+ %'];
  for (let round = 0; round < 2000; round += 1) {
    const text = (): string => random.text(random.pick(alphabets), 6);
    const parameters = Array.from({ length: random.below(8) }, (): Parameter => [text(), text()]);
    if (random.below(4) === 0) parameters.push(['oauth_signature', text()]);
    const request = { method: 'POST', origin: 'https://example.com:8443', path: `/${text()}`, parameters };
    assert.equal(formatBaseString(request), derived(request), `seed ${random.seed}, round ${round}`);
  }
});

test('a form and a header of random octets are parsed to the parameters that were encoded', () => {
  const random = seeded();
  const octets = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
  for (let round = 0; round < 1000; round += 1) {
    const some = (): string => random.text(octets, 5);
    const parameters = Array.from({ length: 1 + random.below(5) }, (): Parameter => [`n${some()}`, some()]);
    const written = parameters.map((pair) => pair.map(encodeOctets));
    const form = written.map((pair) => pair.join('=')).join('&');
    const where = `seed ${random.seed}, round ${round}`;
    assert.deepEqual(parseFormOctets(form), parameters, where);
    const header = written
      .map(([name, value]) => `${name}="${value}"`)
      .join(random.pick([',', ', ', ' ,\t']));
    assert.deepEqual(parseHeaderParameters(header), parameters, where);
  }
});

test('random header text is parsed or rejected, and nothing throws', () => {
  const random = seeded();
  for (let round = 0; round < 5000; round += 1) {
    const sent = random.text('realm="\\,ab% 0F\té', 24);
    const read = parseHeaderParameters(sent);
    assert.ok(typeof read === 'string' || Array.isArray(read), `seed ${random.seed}: ${sent}`);
    parseFormOctets(sent);
  }
});

const headers: readonly (readonly [sent: string, read: readonly Parameter[] | 'refused'])[] = [
  ['', []],
  [
    'a="b",c="d"',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'a="b"  ,  c="d" ,',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    ',, a="b",,c="d"',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['realm="x, y=\\"z\\"", a="b"', [['a', 'b']]],
  ['a="b", Realm=""', [['a', 'b']]],
  ['a=""', [['a', '']]],
  ['realm="x", realm="y"', 'refused'],
  ['realm="x', 'refused'],
  ['a=b', 'refused'],
  ['a', 'refused'],
  ['a="b" c="d"', 'refused'],
  ['a="b";c="d"', 'refused'],
  ['a = "b"', 'refused'],
  ['a="b c"', 'refused'],
  ['a="b+c/d=="', [['a', 'b+c/d==']]],
  ['a="b;c"', 'refused'],
  ['a="b\\c"', 'refused'],
  ['a="%2"', 'refused'],
  ['a="%zz"', 'refused'],
  ['%="x"', 'refused'],
  ['="x"', 'refused'],
  ["a='b'", 'refused'],
];

for (const [sent, read] of headers) {
  test(`the header ${JSON.stringify(sent)} is ${read === 'refused' ? 'refused' : 'read'}`, () => {
    const parsed = parseHeaderParameters(sent);
    if (read === 'refused') assert.equal(typeof parsed, 'string');
    else assert.deepEqual(parsed, read);
  });
}

test('a form with an invalid percent-encoding is rejected', () => {
  for (const form of ['a=%', 'a=%4', 'a=%G0', '%=a', 'a=1&b=%2'])
    assert.equal(parseFormOctets(form), undefined);
});

test('a text is percent-encoded as its octets in UTF-8', () => {
  assert.equal(encodeOctets(toOctets('€ ü')), '%E2%82%AC%20%C3%BC');
});
