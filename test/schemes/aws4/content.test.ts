import assert from 'node:assert/strict';
import test from 'node:test';
import { accessKeyId, openAws4Service, received, time } from '../../support/schemes/clients/aws4.ts';
import { host, presigned, signed, unread } from './aws4-requests.ts';

test('a streaming signature is refused with 501 and a problem type of its own', async () => {
  for (const value of ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER']) {
    const request = signed({
      method: 'PUT',
      content: 'abc',
      without: 'X-Amz-Content-Sha256',
      added: [['x-amz-content-sha256', value]],
    });
    const { type, status } = await openAws4Service().problemWith(unread(request));
    assert.deepEqual([type, status], ['streaming-signature-not-implemented', 501]);
    const explained = await openAws4Service({}, { explain: true }).problemWith(unread(request));
    assert.match(String(explained.members['hint']), /requestChecksumCalculation to "WHEN_REQUIRED"/);
  }
});

test('unsigned content is accepted with unsignedPayload, and by default in presigned requests for Amazon S3', async () => {
  const request = signed({ method: 'PUT', content: 'abc', unsignedPayload: true });
  assert.equal(await openAws4Service().verdictOn(unread(request)), 'digest-required');
  assert.equal(await openAws4Service({ unsignedPayload: true }).verdictOn(unread(request)), accessKeyId);
  assert.equal(await openAws4Service().verdictOn(signed({ unsignedPayload: true })), accessKeyId);
  const put = presigned(60, { service: 's3', method: 'PUT', content: 'abc' });
  assert.equal(await openAws4Service({ service: 's3' }).verdictOn(unread(put)), accessKeyId);
  assert.equal(
    await openAws4Service({ service: 's3', unsignedPayload: false }).verdictOn(unread(put)),
    'digest-required',
  );
});

test('UNSIGNED-PAYLOAD substituted for a signed hash is refused', async () => {
  const request = signed({ method: 'PUT', content: 'abc' });
  const fields = request.headers.raw.flatMap((name, at): [string, string][] => {
    const value = request.headers.raw[at + 1] ?? '';
    return at % 2 === 0 ? [[name, name === 'X-Amz-Content-Sha256' ? 'UNSIGNED-PAYLOAD' : value]] : [];
  });
  const substituted = received({ method: 'PUT', target: '/', content: 'xyz', fields });
  assert.equal(
    await openAws4Service({ unsignedPayload: true }).verdictOn(substituted),
    'credentials-refused',
  );
});

test('Amazon S3 requires X-Amz-Content-Sha256 in the header form', async () => {
  const { headers: fields } = signed();
  const bare = received({
    method: 'GET',
    target: '/',
    fields: [
      host,
      ['X-Amz-Date', '20150830T123600Z'],
      [
        'Authorization',
        (fields.get('authorization') ?? '').replace('/service/', '/s3/').replace('x-amz-content-sha256;', ''),
      ],
    ],
  });
  const { detail } = await openAws4Service({ service: 's3' }).problemWith(bare);
  assert.match(detail, /X-Amz-Content-Sha256 is missing/);
});

test('the content is not read if the header section is sufficient to refuse the request', async () => {
  const service = openAws4Service();
  const parts = { method: 'PUT', content: 'abc' };
  assert.equal(
    await service.verdictOn(unread(signed({ ...parts, secret: 'guessed' }))),
    'credentials-refused',
  );
  assert.equal(
    await service.verdictOn(unread(signed({ ...parts, time: time - 901_000 }))),
    'date-out-of-window',
  );
  const late = presigned(60, { ...parts, time: time - 61_000 });
  assert.equal(await service.verdictOn(unread(late)), 'date-out-of-window');
});
