import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateLimitKey } from '../../src/accounts/rate-limit.ts';
import { isOfFormat } from '../../src/collections/fields/text-format.ts';
import { formatLink } from '../../src/collections/lists/page-links.ts';
import { didYouMean } from '../../src/did-you-mean.ts';
import { createRedaction } from '../../src/double/journal/redaction.ts';
import { fitsPath, matchSegment, normalizePath } from '../../src/double/match.ts';
import { HttpHeaders, sendableLine } from '../../src/http/fields.ts';
import {
  decodeFormText,
  hasTooManyParameters,
  parseForm,
  parseFormOctets,
  parseTargetQuery,
} from '../../src/http/form.ts';
import { acceptsCoding, selectPreferred } from '../../src/http/headers/accept.ts';
import { parseCredentials } from '../../src/http/headers/authorization.ts';
import { parseBasicCredentials } from '../../src/http/headers/basic-credentials.ts';
import { parseContentCoding } from '../../src/http/headers/content-coding.ts';
import { parseContentDigest, parseContentMd5 } from '../../src/http/headers/content-digest.ts';
import { parseDate, parseSignedDate } from '../../src/http/headers/date.ts';
import { parseEntityTags } from '../../src/http/headers/entity-tag.ts';
import { parseForwarded, parseForwardedFor, parseForwardedProto } from '../../src/http/headers/forwarded.ts';
import { parseMediaType } from '../../src/http/headers/media-type.ts';
import { preferences } from '../../src/http/headers/prefer.ts';
import { isValidHost } from '../../src/http/host.ts';
import { createRequest } from '../../src/http/message.ts';
import { countCharacters, toPrintable, toRepresentable } from '../../src/http/syntax/characters.ts';
import { hasControlCharacter, hasLoneSurrogate } from '../../src/http/syntax/control-character.ts';
import { parseIpAddress, parseIpNetwork } from '../../src/http/syntax/ip-address.ts';
import { toOctets } from '../../src/http/syntax/octets.ts';
import { decodeOctets, encodeOctets, encodeSegment } from '../../src/http/syntax/percent.ts';
import { listElements } from '../../src/http/syntax/token.ts';
import { parseTarget } from '../../src/http/target.ts';
import { checkExpectation } from '../../src/http/transfer.ts';
import { isInMessage, problemOfHeader, toParseError } from '../../src/net/parse-error.ts';
import { isChallenge, verifies } from '../../src/oauth/oauth2/pkce.ts';
import { readParameters } from '../../src/oauth/parameters.ts';
import { parseScope } from '../../src/oauth/scopes.ts';
import { pathSent } from '../../src/pipeline/problem-response.ts';
import { createForwardedRewrite } from '../../src/pipeline/proxy.ts';
import { createRouter } from '../../src/pipeline/router.ts';

import { createBearerVerifier } from '../../src/schemes/bearer.ts';
import { variantsOfPart } from '../../src/schemes/explain/parts.ts';
import { explainDateForm } from '../../src/schemes/freshness.ts';
import { endsLikeFullForm, faultOfDigest, splitHmacCredentials } from '../../src/schemes/hmac/credentials.ts';
import { explainCredentialsForm } from '../../src/schemes/hmac/signature.ts';
import { formatBaseString } from '../../src/schemes/oauth1/base-string.ts';
import { parseHeaderParameters } from '../../src/schemes/oauth1/parameters.ts';
import { describeBase64 } from '../../src/schemes/signature-form.ts';
import { createParser } from '../../src/xml/index.ts';
import { escapeAttribute, escapeText } from '../../src/xml/writer.ts';
import { buildShape, fromJson, fromXml } from '../support/collections/decode.ts';
import { isSuperlinear, measureGrowth } from '../support/growth.ts';
import { seeded } from '../support/seeded.ts';
import { long } from '../support/store/thoroughness.ts';

