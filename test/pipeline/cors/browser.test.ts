import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';
import { action, text } from '../../../src/index.ts';
import { inBrowser, openPage, type Page } from '../../support/browser.ts';
import { listen } from '../../support/net/listen.ts';

/** Serves an empty page. Returns its origin. */
function servePage(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/' ? 200 : 404, { 'Content-Type': 'text/html' });
    response.end(request.url === '/' ? '<!doctype html><title>An application</title>' : '');
  });
  return listen(t, server);
}

/** The result of a request in the page: the response as the script sees it, or the error. */
interface Seen {
  readonly error?: string;
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** A script's view of a request with `fetch`. */
const seenBy = `async (url, init) => {
  try {
    const response = await fetch(url, init);
    const { status, type, headers } = response;
    return { status, type, body: await response.text(), fields: Object.fromEntries(headers) };
  } catch (error) {
    return { error: error.name };
  }
}`;

function request(page: Page, url: string, init: object = {}): Promise<Seen> {
  return page.evaluate<Seen>(`(${seenBy})(${JSON.stringify(url)}, ${JSON.stringify(init)})`);
}

/**
 * A script that signs a request in the full form of docs/signing.md, with WebCrypto. A script cannot set Date, so it sends X-Date.
 */
const signed = `async (origin, method, target, { user, secret, now, nonce, body, type }) => {
  const encoder = new TextEncoder();
  const date = new Date(now).toUTCString();
  const message = [method, target, date.replaceAll(' ', ''), nonce].join('+');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(message)));
  const credentials = 'hmac ' + user + ':' + nonce + ':' + btoa(String.fromCharCode(...digest));
  const headers = { Authentication: credentials, 'X-Date': date, ...(type && { 'Content-Type': type }) };
  return (${seenBy})(origin + target, { method, headers, body });
}`;

interface Signing {
  readonly nonce: string;
  readonly secret?: string;
  /** The time of the page in ms. Default: that of the double. */
  readonly now?: number;
  readonly body?: string;
  readonly type?: string;
}

function sign(page: Page, double: Double, method: string, target: string, more: Signing): Promise<Seen> {
  const options = { user: 'ann', secret: 's3cret', now: double.clock.now(), ...more };
  const passed = [double.url, method, target, options].map((value) => JSON.stringify(value));
  return page.evaluate<Seen>(`(${signed})(${passed.join(', ')})`);
}

/** Opens a page of another origin, and starts a double that permits it. */
async function open(
  t: TestContext,
  options: (origin: string) => DoubleOptions = (origin) => ({ cors: [origin] }),
): Promise<{ page: Page; double: Double; origin: string }> {
  const origin = await servePage(t);
  const double = await startDouble({
    users: { ann: { secret: 's3cret', password: 'pw' } },
    seed: { '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] },
    ...options(origin),
  });
  t.after(() => double.close());
  const page = await openPage(t, { ignoreHTTPSErrors: true });
  await page.goto(`${origin}/`);
  return { page, double, origin };
}

/** The methods that the double has received. */
function received({ journal }: Double): string[] {
  return journal.all().map(({ request: sent }) => sent?.method ?? '');
}

const json = 'application/json';
const article = JSON.stringify({ title: 'Mate', price: { value: '2.00', currency: 'EUR' } });

describe('in a browser, a page of another origin', inBrowser, () => {
  test('reads a resource and its ETag without a preflight, but not Set-Cookie', async (t) => {
    const { page, double } = await open(t);
    double.resource('/cookie', {
      GET: action('anyone', () => ({
        status: 200,
        headers: [
          ['Set-Cookie', 'a=b'],
          ['X-Own', 'own'],
        ],
        representation: text('cookie'),
      })),
    });
    const seen = await request(page, `${double.url}/articles/1`, { headers: { Accept: json } });
    assert.equal(seen.status, 200);
    assert.equal(seen.type, 'cors');
    assert.equal(JSON.parse(seen.body ?? '').title, 'Tea');
    const { headers } = await double.fetch('/articles/1', { headers: { Accept: json } });
    assert.equal(seen.fields?.['etag'], headers.get('ETag'));
    assert.deepEqual(received(double).slice(0, 1), ['GET']);
    const cookie = await request(page, `${double.url}/cookie`);
    assert.equal(cookie.fields?.['x-own'], 'own');
    assert.equal(cookie.fields?.['set-cookie'], undefined);
  });

  test('signs requests with WebCrypto and X-Date, which are preflighted', async (t) => {
    const { page, double } = await open(t);
    const created = await sign(page, double, 'POST', '/articles', { nonce: 'n1', body: article, type: json });
    assert.equal(created.status, 201, created.body);
    assert.equal(created.fields?.['location'], '/articles/2');
    assert.deepEqual(received(double), ['OPTIONS', 'POST']);
    const read = await sign(page, double, 'GET', '/users/ann/financialrecords?limit=2', { nonce: 'n2' });
    assert.equal(read.status, 200);
    assert.match(read.fields?.['link'] ?? '', /rel="first"/);
    const removed = await sign(page, double, 'DELETE', '/articles/2', { nonce: 'n3' });
    assert.equal(removed.status, 204);
    assert.equal(double.journal.last()?.principal?.scheme, 'hmac');
  });

  test('reads the problem and the fields of a failed request', async (t) => {
    const { page, double } = await open(t);
    const wrong = await sign(page, double, 'DELETE', '/articles/1', { nonce: 'n1', secret: 'wrong' });
    assert.equal(wrong.status, 401);
    assert.match(wrong.body ?? '', /credentials-refused/);
    assert.match(wrong.fields?.['www-authenticate'] ?? '', /hmac/);
    const hourAgo = double.clock.now() - 3_600_000;
    const stale = await sign(page, double, 'DELETE', '/articles/1', { nonce: 'n2', now: hourAgo });
    assert.match(stale.body ?? '', /date-out-of-window/);
    // The page can correct its clock.
    const difference = Date.parse(stale.fields?.['date'] ?? '') - double.clock.now();
    assert.ok(Math.abs(difference) < 60_000, stale.fields?.['date']);
    assert.equal((await request(page, `${double.url}/nothing`)).status, 404);
    const changed = await request(page, `${double.url}/articles/1`, { headers: { 'If-Match': '"old"' } });
    assert.equal(changed.status, 412);
    double.faults.next({ method: 'GET' }, { status: 503, retryAfter: 7 });
    const busy = await request(page, `${double.url}/articles`);
    assert.deepEqual([busy.status, busy.fields?.['retry-after']], [503, '7']);
  });

  test('sends Authorization with Basic and with a token', async (t) => {
    const { page, double } = await open(t, (origin) => ({
      cors: [origin],
      clients: {
        app: { secret: 'client-secret', grants: ['client_credentials'], scopes: ['read'], users: '*' },
      },
    }));
    const url = `${double.secureUrl}/users/ann/financialrecords`;
    const basic = `Basic ${Buffer.from('ann:pw').toString('base64')}`;
    assert.equal((await request(page, url, { headers: { Authorization: basic } })).status, 200);
    assert.equal(double.journal.last()?.principal?.scheme, 'basic');
    const client = `Basic ${Buffer.from('app:client-secret').toString('base64')}`;
    const issued = await request(page, `${double.secureUrl}/oauth2/token`, {
      method: 'POST',
      headers: { Authorization: client, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=client_credentials&scope=read',
    });
    assert.equal(issued.status, 200, issued.body);
    const { access_token: token } = JSON.parse(issued.body ?? '');
    const bearer = await request(page, url, { headers: { Authorization: `Bearer ${token}` } });
    assert.equal(bearer.status, 200, bearer.body);
    assert.equal(double.journal.last()?.principal?.scheme, 'bearer');
  });

  test('follows a redirect, and revalidates what it has stored', async (t) => {
    const { page, double } = await open(t);
    double.resource('/moved', {
      GET: action('anyone', () => ({ status: 303, headers: [['Location', '/articles/1']] })),
    });
    assert.equal((await request(page, `${double.url}/moved`)).status, 200);
    const again = await request(page, `${double.url}/articles/1`);
    assert.equal(again.status, 200);
    assert.equal(double.journal.last()?.response?.status, 304);
    assert.ok(again.fields?.['etag']);
  });

  test('cannot read a response if its origin is not listed, and its preflight fails', async (t) => {
    const { page, double, origin } = await open(t, () => ({ cors: ['https://app.example'] }));
    assert.deepEqual(await request(page, `${double.url}/articles`), { error: 'TypeError' });
    assert.equal(double.journal.last()?.response?.status, 200);
    const failed = { origin, failedAt: 'origin', detail: `${origin} is not one of https://app.example` };
    assert.deepEqual(double.journal.last()?.cors, { ...failed, preflight: false });
    assert.deepEqual(await sign(page, double, 'DELETE', '/articles/1', { nonce: 'n1' }), {
      error: 'TypeError',
    });
    assert.deepEqual(double.journal.last()?.cors, { ...failed, preflight: true });
    assert.deepEqual(received(double), ['GET', 'OPTIONS']);
  });

  test('cannot send a field that the server does not read, or a method that the resource does not have', async (t) => {
    const { page, double } = await open(t);
    const custom = await request(page, `${double.url}/articles`, { headers: { 'X-Custom': '1' } });
    assert.deepEqual(custom, { error: 'TypeError' });
    assert.equal(double.journal.last()?.cors?.detail, 'the server does not read x-custom here');
    const deleted = await request(page, `${double.url}/articles`, { method: 'DELETE' });
    assert.deepEqual(deleted, { error: 'TypeError' });
    assert.equal(double.journal.last()?.cors?.failedAt, 'method');
    assert.deepEqual(received(double), ['OPTIONS', 'OPTIONS']);
  });

  test('with the opaque origin null reads a response if null is listed', async (t) => {
    const { page, double } = await open(t, () => ({ cors: ['null'] }));
    assert.deepEqual(await request(page, `${double.url}/articles`), { error: 'TypeError' });
    const sandboxed = `new Promise((resolve) => {
      const script = 'fetch(' + JSON.stringify(${JSON.stringify(`${double.url}/articles`)}) + ')'
        + '.then(({ status }) => status, (error) => error.name).then((seen) => parent.postMessage(seen, "*"))';
      addEventListener('message', ({ data }) => resolve(data));
      const frame = document.createElement('iframe');
      frame.sandbox = 'allow-scripts';
      frame.srcdoc = '<script>' + script + '</' + 'script>';
      document.body.append(frame);
    })`;
    assert.equal(await page.evaluate(sandboxed), 200);
    assert.equal(double.journal.last()?.cors?.origin, 'null');
  });
});
