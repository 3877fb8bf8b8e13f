import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { IncomingRequest } from '../../../src/http/message.ts';
import { SigningKey } from '../../../src/signature/hmac-sha256.ts';
import { openAws4Service } from '../../support/auth/aws4.ts';
import { signed } from '../../support/auth/aws4-requests.ts';

/** The number of keys that are derived for a refused request. */
async function countDerivedKeys(
  context: TestContext,
  request: IncomingRequest,
  warm?: IncomingRequest,
): Promise<number> {
  const service = openAws4Service();
  if (warm !== undefined) await service.judge(warm);
  const keys = context.mock.method(SigningKey.prototype, 'derive');
  assert.equal(await service.judge(request), 'credentials-refused');
  const cost = keys.mock.callCount();
  keys.mock.restore();
  return cost;
}

test('a refusal costs the same for unknown, unused and used access keys, and for any number of secrets', async (context) => {
  const guessed = { secret: 'guessed' };
  const wrong = signed(guessed);
  const others = ['AKIDUNKNOWN', 'AKIAANN', 'ann', 'empty'].map((id) =>
    signed({ ...guessed, accessKeyId: id }),
  );
  const cost = await countDerivedKeys(context, wrong);
  assert.equal(cost, 2);
  for (const request of others) assert.equal(await countDerivedKeys(context, request), cost);
  assert.equal(await countDerivedKeys(context, wrong, signed()), cost);
  assert.equal(
    await countDerivedKeys(context, signed({ secret: 'expired-secret-of-somebody' }), signed()),
    cost,
  );
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
  assert.equal(await service.judge(request), 'credentials-refused');
  const { user, system } = process.cpuUsage(begun);
  assert.ok(user + system < 4_000_000, `${user + system} µs`);
});
