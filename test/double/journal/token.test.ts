import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';

const clients = {
  app: { secret: 'a long secret of app', grants: ['client_credentials'], users: '*' },
} as const;
const start = () => startDouble({ users: ['ann'], clients, oauth2: { accessTokens: 'jwt' } });

describe('the journal shows a token', () => {
  test('as its header and claims, with the check that failed, and never a whole one', async () => {
    await using double = await start();
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann', audience: 'https://a' });
    const { accessToken: valid } = await double.oauth2.issueToken({ user: 'ann', claims: { team: 'tea' } });
    const signature = valid.split('.')[2] ?? '';
    double.stub({ path: '/echo' }, { body: { token: valid } }, { access: 'anyone' });
    const send = (token: string, path = '/articles') =>
      double.fetch(path, { headers: { Authorization: `Bearer ${token}`, 'X-Copy': token } });
    assert.equal((await send(accessToken)).status, 401);
    const refused = double.journal.last();
    assert.equal(refused.auth?.failedAt, 'aud');
    assert.equal(refused.auth?.hint, `the audience is https://a; this API is ${double.url}`);
    assert.equal(refused.token?.claims['aud'], 'https://a');
    assert.equal(refused.token?.header['typ'], 'at+jwt');
    assert.equal((await send(valid)).status, 200);
    await send(valid, '/echo');
    for (const entry of double.journal.all()) {
      const shown = `${JSON.stringify(entry)} ${entry} ${entry.redact(valid)}`;
      assert.ok(!shown.includes(signature), shown);
    }
    assert.deepEqual(double.journal.last().token?.claims['team'], 'tea');
  });

  test('explains an expired one, and one that was changed', async () => {
    await using double = await start();
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann', expiresIn: 60 });
    const send = async (token: string): Promise<string | undefined> => {
      await double.fetch('/articles', { headers: { Authorization: `Bearer ${token}` } });
      return double.journal.last().auth?.hint;
    };
    const [header = '', , signature = ''] = accessToken.split('.');
    const claims = Buffer.from(JSON.stringify({ iss: double.url, aud: double.url, exp: 9e9, sub: 'bob' }));
    const changed = `${header}.${claims.toString('base64url')}.${signature}`;
    assert.match((await send(changed)) ?? '', /header or claims were changed/);
    double.clock.advance('4m');
    assert.match((await send(accessToken)) ?? '', /expired 3 minutes ago by the clock of this double/);
  });

  test('issuer and endpoints are those of the origin that was asked', async () => {
    await using double = await start();
    for (const origin of [double.url, double.secureUrl]) {
      const response = await double.fetch(`${origin}/.well-known/oauth-authorization-server`);
      const metadata: unknown = await response.json();
      assert.ok(typeof metadata === 'object' && metadata !== null);
      assert.equal(Reflect.get(metadata, 'issuer'), origin);
      assert.equal(Reflect.get(metadata, 'token_endpoint'), `${origin}/oauth2/token`);
    }
  });
});
