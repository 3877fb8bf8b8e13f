import assert from 'node:assert/strict';
import test from 'node:test';
import type { IncomingRequest } from '../../../src/http/message.ts';
import { openAws4Service } from '../../support/schemes/clients/aws4.ts';
import { countOperations } from '../../support/schemes/counted-crypto.ts';
import { signed } from './aws4-requests.ts';

/** The cryptographic operations of a refused request, which other requests precede: each secret is prepared once. */
async function countRefusal(
  request: IncomingRequest,
  ...before: readonly IncomingRequest[]
): Promise<number> {
  const service = openAws4Service();
  for (const each of before) await service.verdictOn(each);
  return countOperations(async () => assert.equal(await service.verdictOn(request), 'credentials-refused'));
}

test('a refusal costs the same for unknown, unused and used access keys, and for any number of secrets', async () => {
  const guessed = { secret: 'guessed' };
  const refused = [
    ...['AKIDUNKNOWN', 'AKIAANN', 'ann', 'empty'].map((id) => signed({ ...guessed, accessKeyId: id })),
    signed({ secret: 'expired-secret-of-somebody' }),
  ];
  const wrong = signed(guessed);
  const cost = await countRefusal(wrong, wrong);
  for (const request of refused) assert.equal(await countRefusal(request, request), cost);
  assert.equal(await countRefusal(wrong, wrong, signed()), cost);
});

test('after the first request, a request without content is verified synchronously', async () => {
  const { scheme, verdictOn } = openAws4Service();
  const request = signed();
  await verdictOn(request);
  const rest = (request.headers.get('authorization') ?? '').slice('AWS4-HMAC-SHA256 '.length);
  assert.ok('outcome' in scheme.authenticate(request, rest));
});

test('an explanation takes a bounded time, however many parameters and headers there are', async () => {
  const target = `/?${Array.from({ length: 2000 }, (_, at) => `a${at}`).join('&')}`;
  const names = Array.from({ length: 90 }, (_, at): [string, string] => [`H${at + 10}`, 'x '.repeat(40)]);
  const service = openAws4Service({}, { explain: true });
  const request = signed({ target, fields: names, secret: 'guessed' });
  const begun = process.cpuUsage();
  assert.equal(await service.verdictOn(request), 'credentials-refused');
  const { user, system } = process.cpuUsage(begun);
  assert.ok(user + system < 4_000_000, `${user + system} µs`);
});
