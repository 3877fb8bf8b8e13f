import assert from 'node:assert/strict';
import test from 'node:test';
import type { ProblemMember } from '../../../src/http/problem.ts';
import { accessKeyId, openAws4Service, received, secret } from '../../support/schemes/clients/aws4.ts';
import { type Client, chain, day, hmac, request } from './aws4-client.ts';

/** The mistakes: what is wrong, the client, and what hint and differing part must be. */
const mistakes: [mistake: string, client: Client, hint: RegExp, differs: string][] = [
  [
    '%2B for a space in the query',
    { target: '/?q=a+b', query: 'q=a%2Bb' },
    /"\+" in the query was not decoded as a space/,
    'canonical query',
  ],
  ['path not normalized', { target: '/a//b/../c', path: '/a//b/../c' }, /not normalized/, 'canonical path'],
];

test('the client of these tests signs correctly without a mistake', async () => {
  const service = openAws4Service();
  assert.equal(await service.judge(request({})), accessKeyId);
  assert.equal(
    await service.judge(request({ method: 'POST', content: 'abc', target: '/a?b=1' })),
    accessKeyId,
  );
  assert.equal(await openAws4Service({ service: 's3' }).judge(request({ service: 's3' })), accessKeyId);
});

function text(member: ProblemMember | undefined): string {
  return typeof member === 'string' ? member : '';
}

for (const [mistake, client, hint, differs] of mistakes) {
  test(`the explanation names the mistake: ${mistake}`, async () => {
    const service = openAws4Service({ service: client.service ?? 'service' }, { explain: true });
    const { failedAt, details } = await service.trace(request(client));
    assert.equal(failedAt, 'signature');
    assert.match(text(details['hint']), hint);
    assert.equal(details['differs'], differs);
    const { type, members } = await service.problemWith(request(client));
    assert.equal(type, 'credentials-refused');
    assert.match(text(members['hint']), hint);
  });
}

test('the part that differs is shown as expected and as signed', async () => {
  const service = openAws4Service({}, { explain: true });
  const { members } = await service.problemWith(request({ target: '/?b=2&a=1', query: 'b=2&a=1' }));
  const { parts } = members;
  assert.ok(Array.isArray(parts));
  assert.deepEqual(
    parts.find(({ name }) => name === 'canonical query'),
    { name: 'canonical query', expected: 'a=1&b=2', signed: 'b=2&a=1' },
  );
  assert.deepEqual(
    parts.map(({ name }) => name),
    [
      'method',
      'canonical path',
      'canonical query',
      'header host',
      'header x-amz-date',
      'signed headers',
      'payload hash',
      'timestamp',
      'scope',
    ],
  );
});

test('no explanation contains the secret or the valid signature', async () => {
  const key = chain(`AWS4${secret}`, day, 'us-east-1', 'service', 'aws4_request');
  const service = openAws4Service({}, { explain: true });
  for (const [, client] of mistakes) {
    const { members } = await service.problemWith(request(client));
    const shown = JSON.stringify(members);
    assert.ok(!shown.includes(secret));
    assert.ok(!shown.includes(hmac(Buffer.from(key), text(members['stringToSign'])).toString('hex')));
  }
});

test('an explanation does not show whether the access key exists', async () => {
  const service = openAws4Service({}, { explain: true });
  const wrong = request({ secret: 'guessed' });
  const raw = wrong.headers.raw.map((value) => value.replaceAll(accessKeyId, 'AKIDUNKNOWN'));
  const fields = raw.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : [],
  );
  const unknown = received({ method: 'GET', target: '/', fields });
  const [one, other] = [await service.problemWith(wrong), await service.problemWith(unknown)];
  assert.deepEqual(one, other);
  assert.equal((await service.trace(unknown)).failedAt, 'user');
  assert.equal((await service.trace(wrong)).failedAt, 'signature');
});
