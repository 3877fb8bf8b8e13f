// The examples of RFC 9421 §2, and cases that the standard describes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createBase, formatBase, isBaseFault } from '../../../src/schemes/rfc9421/base.ts';
import { parseIdentifier } from '../../../src/schemes/rfc9421/identifiers.ts';
import type { StructuredFieldTypes } from '../../../src/schemes/rfc9421/message.ts';
import { fieldSource, type Message } from '../../../src/schemes/rfc9421/message.ts';
import { seeded } from '../../support/seeded.ts';

type Lines = readonly (readonly [string, string])[];

function request(start: string, fields: Lines = [['Host', 'www.example.com']], secure = false): Message {
  const [method = '', target = ''] = start.split(' ');
  return { method, target, secure, fields: fieldSource(fields) };
}

/** Returns the lines of the base without the last one, or the fault. */
function listLines(message: Message, components: readonly string[], types?: StructuredFieldTypes): string {
  const covered = { items: components.map(parseIdentifier), parameters: new Map() };
  const base = createBase(covered, message, types);
  return isBaseFault(base) ? `${base.kind}: ${base.fault}` : formatBase(base.slice(0, -1));
}

const fields: Lines = [
  ['Host', 'www.example.com'],
  ['Date', 'Tue, 20 Apr 2021 02:07:56 GMT'],
  ['X-OWS-Header', '   Leading and trailing whitespace.  \t'],
  ['X-Obs-Fold-Header', 'Obsolete\r\n    line folding.'],
  ['Cache-Control', 'max-age=60'],
  ['Cache-Control', '   must-revalidate'],
  ['Example-Dict', ' a=1,    b=2;x=1;y=2,   c=(a   b   c), d'],
  ['X-Empty-Header', ''],
];

test('field values are combined and trimmed as in RFC 9421 §2.1', () => {
  const names = [
    'host',
    'date',
    'x-ows-header',
    'x-obs-fold-header',
    'cache-control',
    'example-dict',
    'x-empty-header',
  ];
  assert.equal(
    listLines(request('GET /', fields), names),
    [
      '"host": www.example.com',
      '"date": Tue, 20 Apr 2021 02:07:56 GMT',
      '"x-ows-header": Leading and trailing whitespace.',
      '"x-obs-fold-header": Obsolete line folding.',
      '"cache-control": max-age=60, must-revalidate',
      '"example-dict": a=1,    b=2;x=1;y=2,   c=(a   b   c), d',
      '"x-empty-header": ',
    ].join('\n'),
  );
});

test('structured fields and their members are serialized as in RFC 9421 §2.1.1 and §2.1.2', () => {
  const types = { 'example-dict': 'dictionary' } as const;
  const names = ['example-dict;sf', ...['a', 'd', 'b', 'c'].map((key) => `example-dict;key="${key}"`)];
  assert.equal(
    listLines(request('GET /', fields), names, types),
    [
      '"example-dict";sf: a=1, b=2;x=1;y=2, c=(a b c), d',
      '"example-dict";key="a": 1',
      '"example-dict";key="d": ?1',
      '"example-dict";key="b": 2;x=1;y=2',
      '"example-dict";key="c": (a b c)',
    ].join('\n'),
  );
  assert.equal(
    listLines(request('GET /', fields), ['example-dict;key="e"']),
    'absent: the message has no component "example-dict";key="e"',
  );
  assert.match(listLines(request('GET /', fields), ['example-dict;sf']), /^absent/, 'the type is unknown');
  assert.match(
    listLines(request('GET /', fields), ['example-dict;sf'], { 'example-dict': 'item' }),
    /^absent/,
  );
  assert.match(
    listLines(request('GET /', fields), ['example-dict;key="a"'], { 'example-dict': 'list' }),
    /^absent/,
  );
  assert.match(listLines(request('GET /', fields), ['cache-control;key="date"']), /^absent/);
});

