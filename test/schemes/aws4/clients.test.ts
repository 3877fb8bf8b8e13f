import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import test, { type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { listen } from '../../../src/net/listener.ts';
import { accessKeyId, openAws4Service, secret } from '../../support/schemes/clients/aws4.ts';
import {
  absent,
  type ClientRequest,
  signWithAws4Fetch,
  signWithSmithy,
} from '../../support/schemes/clients/aws4-clients.ts';

const limits = {
  headers: 16_384,
  target: 8192,
  connections: 100,
  headerTimeout: 30_000,
  requestTimeout: 30_000,
};
const region = 'us-east-1';

/** Starts a server that answers with the name of the user, or with the type of the problem. Returns its authority. */
async function serve(context: TestContext, service: string): Promise<string> {
  const opened = openAws4Service({ region, service, unsignedPayload: service === 's3' });
  opened.clock.set(Date.now());
  const plain = (content: string) => ({
    status: 200,
    headers: [['Content-Type', 'text/plain']] satisfies [string, string][],
    body: content,
  });
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    limits,
    respond: async (request) => plain(await opened.verdictOn(request)),
    refuse: (problem) => plain(problem.type),
  });
  context.after(() => listener.close(0));
  return `127.0.0.1:${listener.port}`;
}

/** Sends a request exactly as the client signed it. */
function send(host: string, { method, path, headers, body }: ClientRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const [hostname, port] = host.split(':');
    const sent = httpRequest({ hostname, port, method, path, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve(text);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const json = '{"title":"A “quoted” title"}';
const services = ['execute-api', 's3'];

for (const service of services) {
  const options = { service, region };

  test(`requests of @smithy/signature-v4 for ${service} are accepted`, async (context) => {
    const reason = absent('@smithy/signature-v4');
    if (reason !== undefined) return context.skip(reason);
    const host = await serve(context, service);
    const get = {
      method: 'GET',
      path: '/articles/a%20b',
      query: { limit: '5', b: ['y', 'x'], "c'": '!*' },
      headers: { host },
    };
    const put = {
      method: 'PUT',
      path: '/a',
      headers: { host, 'content-type': 'application/json' },
      body: json,
    };
    for (const request of [get, put]) {
      const signed = await signWithSmithy(request, options);
      assert.equal(await send(host, signed), accessKeyId);
      assert.equal(await send(host, { ...signed, method: 'DELETE' }), 'credentials-refused');
      assert.equal(
        await send(host, await signWithSmithy(request, { ...options, sessionToken: 'a/token+=' })),
        accessKeyId,
      );
    }
    assert.equal(
      await send(
        host,
        await signWithSmithy(
          {
            ...get,
            headers: { host, ...(service === 's3' ? { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } : {}) },
          },
          options,
          60,
        ),
      ),
      accessKeyId,
    );
  });

  test(`requests of aws4fetch for ${service} are accepted`, async (context) => {
    const reason = absent('aws4fetch');
    if (reason !== undefined) return context.skip(reason);
    const host = await serve(context, service);
    const url = `http://${host}/articles/a%20b?limit=5&b=x+y&a=%2F`;
    const outcome = async (request: Request) => (await fetch(request)).text();
    assert.equal(await outcome(await signWithAws4Fetch(url, { method: 'GET' }, options)), accessKeyId);
    const put = { method: 'PUT', body: json, headers: { 'Content-Type': 'application/json' } };
    assert.equal(
      await outcome(await signWithAws4Fetch(url, put, { ...options, sessionToken: 'token' })),
      accessKeyId,
    );
    const { url: presigned } = await signWithAws4Fetch(
      `${url}&X-Amz-Expires=60`,
      { method: 'GET' },
      options,
      true,
    );
    assert.equal(await (await fetch(presigned)).text(), accessKeyId);
  });
}

const run = promisify(execFile);

/** Returns the standard output of a program; undefined if it is not installed. */
async function output(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await run(program, args)).stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

test('requests of curl --aws-sigv4 are accepted', async (context) => {
  const version = /^curl (\d+)\.(\d+)/.exec((await output('curl', ['--version'])) ?? '');
  if (version === null) return context.skip('curl is not installed');
  if (Number(version[1]) * 1000 + Number(version[2]) < 7075) return context.skip('curl is older than 7.75');
  const host = await serve(context, 'execute-api');
  const curl = (...args: string[]) =>
    output('curl', [
      '--silent',
      '--show-error',
      '--max-time',
      '20',
      '--aws-sigv4',
      `aws:amz:${region}:execute-api`,
      '--user',
      `${accessKeyId}:${secret}`,
      ...args,
    ]);
  assert.equal(await curl(`http://${host}/articles`), accessKeyId);
  assert.equal(await curl(`http://${host}/articles?a=1`), accessKeyId);
  assert.equal(
    await curl(
      '--request',
      'PUT',
      '--header',
      'Content-Type: application/json',
      '--data-binary',
      '{"a":1}',
      `http://${host}/articles/1`,
    ),
    accessKeyId,
  );
  assert.equal(
    await curl('--user', `${accessKeyId}:wrong`, `http://${host}/articles`),
    'credentials-refused',
  );
});

const botocore = `
import sys, urllib.request
from botocore.auth import SigV4Auth, SigV4QueryAuth, S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
origin, service, identifier, secret = sys.argv[1:5]
header, query = (S3SigV4Auth, S3SigV4QueryAuth) if service == 's3' else (SigV4Auth, SigV4QueryAuth)
def send(kind, method, path, body=None, token=None, expires=None):
    request = AWSRequest(method=method, url=origin + path, data=body)
    if body: request.headers['Content-Type'] = 'application/json'
    options = {} if expires is None else {'expires': expires}
    kind(Credentials(identifier, secret, token), service, '${region}', **options).add_auth(request)
    sent = urllib.request.Request(request.url, data=body, headers=dict(request.headers.items()), method=method)
    print(urllib.request.urlopen(sent, timeout=20).read().decode())
send(header, 'GET', '/articles/a%20b?limit=5&b=1')
send(header, 'PUT', '/articles/1', b'{"title":"x"}')
send(header, 'GET', '/articles', token='a/token+=')
send(query, 'GET', '/articles?limit=5', expires=60)
`;

for (const service of services) {
  test(`requests of botocore for ${service} are accepted`, async (context) => {
    const version = await output('python3', [
      '-c',
      'import importlib.util as u; print(u.find_spec("botocore") is not None)',
    ]);
    if (version?.trim() !== 'True') return context.skip('python3-botocore is not installed');
    const host = await serve(context, service);
    const said = await output('python3', ['-c', botocore, `http://${host}`, service, accessKeyId, secret]);
    assert.equal(said, `${accessKeyId}\n`.repeat(4));
  });
}
