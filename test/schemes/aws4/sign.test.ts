import assert from 'node:assert/strict';
import test from 'node:test';
import {
  canonicalPath,
  canonicalQuery,
  canonicalValue,
  formatCanonicalRequest,
} from '../../../src/schemes/aws4/canonical-request.ts';
import { parseCredentialsField, parsePresigned } from '../../../src/schemes/aws4/credentials.ts';
import { presignAws4, signAws4 } from '../../../src/schemes/aws4/sign.ts';
import { formatStamp, parseStamp } from '../../../src/schemes/aws4/signing-key.ts';
import { aws4Cases, secret, signOptions, time } from '../../support/schemes/clients/aws4.ts';

test('signAws4 computes the signatures of botocore for requests with the same headers', () => {
  for (const each of aws4Cases('header.json')) {
    if (each.service !== 's3') continue;
    const added = /^(?:x-amz-(?:date|content-sha256|security-token)|authorization)$/i;
    const sessionToken = each.fields.find(([name]) => name === 'X-Amz-Security-Token')?.[1];
    const signed = signAws4(
      {
        method: each.method,
        target: each.target,
        fields: each.fields.filter(([name]) => !added.test(name)),
        content: Buffer.from(each.content, 'latin1'),
      },
      signOptions({ service: 's3', sessionToken }),
    );
    assert.equal(formatCanonicalRequest(signed.parts), each.canonicalRequest, each.name);
    assert.equal(signed.parts.at(-1)?.value, each.stringToSign, each.name);
    const expected = each.fields.find(([name]) => name === 'Authorization');
    assert.deepEqual(signed.fields.at(-1), expected, each.name);
  }
});

test('presignAws4 computes the presigned URLs of botocore', () => {
  for (const each of aws4Cases('presigned.json')) {
    const start = each.target.indexOf('X-Amz-Algorithm');
    const token = /X-Amz-Security-Token=([^&]+)/.exec(each.target)?.[1];
    const sessionToken = token === undefined ? undefined : decodeURIComponent(token);
    const expires = Number(/X-Amz-Expires=(\d+)/.exec(each.target)?.[1]);
    const { method, fields, service } = each;
    const request = { method, target: each.target.slice(0, start - 1), fields };
    const signed = presignAws4(request, signOptions({ service, sessionToken }), expires);
    assert.equal(signed.target, each.target, each.name);
    assert.deepEqual(signed.fields, []);
  }
});

test('a signature contains no secret, and a lifetime outside 1 s to a week is rejected', () => {
  const request = { method: 'GET', target: '/', fields: [['Host', 'a.example']] as const };
  assert.ok(!JSON.stringify(signAws4(request, signOptions())).includes(secret));
  for (const expires of [0, -1, 1.5, 604_801, Number.NaN])
    assert.throws(() => presignAws4(request, signOptions(), expires), RangeError);
});

test('the path is normalized and encoded by the rules of the service', () => {
  const usual = { normalizePath: true, doubleEncode: true };
  const s3 = { normalizePath: false, doubleEncode: false };
  const cases: [path: string, usual: string, s3: string][] = [
    ['', '/', '/'],
    ['/', '/', '/'],
    ['/a/b', '/a/b', '/a/b'],
    ['/a//b', '/a/b', '/a//b'],
    ['/a/./b/../c', '/a/c', '/a/./b/../c'],
    ['/../..', '/', '/../..'],
    ['/a/..', '/', '/a/..'],
    ['/a/../', '/', '/a/../'],
    ['/a/b/..', '/a', '/a/b/..'],
    ['/a%20b', '/a%2520b', '/a%20b'],
    ['/a%2fb', '/a%252fb', '/a%2Fb'],
    ['/%41', '/%2541', '/A'],
    ['/a+b', '/a%2Bb', '/a%2Bb'],
    ['/a%zz', '/a%25zz', '/a%25zz'],
    ['/.a/..b', '/.a/..b', '/.a/..b'],
  ];
  for (const [path, expected, expectedS3] of cases) {
    assert.equal(canonicalPath(path, usual), expected, path);
    assert.equal(canonicalPath(path, s3), expectedS3, path);
  }
});

test('the query is encoded again and sorted by name and value', () => {
  assert.equal(canonicalQuery('b=2&a=x+y&a=%7e&a=1'), 'a=1&a=x%20y&a=~&b=2');
  assert.equal(canonicalQuery('Param-3=3&Param=2'), 'Param=2&Param-3=3');
  assert.equal(canonicalQuery('acl&&=x'), '=x&acl=');
  assert.equal(canonicalQuery('a=%zz&b=c=d'), 'a=%25zz&b=c%3Dd');
  assert.equal(canonicalQuery('a=1&X-Amz-Signature=2', 'X-Amz-Signature'), 'a=1');
});