/** A reader of something that a client sends, and where in it the hostile part stands. */
interface Reader {
  readonly read: (text: string) => unknown;
  /** What stands around the hostile part, which is `…`; nothing, if left out. */
  readonly around?: readonly string[];
  /** Hostile pieces of its own grammar, besides those that every reader gets. */
  readonly pieces?: readonly string[];
}

/** Pieces that make long runs in any grammar. */
const pieces = [
  ...' \t,\\%;+0=:/&.-*a\xe9[({',
  ...['"', '%41', '%zz', ', ', ' ,', '; ', '""', '\\"', '"\\'],
  ...['a=b;', 'a="b"', 'a,', ' a', 'a:', '::', 'a&', 'a=b&', '=:'],
];

const size = long ? 8192 : 2048;

interface ConsoleFormat {
  indented(text: string, type: string): string;
}

// TypeScript checks the scripts of the console by themselves.
const consoleFormat = new URL('../../src/console/format.js', import.meta.url).href;
const { indented }: ConsoleFormat = await import(consoleFormat);

const connection = { peer: '127.0.0.1', secure: true };

/** A request with one field, or one for each piece of the text. */
const withField = (name: string) => (value: string) =>
  createRequest({ method: 'GET', target: '/', headers: [[name, value]], peer: connection.peer });

const trust = createForwardedRewrite(['127.0.0.0/8']);
const bearer = createBearerVerifier({
  realm: 'r',
  offered: () => true,
  findPrincipal: () => Promise.resolve(undefined),
  bodyLimit: 1,
});
const router = createRouter(
  ['/a/{b}/c', '/{a}/a/a', '/a/a/{b}/{c}'].map((template) => ({ template, resource: {} })),
);
const redact = createRedaction(() => ['a secret', 'short']);
const variants = [{ type: 'application/xml; charset=utf-8' }, { type: 'application/json' }];
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The formats that are checked, and one that is not. */
const formatNames = [
  ...[
    ...['date', 'time', 'date-time', 'duration', 'email', 'idn-email', 'uuid', 'uri', 'uri-reference'],
    ...['iri', 'url'],
  ],
  ...['uri-template', 'hostname', 'idn-hostname', 'ipv4', 'ipv6', 'byte', 'json-pointer', 'regex', 'unknown'],
];

