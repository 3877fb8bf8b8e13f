import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import type { ServiceOptions } from '../../src/service/options.ts';
import { createService } from '../../src/service/service.ts';
import { accessKeyId, secret } from '../support/schemes/clients/aws4.ts';
import { absent, type ClientRequest, signWithAws4 } from '../support/schemes/clients/aws4-clients.ts';

const region = 'eu-central-1';
const reason = absent('aws4');
const needsClient = reason === undefined ? {} : { skip: reason };
const json = { 'Content-Type': 'application/json' };
const article = '{"title":"Tea","price":{"value":"3.50","currency":"EUR"}}';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly content: string;
}

/** A service on a socket. */
interface Served {
  readonly host: string;
  send(request: ClientRequest): Promise<Answer>;
  /** Signs with aws4, and sends. */
  signed(method: string, path: string, body?: string, options?: { service?: string }): Promise<Answer>;
}

async function serve(
  context: TestContext,
  aws4: object,
  options: Partial<ServiceOptions> = {},
): Promise<Served> {
  const users = {
    ann: { secret: 'secret of ann', keys: { [accessKeyId]: { algorithm: 'aws4', secret } } },
  } as const;
  const schemes = { aws4: { region, service: 'execute-api', ...aws4 } };
  const service = createService({ users, schemes, ...options });
  const { port } = await service.listen({ port: 0 });
  context.after(() => service.close());
  const host = `127.0.0.1:${port}`;
  const send = ({ method, path, headers, body }: ClientRequest): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers }, async (response) => {
        let content = '';
        for await (const chunk of response) content += String(chunk);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, content });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  return {
    host,
    send,
    signed(method, path, body, { service: name = 'execute-api' } = {}) {
      const headers = { Host: host, Accept: 'application/json', ...(body === undefined ? {} : json) };
      return send(signWithAws4({ method, path, headers, body }, { service: name, region }));
    },
  };
}

describe('a service with AWS Signature Version 4', needsClient, () => {
  test('accepts requests of an AWS client to create, change, read and delete an item', async (context) => {
    const served = await serve(context, {});
    const created = await served.signed('POST', '/articles', article);
    assert.equal(created.status, 201);
    const { location = '' } = created.headers;
    assert.equal((await served.signed('PUT', location, article.replace('Tea', 'Milk'))).status, 200);
    assert.match((await served.signed('GET', `${location}?a=x%20y`)).content, /"title":"Milk"/);
    assert.equal((await served.signed('DELETE', location)).status, 204);
  });

  test('returns errors in the format and with the status codes of AWS if configured', async (context) => {
    const served = await serve(context, { service: 's3', errors: 'aws' });
    const headers = { Host: served.host };
    const signed = signWithAws4({ method: 'GET', path: '/articles', headers }, { service: 's3', region });
    const { status, headers: fields, content } = await served.send({ ...signed, path: '/articles?a=%3c&b' });
    assert.equal(status, 403);
    assert.equal(fields['content-type'], 'application/xml');
    assert.equal(fields['cache-control'], 'no-store');
    assert.match(fields['x-amz-request-id']?.toString() ?? '', /^[0-9A-F]{16}$/);
    assert.match(
      content,
      /<Code>SignatureDoesNotMatch<\/Code>.*<CanonicalRequest>GET\n\/articles\na=%3C&amp;b=\nhost:/s,
    );
    const head = await served.send({ ...signed, method: 'HEAD' });
    assert.deepEqual([head.status, head.content], [403, '']);
  });

  test('accepts a presigned URL without a lifetime while its date is in the window, except for Amazon S3', async (context) => {
    const served = await serve(context, {});
    const get = { method: 'GET', path: '/articles', headers: { Host: served.host } };
    // This client adds X-Amz-Expires for Amazon S3 alone.
    const { path } = signWithAws4(get, { service: 'execute-api', region }, true);
    assert.doesNotMatch(path, /X-Amz-Expires/);
    assert.equal((await served.send({ ...get, path })).status, 200);
    const old = path.replace(/X-Amz-Date=\d{8}T\d{6}Z/, 'X-Amz-Date=20150830T123600Z');
    assert.equal((await served.send({ ...get, path: old })).status, 400);
    const s3 = await serve(context, { service: 's3' });
    const ofS3 = { ...get, headers: { Host: s3.host } };
    const withLifetime = signWithAws4(ofS3, { service: 's3', region }, true).path;
    assert.equal((await s3.send({ ...ofS3, path: withLifetime })).status, 200);
    const without = withLifetime.replace(/X-Amz-Expires=\d+&/, '');
    const refused = await s3.send({ ...ofS3, path: without });
    assert.deepEqual([refused.status, /X-Amz-Expires is missing/.test(refused.content)], [400, true]);
  });

  test('returns errors in the format of AWS for requests without credentials or with another scheme', async (context) => {
    const get = { method: 'GET', path: '/articles', headers: {} };
    const access = { read: 'authenticated', write: 'authenticated' } as const;
    const collections = {
      '/articles': { element: 'articles', item: 'article', fields: { title: { type: 'text' } }, access },
    } as const;
    const answers: [service: string, authorization: string | undefined, status: number, content: RegExp][] = [
      ['s3', undefined, 403, /<Error><Code>AccessDenied</],
      ['s3', 'Foo abc', 400, /<Error><Code>InvalidArgument<.*<ArgumentName>Authorization</],
      ['s3', 'AWS AKIDEXAMPLE:c2lnbmF0dXJl', 400, /<Code>InvalidRequest<.*Please use AWS4-HMAC-SHA256/],
      ['iam', undefined, 403, /<ErrorResponse>.*<Code>MissingAuthenticationToken</],
      ['iam', 'Foo abc', 400, /<Code>IncompleteSignature</],
      ['execute-api', undefined, 403, /^\{"message":"Missing Authentication Token"\}$/],
      ['execute-api', 'Foo abc', 403, /^\{"message":"The Authorization header is not/],
    ];
    for (const [service, authorization, status, content] of answers) {
      const served = await serve(context, { service, errors: 'aws' }, { collections });
      const headers = authorization === undefined ? {} : { Authorization: authorization };
      const answer = await served.send({ ...get, headers });
      assert.equal(answer.status, status, `${service} ${authorization}`);
      assert.match(answer.content, content);
      assert.ok(!answer.content.includes('abc'));
    }
  });

  test('returns the errors of Amazon API Gateway for the service execute-api', async (context) => {
    const served = await serve(context, { errors: 'aws' });
    const headers = { Host: served.host };
    const signed = signWithAws4(
      { method: 'GET', path: '/articles', headers },
      { service: 'execute-api', region },
    );
    const { status, headers: fields, content } = await served.send({ ...signed, path: '/articles?a=1' });
    assert.deepEqual([status, fields['content-type']], [403, 'application/json']);
    assert.equal(fields['x-amzn-errortype'], 'InvalidSignatureException');
    const { message }: { message: string } = JSON.parse(content);
    assert.match(message, /The Canonical String for this request should have been\n'GET\n\/articles\na=1\n/);
    const unknown = signed.headers['Authorization']?.replace(accessKeyId, 'AKIDUNKNOWN') ?? '';
    const refused = await served.send({ ...signed, headers: { ...signed.headers, Authorization: unknown } });
    assert.equal(refused.headers['x-amzn-errortype'], 'UnrecognizedClientException');
    assert.equal(refused.content, '{"message":"The security token included in the request is invalid."}');
  });
});
