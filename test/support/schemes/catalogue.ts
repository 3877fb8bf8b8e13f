// Mistakes that clients make with any scheme, one row each. test/schemes/hints.json has what each scheme says of them.
import { computeHash, computeHmac, escaped, type Line, type Mistake } from './signer.ts';

type Change = (text: string) => string;

const method = (change: Change, request: Mistake['request'] = {}): Mistake => ({
  request,
  values: (values) => ({ ...values, method: change(values.method ?? '') }),
});
const path = (sent: string, change: Change): Mistake => ({
  request: { path: sent },
  values: (values) => ({ ...values, path: change(values.path ?? '') }),
});
const query = (sent: string, change: Change): Mistake => ({
  request: { query: sent },
  values: (values) => ({ ...values, query: change(values.query ?? '') }),
});
const host = (change: Change, request: Mistake['request'] = {}): Mistake => ({
  request,
  values: (values) => ({ ...values, host: change(values.host ?? '') }),
});
const field = (sent: readonly string[], change: Change): Mistake => ({
  request: { lines: sent.map((value): Line => ['X-Meta', value]) },
  values: (values) => ({ ...values, field: change(values.field ?? '') }),
});
const content = (sent: string, signedContent: Change): Mistake => ({
  request: { method: 'POST', content: sent, lines: [['Content-Type', 'application/json']] },
  signedContent,
});
const xml = (sent: string, signedContent: Change): Mistake => ({
  request: { method: 'POST', content: sent, lines: [['Content-Type', 'application/xml']] },
  signedContent,
});
const form = (sent: string, signedContent: Change): Mistake => ({
  request: { method: 'POST', content: sent, lines: [['Content-Type', 'application/x-www-form-urlencoded']] },
  signedContent,
});
const digest = (change: (content: string) => string): Mistake => ({
  request: { method: 'POST', content: json, lines: [['Content-Type', 'application/json']] },
  values: (values, request) => ({ ...values, digest: change(request.content ?? '') }),
});
const sentDigest = (change: (content: string) => string): Mistake => ({
  request: { method: 'POST', content: json, lines: [['Content-Type', 'application/json']] },
  sentDigest: change,
});
const signedTime = (write: (now: number) => string): Mistake => ({
  values: (values, _, { now }) => ({ ...values, time: write(now) }),
});
const message = (change: (message: string, parts: readonly string[]) => string | Buffer): Mistake => ({
  message: change,
});
const key = (change: (secret: string) => string | Buffer): Mistake => ({ key: change });
const mac = (hash: string): Mistake => ({ sign: (text, secret) => computeHmac(hash, secret, text) });
const cutMac = (hash: string): Mistake => ({
  sign: (text, secret, length) => computeHmac(hash, secret, text).subarray(0, length),
});
const encoding = (encode: NonNullable<Mistake['encode']>): Mistake => ({ encode });

const json = '{"name": "Zo\u00eb <b>",\n "url":"http://a/b", "price": 1.50}';
const value: unknown = JSON.parse(json);
const formText = 'b=2+3&a=1%2C';
const iso = (now: number): string => new Date(now).toISOString();
const isoSeconds = (now: number): string => iso(now).replace('.000', '');
const httpDate = (now: number): string => new Date(now).toUTCString();
const sha256 = (text: string): Buffer => computeHash('sha256', text);
const sorted = (text: string): string => text.split('&').sort().join('&');
const lowerEscapes = (text: string): string => text.replace(/%[0-9A-F]{2}/gi, (octet) => octet.toLowerCase());
const upperEscapes = (text: string): string => text.replace(/%[0-9A-F]{2}/gi, (octet) => octet.toUpperCase());
/** With spaces after commas and colons, as the serializer of Python writes them. */
const spaced = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ').replace('{ ', '{').replace(' }', '}');
const ascii = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

