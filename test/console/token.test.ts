// The console shows the header and the claims of a JWT, and the check that failed, and never a whole token.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import {
  assertAccessible,
  inBrowser,
  type OpenedConsole,
  openConsole,
  type Page,
  until,
} from '../support/browser.ts';

const secret = 'a-long-secret-of-the-shop';
const back = 'http://localhost:3000/cb';

/** Opens the console of a double that signs its tokens. */
async function opened(t: TestContext, act: (double: OpenedConsole['double']) => Promise<unknown>) {
  const double = await startDouble({
    https: false,
    users: { ann: { claims: { email: 'ann@example.com' } } },
    clients: { shop: { secret, redirectUris: [back], scopes: ['read', 'openid'] } },
    oauth2: { openid: true, accessTokens: 'jwt', claims: ['email'], pkce: 'optional' },
  });
  t.after(() => double.close());
  await act(double);
  return openConsole(t, double, { path: '/exchanges/1' });
}

function send({ url }: { readonly url: string }, token: string): Promise<Response> {
  return fetch(`${url}/articles`, { headers: { Authorization: `Bearer ${token}` } });
}

/** Returns the shown parts of the token, as a person reads them. */
async function readToken(
  page: Page,
): Promise<{ header: unknown; claims: unknown; failed: string | undefined }> {
  await page.getByRole('heading', { name: 'Token', exact: true }).waitFor();
  const [header = '', claims = ''] = await Promise.all(
    ['Header of the token', 'Claims of the token'].map((name) => page.getByLabel(name).innerText()),
  );
  const text = await page.locator('.detail').innerText();
  return {
    header: JSON.parse(header),
    claims: JSON.parse(claims),
    failed: /The check that failed: (\S+)/.exec(text)?.[1],
  };
}

/** Waits until an exchange is open. */
function waitForExchange(page: Page, number: number): Promise<void> {
  const facts = "document.querySelector('.facts')?.innerText ?? ''";
  return until(page, `(${facts}).split('\\n').includes('#${number}')`, facts);
}

/** Everything that the page contains, shown or not. */
function contentOf(page: Page): Promise<string> {
  return page.evaluate(
    `document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map(({ value }) => value)`,
  );
}

function signatureOf(token: string): string {
  const signature = token.split('.')[2] ?? '';
  assert.ok(signature.length > 40);
  return signature;
}

test('a refused token is shown with header, claims and the check that failed', inBrowser, async (t) => {
  let token = '';
  const { page, double } = await opened(t, async (started) => {
    const audience = 'https://other.example';
    ({ accessToken: token } = await started.oauth2.issueToken({ user: 'ann', audience }));
    assert.equal((await send(started, token)).status, 401);
  });
  const { header, claims, failed } = await readToken(page);
  assert.deepEqual(
    [Reflect.get(Object(header), 'alg'), Reflect.get(Object(header), 'typ'), failed],
    ['ES256', 'at+jwt', 'aud'],
  );
  assert.deepEqual(
    ['sub', 'client_id', 'email', 'aud'].map((name) => Reflect.get(Object(claims), name)),
    ['ann', 'shop', 'ann@example.com', 'https://other.example'],
  );
  assert.match(
    await page.locator('.verdict').innerText(),
    new RegExp(`the audience is https://other\\.example; this API is ${double.url}`),
  );
  assert.ok(!(await contentOf(page)).includes(signatureOf(token)));
  await assertAccessible(page, 'a token');
});

test('an expired, a changed and an unsigned token name their check', inBrowser, async (t) => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { page, control } = await opened(t, async (double) => {
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann', expiresIn: 60 });
    double.clock.advance('4m');
    await send(double, accessToken);
    const { accessToken: other } = await double.oauth2.issueToken({ user: 'ann' });
    const [header, claims = '', signature] = other.split('.');
    const changed = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), sub: 'eve' };
    await send(double, `${header}.${encode(changed)}.${signature}`);
    await send(double, `${encode({ alg: 'none', typ: 'at+jwt' })}.${claims}.`);
  });
  const shown: (string | undefined)[] = [];
  for (const number of [1, 2, 3]) {
    await page.goto(`${control.url}/#/exchanges/${number}`);
    await page.locator(`.row[data-number="${number}"][aria-current], .detail .facts`).first().waitFor();
    await waitForExchange(page, number);
    shown.push((await readToken(page)).failed);
  }
  assert.deepEqual(shown, ['expiry', 'signature', 'alg']);
});

test('no page contains a whole token that is valid', inBrowser, async (t) => {
  const valid: string[] = [];
  const { page, control } = await opened(t, async (double) => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'shop',
      redirect_uri: back,
      scope: 'openid read',
    });
    const url = `${double.url}/oauth2/authorize?${query}`;
    const code = new URL(await double.oauth2.approve(url, { user: 'ann' })).searchParams.get('code') ?? '';
    const body = new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, redirect_uri: back },
      ...{ client_id: 'shop', client_secret: secret },
    });
    const response = await fetch(`${double.url}/oauth2/token`, { method: 'POST', body });
    const { access_token, id_token, refresh_token } = JSON.parse(await response.text());
    assert.equal((await send(double, access_token)).status, 200);
    await fetch(`${double.url}/oauth2/logout?id_token_hint=${id_token}`, { redirect: 'manual' });
    valid.push(signatureOf(access_token), signatureOf(id_token), refresh_token);
  });
  for (const number of [1, 2, 3, 4, 5]) {
    for (const tab of ['', '/signature']) {
      await page.goto(`${control.url}/#/exchanges/${number}${tab}`);
      await waitForExchange(page, number);
      const content = await contentOf(page);
      for (const each of valid) assert.ok(!content.includes(each), `exchange ${number}${tab}`);
    }
  }
});
