import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { writeProblem } from '../../../src/collections/formats/server-documents.ts';
import type { IncomingRequest } from '../../../src/http/message.ts';
import { createRequestTrace } from '../../../src/pipeline/call.ts';
import { toProblemResponse } from '../../../src/pipeline/problem-response.ts';
import { type Aws4SignOptions, presignAws4, signAws4 } from '../../../src/schemes/aws4/sign.ts';
import { openAws4Service, received, secret, signOptions, time } from '../../support/schemes/clients/aws4.ts';

const host: readonly [string, string] = ['Host', 'example.amazonaws.com'];

function signed(
  options: Partial<Aws4SignOptions>,
  target = '/',
  added: readonly (readonly [string, string])[] = [],
): IncomingRequest {
  const { fields } = signAws4({ method: 'GET', target, fields: [host] }, signOptions(options));
  return received({ method: 'GET', target, fields: [host, ...fields, ...added] });
}

function presigned(expires: number, options: Partial<Aws4SignOptions>): IncomingRequest {
  const { target } = presignAws4(
    { method: 'GET', target: '/', fields: [host] },
    signOptions(options),
    expires,
  );
  return received({ method: 'GET', target, fields: [host] });
}

/** The status, the media type and the content of the response of a service in the form of AWS. */
async function answer(
  request: IncomingRequest,
  service: string,
  options: Readonly<Record<string, unknown>> = {},
) {
  const opened = openAws4Service({ service, errors: 'aws', ...options });
  const problem = await opened.problemWith(request);
  const response = toProblemResponse(problem, request, createRequestTrace(), 'now', writeProblem);
  const type = response.headers.find(([name]) => name === 'Content-Type')?.[1];
  return { status: response.status, type, content: String(response.body) };
}

test('a wrong signature gets the error document of Amazon S3', async () => {
  const { status, type, content } = await answer(
    signed({ service: 's3', secret: 'x' }, '/a%20b?c=1&b=2'),
    's3',
  );
  assert.deepEqual([status, type], [403, 'application/xml']);
  assert.match(
    content,
    /^<\?xml version="1.0" encoding="UTF-8"\?>\n<Error><Code>SignatureDoesNotMatch<\/Code><Message>The request signature we calculated does not match the signature you provided\. Check your key and signing method\.<\/Message><AWSAccessKeyId>AKIDEXAMPLE<\/AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256\n20150830T123600Z\n20150830\/us-east-1\/s3\/aws4_request\n[0-9a-f]{64}<\/StringToSign><SignatureProvided>[0-9a-f]{64}<\/SignatureProvided><StringToSignBytes>41 57 53 34 [0-9a-f ]+<\/StringToSignBytes><CanonicalRequest>GET\n\/a%20b\nb=2&amp;c=1\nhost:example\.amazonaws\.com\n[^<]*<\/CanonicalRequest><CanonicalRequestBytes>47 45 54 0a [0-9a-f ]+<\/CanonicalRequestBytes><RequestId>[0-9A-F]{16}<\/RequestId><\/Error>$/,
  );
  assert.ok(!content.includes(secret));
});

test('a wrong signature gets the error document of other AWS services', async () => {
  const { status, type, content } = await answer(signed({ secret: 'x' }), 'service');
  assert.deepEqual([status, type], [403, 'text/xml']);
  assert.match(
    content,
    /^<\?xml[^>]+>\n<ErrorResponse><Error><Type>Sender<\/Type><Code>SignatureDoesNotMatch<\/Code><Message>The request signature we calculated does not match [^<]+The Canonical String for this request should have been\n'GET\n\/\n\nhost:example\.amazonaws\.com\n[^<]+'\n\nThe String-to-Sign should have been\n'AWS4-HMAC-SHA256\n[^<]+'\n<\/Message><\/Error><RequestId>[0-9A-F]{16}<\/RequestId><\/ErrorResponse>$/,
  );
});

test('characters that XML does not allow are replaced', async () => {
  const request = signed({ service: 's3', secret: 'x' }, '/');
  const raw = request.headers.raw.map((value) => value.replace('host;', 'a;host;'));
  const fields = raw.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : [],
  );
  const odd = received({ method: 'GET', target: '/', fields: [...fields, ['A', '<&\u0001>']] });
  const { content } = await answer(odd, 's3');
  assert.match(content, /\na:&lt;&amp;\ufffd(?:>|&gt;)\n/);
});