/** Everything that reads a field, a target, a form or a query. Each character is an octet. */
const readers: Readonly<Record<string, Reader>> = {
  Accept: {
    read: (text) => selectPreferred(text, variants),
    around: ['a/b;…', '*…;', 'a/b;q=… x'],
  },
  'Accept-Encoding': {
    read: (text) => acceptsCoding(text, 'gzip'),
    around: ['gzip;…', 'gzip;q=…x'],
  },
  Authorization: {
    read: parseCredentials,
    around: ['Basic…x', '… x'],
  },
  'Basic credentials': {
    read: (text) => parseBasicCredentials(base64(text)),
    around: ['a:…', '…:a', 'a:a…'],
    pieces: ['\u0301\u0316', '\u0301', '\u3000', '\ud800', '\u1100\u1161'],
  },
  'a bearer token': {
    read: (text) => bearer.authenticate(createRequest({ method: 'GET', target: '/' }), text),
    around: ['a…!', 'a=…!'],
  },
  'HMAC credentials': {
    read: faultOfDigest,
    around: ['a:…:b', '…:b', 'a:b:…'],
  },
  'HMAC credentials, split': {
    read: splitHmacCredentials,
    around: ['a:…:b', '…:b', 'a:b:…'],
  },
  'the look of HMAC credentials': {
    read: explainCredentialsForm,
    around: ['a:…', '…!', ':…%3d', '"…', 'a:…%4'],
    pieces: ['%2b', '%2f', '%3a', ':%41'],
  },
  'the look of a date': {
    read: explainDateForm,
    around: ['Mon, … GM', '1…', '1 …!', '+00…'],
  },
  'the mistakes in a signed target': {
    read(target) {
      const request = createRequest({ method: 'GET', target });
      const facts = { request, target, host: 'localhost', content: new Uint8Array(0), time: 0 };
      return [...variantsOfPart({ kind: 'target', name: 'target', value: target }, facts)];
    },
    around: ['/…', '/?…', 'http://…', '/…/'],
  },
  'a target like a full form': {
    read: endsLikeFullForm,
    around: ['+…', '+a…=', '+20apr201312:59:24+…!'],
    pieces: ['+a=:', '+a', '+20apr201312:59:24', '+20apr201312:59:24+a', '+Mon,'],
  },
  'OAuth in Authorization': {
    read: parseHeaderParameters,
    around: ['realm="…', 'realm="…\n', 'a="b"…', 'a="b"…x', 'a="…', '…="b"'],
    pieces: ['a="b",', 'realm="a",', 'realm="', 'a="b" ,'],
  },
  'a query or form for OAuth 1.0a': {
    read: parseFormOctets,
    around: ['a=…', '…=%'],
  },
  'octets to decode': { read: decodeOctets, around: ['…%'] },
  'octets to encode': { read: encodeOctets },
  'text to octets': { read: toOctets },
  'a base string': {
    read: (path) =>
      formatBaseString({ method: 'GET', origin: 'https://a:443', path, parameters: [[path, path]] }),
  },
  'a path that was sent': {
    read: (target) => pathSent(createRequest({ method: 'GET', target })),
    around: ['http://…', '/…?', '…://'],
    pieces: ['?', '#', 'a://'],
  },
  'a path in the journal': {
    read: (target) => normalizePath(createRequest({ method: 'GET', target })),
    around: ['/…?#'],
  },
  'Content-Encoding': { read: parseContentCoding, around: ['gzip…'], pieces: ['identity,', 'gzip,'] },
  'Content-Digest': {
    read: parseContentDigest,
    around: ['sha-256=:…', 'a=:…:', 'a=:a:;a=%"…"', 'a=:a:;a="…', 'a=:a:…x', 'a=:a:;a=…'],
    pieces: ['a=:a:,', ';a', ';a=1', ';a=%"a"', 'sha-256=:AAAA:,', 'sha-256=:,'],
  },
  'Content-MD5': { read: parseContentMd5 },
  'Content-Type': {
    read: parseMediaType,
    around: ['a/b…', 'a/…', 'a/b;a="…', 'a/b;…;a=b'],
    pieces: [';a=b', ' ;', ';a="\\"'],
  },
  'control characters': { read: (text) => [hasControlCharacter(text), hasLoneSurrogate(text)] },
  Date: {
    read: (text) => [parseDate(text, 0), parseSignedDate(text)],
    around: ['Sun, … GMT', 'Sunday…,'],
  },
  Expect: {
    read: (text) => checkExpectation(new HttpHeaders(['Expect', text]), '1.1'),
    pieces: ['100-continue,'],
  },
  'field names': {
    read: (text) => new HttpHeaders(text.split(',').flatMap((name) => [name, 'v'])).get('a'),
    pieces: ['a,', 'A,b,'],
  },
  'a field that is sent back': {
    read: (text) => sendableLine('A', text),
    around: ['a…\n', 'a…a'],
  },
  'a form': {
    read: parseForm,
    around: ['a=…', '…=%'],
  },
  'a count of parameters': { read: hasTooManyParameters },
  'a name in a form': { read: decodeFormText, around: ['…%'] },
  'a query': { read: (text) => parseTargetQuery(`/?${text}`) },
  'parameters of an endpoint': {
    read: (text) => readParameters(parseForm(text) ?? [], ['a', 'b']),
    pieces: ['b='],
  },
  Forwarded: {
    read: parseForwarded,
    around: ['for=…', 'for="…"', 'for="[…]"', 'for="[…"', 'by="a:…"', 'host="…"', 'a=b…c'],
    pieces: ['for=_a;', 'for=_a,', ';;', 'proto=a,'],
  },
  'X-Forwarded-For': {
    read: parseForwardedFor,
    around: ['a…b', '[…', '::…:'],
    pieces: ['1.1.1.1,', ' 1.1.1.1'],
  },
  'X-Forwarded-Proto': { read: parseForwardedProto, around: ['a…!'] },
  'a request from a proxy, X-Forwarded-For': {
    read: (text) => trust(withField('X-Forwarded-For')(text)),
    around: ['a…b'],
    pieces: ['127.0.0.1,', '127.0.0.1, ', '::1,'],
  },
  'a request from a proxy, Forwarded': {
    read: (text) => trust(withField('Forwarded')(text)),
    pieces: ['for=127.0.0.1,', 'for="[::1]";proto=https, '],
  },
  Host: {
    read: isValidHost,
    around: ['[…]', '[v1.…]', '[v….a]', 'a:…', '…:1'],
  },
  'If-Match': {
    read: parseEntityTags,
    around: ['"…', 'W/"…"', '"a"…x'],
    pieces: ['"a",', 'W/'],
  },
  'a peer': {
    read: (text) => [parseIpAddress(text), parseIpNetwork(text), rateLimitKey(text)],
    around: ['::…', '…/1'],
  },
  'a link': { read: (text) => formatLink([{ href: text, rel: 'next' }]) },
  'a list': {
    read: listElements,
    around: ['"…', 'a…b'],
  },
  'a path segment': { read: encodeSegment },
  Prefer: {
    read: (text) => preferences([text]),
    around: ['a…=b', 'a="…', 'a=b…c', 'a;…'],
    pieces: ['a;b,', 'return=minimal,'],
  },
  'a request target': {
    read: (target) => parseTarget(target, 'GET'),
    around: ['/…', '/?…', '/…?%', 'http://…/', 'http://[…]/', '/a…#'],
    pieces: ['//', '?', '/%41', '/a', '/%2f'],
  },
  'the segments of a path': {
    read: (text) => router.find(text.split('/')),
    around: ['a/…', 'a/b/…/c'],
    pieces: ['a/', '/a/a'],
  },
  'a segment with several parameters': {
    read: (text) =>
      [
        ['', '-', '-', '.png'],
        ['', '', '', '!'],
        ['', '...', '.diff'],
      ].map((texts) => matchSegment(texts, text)),
    around: ['….png'],
    pieces: ['...'],
  },
  'a path with several parameters in a segment': {
    read: (path) => fitsPath(`/${path}`, '/{a}-{b}-{c}/{d}{e}!'),
    around: ['…/a'],
  },
  'text of every format': {
    read: (text) => formatNames.map((format) => isOfFormat(text, format)),
    around: ['…~', '/…~', 'a:…%', 'a@… ', '2024-01-01T00:00:00.…', 'P…X', 'a.…-', '::…:', '(…'],
    pieces: ['1Y', '1.', 'a.', '%20', '~0', '{a}'],
  },
  'a malformed signature': {
    read: describeBase64,
    around: ['…!', 'a…='],
    pieces: ['_', '\\n', ', 1', '00:'],
  },
  'a scope': { read: parseScope, around: ['read …'], pieces: ['read ', 'write  '] },
  'a verifier of PKCE': { read: (text) => [isChallenge(text), verifies(text, 'c')] },
  'bytes that are no HTTP': {
    read(packet) {
      const error = Object.assign(new Error(), {
        rawPacket: Buffer.from(packet, 'latin1'),
        bytesParsed: packet.length,
      });
      for (const code of ['HPE_HEADER_OVERFLOW', 'HPE_INVALID_METHOD', 'HPE_INVALID_VERSION']) {
        const fault = toParseError(Object.assign(error, { code }));
        if (isInMessage(fault)) problemOfHeader(fault);
      }
    },
    around: ['A… ', 'A …b c', 'GET …\r\n', '\n… HTTP/1.1\r\n'],
    pieces: ['A', '\n', '\r\n', 'A ', ' /'],
  },
  'what the journal redacts': {
    read: redact,
    around: ['"token":"…', 'token=…', 'name="token"…', '<token>…', '"token"…:', 'short…'],
    pieces: [
      ...['token=', '%26token%3D', '"token":', '"token":"\\', '<token>', 'name="token"'],
      ...['name="token" value=', 'cookie:', 'a secret', 'short', '\ncookie:', '"token"\n'],
    ],
  },
  'a word that is not known': {
    read: (text) => [
      didYouMean(text, ['title', 'price']),
      toPrintable(text),
      countCharacters(text),
      toRepresentable(text),
    ],
  },
  'XML that the console shows': {
    read: (text) => indented(text, 'application/xml'),
    pieces: ['<a', '<a>', '<!--', '<![CDATA[', '<?'],
  },
  'JSON that the console shows': {
    read: (text) =>
      [text, text + text.replaceAll('[', ']')].map((each) => indented(each, 'application/json')),
    around: ['["…"]'],
    pieces: ['[ ', '\\"'],
  },
  'text of XML to write': {
    read: (text) => [escapeText(text), escapeAttribute(text)],
    pieces: ['<', '>', '\r', '\n', ']]>'],
  },
};