test('white space in a value is trimmed and collapsed, and other characters are unchanged', () => {
  assert.equal(canonicalValue(' \ta  "b   c"\r\n d '), 'a "b c" d');
  assert.equal(canonicalValue('\u00a0a\u00a0'), '\u00a0a\u00a0');
});

test('a stamp in another format or of a nonexistent time is rejected', () => {
  assert.equal(formatStamp(time), '20150830T123600Z');
  assert.equal(parseStamp('20150830T123600Z'), time);
  for (const text of [
    '20150230T000000Z',
    '20150830T240000Z',
    '20150830T123660Z',
    '20150830T123600',
    '2015-08-30T12:36:00Z',
    '20150830t123600z',
    '00000101T000000Z',
  ])
    assert.equal(parseStamp(text), undefined, text);
});

const credential = 'AKIDEXAMPLE/20150830/us-east-1/service/aws4_request';
const signature = 'a'.repeat(64);

test('credentials are parsed with their three parameters in any order', () => {
  const good = `SignedHeaders=host,Credential=${credential} , Signature=${signature}`;
  const parsed = parseCredentialsField(good);
  assert.deepEqual(parsed, {
    accessKeyId: 'AKIDEXAMPLE',
    scope: { date: '20150830', region: 'us-east-1', service: 'service' },
    signedHeaders: ['host'],
    signature,
  });
  const slashed = parseCredentialsField(good.replace('AKIDEXAMPLE', 'a/b'));
  assert.ok(typeof slashed !== 'string' && slashed.accessKeyId === 'a/b');
});

const manyHeaders = Array.from({ length: 101 }, (_, at) => `h${at + 100}`).join(';');
const faults: [rest: string, fault: RegExp][] = [
  [`Credential=${credential} SignedHeaders=host Signature=${signature}`, /is missing|expected/],
  [
    `Credential=${credential}, Credential=${credential}, SignedHeaders=host, Signature=${signature}`,
    /given twice/,
  ],
  [`Credential=${credential}, SignedHeaders=host, Signature=${signature}, More=1`, /expected/],
  [`Credential=${credential}, SignedHeaders=x-amz-date;host, Signature=${signature}`, /sorted/],
  [`Credential=${credential}, SignedHeaders=host;host, Signature=${signature}`, /twice/],
  [`Credential=${credential}, SignedHeaders=${manyHeaders}, Signature=${signature}`, /more than 100 names/],
  [`Credential=${credential}, SignedHeaders=host;, Signature=${signature}`, /names of header fields/],
  [`Credential=${credential}, SignedHeaders=host, Signature=WHATEVER`, /64 hexadecimal digits/],
];
for (const [rest, fault] of faults) {
  test(`the credentials ${rest.replaceAll(signature, 'S').slice(0, 90)} are malformed`, () => {
    const parsed = parseCredentialsField(rest);
    assert.ok(typeof parsed === 'string', 'it was parsed');
    assert.match(parsed, fault);
  });
}

test('a presigned query requires each parameter once, and a lifetime of 1 s to a week', () => {
  const good = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(credential)}&X-Amz-Date=20150830T123600Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=${signature}`;
  const parsed = parsePresigned(good, 's3');
  assert.ok(typeof parsed !== 'string' && parsed.presigned?.expires === 60);
  const refused: [query: string, fault: RegExp][] = [
    [good.replace('HMAC-SHA256', 'ECDSA-P256-SHA256'), /X-Amz-Algorithm must be/],
    [`${good}&X-Amz-Date=20150830T123600Z`, /X-Amz-Date is given twice/],
    [good.replace('Expires=60', 'Expires=0'), /from 1 to 604800/],
    [good.replace('Expires=60', 'Expires=604801'), /from 1 to 604800/],
    [good.replace('Expires=60', 'Expires=6e1'), /from 1 to 604800/],
    [good.replace('&X-Amz-Expires=60', ''), /X-Amz-Expires is missing/],
    [good.replace('X-Amz-Date', 'x-amz-date'), /X-Amz-Date is missing/],
  ];
  for (const [query, fault] of refused) {
    const result = parsePresigned(query, 's3');
    assert.ok(typeof result === 'string', query);
    assert.match(result, fault);
  }
});
