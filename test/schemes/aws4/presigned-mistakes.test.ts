import assert from 'node:assert/strict';
import test from 'node:test';
import { accessKeyId, openAws4Service, received, secret } from '../../support/schemes/clients/aws4.ts';
import { chain, day, hmac, sha256 } from './aws4-client.ts';

test('the explanation of a presigned URL for Amazon S3 names a hash of no content', async () => {
  const scope = `${day}/us-east-1/s3/aws4_request`;
  const query = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(`${accessKeyId}/${scope}`)}&X-Amz-Date=${day}T123600Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host`;
  const canonical = `GET\n/\n${query}\nhost:example.amazonaws.com\n\nhost\n${sha256('')}`;
  const key = chain(`AWS4${secret}`, day, 'us-east-1', 's3', 'aws4_request');
  const toSign = `AWS4-HMAC-SHA256\n${day}T123600Z\n${scope}\n${sha256(canonical)}`;
  const target = `/?${query}&X-Amz-Signature=${hmac(Buffer.from(key), toSign).toString('hex')}`;
  const url = received({ method: 'GET', target, fields: [['Host', 'example.amazonaws.com']] });
  const { failedAt, details } = await openAws4Service({ service: 's3' }).trace(url);
  assert.equal(failedAt, 'signature');
  assert.match(String(details['hint']), /must be signed with UNSIGNED-PAYLOAD/);
});
