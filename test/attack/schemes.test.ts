import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type AttackTarget,
  type Attempt,
  attack,
  createAttempts,
  createSigner,
} from '../../src/attack/index.ts';
import { createManualClock } from '../../src/clock.ts';
import { action, createService, readBytes, retryAction } from '../../src/index.ts';
import { type Signing, signings, userOf } from '../support/double/signings.ts';
import { makeIdentity } from '../support/net/transport.ts';
import { seeded } from '../support/seeded.ts';
import { long } from '../support/store/thoroughness.ts';

const clock = createManualClock(Date.UTC(2026, 1, 9, 12, 59, 24));
const tls = makeIdentity();
const random = seeded();

/** Those that differ in the algorithm alone. In the short form, the attempts are shared among them. */
const publicKeys = [
  'message-signatures with ed25519',
  'message-signatures with ecdsa-p256-sha256',
  'message-signatures with ecdsa-p384-sha384',
  'message-signatures with rsa-pss-sha512',
  'message-signatures with rsa-v1_5-sha256',
];

/** The credentials that are attacked. */
const attacked = [
  ...publicKeys,
  'message-signatures with the secret',
  'message-signatures with a shared key',
  'aws4',
  'aws4, presigned',
  'aws4 of S3',
  'aws4 of S3, presigned',
  'aws4 without replays',
  'other fields, and a time in milliseconds',
  'a signature of the URL in the query',
  'stripe without replays',
  ...['stripe', 'github', 'slack', 'shopify', 'zoom', 'twilio', 'standard-webhooks'].map(
    (name) => `preset ${name}`,
  ),
  'a key in a field, with its user',
  'draft-cavage without replays',
  'a scheme in code',
];

/** Serves one resource that any authenticated user can read and replace, over both transports. */
async function start(context: TestContext, signing: Signing): Promise<AttackTarget> {
  let revision = 1;
  const type = (name: string) => ({ ...readBytes, type: name });
  const service = createService({
    clock,
    maxAuthFailures: 0,
    schemes: signing.schemes ?? {},
    users: { ann: userOf(signing), jane: { secret: 'A secret of jane' } },
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

/** Returns the attempts that are made. */
function select(tried: string, attempts: readonly Attempt[]): readonly Attempt[] {
  const place = publicKeys.indexOf(tried);
  if (long || place < 0) return attempts;
  return attempts.filter(
    ({ name }, at) => at === 0 || at % publicKeys.length === place || /signature/.test(name),
  );
}

for (const name of attacked) {
  test(`a service refuses all attempts derived from a request with ${name}`, async (context) => {
    const tried = signings[name] ?? assert.fail(name);
    const {
      schemes = {},
      client,
      type: contentType = 'application/json',
      body = '{"title": "Ink", "pages": 12}',
    } = tried;
    const signer = Reflect.apply(createSigner, undefined, [client]);
    const window = 'aws4' in schemes ? 900 : 300;
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
      const report = await attack(target, select(name, attempts));
      assert.ok(report.passed, `seed ${random.seed}: ${good.url}\n${report}`);
      assert.equal(report.skipped.length, 0, String(report));
    }
  });
}