const late = time - 901_000;
const codes: [title: string, request: IncomingRequest, status: number, code: string, more: RegExp][] = [
  [
    'an unknown access key',
    signed({ service: 's3', accessKeyId: 'AKIDUNKNOWN' }),
    403,
    'InvalidAccessKeyId',
    /<AWSAccessKeyId>AKIDUNKNOWN</,
  ],
  [
    'an expired secret',
    signed({ service: 's3', secret: 'expired-secret-of-somebody' }),
    400,
    'ExpiredToken',
    /./,
  ],
  [
    'a late request',
    signed({ service: 's3', time: late }),
    403,
    'RequestTimeTooSkewed',
    /<RequestTime>20150830T122059Z<\/RequestTime><ServerTime>2015-08-30T12:36:00Z<\/ServerTime><MaxAllowedSkewMilliseconds>900000</,
  ],
  [
    'another region',
    signed({ service: 's3', region: 'eu-west-1' }),
    400,
    'AuthorizationHeaderMalformed',
    /the region 'eu-west-1' is wrong; expecting 'us-east-1'.*<Region>us-east-1</s,
  ],
  [
    'another service',
    signed({ service: 'sqs' }),
    400,
    'AuthorizationHeaderMalformed',
    /incorrect service "sqs"/,
  ],
  [
    'a header that is not signed',
    signed({ service: 's3' }, '/', [['x-amz-acl', 'private']]),
    403,
    'AccessDenied',
    /<HeadersNotSigned>x-amz-acl</,
  ],
  [
    'a presigned URL that has expired',
    presigned(60, { service: 's3', time: time - 61_000 }),
    403,
    'AccessDenied',
    /Request has expired.*<X-Amz-Expires>60<\/X-Amz-Expires><Expires>2015-08-30T12:35:59Z</s,
  ],
  [
    'a presigned URL of the future',
    presigned(60, { service: 's3', time: time + 901_000 }),
    403,
    'AccessDenied',
    /Request is not valid yet/,
  ],
];
for (const [title, request, status, code, more] of codes) {
  test(`${title} gets the error ${code} of Amazon S3`, async () => {
    const found = await answer(request, 's3');
    assert.equal(found.status, status);
    assert.ok(found.content.includes(`<Error><Code>${code}</Code>`), found.content);
    assert.match(found.content, more);
  });
}

const others: [title: string, request: IncomingRequest, status: number, code: string, message: RegExp][] = [
  [
    'an unknown access key',
    signed({ accessKeyId: 'AKIDUNKNOWN' }),
    403,
    'InvalidClientTokenId',
    /security token included in the request is invalid/,
  ],
  ['an expired secret', signed({ secret: 'expired-secret-of-somebody' }), 403, 'ExpiredToken', /expired/],
  [
    'a late request',
    signed({ time: late }),
    403,
    'SignatureDoesNotMatch',
    /Signature expired: 20150830T122059Z is now earlier than 20150830T122100Z \(20150830T123600Z - 15 min\.\)/,
  ],
  [
    'an early request',
    signed({ time: time + 901_000 }),
    403,
    'SignatureDoesNotMatch',
    /Signature not yet current: 20150830T125101Z is still later than 20150830T125100Z \(20150830T123600Z \+ 15 min\.\)/,
  ],
  [
    'another region',
    signed({ region: 'eu-west-1' }),
    403,
    'SignatureDoesNotMatch',
    /Credential should be scoped to a valid region, not 'eu-west-1'/,
  ],
  [
    'another service',
    signed({ service: 'sqs' }),
    403,
    'SignatureDoesNotMatch',
    /Credential should be scoped to correct service: 'service'/,
  ],
  [
    'malformed credentials',
    received({
      method: 'GET',
      target: '/',
      fields: [host, ['Authorization', 'AWS4-HMAC-SHA256 Credential=x']],
    }),
    400,
    'IncompleteSignature',
    /SignedHeaders is missing/,
  ],
];
for (const [title, request, status, code, message] of others) {
  test(`${title} gets the error ${code} of other services`, async () => {
    const found = await answer(request, 'service');
    assert.equal(found.status, status);
    assert.ok(found.content.includes(`<Code>${code}</Code>`), found.content);
    assert.match(found.content, message);
  });
}

test('problem documents are the default, whatever the service', async () => {
  for (const service of ['s3', 'service']) {
    const problem = await openAws4Service({ service }).problemWith(signed({ service, secret: 'x' }));
    assert.equal(problem.document, undefined);
    const { type } = writeProblem(problem, '/', undefined);
    assert.match(type, /^application\/problem\+xml/);
  }
});

test('errors in the format of AWS ignore Accept, and can have further fields', async () => {
  const problem = await openAws4Service({ errors: 'aws' }).problemWith(signed({ secret: 'x' }));
  const more = problem.with([['WWW-Authenticate', 'x']]);
  assert.equal(writeProblem(more, '/', 'application/json').type, 'text/xml');
  assert.equal(more.status, 401);
  assert.ok(more.headers.some(([name]) => name === 'x-amz-request-id'));
});

const parsing = `
import sys
from botocore.parsers import create_parser
protocol, status = sys.argv[1], int(sys.argv[2])
answer = {'status_code': status, 'headers': {}, 'body': sys.stdin.buffer.read()}
parsed = create_parser(protocol).parse(answer, None)
print(parsed['Error']['Code'])
`;

test('botocore reads the errors', async (context) => {
  const found = spawnSync('python3', ['-c', 'import botocore.parsers']);
  if (found.status !== 0) return context.skip('python3-botocore is not installed');
  for (const [service, protocol] of [
    ['s3', 'rest-xml'],
    ['service', 'query'],
  ] as const) {
    const { status, content } = await answer(signed({ service, secret: 'x' }), service);
    const run = spawnSync('python3', ['-c', parsing, protocol, String(status)], {
      input: content,
      encoding: 'utf8',
    });
    assert.equal(run.stdout, 'SignatureDoesNotMatch\n', run.stderr);
  }
});
