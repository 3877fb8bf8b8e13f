import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AttackOAuth2Options, attackOAuth2 } from '../../../src/attack/index.ts';
import { type Double, startDouble } from '../../../src/double/index.ts';

const app: AttackOAuth2Options['client'] = {
  id: 'app',
  secret: 'a secret of app',
  redirectUri: 'https://client.example/callback?from=here',
  scope: 'read',
};
const phone: AttackOAuth2Options['client'] = { id: 'phone', redirectUri: 'http://127.0.0.1/callback' };
const rival: AttackOAuth2Options['client'] = {
  id: 'rival',
  secret: 'a secret of rival',
  authentication: 'client_secret_post',
  redirectUri: 'https://rival.example/',
};

function start(): Promise<Double> {
  const registered = [app, phone, rival].map(({ id, secret, redirectUri }) => {
    return [id, { redirectUris: [redirectUri], ...(secret === undefined ? {} : { secret }) }] as const;
  });
  return startDouble({
    tls: 'required',
    randomSeed: 1,
    maxAuthFailures: 0,
    users: { johndoe: { password: 'a password' } },
    clients: Object.fromEntries(registered),
  });
}

async function optionsFor(
  double: Double,
  client: AttackOAuth2Options['client'],
): Promise<AttackOAuth2Options> {
  const response = await double.fetch('/.well-known/oauth-authorization-server', { secure: true });
  const metadata: AttackOAuth2Options['metadata'] = JSON.parse(await response.text());
  return {
    metadata,
    client,
    otherClient: rival,
    ca: double.ca,
    resource: `${double.secureUrl}/users/johndoe/financialrecords`,
    expireCodes: () => double.clock.advance('61s'),
    approve: (url) => double.oauth2.approve(url, { user: 'johndoe' }).catch(() => undefined),
  };
}

for (const client of [app, phone, rival]) {
  test(`the authorization server of a double refuses all requests as ${client.id}`, async () => {
    await using double = await start();
    const otherClient = client === rival ? app : rival;
    const report = await attackOAuth2({ ...(await optionsFor(double, client)), otherClient });
    assert.ok(report.passed, String(report));
    assert.equal(report.skipped.length, 0, String(report));
    assert.ok(report.results.length >= 30, String(report));
  });
}

test('attempts have unique names', async () => {
  await using double = await start();
  const { results } = await attackOAuth2(await optionsFor(double, app));
  assert.equal(new Set(results.map(({ name }) => name)).size, results.length);
});

test('an endpoint that is not a URL is rejected with a TypeError', async () => {
  const metadata = { authorization_endpoint: '/authorize', token_endpoint: '/token' };
  const options = { metadata, client: app, approve: async () => undefined };
  await assert.rejects(attackOAuth2(options), TypeError);
});
