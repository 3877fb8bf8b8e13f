import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createService } from '../../../src/index.ts';
import { assertAccessible, follow, inBrowser, openPage } from '../../support/browser.ts';
import { makeIdentity } from '../../support/net/transport.ts';
import { challenge, users } from '../../support/oauth/server.ts';

/** A client that browsers are sent back to, what it was told, and the address at which a user is asked. */
interface Visited {
  readonly urls: URL[];
  readonly address: string;
}

/** Where every answer of the client's own is the same small page. */
async function listenAsClient(context: TestContext, urls: URL[]): Promise<Server> {
  const client = createServer((request, response) => {
    urls.push(new URL(request.url ?? '', 'http://localhost'));
    response.setHeader('Content-Type', 'text/html').end('<title>back</title>');
  });
  client.listen(0, '127.0.0.1');
  await once(client, 'listening');
  context.after(() => client.close());
  return client;
}

async function visit(context: TestContext, name = 'Ledger & <b>Sons</b>'): Promise<Visited> {
  const urls: URL[] = [];
  const client = await listenAsClient(context, urls);
  const { port } = client.address() as AddressInfo; // it listens on a port
  const redirectUri = `http://127.0.0.1:${port}/cb`;
  const service = createService({
    users: users(),
    clients: { [name]: { redirectUris: [redirectUri], scopes: ['read', 'write'] } },
  });
  const listening = await service.listen({ tls: makeIdentity() });
  context.after(() => service.close({ grace: 0 }));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: name,
    redirect_uri: redirectUri,
    scope: 'read write',
    state: 'xyz',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const origin = `ann:ann-password@localhost:${listening.port}`;
  return { urls, address: `https://${origin}/oauth2/authorize?${query}` };
}

const ignoreHTTPSErrors = true;

test(
  'a browser shows the page with its style, text and roles, accessible to screen readers',
  inBrowser,
  async (t) => {
    const { address } = await visit(t);
    const page = await openPage(t, { ignoreHTTPSErrors });
    await page.goto(address);
    const seen = await page.evaluate<Record<string, unknown>>(`({
    lang: document.documentElement.lang,
    title: document.title,
    headings: document.querySelectorAll('h1').length,
    foreign: document.querySelectorAll('script, b, img, iframe, link').length,
    styled: getComputedStyle(document.querySelector('main')).maxWidth !== 'none',
    scopes: [...document.querySelectorAll('li')].map((each) => each.textContent),
  })`);
    assert.deepEqual(seen, {
      lang: 'en',
      title: 'Allow Ledger & <b>Sons</b> to use your account?',
      headings: 1,
      foreign: 0,
      styled: true,
      scopes: ['read the data that you can read', 'add, change and delete the data that you can change'],
    });
    for (const [role, name] of [
      ['main', undefined],
      ['heading', 'Allow Ledger & <b>Sons</b> to use your account?'],
      ['button', 'Allow'],
      ['button', 'Refuse'],
    ] as const)
      assert.equal(await page.getByRole(role, { name, exact: true }).count(), 1, `${role} ${name}`);
    await assertAccessible(page, 'the page of consent');
  },
);

for (const width of [320, 1280]) {
  for (const scheme of ['light', 'dark'] as const) {
    test(`the page can be read at ${width} pixels, ${scheme}`, inBrowser, async (t) => {
      const { address } = await visit(t, 'an-application-whose-name-is-one-word-and-does-not-fit-a-phone');
      const viewport = { width, height: 700 };
      const page = await openPage(t, { ignoreHTTPSErrors, viewport, isMobile: width < 500 });
      await page.emulateMedia({ colorScheme: scheme });
      await page.goto(address);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      const colours = await page.evaluate<
        string[][]
      >(`['p', 'button.primary', 'button:not(.primary)'].map((selector) => {
        const { color, backgroundColor } = getComputedStyle(document.querySelector(selector));
        const clear = backgroundColor === 'rgba(0, 0, 0, 0)';
        return [color, clear ? getComputedStyle(document.body).backgroundColor : backgroundColor];
      })`);
      for (const [ink = '', paper = ''] of colours)
        assert.ok(contrast(ink, paper) >= 7, `${ink} on ${paper}`);
      const paper = colours[0]?.[1] ?? '';
      assert.equal(luminance(paper) > 0.5, scheme === 'light');
      const heights = await page.evaluate<number[]>(
        `[...document.querySelectorAll('button')].map((each) => each.getBoundingClientRect().height)`,
      );
      for (const height of heights) assert.ok(height >= 44, `a button is ${height} pixels high`);
    });
  }
}

/** WCAG 2.2: contrast ratio and relative luminance of colours as a browser computes them, `rgb(1, 2, 3)`. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test('both buttons return the browser to the client with the decision', inBrowser, async (t) => {
  const { urls, address } = await visit(t);
  const page = await openPage(t, { ignoreHTTPSErrors });
  for (const [button, said] of [
    ['Allow', 'code'],
    ['Refuse', 'error'],
  ] as const) {
    urls.length = 0;
    await page.goto(address);
    await follow(page, `button[value=${button === 'Allow' ? 'allow' : 'deny'}]`);
    const back = urls.find(({ pathname }) => pathname === '/cb');
    assert.ok(back?.searchParams.has(said), `${button} sends ${said}`);
    assert.equal(back?.searchParams.get('state'), 'xyz');
    assert.match(back?.searchParams.get('iss') ?? '', /^https:\/\/localhost:\d+$/);
    assert.equal(await page.evaluate('document.title'), 'back');
    assert.equal(await page.evaluate('document.referrer'), '');
  }
});

test('a frame cannot show the page, not even one of its own origin', inBrowser, async (t) => {
  const { address } = await visit(t);
  const page = await openPage(t, { ignoreHTTPSErrors, violatesPolicy: true });
  await page.goto(address); // so that the password is known to the browser
  await page.goto(new URL('/articles', address).href);
  const framing = (target: string): Promise<string | null> =>
    page.evaluate(`new Promise((resolve) => {
      const frame = document.createElementNS('http://www.w3.org/1999/xhtml', 'iframe');
      frame.onload = () => resolve(frame.contentDocument && frame.contentDocument.documentElement.textContent);
      frame.src = ${JSON.stringify(target)};
      document.documentElement.append(frame);
    })`);
  assert.match((await framing('/problems')) ?? '', /malformed/);
  assert.equal(await framing(address.replace(/^.*(?=\/oauth2)/, '')), null);
});
