import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type AttackOAuth2Options, type AttackReport, attackOAuth2 } from '../../../src/attack/index.ts';
import { createManualClock } from '../../../src/clock.ts';
import { startNaive } from '../fixture.ts';

const app: AttackOAuth2Options['client'] = {
  id: 'app',
  secret: 'app-secret',
  redirectUri: 'https://client.example/callback',
};
const phone: AttackOAuth2Options['client'] = { id: 'phone', redirectUri: 'http://127.0.0.1/callback' };
const rival: AttackOAuth2Options['client'] = {
  id: 'rival',
  secret: 'rival-secret',
  redirectUri: 'https://rival.example/',
};

const fixture = 'authorization-server/server';

async function attacked(
  context: TestContext,
  client: AttackOAuth2Options['client'],
  hole?: string,
): Promise<AttackReport> {
  const clock = createManualClock(0);
  const clients = new Map([app, phone, rival].map((each) => [each.id, each]));
  const url = await startNaive(context, fixture, { clients, now: clock.now, hole });
  return attackOAuth2({
    metadata: { authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` },
    client,
    otherClient: rival,
    resource: `${url}/resource`,
    expireCodes: () => clock.advance(120_000),
    async approve(authorizationUrl) {
      const response = await fetch(authorizationUrl, { redirect: 'manual' });
      return response.headers.get('location') ?? undefined;
    },
  });
}

async function accepted(
  context: TestContext,
  client: AttackOAuth2Options['client'],
  hole?: string,
): Promise<string[]> {
  const report = await attacked(context, client, hole);
  assert.deepEqual([report.inconclusive, report.skipped], [[], []], String(report));
  return report.failed.map(({ name }) => name);
}

const uri = (change: string): string => `the redirect URI ${change}`;

/** What a server with each hole accepts from the client with a secret. */
const holes: Readonly<Record<string, readonly string[]>> = {
  'code: twice': [
    'the code is exchanged twice',
    'the code is exchanged 8 times at once',
    'the access token is used after its code was exchanged twice',
    'the refresh token is used after its code was exchanged twice',
  ],
  'code: race': ['the code is exchanged 8 times at once'],
  'code: tokens survive': [
    'the access token is used after its code was exchanged twice',
    'the refresh token is used after its code was exchanged twice',
  ],
  'code: no expiry': ['the code is exchanged after it expired'],
  'code: compared in part': ['the code has one character changed'],
  'code: any redirect URI': ['the code is exchanged with another redirect URI'],
  'verifier: not compared': [
    'the verifier is another one',
    'the verifier is empty',
    'the verifier is the challenge',
  ],
  'verifier: optional': ['the verifier is missing'],
  'verifier: plain, too': ['the verifier is the challenge'],
  'challenge: plain': ['the challenge is plain'],
  'challenge: plain by default': ['the challenge is plain', 'the challenge is plain, and has no method'],
  'challenge: removed': ['a verifier is sent for a code without a challenge'],
  'client: not compared': [
    'the code is exchanged by another client',
    "the code is exchanged by another client, with the first one's client_id in the form",
  ],
  'client: named in the form': [
    "the code is exchanged by another client, with the first one's client_id in the form",
  ],
  'client: secret not compared': [
    'the secret of the client is another one',
    'the client does not authenticate',
  ],
  'client: secret optional': ['the client does not authenticate'],
  'refresh: any client': ['the refresh token is used by another client'],
  'refresh: twice': [
    'the refresh token is used twice',
    'the new refresh token is used after the first one was used twice',
    'the refresh token is used 8 times at once',
  ],
  'refresh: family survives': ['the new refresh token is used after the first one was used twice'],
  'refresh: race': ['the refresh token is used 8 times at once'],
  'redirect: prefix': [
    uri('differs by a trailing slash'),
    uri('has a longer path'),
    uri('leaves its path by a dot segment'),
    uri('has one more parameter'),
    uri('has a fragment'),
    uri('is followed by a space'),
  ],
  'redirect: origin': [
    uri('differs by a trailing slash'),
    uri('has another path'),
    uri('has a longer path'),
    uri('leaves its path by a dot segment'),
    uri('has its path in another case'),
    uri('has a percent-encoded letter'),
    uri('has one more parameter'),
    uri('has a fragment'),
    uri('is followed by a space'),
    uri('has user information'),
    uri('has its host in capitals'),
  ],
  'redirect: end of the host': [
    uri('is followed by a space'),
    uri('has its host in capitals'),
    uri('has a sub-domain'),
  ],
  'redirect: case': [uri('has its path in another case'), uri('has its host in capitals')],
  'redirect: decoded': [uri('has a percent-encoded letter')],
  'redirect: without query': [uri('has one more parameter')],
  'redirect: without fragment': [uri('has a fragment')],
  'redirect: trimmed': [uri('is followed by a space')],
  'redirect: slash': [uri('differs by a trailing slash')],
  'redirect: scheme': [uri('has http for https')],
  'redirect: port': [uri('has another port')],
  'redirect: user information': [uri('has user information')],
};

describe('the adversary against an authorization server with one hole', () => {
  test('finds nothing without the hole', async (context) => {
    assert.deepEqual(await accepted(context, app), []);
  });

  for (const [hole, names] of Object.entries(holes)) {
    test(`finds the hole "${hole}" and nothing else`, async (context) => {
      assert.deepEqual(await accepted(context, app, hole), names);
    });
  }

  test('finds a comparison of redirect URIs up to the path', async (context) => {
    const names = await accepted(context, app, 'redirect: text before the path');
    assert.ok(names.includes(uri('has the registered host as the beginning of another one')));
    assert.ok(names.includes(uri('has the registered host as user information')));
  });

  test('finds that errors are redirected to any URI', async (context) => {
    const report = await attacked(context, app, 'redirect: errors');
    assert.ok(report.failed.length > 10, String(report));
    assert.match(
      String(report),
      /- the redirect URI has another host: the server redirected there with an error\. Redirect URIs are compared/,
    );
  });
});

describe('against an authorization server with one hole for public clients, the adversary finds', () => {
  const found: readonly (readonly [hole: string | undefined, names: readonly string[]])[] = [
    [undefined, []],
    ['challenge: optional', ['there is neither a challenge nor a verifier']],
    ['redirect: loopback', [uri('has localhost for 127.0.0.1')]],
    [
      'refresh: no rotation',
      ['the refresh token is used twice', 'the new refresh token is used after the first one was used twice'],
    ],
  ];
  for (const [hole, names] of found) {
    test(hole === undefined ? 'nothing without the hole' : `the hole "${hole}"`, async (context) => {
      const through = await accepted(context, phone, hole);
      for (const name of names) assert.ok(through.includes(name), `${name} of ${through}`);
      if (hole !== 'refresh: no rotation') assert.equal(through.length, names.length, String(through));
    });
  }
});

describe('a report on an authorization server', () => {
  test('contains no codes, tokens or secrets', async (context) => {
    const text = String(await attacked(context, app, 'code: twice'));
    assert.match(text, /^\d+ attempts: \d+ passed, 4 failed, 0 inconclusive, 0 skipped\.\n/);
    assert.match(
      text,
      /- the code is exchanged 8 times at once: 200, 8 of 8 requests were accepted\. A code is valid once/,
    );
    assert.ok(!/app-secret|code=|[\w-]{32}/.test(text), text);
  });

  test('lists each skipped attempt with the missing option', async (context) => {
    const url = await startNaive(context, fixture, { clients: new Map([[app.id, app]]), now: () => 0 });
    const report = await attackOAuth2({
      metadata: {
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
      },
      client: app,
      approve: async (asked) =>
        (await fetch(asked, { redirect: 'manual' })).headers.get('location') ?? undefined,
    });
    assert.ok(report.passed, String(report));
    assert.deepEqual(
      report.skipped.map(({ name, note }) => `${name}: ${note}`),
      [
        'the access token is used after its code was exchanged twice: the option resource is missing',
        'the code is exchanged after it expired: the option expireCodes is missing',
        'the code is exchanged by another client: the option otherClient is missing',
        'the refresh token is used by another client: the option otherClient is missing',
      ],
    );
  });

  test('does not pass if approval fails or no code is issued', async () => {
    const metadata = { authorization_endpoint: 'http://127.0.0.1:1/', token_endpoint: 'http://127.0.0.1:1/' };
    const failing = { metadata, client: app, approve: () => Promise.reject(new Error('no browser')) };
    const report = await attackOAuth2(failing);
    assert.equal(report.passed, false);
    assert.match(String(report), /- a code is exchanged for tokens: no response: no browser\./);
    const silent = await attackOAuth2({ metadata, client: app, approve: async () => undefined });
    assert.equal(silent.passed, false);
    assert.match(String(silent), /- a code is exchanged for tokens: the server issued no code\./);
  });
});