test('registered structured fields are serialized without a declared type', () => {
  const sent: Lines = [
    ['Priority', 'u=1,i'],
    ['Client-Cert', ':AAAA:'],
    ['Accept-CH', 'a,b'],
  ];
  assert.equal(
    listLines(request('GET /', sent), ['priority;sf', 'client-cert;sf', 'accept-ch;sf']),
    '"priority";sf: u=1, i\n"client-cert";sf: :AAAA:\n"accept-ch";sf: a, b',
  );
});

test('field values are wrapped as bytes as in RFC 9421 §2.1.3', () => {
  const two: Lines = [
    ['Example-Header', 'value, with, lots'],
    ['Example-Header', 'of, commas'],
  ];
  const one: Lines = [['Example-Header', 'value, with, lots, of, commas']];
  assert.equal(
    listLines(request('GET /', two), ['example-header']),
    listLines(request('GET /', one), ['example-header']),
  );
  assert.equal(
    listLines(request('GET /', two), ['example-header;bs']),
    '"example-header";bs: :dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:',
  );
  assert.equal(
    listLines(request('GET /', one), ['example-header;bs']),
    '"example-header";bs: :dmFsdWUsIHdpdGgsIGxvdHMsIG9mLCBjb21tYXM=:',
  );
});

test('trailer fields are separate from header fields as in RFC 9421 §2.1.4', () => {
  const answered = { method: 'GET', target: '/', secure: false, fields: fieldSource([]) };
  const response: Message = {
    status: 200,
    fields: fieldSource([['Trailer', 'Expires']]),
    trailers: fieldSource([['Expires', 'Wed, 9 Nov 2022 07:28:00 GMT']]),
    request: answered,
  };
  assert.equal(
    listLines(response, ['@status', 'trailer', 'expires;tr']),
    '"@status": 200\n"trailer": Expires\n"expires";tr: Wed, 9 Nov 2022 07:28:00 GMT',
  );
  assert.match(listLines(response, ['expires']), /^absent/);
  assert.match(listLines(response, ['trailer;tr']), /^absent/);
  assert.match(listLines(request('GET /'), ['host;tr']), /^absent/);
});

const derived: readonly (readonly [start: string, component: string, value: string, secure?: boolean])[] = [
  ['POST /path?param=value', '@method', 'POST'],
  ['post /', '@method', 'post'],
  ['POST /path?param=value', '@target-uri', 'https://www.example.com/path?param=value', true],
  ['POST /path?param=value', '@target-uri', 'http://www.example.com/path?param=value'],
  ['OPTIONS *', '@target-uri', 'http://www.example.com'],
  ['GET https://www.example.com/path?param=value', '@target-uri', 'https://www.example.com/path?param=value'],
  ['POST /path?param=value', '@authority', 'www.example.com'],
  ['GET http://Other.Example:8080/', '@authority', 'other.example:8080'],
  ['POST /path?param=value', '@scheme', 'http'],
  ['GET HTTPS://www.example.com/', '@scheme', 'https'],
  ['POST /path?param=value', '@request-target', '/path?param=value'],
  [
    'GET https://www.example.com/path?param=value',
    '@request-target',
    'https://www.example.com/path?param=value',
  ],
  ['OPTIONS *', '@request-target', '*'],
  ['GET /path?param=value', '@path', '/path'],
  ['GET /a%2Fb//../c', '@path', '/a%2Fb//../c'],
  ['GET https://www.example.com?a', '@path', '/'],
  ['OPTIONS *', '@path', '/'],
  ['GET /path?param=value&foo=bar&baz=bat%2Dman', '@query', '?param=value&foo=bar&baz=bat%2Dman'],
  ['POST /path?queryString', '@query', '?queryString'],
  ['POST /path', '@query', '?'],
  ['POST /path?', '@query', '?'],
  ['GET /?a?b', '@query', '?a?b'],
];

for (const [start, component, value, secure = false] of derived) {
  test(`${component} of ${start} over ${secure ? 'HTTPS' : 'HTTP'} is ${value}`, () => {
    assert.equal(listLines(request(start, undefined, secure), [component]), `"${component}": ${value}`);
  });
}

