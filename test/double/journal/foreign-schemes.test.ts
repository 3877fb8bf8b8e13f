import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';

const sent: Readonly<
  Record<string, readonly [headers: Record<string, string>, target: string, hint: RegExp]>
> = {
  'draft-cavage in Authorization': [
    { Authorization: 'Signature keyId="ann",signature="AAAA"' },
    '/articles/1',
    /draft-cavage-http-signatures was sent; configure the scheme draft-cavage/,
  ],
  'draft-cavage in Signature': [
    { Signature: 'keyId="ann",signature="AAAA"' },
    '/articles/1',
    /draft-cavage-http-signatures was sent; configure the scheme draft-cavage/,
  ],
  'RFC 9421': [
    { Signature: 'sig1=:AAAA:', 'Signature-Input': 'sig1=();created=1' },
    '/articles/1',
    /RFC 9421\) was sent; configure the scheme message-signatures/,
  ],
  'Signature Version 4': [
    { Authorization: 'AWS4-HMAC-SHA256 Credential=a' },
    '/articles/1',
    /AWS Signature Version 4 was sent; configure the scheme aws4/,
  ],
  'a presigned URL': [{}, '/articles/1?X-Amz-Signature=00', /AWS Signature Version 4 was sent/],
  'a form with a POST policy': [
    { 'Content-Type': 'multipart/form-data; boundary=b' },
    '/articles/1',
    /those within a form \(a POST policy of Amazon S3\) are not read: sign the request, or presign its URL/,
  ],
  'Signature Version 4A': [
    { Authorization: 'AWS4-ECDSA-P256-SHA256 Credential=a' },
    '/articles/1',
    /Version 4A was sent, which is not verified; sign with Version 4/,
  ],
};

for (const [name, [headers, target, hint]] of Object.entries(sent))
  test(`the journal names credentials of a scheme that is not configured: ${name}`, async (context) => {
    const double = await startDouble({ https: false, users: ['ann'] });
    context.after(() => double.close());
    await double.fetch(target, { method: 'DELETE', headers });
    assert.match(`${double.journal.last()}`, hint);
  });
