import assert from 'node:assert/strict';
import test from 'node:test';
import type { ProblemMember } from '../../../src/http/problem.ts';
import { accessKeyId, openAws4Service, received, secret } from '../../support/auth/aws4.ts';
import { type Client, chain, day, hmac, request, sha256 } from './aws4-client.ts';

const json = '{"title":"a","price":{"value":"1.00"}}';

/** The mistakes: what is wrong, the client, and what hint and differing part must be. */
const mistakes: [mistake: string, client: Client, hint: RegExp, differs: string | undefined][] = [
  ['query not sorted', { target: '/?b=2&a=1', query: 'b=2&a=1' }, /not sorted/, 'canonical query'],
  [
    'query sorted as text',
    { target: '/?a=1&a-b=2', query: 'a-b=2&a=1' },
    /sorted as text/,
    'canonical query',
  ],
  [
    'query sorted without case',
    { target: '/?a=1&B=2', query: 'a=1&B=2' },
    /not sorted|regard to case/,
    'canonical query',
  ],
  ['+ for a space in the query', { target: '/?q=a+b', query: 'q=a+b' }, /signed as \+/, 'canonical query'],
  [
    '%2B for a space in the query',
    { target: '/?q=a+b', query: 'q=a%2Bb' },
    /signed as %2B/,
    'canonical query',
  ],
  [
    'lower-case escapes in the query',
    { target: '/?q=a%2Fb', query: 'q=a%2fb' },
    /escapes of the query are in lower case/,
    'canonical query',
  ],
  [
    'slash of the query not encoded',
    { target: '/?q=a/b', query: 'q=a/b' },
    /as sent|slashes of the query/,
    'canonical query',
  ],
  [
    'marks not encoded, as by encodeURIComponent',
    { target: '/?q=x%20(a)*', query: 'q=x%20(a)*' },
    /as sent|not encoded/,
    'canonical query',
  ],
  [
    'valueless parameter without equals sign',
    { target: '/?acl', query: 'acl' },
    /as sent|without the equals sign/,
    'canonical query',
  ],
  ['query left out', { target: '/?a=1', query: '' }, /left out/, 'canonical query'],
  ['query encoded twice', { target: '/?q=a%20b', query: 'q=a%2520b' }, /encoded twice/, 'canonical query'],
  ['path encoded once', { target: '/a%20b', path: '/a%20b' }, /encoded once/, 'canonical path'],
  [
    'path encoded twice for S3',
    { service: 's3', target: '/a%20b', path: '/a%2520b' },
    /encoded twice/,
    'canonical path',
  ],
  ['path not normalized', { target: '/a//b/../c', path: '/a//b/../c' }, /not normalized/, 'canonical path'],
  [
    'path normalized for S3',
    { service: 's3', target: '/a//b/../c', path: '/a/c' },
    /was normalized/,
    'canonical path',
  ],
  ['path decoded', { target: '/a%20b', path: '/a b' }, /signed decoded|percent-decoded/, 'canonical path'],
  [
    'lower-case escapes in the path',
    { service: 's3', target: '/a%2Fb', path: '/a%2fb' },
    /escapes of the path are in lower case/,
    'canonical path',
  ],
  [
    'path with the query',
    { target: '/a?b=1', path: '/a?b=1' },
    /query was signed with the path/,
    'canonical path',
  ],
  [
    'host without its port',
    {
      fields: [['Host', 'a.example:8080']],
      signedFields: [
        ['Host', 'a.example'],
        ['X-Amz-Date', `${day}T123600Z`],
      ],
    },
    /without its port/,
    'header host',
  ],
  [
    'host with a port',
    {
      fields: [['Host', 'a.example']],
      signedFields: [
        ['Host', 'a.example:443'],
        ['X-Amz-Date', `${day}T123600Z`],
      ],
    },
    /with the default port/,
    'header host',
  ],
  [
    'value not trimmed',
    {
      fields: [['X-Amz-Meta', 'a']],
      headers: `host:example.amazonaws.com\nx-amz-date:${day}T123600Z\nx-amz-meta: a\n`,
      signedHeaders: 'host;x-amz-date;x-amz-meta',
    },
    /white space around it/,
    'header x-amz-meta',
  ],
  ['inner spaces not collapsed', { fields: [['X-Amz-Meta', 'a   b']] }, /inner spaces/, 'header x-amz-meta'],
  [
    'a space after each colon',
    { headers: `host: example.amazonaws.com\nx-amz-date: ${day}T123600Z\n` },
    /space after the colon/,
    'signed headers',
  ],
  [
    'names of headers as sent',
    { headers: `Host:example.amazonaws.com\nX-Amz-Date:${day}T123600Z\n` },
    /names of the headers were signed as sent/,
    'signed headers',
  ],
  [
    'headers not sorted',
    { fields: [['A', '1']], headers: `host:example.amazonaws.com\nx-amz-date:${day}T123600Z\na:1\n` },
    /not sorted by name/,
    'signed headers',
  ],
  [
    'list of headers joined by commas',
    { signedHeaders: 'host,x-amz-date' },
    /joined by commas/,
    'signed headers',
  ],
  [
    'blank line missing',
    {
      canonical: (text) =>
        text.replace('\n\nhost', '\nhost').replace('Z\n\n', 'Z\n').replace('GET\n/\nhost', 'GET\n/\n\nhost'),
    },
    /blank line/,
    'signed headers',
  ],
  [
    'header missing in SignedHeaders',
    {
      fields: [['Content-Type', 'text/plain']],
      headers: `content-type:text/plain\nhost:example.amazonaws.com\nx-amz-date:${day}T123600Z\n`,
      signedHeaders: 'host;x-amz-date',
    },
    /content-type was signed, but is missing in SignedHeaders/,
    'signed headers',
  ],
  [
    'header listed but not signed',
    {
      fields: [['A', '1']],
      headers: `host:example.amazonaws.com\nx-amz-date:${day}T123600Z\n`,
      signedHeaders: 'a;host;x-amz-date',
    },
    /a is in SignedHeaders, but was not signed/,
    'header a',
  ],
  [
    'repeated header joined with a space',
    {
      fields: [
        ['A', '1'],
        ['A', '2'],
      ],
      headers: `a:1, 2\nhost:example.amazonaws.com\nx-amz-date:${day}T123600Z\n`,
      signedHeaders: 'a;host;x-amz-date',
    },
    /comma and a space/,
    'header a',
  ],
  [
    'payload hash of no content',
    { method: 'POST', content: 'some content', payloadHash: sha256('') },
    /that of no content/,
    'payload hash',
  ],
  [
    'UNSIGNED-PAYLOAD signed only',
    { method: 'POST', content: 'some content', payloadHash: 'UNSIGNED-PAYLOAD' },
    /UNSIGNED-PAYLOAD/,
    'payload hash',
  ],
  [
    'payload hash in upper case',
    { method: 'POST', content: 'abc', payloadHash: sha256('abc').toUpperCase() },
    /upper case/,
    'payload hash',
  ],
  [
    'content itself for its hash',
    { method: 'POST', content: 'abc', payloadHash: 'abc' },
    /content was signed instead of its digest/,
    'payload hash',
  ],
  [
    'JSON serialized again',
    { method: 'PUT', content: json, payloadHash: sha256(JSON.stringify(JSON.parse(json), null, 2)) },
    /serialized again/,
    'payload hash',
  ],
  [
    'JSON of Python',
    { method: 'PUT', content: json, payloadHash: sha256('{"title": "a", "price": {"value": "1.00"}}') },
    /serialized again/,
    'payload hash',
  ],
  [
    'content with a trailing newline',
    { method: 'POST', content: 'abc', payloadHash: sha256('abc\n') },
    /line feed at the end/,
    'payload hash',
  ],
  ['method in lower case', { canonical: (text) => text.replace('GET', 'get') }, /lower case/, 'method'],
  [
    'trailing newline of the canonical request',
    { canonical: (text) => `${text}\n` },
    /trailing newline/,
    'string to sign',
  ],
  [
    'CR LF in the canonical request',
    { canonical: (text) => text.replaceAll('\n', '\r\n') },
    /CR LF/,
    'string to sign',
  ],
  [
    'trailing newline of the string to sign',
    { toSign: (text) => `${text}\n` },
    /trailing newline/,
    'string to sign',
  ],
  [
    'canonical request not hashed',
    { toSign: (text, canonical) => text.replace(/[0-9a-f]{64}$/, canonical) },
    /without being hashed/,
    'string to sign',
  ],
  [
    'canonical request in place of the string to sign',
    { toSign: (_, canonical) => canonical },
    /in place of the string to sign/,
    'string to sign',
  ],
  [
    'date of another zone signed',
    { signedStamp: `${day}T143600Z` },
    /another time zone \(2 h\)/,
    'timestamp',
  ],
  ['timestamp in another form', { signedStamp: '2015-08-30T12:36:00Z' }, /another form/, 'timestamp'],
  [
    'scope with the access key id',
    { signedScope: `${accessKeyId}/${day}/us-east-1/service/aws4_request` },
    /access key id/,
    'scope',
  ],
  ['scope without its end', { signedScope: `${day}/us-east-1/service` }, /without aws4_request/, 'scope'],
  [
    'secret without AWS4',
    { key: () => chain(secret, day, 'us-east-1', 'service', 'aws4_request') },
    /without the prefix AWS4/,
    undefined,
  ],
  [
    'key of another day',
    { key: () => chain(`AWS4${secret}`, '20150831', 'us-east-1', 'service', 'aws4_request') },
    /date 20150831/,
    undefined,
  ],
  [
    'key without its last step',
    { key: () => chain(`AWS4${secret}`, day, 'us-east-1', 'service') },
    /last step/,
    undefined,
  ],
  ['secret with a line feed', { secret: `${secret}\n` }, /trailing line feed/, undefined],
  ['secret percent-encoded', { secret: encodeURIComponent(secret) }, /percent-encoded/, undefined],
  [
    'key in hexadecimal',
    {
      key: () =>
        Buffer.from(chain(`AWS4${secret}`, day, 'us-east-1', 'service', 'aws4_request')).toString('hex'),
    },
    /in hexadecimal/,
    undefined,
  ],
  ['expired secret', { secret: 'expired-secret-of-somebody' }, /expired secret/, undefined],
];

