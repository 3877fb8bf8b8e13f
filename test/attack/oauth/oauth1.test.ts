import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type AttackOAuth1Options, attackOAuth1 } from '../../../src/attack/index.ts';
import { startDouble } from '../../../src/double/index.ts';
import { startNaive } from '../fixture.ts';

const client = { key: 'partner', secret: 'a secret of partner' };
const otherClient = { key: 'rival', secret: 'a secret of rival' };
const callback = 'https://partner.example/ready';

async function optionsFor(context: TestContext, hole?: string): Promise<AttackOAuth1Options> {
  const url = await startNaive(context, 'authorization-server/oauth1', { hole });
  return {
    client,
    otherClient,
    callback,
    endpoints: endpointsAt(url, ''),
    async approve(asked) {
      const response = await fetch(asked, { redirect: 'manual' });
      return response.headers.get('location') ?? undefined;
    },
  };
}

function endpointsAt(origin: string, folder: string): AttackOAuth1Options['endpoints'] {
  return {
    requestToken: `${origin}${folder}/request_token`,
    authorize: `${origin}${folder}/authorize`,
    accessToken: `${origin}${folder}/access_token`,
  };
}

const holes: Readonly<Record<string, readonly string[]>> = {
  'ticket: twice': ['the request token is exchanged twice', 'the request token is exchanged 8 times at once'],
  'ticket: race': ['the request token is exchanged 8 times at once'],
  'verifier: unapproved': [
    'the request token was not approved',
    'the request token was not approved, and there is a verifier',
  ],
  'verifier: optional': ['the verifier is missing'],
  'verifier: not compared': [
    'the request token was not approved',
    'the request token was not approved, and there is a verifier',
    'the verifier is missing',
    'the verifier is that of another request token',
  ],
  'consumer: not compared': ['the request token is exchanged by another consumer'],
};

describe('the adversary against endpoints of OAuth 1.0a with one hole', () => {
  test('finds nothing without the hole', async (context) => {
    const report = await attackOAuth1(await optionsFor(context));
    assert.ok(report.passed, String(report));
    assert.equal(report.skipped.length, 0, String(report));
  });

  for (const [hole, names] of Object.entries(holes)) {
    test(`finds the hole "${hole}" and nothing else`, async (context) => {
      const report = await attackOAuth1(await optionsFor(context, hole));
      assert.deepEqual(report.inconclusive, [], String(report));
      assert.deepEqual(
        report.failed.map(({ name }) => name),
        names,
      );
    });
  }

  test('reports that another consumer is missing, and that approval failed', async (context) => {
    const { otherClient: _, ...options } = await optionsFor(context);
    const { skipped } = await attackOAuth1(options);
    assert.deepEqual(
      skipped.map(({ note }) => note),
      ['the option otherClient is missing'],
    );
    const report = await attackOAuth1({ ...options, approve: async () => undefined });
    assert.equal(report.passed, false);
    assert.match(String(report), /- a request token is exchanged [^:]+: the server issued no verifier\./);
  });
});

for (const registered of [callback, 'oob']) {
  test(`a double refuses all requests with the callback ${registered}`, async () => {
    await using double = await startDouble({
      tls: 'required',
      randomSeed: 1,
      maxAuthFailures: 0,
      users: { johndoe: { password: 'a password' } },
      consumers: {
        partner: { secret: client.secret, callbacks: [registered] },
        rival: { secret: otherClient.secret, callbacks: [registered] },
      },
    });
    const report = await attackOAuth1({
      client,
      otherClient,
      callback: registered,
      ca: double.ca,
      clock: double.clock,
      endpoints: endpointsAt(double.secureUrl, '/oauth1'),
      approve: (url) => double.oauth1.approve(url, { user: 'johndoe' }),
    });
    assert.ok(report.passed, String(report));
    assert.equal(report.skipped.length, 0, String(report));
  });
}
