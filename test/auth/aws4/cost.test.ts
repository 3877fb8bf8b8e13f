import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Request } from '../../../src/http/message.ts';
import { SigningKey } from '../../../src/signature/hmac-sha256.ts';
import { accessKeyId, openAws4Service, time } from '../../support/auth/aws4.ts';
import { signed } from '../../support/auth/aws4-requests.ts';

/** The number of digests and of derived keys for a refused request. */
async function costOf(
  context: TestContext,
  request: Request,
  warm?: Request,
): Promise<[digests: number, keys: number]> {
  const service = openAws4Service();
  if (warm !== undefined) await service.outcomeOf(warm);
  const digests = context.mock.method(SigningKey.prototype, 'digest');
  const keys = context.mock.method(SigningKey.prototype, 'derive');
  assert.equal(await service.outcomeOf(request), 'credentials-refused');
  const cost: [number, number] = [digests.mock.callCount(), keys.mock.callCount()];
  digests.mock.restore();
  keys.mock.restore();
  return cost;
}

test('a refusal costs the same for unknown, unused and used access keys, and for any number of secrets', async (context) => {
  const guessed = { secret: 'guessed' };
  const wrong = signed(guessed);
  const others = ['AKIDUNKNOWN', 'AKIAANN', 'ann', 'empty'].map((id) =>
    signed({ ...guessed, accessKeyId: id }),
  );
  const cost = await costOf(context, wrong);
  assert.deepEqual(cost, [2, 2]);
  for (const request of others) assert.deepEqual(await costOf(context, request), cost);
  assert.deepEqual(await costOf(context, wrong, signed()), cost);
  assert.deepEqual(await costOf(context, signed({ secret: 'expired-secret-of-somebody' }), signed()), cost);
});

test('a signing key is derived once for a day', async (context) => {
  const service = openAws4Service();
  await service.outcomeOf(signed());
  const [another, tomorrow] = [signed({ target: '/another' }), signed({ time: time + 86_400_000 })];
  const keys = context.mock.method(SigningKey.prototype, 'derive');
  assert.equal(await service.outcomeOf(another), accessKeyId);
  assert.equal(keys.mock.callCount(), 0);
  service.clock.set(time + 86_400_000);
  assert.equal(await service.outcomeOf(tomorrow), accessKeyId);
  assert.equal(keys.mock.callCount(), 1);
});

test('after the first request, a request without content is verified synchronously', async () => {
  const { scheme, verdictOn } = openAws4Service();
  const request = signed();
  await verdictOn(request);
  const rest = (request.fields.get('authorization') ?? '').slice('AWS4-HMAC-SHA256 '.length);
  assert.ok('outcome' in scheme.authenticate(request, rest));
});

test('an explanation takes a bounded time, however many parameters and headers there are', async () => {
  const target = `/?${Array.from({ length: 2000 }, (_, at) => `a${at}`).join('&')}`;
  const names = Array.from({ length: 90 }, (_, at): [string, string] => [`H${at + 10}`, 'x '.repeat(40)]);
  const service = openAws4Service({}, { explain: true });
  const request = signed({ target, fields: names, secret: 'guessed' });
  const begun = process.cpuUsage();
  assert.equal(await service.outcomeOf(request), 'credentials-refused');
  const { user, system } = process.cpuUsage(begun);
  assert.ok(user + system < 4_000_000, `${user + system} µs`);
});
