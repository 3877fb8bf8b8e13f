import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import test from 'node:test';
import { accessKeyId, openAws4Service, received, secret, time } from '../../support/schemes/clients/aws4.ts';
import { host, presigned, signed, withCredentials } from './aws4-requests.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

test('an access key id among the keys of a user authenticates the user', async () => {
  const service = openAws4Service();
  const key = { accessKeyId: 'AKIAANN', secret: 'the-secret-of-the-key' };
  assert.equal(await service.verdictOn(signed(key)), 'ann');
  const own = { accessKeyId: 'ann', secret: 'the-secret-of-ann-herself' };
  assert.equal(await service.verdictOn(signed(own)), 'ann');
  assert.equal(await service.verdictOn(signed({ ...own, secret: key.secret })), 'credentials-refused');
  assert.equal(await service.verdictOn(signed({ ...key, secret: own.secret })), 'credentials-refused');
});

test('a non-ASCII name is accepted in UTF-8, in the header and in the query', async () => {
  const service = openAws4Service();
  const jürgen = { accessKeyId: 'jürgen', secret: 'the-secret-of-jürgen' };
  assert.equal(await service.verdictOn(signed(jürgen)), 'jürgen');
  assert.equal(await service.verdictOn(presigned(60, jürgen)), 'jürgen');
});

test('Date replaces a missing X-Amz-Date, whether it is signed or not', async () => {
  const service = openAws4Service();
  for (const names of ['date;host', 'host']) {
    const lines = names === 'host' ? '' : 'date:Sun, 30 Aug 2015 12:36:00 GMT\n';
    const canonical = `GET\n/\n\n${lines}host:example.amazonaws.com\n\n${names}\n${hash('')}`;
    const scope = '20150830/us-east-1/service/aws4_request';
    const text = `AWS4-HMAC-SHA256\n20150830T123600Z\n${scope}\n${hash(canonical)}`;
    const key = scope.split('/').reduce<string | Buffer>((above, part) => hmac(above, part), `AWS4${secret}`);
    const signature = hmac(key, text).toString('hex');
    const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
    const request = (date: string) =>
      received({
        method: 'GET',
        target: '/',
        fields: [host, ['Date', date], ['Authorization', authorization]],
      });
    assert.equal(await service.verdictOn(request('Sun, 30 Aug 2015 12:36:00 GMT')), accessKeyId);
    assert.equal(await service.verdictOn(request('Sun, 30 Aug 2015 12:36:01 GMT')), 'credentials-refused');
    assert.equal(await service.verdictOn(request('yesterday')), 'malformed-credentials');
  }
});

for (const [request, problem, said] of [
  [signed({ region: 'eu-west-1' }), 'credentials-refused', /^The scope names the region "eu-west-1"/],
  [signed({ service: 's3' }), 'credentials-refused', /^The scope names the service "s3"/],
  [
    withCredentials(signed(), (value) => value.replace('/20150830/', '/20150831/')),
    'malformed-credentials',
    /date of the scope, 20150831, is not the day of the request, 20150830/,
  ],
  [
    signed({ without: 'X-Amz-Date' }),
    'malformed-credentials',
    /SignedHeaders contains x-amz-date, which the request does not have/,
  ],
  [
    signed({ target: presigned(60).target.replace('?', '?a=1&') }),
    'malformed-credentials',
    /^The signature is in Authorization and in X-Amz-Signature\.$/,
  ],
] as const)
  test(`a request is refused: ${said.source}`, async () => {
    const { type, detail } = await openAws4Service().problemWith(request);
    assert.equal(type, problem);
    assert.match(detail, said);
  });

test('every field X-Amz-… must be signed, but the session token only for Amazon S3', async () => {
  const added = (name: string) => ({ added: [[name, 'x']] as const });
  const { type, detail } = await openAws4Service().problemWith(signed(added('X-Amz-Meta')));
  assert.equal(type, 'malformed-credentials');
  assert.match(detail, /x-amz-meta is not signed/);
  assert.equal(await openAws4Service().verdictOn(presigned(60, added('x-amz-acl'))), 'malformed-credentials');
  assert.equal(await openAws4Service().verdictOn(signed(added('X-Amz-Security-Token'))), accessKeyId);
  const s3 = openAws4Service({ service: 's3' });
  assert.equal(
    await s3.verdictOn(signed({ service: 's3', ...added('X-Amz-Security-Token') })),
    'malformed-credentials',
  );
  assert.equal(await s3.verdictOn(signed({ service: 's3', sessionToken: 'token' })), accessKeyId);
  assert.equal(await s3.verdictOn(signed({ service: 's3', added: [['X-Amzn-Trace-Id', 'x']] })), accessKeyId);
});

test('a replay is accepted, as by AWS, unless the option refuses it', async () => {
  const request = signed();
  const lax = openAws4Service();
  assert.equal(await lax.verdictOn(request), accessKeyId);
  assert.equal(await lax.verdictOn(request), accessKeyId);
  const strict = openAws4Service({ replay: 'refuse' });
  assert.equal(await strict.verdictOn(request), accessKeyId);
  assert.equal(await strict.verdictOn(request), 'nonce-replayed');
  const url = presigned(86_400);
  assert.equal(await strict.verdictOn(url), accessKeyId);
  for (const hours of [1, 23]) {
    strict.clock.set(time + hours * 3_600_000);
    assert.equal(await strict.verdictOn(url), 'nonce-replayed');
  }
});

test('with replays refused, dates before the start of the server are refused', async () => {
  const notBefore = time - 10_000;
  const request = signed({ time: time - 11_000 });
  assert.equal(
    await openAws4Service({ replay: 'refuse' }, { notBefore }).verdictOn(request),
    'date-out-of-window',
  );
  assert.equal(await openAws4Service({}, { notBefore }).verdictOn(request), accessKeyId);
});

test('the trace records the checks', async () => {
  const service = openAws4Service({ replay: 'refuse' });
  const put = signed({ method: 'PUT', content: 'abc' });
  assert.deepEqual((await service.trace(put)).passed, [
    'parse',
    'user',
    'signature',
    'date',
    'content',
    'nonce',
  ]);
  const again = await service.trace(put);
  assert.equal(again.failedAt, 'nonce');
  const late = await service.trace(signed({ time: time - 901_000 }));
  assert.deepEqual([late.failedAt, late.passed], ['date', ['parse', 'user', 'signature']]);
  const malformed = await service.trace(withCredentials(signed(), () => 'AWS4-HMAC-SHA256 x'));
  assert.equal(malformed.failedAt, 'parse');
});

test('the challenge names the algorithm, the region and the service', () => {
  const { scheme } = openAws4Service();
  const challenge = scheme.challenge({ peer: '127.0.0.1', secure: false });
  assert.equal(challenge, 'AWS4-HMAC-SHA256 realm="test", region="us-east-1", service="service"');
});

test('the access key id is the claimed user, in the header and in the query', () => {
  const { scheme } = openAws4Service();
  const request = signed();
  const rest = (request.headers.get('authorization') ?? '').slice('AWS4-HMAC-SHA256 '.length);
  assert.equal(scheme.claimedUser?.(rest, request), accessKeyId);
  assert.equal(scheme.claimedUser?.('', presigned(60)), accessKeyId);
  assert.equal(scheme.claimedUser?.('x', request), undefined);
});