const random = seeded();

/** Returns a third of the pieces outside of the long form. The seed decides which. */
function sample(list: readonly string[]): readonly string[] {
  const first = random.below(3);
  return list.filter((_, at) => long || at % 3 === first);
}

/** The text in one piece, with a byte for each character where that is enough, as a field comes from a socket. */
function flat(text: string): string {
  const encoding = /^[\0-\xff]*$/.test(text) ? 'latin1' : 'utf16le';
  return Buffer.from(text, encoding).toString(encoding);
}

for (const [name, { read, around = [], pieces: own = [] }] of Object.entries(readers)) {
  test(`${name}: the reading time grows at most linearly with the length`, () => {
    for (const [before = '', behind = ''] of ['…', ...around].map((text) => text.split('…'))) {
      for (const piece of sample([...pieces, ...own])) {
        const growth = measureGrowth(
          read,
          (length) => flat(before + piece.repeat(Math.ceil(length / piece.length)) + behind),
          size,
        );
        const shape = JSON.stringify(`${before}${piece}…${behind}`);
        assert.ok(
          !isSuperlinear(growth),
          `${shape}, four times as long, takes ${growth.toFixed(1)} times as long`,
        );
      }
    }
  });
}

const shape = buildShape({
  title: { type: 'text' },
  price: { type: 'decimal', fractionDigits: 2, attributes: { currency: { type: 'currency' } } },
  count: { type: 'integer' },
  at: { type: 'dateTime' },
  tags: { type: 'list', of: 'text' },
});

