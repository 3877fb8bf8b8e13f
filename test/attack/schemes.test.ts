import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AttackTarget, type Attempt, attack, createAttempts } from '../../src/attack/index.ts';
import { createManualClock } from '../../src/clock.ts';
import { action, createService, readBytes, retryAction } from '../../src/index.ts';
import { makeIdentity } from '../support/net/transport.ts';
import { seeded } from '../support/seeded.ts';
import { long } from '../support/store/thoroughness.ts';
import { type Case, cases, publicKeys, secret, user } from './signers.ts';

const clock = createManualClock(Date.UTC(2026, 1, 9, 12, 59, 24));
const tls = makeIdentity();
const random = seeded();

/** Serves one resource that any authenticated user can read and replace, over both transports. */
async function start(context: TestContext, { schemes, secret: own = secret }: Case): Promise<AttackTarget> {
  let revision = 1;
  const type = (name: string) => ({ ...readBytes, type: name });
  const service = createService({
    clock,
    maxAuthFailures: 0,
    schemes,
    users: { [user]: { secret: own, keys: publicKeys }, jane: { secret: 'A secret of jane' } },
    resources: {
      '/things/1': {
        find: () => ({ tag: String(revision), modified: clock.now(), value: undefined }),
        GET: action('authenticated', ({ state: found }) => ({
          status: 200,
          ...(found === undefined ? {} : { state: found }),
        })),
        PUT: action(
          'authenticated',
          ({ state: found }) => {
            if (found?.tag !== String(revision)) return retryAction;
            revision += 1;
            return { status: 204 };
          },
          { reads: [type('application/json'), type('application/x-www-form-urlencoded')] },
        ),
      },
    },
  });
  context.after(() => service.close({ grace: 0 }));
  const [plain, secure] = [await service.listen({}), await service.listen({ tls })];
  return { url: plain.url, secureUrl: secure.url, ca: tls.cert };
}

/** Returns the attempts of a case that are made: in the short form, those of a group are shared among its cases. */
function select(tried: Case, attempts: readonly Attempt[]): readonly Attempt[] {
  if (long || tried.group === undefined) return attempts;
  const group = Object.values(cases).filter((each) => each.group === tried.group);
  const place = group.indexOf(tried);
  return attempts.filter(({ name }, at) => at === 0 || at % group.length === place || /signature/.test(name));
}

for (const [name, tried] of Object.entries(cases)) {
  test(`a service refuses all attempts derived from a request with ${name}`, async (context) => {
    const {
      signer,
      window,
      contentType = 'application/json',
      body = '{"title": "Ink", "pages": 12}',
    } = tried;
    const write = { method: 'PUT', headers: { 'Content-Type': contentType }, body };
    const requests = [
      [write, '/things/1', signer.tlsOnly === true ? 'secureUrl' : 'url'],
      [{}, '/things/1?b=2&a=1', 'secureUrl'],
      ...(long && signer.tlsOnly !== true
        ? ([
            [write, '/things/1', 'secureUrl'],
            [{}, '/things/1?b=2&a=1', 'url'],
          ] as const)
        : []),
    ] as const;
    // In the short form, one of the two. The seed decides.
    for (const [request, path, transport] of long ? requests : [random.pick(requests)]) {
      const target = await start(context, tried);
      const good = { ...request, url: `${target[transport]}${path}` };
      const attempts = createAttempts(good, signer, { clock, window, otherUser: 'jane' });
      const report = await attack(target, select(tried, attempts));
      assert.ok(report.passed, `seed ${random.seed}: ${good.url}\n${report}`);
      assert.equal(report.skipped.length, 0, String(report));
    }
  });
}