test('the authority is in lower case and without the default port', () => {
  const authority = (host: string, secure: boolean): string =>
    listLines(request('GET /', [['Host', host]], secure), ['@authority']);
  assert.equal(authority('WWW.Example.Com', true), '"@authority": www.example.com');
  assert.equal(authority('example.com:443', true), '"@authority": example.com');
  assert.equal(authority('example.com:80', false), '"@authority": example.com');
  assert.equal(authority('example.com:80', true), '"@authority": example.com:80');
  assert.equal(authority('example.com:', true), '"@authority": example.com');
  assert.equal(authority('[2001:DB8::1]:443', true), '"@authority": [2001:db8::1]');
});

test('parameters of the query are decoded and encoded again as in RFC 9421 §2.2.8', () => {
  const plain = request('GET /path?param=value&foo=bar&baz=batman&qux=');
  const named = (name: string) => `@query-param;name="${name}"`;
  assert.equal(
    listLines(plain, ['baz', 'qux', 'param'].map(named)),
    '"@query-param";name="baz": batman\n"@query-param";name="qux": \n"@query-param";name="param": value',
  );
  const encoded = request(
    'GET /parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something',
  );
  assert.equal(
    listLines(encoded, ['var', 'bar', 'fa%C3%A7ade%22%3A%20'].map(named)),
    '"@query-param";name="var": this%20is%20a%20big%0Amultiline%20value\n"@query-param";name="bar": with%20plus%20whitespace\n"@query-param";name="fa%C3%A7ade%22%3A%20": something',
  );
  assert.equal(
    listLines(request("GET /?a=!'()~*-._"), [named('a')]),
    '"@query-param";name="a": %21%27%28%29%7E*-._',
  );
  assert.equal(listLines(request('GET /??a=1'), [named('%3Fa')]), '"@query-param";name="%3Fa": 1');
  assert.match(listLines(request('GET /?a=1&a=2'), [named('a')]), /^absent/, 'a parameter that occurs twice');
  assert.match(listLines(request('GET /?a=1'), [named('b')]), /^absent/);
});

test('components of the request require the parameter req in a response', () => {
  const answered = {
    method: 'POST',
    target: '/foo?x=1',
    secure: true,
    fields: fieldSource([
      ['Host', 'example.com'],
      ['Priority', 'u=1'],
    ]),
  };
  const response: Message = { status: 503, fields: fieldSource([['Date', 'today']]), request: answered };
  assert.equal(
    listLines(response, [
      '@status',
      '@method;req',
      '@query-param;req;name="x"',
      'host;req',
      'priority;key="u";req',
      'date',
    ]),
    '"@status": 503\n"@method";req: POST\n"@query-param";req;name="x": 1\n"host";req: example.com\n"priority";key="u";req: 1\n"date": today',
  );
  assert.equal(
    listLines(response, ['@method']),
    'malformed: "@method" requires the parameter req in a response',
  );
  assert.equal(listLines(response, ['@status;req']), 'malformed: "@status" must not have the parameter req');
  assert.match(listLines(response, ['date;req']), /^absent/);
});

test('a value with characters outside ASCII is covered only as bytes', () => {
  const sent: Lines = [['X-Name', 'J\u00fcrgen']];
  assert.equal(
    listLines(request('GET /', sent), ['x-name']),
    'absent: the component "x-name" has characters outside ASCII; use bs',
  );
  assert.equal(listLines(request('GET /', sent), ['x-name;bs']), '"x-name";bs: :SvxyZ2Vu:');
});

test('a field value never adds a line to the signature base', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const value = random.text('a"@: \t\r\n,;=%\u0080', 12);
    const lines = listLines(
      request('GET /', [
        ['X-A', value],
        ['X-A', value],
      ]),
      ['x-a', 'x-a;bs'],
    );
    if (lines.startsWith('absent')) continue;
    assert.equal(lines.split('\n').length, 2, `${JSON.stringify(value)}, SEED=${random.seed}`);
  }
});

test('long white space is trimmed in linear time', () => {
  const spaces = ' '.repeat(100_000);
  const value = listLines(
    request('GET /', [
      ['X-A', `a${spaces}b${spaces}`],
      ['X-A', spaces],
    ]),
    ['x-a'],
  );
  assert.equal(value.length, '"x-a": '.length + 100_000 + 2 + ', '.length);
});