/** A reader of content, which may be longer than a field, and comes in pieces. */
interface ContentReader {
  readonly read: (content: Buffer) => unknown;
  readonly around: readonly string[];
  /** Repeated; `#` becomes a number that is another one each time. */
  readonly pieces: readonly string[];
  /** Bytes of the shorter input. */
  readonly size: number;
}

/**
 * Content is read in pieces of 64 KiB, and buffers of that size are allocated in another way than small ones: both lengths are
 * above that, or both below it.
 */
const severalPieces = long ? 131_072 : 4096;

const xmlAround: ContentReader['around'] = [
  '…',
  '<thing>…</thing>',
  '<thing><title>…</title></thing>',
  '<thing><price>…</price></thing>',
  '<thing><count>…</count></thing>',
  '<thing><at>2020-01-01T00:00:00.…Z</at></thing>',
  '<thing><tags>…</tags></thing>',
  '<thing …/>',
  '<thing a="…"/>',
  '<?xml…?><thing/>',
  '<?xml version="1.0"…?><thing/>',
  '<thing><![CDATA[…]]></thing>',
  '<thing><!--…--></thing>',
  '<thing><?a…?></thing>',
  '<thing>…\u00e9</thing>',
];
const xmlPieces = [
  ...' \n\ra0-&;]><?/\u00e9\u0301=:',
  ...['\r\n', '&amp;', '&#', '&#65;', ']]', '<!--', '<!', '<a>', '<a/>'],
  ...['<a#/>', '<a></a>', '<item>a</item>', '<title>', 'a#="b" ', 'a:b#="c" ', '"', "'", 'xmlns:a#="b" '],
  ...['<![CDATA[]]>', '\ud83d\ude00', '<?a?>', '<!---->'],
];
const jsonAround: ContentReader['around'] = [
  '…',
  '{…}',
  '{"title":"…"}',
  '{"count":…}',
  '{"count":1…}',
  '{"price":{"value":"…"}}',
  '{"at":"2020-01-01T00:00:00.…Z"}',
  '{"tags":[…""]}',
  '{…"a":1}',
];
const jsonPieces = [
  ...' \n\r09e-.\\[{,:\u00e9',
  ...['"', '\\\\', '\\u0041', '\\ud83d', 'true', '"",', '1,', '"#":1,', '"a#":1,'],
  ...['{"a":', '[[],', '\ud83d\ude00', '\\"', '{},'],
];