export const catalogue = {
  // Method
  'method signed in lower case': method((text) => text.toLowerCase()),
  'method signed in upper case': method((text) => text.toUpperCase()),
  'another method signed than sent': method(() => 'PUT', { method: 'POST' }),
  'GET signed for a HEAD request': method(() => 'GET', { method: 'HEAD', content: undefined, lines: [] }),
  'method of an override field signed': method(() => 'PURGE', {
    method: 'POST',
    lines: [['X-HTTP-Method-Override', 'PURGE']],
  }),
  'method left out of the message': { values: (values) => ({ ...values, method: undefined }) },
  // Target and URL
  'scheme and host signed in front of the path': {
    values: (values, request) => ({ ...values, path: `http://${request.host}${values.path}` }),
  },
  'host alone signed in front of the path': {
    values: (values, request) => ({ ...values, path: `${request.host}${values.path}` }),
  },
  'scheme left out of the URL': { values: (values) => ({ ...values, protocol: '' }) },
  'scheme and host left out of the URL': { values: (values) => ({ ...values, protocol: '', host: '' }) },
  'path left out': { values: (values) => ({ ...values, path: '' }) },
  'http signed for https, or the reverse': {
    values: (values) => ({ ...values, protocol: values.protocol === 'https' ? 'http' : 'https' }),
  },
  'target signed in lower case': {
    request: { path: '/things/Ab', query: 'Limit=5' },
    values: (values) => ({ ...values, path: values.path?.toLowerCase(), query: values.query?.toLowerCase() }),
  },
  'prefix signed that a proxy removed': {
    values: (values) => ({ ...values, path: `/api${values.path}` }),
  },
  'target before a rewriting proxy signed': {
    request: { lines: [['X-Original-URI', '/old/place']], query: undefined },
    values: (values) => ({ ...values, path: '/old/place' }),
  },
  // Path
  'slash at the beginning of the path left out': path('/things/a', (text) => text.replace(/^\//, '')),
  'slash at the end of the path signed, not sent': path('/things/a', (text) => `${text}/`),
  'second slash at the beginning of the path signed': path('/things/a', (text) => `/${text}`),
  'path percent-decoded': path('/things/a%20b', () => '/things/a b'),
  'path percent-encoded twice': path('/things/a%20b', (text) => encodeURI(text)),
  'path escaped in the message, sent without escapes': path("/things/a'b", (text) =>
    text.replace("'", '%27'),
  ),
  'path encoded as a whole, slashes included': path('/things/a', (text) => encodeURIComponent(text)),
  'escapes of the path signed in lower case': path('/things/a%2Fb', lowerEscapes),
  'escapes of the path signed in upper case, sent in lower case': path('/things/a%2fb', upperEscapes),
  'unreserved character of the path escaped': path('/things/a~b', (text) => text.replace('~', '%7E')),
  'needless escape of the path resolved': path('/things/a%7Eb', (text) => text.replace(/%(?:25)?7E/, '~')),
  '%2F of the path signed as a slash': path('/things/a%2Fb%20c', (text) => text.replace(/%(?:25)?2F/, '/')),
  'reserved characters of the path signed without their escapes': path('/things/a%2Cb', (text) =>
    text.replace(/%(?:25)?2C/, ','),
  ),
  'space of the path signed as "+"': path('/things/a%20b', (text) => text.replace(/%(?:25)?20/, '+')),
  'space of the path signed as %2B': path('/things/a%20b', (text) => text.replace('20b', '2Bb')),
  '"+" of the path signed as %20': path('/things/a+b', (text) => text.replace(/\+|%20/, '%20')),
  '"+" of the path signed as %2B': path('/things/a+b', (text) => text.replace(/\+|%20/, '%2B')),
  '%2B of the path signed as "+"': path('/things/a%2Bb', (text) => text.replace(/%(?:25)?2B/, '+')),
  '%2B of the path signed as a space': path('/things/a%2Bb', (text) => text.replace('2Bb', '20b')),
  'dot segments of the path removed': path('/things/./a/../b', () => '/things/b'),
  'base path left out': path('/prod/things/a', (text) => text.replace('/prod', '')),
  'stage signed, not sent': path('/things/a', (text) => `/staging${text}`),
  'path percent-encoded in Latin-1': path('/things/%C3%A9', (text) =>
    text.replace(/%(25)?C3%(25)?A9/, '%$1E9'),
  ),
  'base path of a gateway signed': path('/things/a', (text) => `/warehouse${text}`),
  'base path of another service signed in place of the first segment': path('/things/a', (text) =>
    text.replace('/things', '/gateway'),
  ),
  'query signed with the path': {
    values: (values, request) => ({ ...values, path: `${values.path}?${request.query}` }),
  },
  // Query
  'query left out': { values: (values) => ({ ...values, query: '', mark: '' }) },
  'lone "?" signed, not sent': {
    request: { query: undefined },
    values: (values) => ({ ...values, mark: '?', query: '' }),
  },
  'lone "?" sent, not signed': {
    request: { query: '' },
    values: (values) => ({ ...values, mark: '', query: '' }),
  },
  'question mark signed where the query is without it': query('limit=5', (text) => `?${text}`),
  'question mark left out where it belongs to the query': { values: (values) => ({ ...values, mark: '' }) },
  'parameters sorted where the order sent counts': query('b=2&a=1', sorted),
  'parameters not sorted where they must be': query('b=2&a=1', () => 'b=2&a=1'),
  'parameters in another order than sent': query('a=1&b=2&c=3', () => 'c=3&a=1&b=2'),
  'parameters sorted as one text': query('a=1&a-b=2', () => 'a-b=2&a=1'),
  'parameters sorted without regard to letter case': query('B=2&a=1', () => 'a=1&B=2'),
  'parameters sorted by the rules of a language': query('a10=1&a9=2', () => 'a9=2&a10=1'),
  'values of a repeated parameter not sorted': query('a=2&a=1', () => 'a=2&a=1'),
  'query signed as sent, neither encoded nor sorted': query('q=x(b)&a=1', () => 'q=x(b)&a=1'),
  'space of the query signed as "+" where it is %20': query('q=a%20b', (text) => text.replace('%20', '+')),
  'space of the query signed as %20 where "+" was sent': query('q=a+b', (text) => text.replace('+', '%20')),
  '"+" of the query signed as %2B': query('q=a+b', (text) => text.replace(/\+|%20/, '%2B')),
  '%2B of the query signed as "+"': query('q=a%2Bb', (text) => text.replace('%2B', '+')),
  'query percent-decoded': query('q=a%20b', (text) => decodeURIComponent(text)),
  'query percent-encoded twice': query('q=a%20b', (text) => text.replace('%20', '%2520')),
  'query written again as a form by a URL library': query('q=a%20b~c', (text) =>
    new URLSearchParams(text).toString(),
  ),
  "characters !'()* of the query left without escapes": query('q=x%28a%29%2A', (text) =>
    decodeURIComponent(text),
  ),
  'slash in a value left without escape': query('q=a%2Fb', (text) => text.replace('%2F', '/')),
  '"~" of the query escaped': query('q=a~b', (text) => text.replace('~', '%7E')),
  'escapes of the query signed in another letter case': query('q=a%2Fb', lowerEscapes),
  '"=" of a parameter without a value left out': query('acl=', () => 'acl'),
  'names and values joined without "=" and "&"': query('limit=5&after=x', (text) =>
    text.replace(/[=&]/g, ''),
  ),
  'parameter added after signing': {
    request: { query: 'limit=5' },
    sent: (sent) => ({ ...sent, target: `${sent.target}&utm_source=x` }),
  },
  'a parameter signed that was never sent': query('limit=5', (text) => `cursor=undefined&${text}`),
  'a parameter that is sent left out': query('a=1&b=2', () => 'a=1'),
  'empty parameters of the query left out': query('a=1&b=&c=3', () => 'a=1&c=3'),
  'a repeated parameter reduced to one value': query('a=1&a=2&b=3', () => 'a=2&b=3'),
  'a list in the query in another form': query('a=1&a=2', () => 'a[]=1&a[]=2'),
  'number of the query in another notation': query('q=0.00001', () => 'q=1e-05'),
  'names and values of the query decoded, and joined without "=" and "&"': query(
    'a=x%20y&b=2',
    () => 'ax yb2',
  ),
  'path and query decoded': {
    request: { path: '/things/a%20b', query: 'q=c+d' },
    values: (values) => ({ ...values, path: '/things/a b', query: 'q=c d' }),
  },
  'query signed as JSON': query('a=1&b=x', () => '{"a":"1","b":"x"}'),
  'query escaped for HTML': query('a=1&b=2', (text) => text.replace('&', '&amp;')),
  // Host
  'port left out': host((text) => text.replace(/:\d+$/, '')),
  'default port added': {
    request: { host: 'api.example' },
    values: (values, { secure }) => ({ ...values, host: `${values.host}:${secure ? 443 : 80}` }),
  },
  'default port of the other scheme added': {
    request: { host: 'api.example' },
    values: (values, { secure }) => ({ ...values, host: `${values.host}:${secure ? 80 : 443}` }),
  },
  'host in another letter case': host((text) => text.toUpperCase()),
  'scheme signed with the host': host((text) => `http://${text}`),
  'localhost for 127.0.0.1': host((text) => text.replace('127.0.0.1', 'localhost'), {
    host: '127.0.0.1:8080',
  }),
  'host empty': host(() => ''),
  'host that a proxy forwards signed': host(() => 'public.example', {
    lines: [['X-Forwarded-Host', 'public.example']],
  }),
  'dot at the end of the host': host((text) => text.replace(/(:\d+)?$/, '.$1')),
  'host of a container signed': host((text) => text.replace('localhost', 'host.docker.internal'), {
    host: 'localhost:8080',
  }),
  'host of a container with its own port signed': host(() => 'localstack:4566', { host: 'localhost:8080' }),
  // Other fields
  'white space around the value of a field kept': field(['a'], (text) => ` ${text}`),
  'inner spaces of a field kept': field(['a   b'], () => 'a   b'),
  'space added after each comma of a field': field(['a,b'], () => 'a, b'),
  'lines of a repeated field joined by another separator': field(['b', 'a'], () => 'b;a'),
  'lines of a repeated field sorted': field(['b', 'a'], (text) =>
    text.split(/, ?/).sort().join(text.match(/, ?/)?.[0]),
  ),
  'only the first line of a repeated field': field(['b', 'a'], () => 'b'),
  'only the last line of a repeated field': field(['b', 'a'], () => 'a'),
  'value of a field in lower case': field(['Some'], (text) => text.toLowerCase()),
  'parameters of a field left out': field(['text/plain; charset=utf-8'], () => 'text/plain'),
  'value of a field empty': field(['a'], () => ''),
  'value of a field in quotes': field(['a'], () => '"a"'),
  'name of a field signed with its value': field(['a'], () => 'x-meta:a'),
  'parameters of a media type in another form': field(
    ['application/json; charset=utf-8'],
    () => 'application/json;charset=UTF-8',
  ),
  'value of a field changed by the client library': field(
    ['application/json'],
    () => 'text/plain;charset=UTF-8',
  ),
  // Time, as sent
  'clock of the client slow': { now: (now) => now - 7_000_000 },
  'off by a time-zone offset': { now: (now) => now + 7_200_000 },
  'off by half an hour of a time zone': { now: (now) => now - 19_800_000 },
  'off by nearly a time zone': { now: (now) => now + 32_405_000 },
  'milliseconds sent': { time: (_, now) => String(now) },
  'seconds sent': { time: (_, now) => String(now / 1000) },
  'HTTP date sent': { time: (_, now) => httpDate(now) },
  'ISO 8601 sent': { time: (_, now) => isoSeconds(now) },
  'fraction of a second sent': { time: (text) => `${text}.123` },
  'obsolete date of RFC 850 sent': {
    time: (_, now) => httpDate(now).replace(/^(\w+), (\d+) (\w+) \d\d(\d\d)/, 'Sunday, $2-$3-$4'),
  },
  'asctime sent': {
    time: (_, now) => httpDate(now).replace(/^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/, '$1 $3 $2 $5 $4'),
  },
  'zone of the date written as UTC': { time: (_, now) => httpDate(now).replace('GMT', 'UTC') },
  'zone of the date written as an offset': { time: (_, now) => httpDate(now).replace('GMT', '+0000') },
  'date without a zone sent': { time: (_, now) => isoSeconds(now).replace('Z', '') },
  'time sent in quotes': { time: (text) => `"${text}"` },
  'date with a wrong weekday': {
    time: (_, now) => httpDate(now).replace(/^\w+/, (day) => (day === 'Mon' ? 'Tue' : 'Mon')),
  },
  'month of the date written out': {
    time: (_, now) =>
      httpDate(now)
        .replace(/^\w+, /, '')
        .replace(' Nov ', ' November ')
        .replace(' GMT', ''),
  },
  'time sent twice and joined by a comma': { time: (text) => `${text}, ${text}` },
  'time empty': { time: () => '' },
  // Time, as signed
  'another second signed than sent': { signedNow: (now) => now + 1000 },
  'time of another zone signed than sent': { signedNow: (now) => now + 7_200_000 },
  'seconds since 1970 signed': signedTime((now) => String(now / 1000)),
  'milliseconds since 1970 signed': signedTime((now) => String(now)),
  'ISO 8601 signed': signedTime(isoSeconds),
  'HTTP date signed': signedTime(httpDate),
  'fraction of a second signed': { values: (values) => ({ ...values, time: `${values.time}.000` }) },
  'time of day left out': {
    values: (values) => ({ ...values, time: values.time?.replace(/(?:T.*|\d\d:.*)$/, '') }),
  },
  'time left out of the message': { values: (values) => ({ ...values, time: undefined }) },
  'time signed as undefined': { values: (values) => ({ ...values, time: 'undefined' }) },
  'time signed with milliseconds': {
    values: (values, _, { now }) => ({ ...values, time: String(now + 123) }),
  },
  'time signed in quotes': { values: (values) => ({ ...values, time: `"${values.time}"` }) },
  // Nonce
  'nonce left out of the message': { values: (values) => ({ ...values, nonce: undefined }) },
  'nonce signed as undefined': { values: (values) => ({ ...values, nonce: 'undefined' }) },
  'nonce empty': { nonce: () => '' },
  'nonce with characters that it cannot have': { nonce: (text) => `${text} \u00e9` },
  'nonce too long': { nonce: (text) => text.padEnd(2000, 'n') },
  'nonce percent-encoded before it was signed': {
    nonce: (text) => `${text}/`,
    values: (values) => ({ ...values, nonce: escaped(values.nonce ?? '') }),
  },
  'nonce sent percent-encoded': { nonce: (text) => `${text}%2F` },
  'nonce in another letter case': { values: (values) => ({ ...values, nonce: values.nonce?.toUpperCase() }) },
  'time and nonce exchanged in the message': {
    values: (values) => ({ ...values, nonce: values.time, time: values.nonce }),
  },
  // User
  'user does not exist': { user: () => 'nobody' },
  'name nearly right: letter case': { user: (text) => text.replace(/^./, (first) => first.toUpperCase()) },
  'name nearly right: typing error': { user: (text) => `${text}n` },
  'user empty': { user: () => '' },
  'user signed as a further part': { values: (values, _, identity) => ({ ...values, user: identity.user }) },
  // Content
  'content signed as empty': content(json, () => ''),
  'placeholder signed for no content': {
    request: { method: 'POST', content: undefined, lines: [] },
    values: (values) => ({ ...values, content: '{}', digest: sha256('{}').toString('hex') }),
  },
  'line end at the end of the content signed, not sent': content(json, (text) => `${text}\n`),
  'line end at the end of the content sent, not signed': content(`${json}\n`, (text) => text.trimEnd()),
  'white space around the content removed': content(` ${json} `, (text) => text.trim()),
  'line ends LF signed, CR LF sent': content(json.replace('\n', '\r\n'), (text) =>
    text.replace('\r\n', '\n'),
  ),
  'line ends CR LF signed, LF sent': content(json, (text) => text.replace('\n', '\r\n')),
  'byte order mark of the content signed, not sent': content(json, (text) => `\ufeff${text}`),
  'byte order mark of the content sent, not signed': content(`\ufeff${json}`, (text) => text.slice(1)),
  'content encoded in UTF-8 twice': content(json, (text) => Buffer.from(text).toString('latin1')),
  'content signed as a JSON string': content(json, (text) => JSON.stringify(text)),
  'content signed in base64': content(json, (text) => Buffer.from(text).toString('base64')),
  'content signed in hexadecimal': content(json, (text) => Buffer.from(text).toString('hex')),
  'name of an object signed for its text': content(json, () => '[object Object]'),
  'JSON re-serialised: compact': content(json, () => JSON.stringify(value)),
  'JSON re-serialised: indented by 2 spaces': content(json, () => JSON.stringify(value, null, 2)),
  'JSON re-serialised: indented by 4 spaces': content(json, () => JSON.stringify(value, null, 4)),
  'JSON re-serialised: indented by a tab': content(json, () => JSON.stringify(value, null, '\t')),
  'JSON re-serialised: space after comma and colon': content(json, () => spaced),
  'JSON re-serialised: other than ASCII as \\u escapes': content(json, () => ascii(JSON.stringify(value))),
  'JSON re-serialised: slashes escaped': content(json, () => JSON.stringify(value).replaceAll('/', '\\/')),
  'JSON re-serialised: < > & escaped': content(json, () =>
    JSON.stringify(value).replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
  ),
  'JSON re-serialised: members sorted': content(json, () =>
    JSON.stringify(Object.fromEntries(Object.entries(value ?? {}).sort())),
  ),
  'JSON re-serialised: numbers with a fraction': content('{"n":1}', () => '{"n":1.0}'),
  'JSON re-serialised: \\u escapes in upper case': content('{"n":"\u00e9"}', () => '{"n":"\\u00E9"}'),
  'JSON re-serialised: as System.Text.Json escapes': content(
    '{"a": "<é>+\'"}',
    () => '{"a":"\\u003C\\u00E9\\u003E\\u002B\\u0027"}',
  ),
  'JSON re-serialised: as Gson escapes': content(
    '{"a": "<b>=\'"}',
    () => '{"a":"\\u003cb\\u003e\\u003d\\u0027"}',
  ),
  'JSON re-serialised: as Jackson indents': content(
    '{"a":[1,2],"b":{"c":3}}',
    () => '{\n  "a" : [ 1, 2 ],\n  "b" : {\n    "c" : 3\n  }\n}',
  ),
  'JSON re-serialised: with a line feed at its end': content('{"a": 1}', () => '{"a":1}\n'),
  'member of JSON added after signing': content('{"a":1,"b":{"c":2,"d":3}}', () => '{"a":1,"b":{"c":2}}'),
  'content cut off before it was signed': content(json, (text) => text.slice(0, 19)),
  'JSON signed as parameters': content('{"b":"2","a":"1 3"}', () => 'a=1+3&b=2'),
  'JSON signed as names and values': content('{"b":"2","a":"1"}', () => 'a1b2'),
  'JSON signed as the parameter of a form': content(
    '{"a": 1}',
    (text) => `payload=${encodeURIComponent(text)}`,
  ),
  'value of the only parameter of a form signed': form('payload=%7B%22a%22%3A1%7D', () => '{"a":1}'),
  'value of one parameter of a form signed': form('a=1&payload=%7B%22x%22%3A1%7D', () => '{"x":1}'),
  'one parameter of a form signed': form('a=1&payload=%7B%7D', () => 'payload=%7B%7D'),
  'form signed as JSON': form('a=1&b=x', () => '{"a":"1","b":"x"}'),
  'word for no value signed for the content': content(json, () => 'undefined'),
  'notation of Python with other quotes signed': content(
    '{"a":null,"b":[1,true]}',
    () => '{"a": None, "b": [1, True]}',
  ),
  'bytes other than ASCII replaced by "?"': content('{"a":"é"}', () => '{"a":"??"}'),
  'characters other than ASCII replaced by U+FFFD': content('{"a":"é"}', () => '{"a":"\ufffd"}'),
  'notation of Python with other numbers signed': content(
    '{"price":1.50,"n":2}',
    () => "{'price': 1.5, 'n': 2}",
  ),
  'member of JSON signed that was never sent': content('{"a":1}', () => '{"a":1,"note":null}'),
  'parameter of a form signed that was never sent': form('a=1', () => 'a=1&tag='),
  'notation of bytes in Python signed': content('{"n":1}', (text) => `b'${text}'`),
  'notation of the value in Python signed': content(
    '{"n":1,"ok":true,"none":null}',
    () => "{'n': 1, 'ok': True, 'none': None}",
  ),
  'notation of the value in Ruby signed': content('{"n":1,"none":null}', () => '{"n"=>1, "none"=>nil}'),
  'notation of the value in Java signed': content('{"n":1,"none":null}', () => '{n=1, none=null}'),
  'notation of the value in Go signed': content('{"n":1,"a":"b"}', () => 'map[a:b n:1]'),
  'Buffer signed as JSON': content(json, (text) => JSON.stringify(Buffer.from(text))),
  'XML re-serialised: empty element, declaration': xml(
    '<a><b c="1"/></a>',
    () => "<?xml version='1.0' encoding='utf-8'?>\n<a><b c=\"1\" /></a>",
  ),
  'XML re-serialised: end tags, no white space': xml(
    '<a>\n  <b c="1"/>\n</a>\n',
    () => '<a><b c="1"></b></a>',
  ),
  'line feeds of the content removed': content('a\nb\n', () => 'ab'),
  'content in another normalization form': content(json, (text) => text.normalize('NFD')),
  'form re-serialised, spaces as %20': form(formText, (text) => text.replace('+', '%20')),
  'form decoded': form(formText, () => 'b=2 3&a=1,'),
  'form parameters sorted': form(formText, sorted),
  'form parameters left out': form(formText, () => ''),
  'content changed after signing': {
    request: { method: 'POST', content: json, lines: [['Content-Type', 'application/json']] },
    sent: (sent) => ({ ...sent, content: `[${sent.content}]` }),
  },
  'JSON with a fraction signed as parameters': content('{"b":"2","a":1.50}', () => 'b=2&a=1.5'),
  // Digest of the content
  'digest signed where the content itself is': {
    request: { method: 'POST', content: json, lines: [['Content-Type', 'application/json']] },
    values: (values, request) => ({ ...values, content: sha256(request.content ?? '').toString('hex') }),
  },
  'content signed where its digest is': digest((text) => text),
  'digest of the content left out of the message': {
    request: { method: 'POST', content: json, lines: [['Content-Type', 'application/json']] },
    values: (values) => ({ ...values, digest: undefined }),
  },
  'digest in hexadecimal signed': digest((text) => sha256(text).toString('hex')),
  'digest in base64 signed': digest((text) => sha256(text).toString('base64')),
  'digest in upper case signed': digest((text) => sha256(text).toString('hex').toUpperCase()),
  'digest in base64url signed': digest((text) => sha256(text).toString('base64url')),
  'digest signed as undefined': digest(() => 'undefined'),
  'digest by another hash signed': digest((text) => computeHash('sha1', text).toString('hex')),
  'digest hashed twice': digest((text) => sha256(sha256(text).toString('hex')).toString('hex')),
  'digest sent as bare hexadecimal': sentDigest((text) => sha256(text).toString('hex')),
  'digest sent as bare base64': sentDigest((text) => sha256(text).toString('base64')),
  'digest sent without colons': sentDigest((text) => `sha-256=${sha256(text).toString('base64')}`),
  'digest sent with the algorithm in upper case': sentDigest(
    (text) => `SHA-256=:${sha256(text).toString('base64')}:`,
  ),
  'digest sent with the algorithm without hyphen': sentDigest(
    (text) => `sha256=:${sha256(text).toString('base64')}:`,
  ),
  // Whole message
  'line feed at the end of the message': message((text) => `${text}\n`),
  'CR LF at the end of the message': message((text) => `${text}\r\n`),
  'space at the end of the message': message((text) => `${text} `),
  'null byte at the end of the message': message((text) => `${text}\0`),
  'separator at the end of the message': message((text) => `${text}+`),
  'parts joined by line feeds': message((_, parts) => parts.join('\n')),
  'parts joined by colons': message((_, parts) => parts.join(':')),
  'parts joined by nothing': message((_, parts) => parts.join('')),
  'parts joined by CR LF': message((text, parts) =>
    text.includes('\n') ? text.replaceAll('\n', '\r\n') : parts.join('\r\n'),
  ),
  'parts joined by carriage returns': message((text, parts) =>
    text.includes('\n') ? text.replaceAll('\n', '\r') : parts.join('\r'),
  ),
  'line feeds written as two characters': message((text, parts) =>
    text.includes('\n') ? text.replaceAll('\n', '\\n') : parts.join('\\n'),
  ),
  'parts in another order': message((text, [first = '', second = '']) =>
    text.replace(first, '\u0001').replace(second, first).replace('\u0001', second),
  ),
  'one part signed alone': message((_, parts) => parts.at(-1) ?? ''),
  'nothing signed': message(() => ''),
  'message in lower case': message((text) => text.toLowerCase()),
  'message in upper case': message((text) => text.toUpperCase()),
  'message percent-encoded': message((text) => encodeURIComponent(text)),
  'message in base64': message((text) => Buffer.from(text).toString('base64')),
  'message in hexadecimal': message((text) => Buffer.from(text).toString('hex')),
  'message in UTF-16': message((text) => Buffer.from(text, 'utf16le')),
  'message in quotes': message((text) => `"${text}"`),
  'byte order mark at the start of the message': message((text) => `\ufeff${text}`),
  'message hashed before it was signed': message((text) => sha256(text)),
  'message hashed before it was signed, in hexadecimal': message((text) => sha256(text).toString('hex')),
  // Key
  'secret decoded from base64': key((secret) => Buffer.from(secret, 'base64')),
  'secret decoded from hexadecimal': key((secret) => Buffer.from(secret, 'hex')),
  'secret with a line feed': key((secret) => `${secret}\n`),
  'secret with CR LF': key((secret) => `${secret}\r\n`),
  'secret in quotes': key((secret) => `"${secret}"`),
  'secret with a space before it': key((secret) => ` ${secret}`),
  'secret with a space after it': key((secret) => `${secret} `),
  'secret encoded in base64': key((secret) => Buffer.from(secret).toString('base64')),
  'secret encoded in hexadecimal': key((secret) => Buffer.from(secret).toString('hex')),
  'secret in UTF-16': key((secret) => Buffer.from(secret, 'utf16le')),
  'secret hashed before use': key((secret) => sha256(secret)),
  'secret hashed before use, in hexadecimal': key((secret) => sha256(secret).toString('hex')),
  'secret in upper case': key((secret) => secret.toUpperCase()),
  'empty secret': key(() => ''),
  'word for nothing as the secret': key(() => 'undefined'),
  'placeholder not replaced as the secret': key(() => '{{secret}}'),
  'secret masked, as a page shows it': key((secret) => `${secret.slice(0, 4)}****${secret.slice(-4)}`),
  'secret masked with an ellipsis': key((secret) => `${secret.slice(0, 4)}...${secret.slice(-4)}`),
  'masked secret of an example': key(() => 'sk_live_****'),
  'name of the user as the secret': key(() => 'ann'),
  'secret with a byte order mark': key((secret) => `\ufeff${secret}`),
  'secret encoded in base64 with a line feed': key((secret) => Buffer.from(`${secret}\n`).toString('base64')),
  'secret in single quotes': key((secret) => `'${secret}'`),
  'padding of the secret lost': key((secret) => secret.replace(/=+$/, '')),
  'secret in lower case': key((secret) => secret.toLowerCase()),
  'secret percent-encoded': key((secret) => encodeURIComponent(secret)),
  'prefix of the secret removed': key((secret) => secret.replace(/^whsec_/, '')),
  'key and message exchanged': { sign: (text, secret) => computeHmac('sha256', text, secret) },
  'plain hash of the message': { sign: (text) => computeHash('sha256', text) },
  'secret and message hashed together': {
    sign: (text, secret) => computeHash('sha256', Buffer.concat([secret, text])),
  },
  'SHA-1 used': mac('sha1'),
  'SHA-256 used': mac('sha256'),
  'SHA-384 used': mac('sha384'),
  'SHA-512 used': mac('sha512'),
  'SHA-512 cut to the expected length': cutMac('sha512'),
  'SHA-384 cut to the expected length': cutMac('sha384'),
  'SHA-512/256 used': cutMac('sha512-256'),
  'SHA-3 used': cutMac('sha3-256'),
  'MD5 used': mac('md5'),
  // Encoding of the signature
  'signature in hexadecimal': encoding((signature) => signature.toString('hex')),
  'signature in base64': encoding((signature) => signature.toString('base64')),
  'signature in base64url': {
    encode: (signature) => signature.toString('base64url'),
    isShown: (written) => /[-_]/.test(written),
  },
  'signature without padding': {
    encode: (signature) => signature.toString('base64').replace(/=+$/, ''),
    // Without these it is base64url.
    isShown: (written) => /[+/]/.test(written),
  },
  'bits before the padding of the signature not zero': encoding((signature) =>
    signature
      .toString('base64')
      .replace(/(.)=$/, (_, last: string) => `${String.fromCharCode(last.charCodeAt(0) + 1)}=`),
  ),
  'signature in upper case': encoding((signature) => signature.toString('hex').toUpperCase()),
  'hexadecimal of the signature encoded in base64': encoding((signature) =>
    Buffer.from(signature.toString('hex')).toString('base64'),
  ),
  'signature in base64 twice': encoding((signature) =>
    Buffer.from(signature.toString('base64')).toString('base64'),
  ),
  'signature percent-encoded': encoding((signature) => encodeURIComponent(signature.toString('base64'))),
  'signature in quotes': encoding((_, usual) => `"${usual}"`),
  'line feed at the end of the signature': encoding((_, usual) => `${usual}\\n`),
  'signature with a prefix': encoding((_, usual) => `sha256=${usual}`),
  'signature empty': encoding(() => ''),
  'signature cut off': encoding((_, usual) => usual.slice(0, -4)),
  'signature printed as a list of bytes': encoding((signature) => [...signature].join(',')),
  'signature printed as a list of bytes in brackets': encoding(
    (signature) => `[${[...signature].join(', ')}]`,
  ),
  'signature printed as bytes of Python': encoding((_, usual) => `b'${usual}'`),
  'signature printed as an object': encoding(() => '[B@1b2c3d'),
  'signature with the output of a tool': encoding((_, usual) => `(stdin)= ${usual}`),
  'word for nothing as the signature': encoding(() => 'undefined'),
  'signature printed with hyphens': encoding((signature) =>
    (signature.toString('hex').match(/../g) ?? []).join('-'),
  ),
  'placeholder not replaced as the signature': encoding(() => '{{signature}}'),
} satisfies Readonly<Record<string, Mistake>>;
