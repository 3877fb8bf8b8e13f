import assert from 'node:assert/strict';
import test from 'node:test';
import { accessKeyId, openAws4Service, received, secret } from '../../support/schemes/clients/aws4.ts';
import { chain, day, hmac, sha256 } from './aws4-client.ts';

/** Presigned URLs that were changed after signing, or signed with another payload hash. */
const urls: [mistake: string, service: string, change: (target: string) => string, hint: RegExp][] = [
  [
    'session token added after signing',
    'service',
    (target) => `${target}&X-Amz-Security-Token=x`,
    /parameter X-Amz-Security-Token was left out, or added after signing/,
  ],
  [
    'parameter added after signing',
    'service',
    (target) => `${target}&limit=5`,
    /parameter limit was left out, or added after signing/,
  ],
  ['hash of no content for Amazon S3', 's3', (target) => target, /must be signed with UNSIGNED-PAYLOAD/],
];
for (const [mistake, service, change, hint] of urls) {
  test(`the explanation of a presigned URL names the mistake: ${mistake}`, async () => {
    const payload = /UNSIGNED/.test(mistake) ? 'UNSIGNED-PAYLOAD' : sha256('');
    const scope = `${day}/us-east-1/${service}/aws4_request`;
    const query = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(`${accessKeyId}/${scope}`)}&X-Amz-Date=${day}T123600Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host`;
    const canonical = `GET\n/\n${query}\nhost:example.amazonaws.com\n\nhost\n${payload}`;
    const key = chain(`AWS4${secret}`, day, 'us-east-1', service, 'aws4_request');
    const toSign = `AWS4-HMAC-SHA256\n${day}T123600Z\n${scope}\n${sha256(canonical)}`;
    const target = change(`/?${query}&X-Amz-Signature=${hmac(Buffer.from(key), toSign).toString('hex')}`);
    const url = received({ method: 'GET', target, fields: [['Host', 'example.amazonaws.com']] });
    const { failedAt, details } = await openAws4Service({ service }).trace(url);
    assert.equal(failedAt, 'signature');
    assert.match(String(details['hint']), hint);
  });
}