/** Reads XML bytes in chunks of this length. */
const parsedInChunks =
  (length: number) =>
  (content: Buffer): void => {
    const parser = createParser({ text() {}, startElement() {} }, { namespaces: true });
    for (let at = 0; at < content.length; at += length) parser.write(content.subarray(at, at + length));
    parser.end();
  };

const contents: Readonly<Record<string, ContentReader>> = {
  'an item in XML': {
    read: (content) => fromXml(shape, content),
    around: xmlAround,
    pieces: xmlPieces,
    size: severalPieces,
  },
  'XML with namespaces': {
    read: parsedInChunks(severalPieces),
    around: xmlAround.slice(0, 2),
    pieces: xmlPieces,
    size: severalPieces,
  },
  'XML in pieces of 100 bytes': { read: parsedInChunks(100), around: xmlAround, pieces: xmlPieces, size },
  'XML byte by byte': { read: parsedInChunks(1), around: xmlAround, pieces: xmlPieces, size: size / 4 },
  'an item in JSON': {
    read: (content) => fromJson(shape, content),
    around: jsonAround,
    pieces: jsonPieces,
    size: severalPieces,
  },
};

function buildContent(before: string, piece: string, behind: string, length: number): Buffer {
  const count = Math.ceil(length / piece.length);
  const middle =
    piece.includes('#') && !piece.includes('&#')
      ? Array.from({ length: count }, (_, index) => piece.replace('#', String(index))).join('')
      : piece.repeat(count);
  return Buffer.from(before + middle + behind);
}

for (const [name, { read, around, pieces: own, size: least }] of Object.entries(contents)) {
  test(`${name}: the reading time grows at most linearly with the length`, () => {
    for (const [before = '', behind = ''] of around.map((text) => text.split('…'))) {
      for (const piece of sample(own)) {
        const growth = measureGrowth(read, (length) => buildContent(before, piece, behind, length), least);
        const shape = JSON.stringify(`${before}${piece}…${behind}`);
        assert.ok(
          !isSuperlinear(growth),
          `${shape}, four times as long, takes ${growth.toFixed(1)} times as long`,
        );
      }
    }
  });
}

test('the measurement distinguishes linear growth from quadratic growth', () => {
  const text = (length: number): string => flat(' '.repeat(length));
  assert.ok(!isSuperlinear(measureGrowth((value: string) => value.trim(), text, 512)));
  assert.ok(isSuperlinear(measureGrowth((value: string) => `a${value}b`.replace(/[ \t]+$/g, ''), text, 512)));
});