test('the client of these tests signs correctly without a mistake', async () => {
  const service = openAws4Service();
  assert.equal(await service.judge(request({})), accessKeyId);
  assert.equal(
    await service.judge(request({ method: 'POST', content: 'abc', target: '/a?b=1' })),
    accessKeyId,
  );
  assert.equal(await openAws4Service({ service: 's3' }).judge(request({ service: 's3' })), accessKeyId);
});

function text(member: ProblemMember | undefined): string {
  return typeof member === 'string' ? member : '';
}

for (const [mistake, client, hint, differs] of mistakes) {
  test(`the explanation names the mistake: ${mistake}`, async () => {
    const service = openAws4Service({ service: client.service ?? 'service' }, { explain: true });
    const { failedAt, details } = await service.trace(request(client));
    assert.equal(failedAt, 'signature');
    assert.match(text(details['hint']), hint);
    assert.equal(details['differs'], differs);
    const { type, members } = await service.problemWith(request(client));
    assert.equal(type, 'credentials-refused');
    assert.match(text(members['hint']), hint);
  });
}

test('the part that differs is shown as expected and as signed', async () => {
  const service = openAws4Service({}, { explain: true });
  const { members } = await service.problemWith(request({ target: '/?b=2&a=1', query: 'b=2&a=1' }));
  const { parts } = members;
  assert.ok(Array.isArray(parts));
  assert.deepEqual(
    parts.find(({ name }) => name === 'canonical query'),
    { name: 'canonical query', expected: 'a=1&b=2', signed: 'b=2&a=1' },
  );
  assert.deepEqual(
    parts.map(({ name }) => name),
    [
      'method',
      'canonical path',
      'canonical query',
      'header host',
      'header x-amz-date',
      'signed headers',
      'payload hash',
      'timestamp',
      'scope',
    ],
  );
});

test('no explanation contains the secret or the valid signature', async () => {
  const key = chain(`AWS4${secret}`, day, 'us-east-1', 'service', 'aws4_request');
  const service = openAws4Service({}, { explain: true });
  for (const [, client] of mistakes.filter(
    ([, { service: other, secret: used }]) => other === undefined && used === undefined,
  )) {
    const { members } = await service.problemWith(request(client));
    const shown = JSON.stringify(members);
    assert.ok(!shown.includes(secret));
    assert.ok(!shown.includes(hmac(Buffer.from(key), text(members['stringToSign'])).toString('hex')));
  }
});

test('an explanation does not show whether the access key exists', async () => {
  const service = openAws4Service({}, { explain: true });
  const wrong = request({ secret: 'guessed' });
  const raw = wrong.headers.raw.map((value) => value.replaceAll(accessKeyId, 'AKIDUNKNOWN'));
  const fields = raw.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : [],
  );
  const unknown = received({ method: 'GET', target: '/', fields });
  const [one, other] = [await service.problemWith(wrong), await service.problemWith(unknown)];
  assert.deepEqual(one, other);
  assert.equal((await service.trace(unknown)).failedAt, 'user');
  assert.equal((await service.trace(wrong)).failedAt, 'signature');
});
