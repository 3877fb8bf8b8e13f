import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';

interface Misnamed {
  readonly what: string;
  readonly schemes: object;
  readonly fields?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly hint: string;
}

const user = 'ann';
const aws4 = { aws4: { region: 'eu-central-1', service: 'execute-api' } };
const version2 =
  'these are credentials of AWS Signature Version 2; Version 4 is expected (AWS4-HMAC-SHA256, X-Amz-Signature)';

const timed = {
  key: {
    message: '{timestamp}{body}',
    signature: { field: 'X-Api-Sign' },
    user: { field: 'X-Api-Key' },
    timestamp: { field: 'X-Api-Time', unit: 'ms' },
  },
};

const cases: readonly Misnamed[] = [
  {
    what: 'the SHA-1 signature of GitHub',
    schemes: { github: { preset: 'github', user } },
    fields: { 'X-Hub-Signature': 'sha1=0123456789abcdef0123456789abcdef01234567' },
    hint: 'the field X-Hub-Signature was sent, the SHA-1 signature of older webhooks; X-Hub-Signature-256 is expected',
  },
  {
    what: 'the signature of Svix for Standard Webhooks',
    schemes: { hooks: { preset: 'standard-webhooks', user } },
    fields: { 'svix-signature': 'v1,AAAA' },
    hint: 'the field svix-signature was sent, the name of Svix for the same signature; webhook-signature is expected',
  },
  {
    what: 'the reverse',
    schemes: { hooks: { preset: 'svix', user } },
    fields: { 'webhook-signature': 'v1,AAAA' },
    hint: 'the field webhook-signature was sent; svix-signature is expected',
  },
  {
    what: 'a timestamp of Svix beside the right signature',
    schemes: { hooks: { preset: 'standard-webhooks', user } },
    fields: {
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
      'webhook-id': 'msg_1',
      'svix-timestamp': '1',
    },
    hint: 'the field svix-timestamp was sent, the name of Svix for the same timestamp; webhook-timestamp is expected',
  },
  {
    what: 'a field without its hyphens',
    schemes: { key: { message: '{body}', signature: { field: 'X-Partner-Signature' }, user } },
    fields: { PartnerSignature: 'a' },
    hint: 'the field PartnerSignature was sent; X-Partner-Signature is expected',
  },
  {
    what: 'a field with a typing error',
    schemes: { key: { message: '{body}', signature: { field: 'X-Partner-Signature' }, user } },
    fields: { 'X-Partner-Signatur': 'a' },
    hint: 'the field X-Partner-Signatur was sent; X-Partner-Signature is expected',
  },
  {
    what: 'the field X-Api-Signature beside other fields of the same scheme',
    schemes: timed,
    fields: { 'X-Api-Key': 'ann', 'X-Api-Time': '1', 'X-Api-Signature': 'a' },
    hint: 'the field X-Api-Signature was sent; X-Api-Sign is expected',
  },
  {
    what: 'the field X-Sign beside other fields of the same scheme',
    schemes: timed,
    fields: { 'X-Api-Key': 'ann', 'X-Api-Time': '1', 'X-Sign': 'a' },
    hint: 'the field X-Sign was sent; X-Api-Sign is expected',
  },
  {
    what: 'the field X-Signature beside other fields of the same scheme',
    schemes: timed,
    fields: { 'X-Api-Key': 'ann', 'X-Api-Time': '1', 'X-Signature': 'a' },
    hint: 'the field X-Signature was sent; X-Api-Sign is expected',
  },
  {
    what: 'the field of a timestamp beside other fields of the same scheme',
    schemes: timed,
    fields: { 'X-Api-Key': 'ann', 'X-Api-Timestamp': '1', 'X-Api-Sign': Buffer.alloc(32).toString('hex') },
    hint: 'the field X-Api-Timestamp was sent; X-Api-Time is expected',
  },
  {
    what: 'a parameter in other letter case',
    schemes: { key: { message: '{path}', signature: { query: 'sig' }, user } },
    query: '?Sig=a',
    hint: 'the query parameter Sig was sent; sig is expected',
  },
  {
    what: 'Version 2 of AWS',
    schemes: aws4,
    fields: { Authorization: 'AWS ann:c2lnbmF0dXJl' },
    hint: version2,
  },
  {
    what: 'Version 2 of AWS in the query',
    schemes: aws4,
    query: '?AWSAccessKeyId=ann&Expires=1&Signature=a',
    hint: version2,
  },
];

for (const { what, schemes, fields = {}, query = '', hint } of cases)
  test(`the journal and the response name ${what}`, async () => {
    for (const explain of [true, false]) {
      const double = await startDouble({
        https: false,
        explain,
        strictQuery: false,
        users: { ann: { secret: 'the secret of ann' } },
        schemes: Object.fromEntries(Object.entries(schemes)),
      });
      const headers = { ...fields, Accept: 'application/json' };
      const response = await double.fetch(`/articles/1${query}`, { method: 'DELETE', headers });
      const problem: unknown = await response.json();
      const { auth } = double.journal.last() ?? {};
      assert.equal(auth?.hint, hint);
      const shown =
        typeof problem === 'object' && problem !== null ? Reflect.get(problem, 'hint') : undefined;
      assert.equal(shown, explain ? hint : undefined);
      await double.close();
    }
  });

test('an explanation of missing credentials ignores fields of another purpose', async () => {
  const double = await startDouble({
    https: false,
    explain: true,
    users: { ann: { secret: 'the secret of ann' } },
    schemes: { github: { preset: 'github', user } },
  });
  const headers = { Accept: 'application/json', 'X-Request-Id': 'abc', Date: 'now', 'User-Agent': 'x' };
  const response = await double.fetch('/articles/1', { method: 'DELETE', headers });
  assert.equal(response.status, 401);
  assert.match(
    double.journal.last()?.auth?.hint ?? '',
    /^no credentials were sent; expected: .*X-Hub-Signature-256 \(github\)/,
  );
  await double.close();
});
