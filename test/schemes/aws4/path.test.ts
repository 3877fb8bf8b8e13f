// How Amazon S3 reads a "+" in a path: its CanonicalRequest has %20 (SignatureDoesNotMatch of a GET for /libstdc++).
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type SigningScheme, signRequest } from '../../../src/client/index.ts';
import { type Double, startDouble } from '../../../src/double/index.ts';

const now = Date.UTC(2026, 10, 22, 12);
const secret = 'wJalrXUtnFEMI';
const host = 'bucket.example';
const emptyHash = createHash('sha256').digest('hex');

async function open(context: TestContext, plusInPath?: 'plus' | 'space', service = 's3'): Promise<Double> {
  const double = await startDouble({
    https: false,
    now,
    users: { ann: { secret, keys: { AKIDEXAMPLE: { algorithm: 'aws4', secret } } } },
    schemes: {
      aws4: { region: 'us-east-1', service, ...(plusInPath !== undefined && { plusInPath }) },
    },
  });
  context.after(() => double.close());
  double.stub({ path: '/bucket/{key}' }, { status: 204 });
  return double;
}

/** Signs a GET whose canonical path is given, and sends it for a path. Returns the hint, or undefined if it was accepted. */
async function send(double: Double, canonicalPath: string, path: string): Promise<string | undefined> {
  const stamp = '20261122T120000Z';
  const scope = '20261122/us-east-1/s3/aws4_request';
  const names = 'host;x-amz-content-sha256;x-amz-date';
  const fields = `host:${host}\nx-amz-content-sha256:${emptyHash}\nx-amz-date:${stamp}\n`;
  const canonical = `GET\n${canonicalPath}\n\n${fields}\n${names}\n${emptyHash}`;
  const hashed = createHash('sha256').update(canonical).digest('hex');
  let key: string | Buffer = `AWS4${secret}`;
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
  const signature = createHmac('sha256', key)
    .update(`AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${hashed}`)
    .digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  const { status } = await double.fetch(path, {
    headers: {
      Host: host,
      'X-Amz-Date': stamp,
      'X-Amz-Content-Sha256': emptyHash,
      Authorization: authorization,
    },
  });
  const entry = double.journal.last();
  assert.equal(status, entry?.principal === undefined ? 401 : 204, `${entry}`);
  return status === 204 ? undefined : (entry?.auth?.hint ?? '');
}

test('Amazon S3 reads a + in the path as a space, however it is signed', async (context) => {
  const double = await open(context);
  assert.equal(await send(double, '/bucket/libstdc%20%20.rpm', '/bucket/libstdc++.rpm'), undefined);
  assert.equal(await send(double, '/bucket/a%2Bb', '/bucket/a%2Bb'), undefined);
  assert.match(
    (await send(double, '/bucket/a%2Bb', '/bucket/a+b')) ?? '',
    /\+ of the path was signed as %2B/,
  );
});

test('MinIO signs a + in the path as %2B', async (context) => {
  const double = await open(context, 'plus');
  assert.equal(await send(double, '/bucket/libstdc%2B%2B.rpm', '/bucket/libstdc++.rpm'), undefined);
  assert.match(
    (await send(double, '/bucket/a%20b', '/bucket/a+b')) ?? '',
    /\+ of the path was signed as a space/,
  );
});

test('signRequest signs a + in the path as the declaration says', async (context) => {
  for (const [service, plusInPath] of [
    ['s3', undefined],
    ['s3', 'plus'],
    ['s3', 'space'],
    ['execute-api', undefined],
  ] as const) {
    const double = await open(context, plusInPath, service);
    const scheme: SigningScheme = {
      type: 'aws4',
      region: 'us-east-1',
      service,
      accessKeyId: 'AKIDEXAMPLE',
      secret,
      ...(plusInPath !== undefined && { plusInPath }),
    };
    for (const path of ['/bucket/libstdc++.rpm', '/bucket/a%2Bb', '/bucket/a%20b']) {
      const headers = signRequest({ url: `http://${host}${path}`, scheme, date: now });
      const { status } = await double.fetch(path, { headers: { Host: host, ...headers } });
      assert.equal(status, 204, `${service} ${plusInPath} ${path} ${double.journal.last()}`);
    }
  }
});
