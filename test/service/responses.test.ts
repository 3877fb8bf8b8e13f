import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createRequest } from '../../src/http/message.ts';
import { problemTypes } from '../../src/http/problem-types.ts';
import { type ActionResponse, action, json, readBytes, xml } from '../../src/index.ts';
import { createControllableService } from '../../src/service/service.ts';
import { article, openService } from '../support/service/open-service.ts';

const ann = { user: 'ann' };

test('Allow lists the methods that the principal may use', async () => {
  const { ask } = openService();
  const allow = async (target: string, user?: string) =>
    (await ask('OPTIONS', target, user === undefined ? {} : { user })).field('Allow');
  assert.equal(await allow('/articles/1'), 'HEAD, GET, OPTIONS');
  assert.equal(await allow('/articles/1', 'ann'), 'HEAD, GET, PUT, POST, DELETE, OPTIONS');
  assert.equal(await allow('/articles'), 'HEAD, GET, OPTIONS');
  assert.equal(await allow('/articles', 'ann'), 'HEAD, GET, POST, OPTIONS');
  assert.equal(await allow('/users/ann/financialrecords'), 'OPTIONS');
  assert.equal(await allow('/users/ann/financialrecords', 'bob'), 'OPTIONS');
  assert.equal(await allow('/users/ann/financialrecords', 'ann'), 'HEAD, GET, OPTIONS');
  assert.equal(await allow('*'), 'HEAD, GET, OPTIONS');
});

test('405 has the Allow of the principal, and OPTIONS ignores Accept and preconditions', async () => {
  const { ask } = openService();
  const refused = await ask('PUT', '/articles', { ...ann, content: article('Tea') });
  assert.equal(`${refused.status} ${refused.field('Allow')}`, '405 HEAD, GET, POST, OPTIONS');
  const fields = { Accept: 'image/png', 'If-Match': '"x"' };
  const described = await ask('OPTIONS', '/articles', { fields });
  assert.equal(described.status, 200);
  assert.equal(described.field('Accept-Post'), 'application/xml, text/xml, application/json');
});

test('OPTIONS * returns the methods that the principal may use on any resource', async () => {
  const { ask } = openService();
  const signature = createHmac('sha256', 'ann-secret').update('OPTIONS+*').digest('base64');
  const known = await ask('OPTIONS', '*', { fields: { Authentication: `hmac ann:${signature}` } });
  assert.equal(known.field('Allow'), 'HEAD, GET, PUT, POST, DELETE, OPTIONS');
  assert.equal((await ask('GET', '*')).status, 400);
});

test('a response with 204 or 205 has no content, even if the action returns some', async () => {
  const answering = (status: number) => ({
    GET: action('anyone', () => ({ status, representation: { type: 'text/plain', body: 'x' } })),
  });
  const service = createControllableService({
    resources: { '/204': answering(204), '/205': answering(205) },
  });
  for (const target of ['/204', '/205']) {
    const reply = await service.respond(createRequest({ method: 'GET', target }));
    assert.equal(reply.body, undefined, target);
    assert.ok(!reply.headers.some(([name]) => name === 'Content-Type'), target);
  }
});

test('an action that returns an invalid status code or header causes 500', async () => {
  const faults: string[] = [];
  const requestStatus = async (outcome: ActionResponse): Promise<number> => {
    const service = createControllableService({
      resources: { '/it': { GET: action('anyone', () => outcome) } },
      onError: (error) => faults.push(String(error)),
    });
    return (await service.respond(createRequest({ method: 'GET', target: '/it' }))).status;
  };
  for (const status of [101, 99, 0, 600, 200.5, Number.NaN])
    assert.equal(await requestStatus({ status }), 500);
  for (const line of [
    ['Content-Length', '7'],
    ['transfer-encoding', 'chunked'],
    ['Connection', 'close'],
    ['X Y', '1'],
    ['X-Y', 'a\r\nSet-Cookie: b'],
    ['X-Y', '\u{1f511}'],
  ] as const) {
    assert.equal(await requestStatus({ status: 200, headers: [[...line]] }), 500, String(line));
  }
  assert.equal(faults.length, 12);
  assert.match(faults.join('\n'), /the status 101.*Content-Length is set by the server/s);
  assert.equal(await requestStatus({ status: 599, headers: [['X-Y', 'caf\u00e9']] }), 599);
});

test('every problem type is listed, and explained at its own address', async () => {
  const { ask } = openService();
  const list = await ask('GET', '/problems', { fields: { Accept: 'application/json' } });
  const names = JSON.parse(list.text).problems.map(({ href }: { href: string }) => href);
  assert.deepEqual(
    names,
    Object.keys(problemTypes).map((name) => `/problems/${name}`),
  );
  for (const name of Object.keys(problemTypes)) {
    const page = await ask('GET', `/problems/${name}`);
    assert.equal(page.status, 200, name);
    assert.ok(page.member('explanation').length > 40, name);
  }
  for (const name of ['nothing', '__proto__', 'constructor']) {
    assert.equal((await ask('GET', `/problems/${name}`)).status, 404);
  }
});

test('the index lists the resources', async () => {
  const { ask } = openService();
  const { text } = await ask('GET', '/', { fields: { Accept: 'application/json' } });
  const hrefs = JSON.parse(text).resources.map(({ href }: { href: string }) => href);
  assert.ok(hrefs.includes('/articles') && hrefs.includes('/problems'), text);
});

test('every response names the fields of credentials and content negotiation in Vary', async () => {
  const { ask } = openService();
  await ask('PUT', '/articles/1', { ...ann, content: article('Tea') });
  const replies = await Promise.all([
    ask('GET', '/articles/1'),
    ask('GET', '/articles/1', { fields: { 'If-None-Match': '*' } }),
    ask('GET', '/nowhere'),
    ask('PUT', '/articles/1'),
    ask('OPTIONS', '/articles/1'),
    ask('GET', '/articles/1', { fields: { Accept: 'image/png' } }),
  ]);
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 304, 404, 401, 200, 406],
  );
  for (const reply of replies) {
    assert.equal(reply.field('Vary'), 'Authorization, Authentication, Accept, Accept-Encoding');
  }
});

test('responses to a principal are private, and refusals have no-store', async () => {
  const { ask } = openService();
  const cache = async (method: string, target: string, user?: string) =>
    (await ask(method, target, user === undefined ? {} : { user })).field('Cache-Control');
  assert.equal(await cache('GET', '/articles'), 'no-cache');
  assert.equal(await cache('GET', '/articles', 'ann'), 'private, no-cache');
  assert.equal(await cache('GET', '/nowhere', 'ann'), 'no-cache');
  assert.equal(await cache('GET', '/articles/9', 'ann'), 'private, no-cache');
  assert.equal(await cache('PUT', '/articles/1'), 'no-store');
  assert.equal(await cache('GET', '/users/ann/financialrecords', 'bob'), 'no-store');
  assert.equal(await cache('DELETE', '/articles', 'ann'), 'no-store');
});

test('a list is paged in creation order, with links to the first and the next page', async () => {
  const { ask } = openService();
  const titles = Array.from({ length: 7 }, (_, at) => `n${at}`);
  for (const title of titles) await ask('POST', '/articles', { ...ann, content: article(title) });
  await ask('DELETE', '/articles/3', ann);
  const seen: string[] = [];
  let target: string | undefined = '/articles?limit=2&colour=blue';
  while (target !== undefined) {
    const page = await ask('GET', target, { fields: { Accept: 'application/json' } });
    seen.push(...JSON.parse(page.text).articles.map(({ title }: { title: string }) => title));
    const links = page.field('Link');
    assert.match(links, /<\/articles\?limit=2>; rel="first"/);
    target = /<([^>]*)>; rel="next"/.exec(links)?.[1];
  }
  assert.deepEqual(
    seen,
    titles.filter((title) => title !== 'n2'),
  );
});

test('a page defaults to 50 items, and has at most 500', async () => {
  const items = Array.from({ length: 600 }, (_, at) => ({
    title: `n${at}`,
    price: { value: '1.00', currency: 'EUR' },
  }));
  const { ask } = openService({ seed: { '/articles': items } });
  const count = async (target: string) => (await ask('GET', target)).text.split('<article ').length - 1;
  assert.equal(await count('/articles'), 50);
  assert.equal(await count('/articles?limit=500'), 500);
  assert.equal(await count('/articles?limit=501'), 500);
  assert.equal(await count('/articles?limit=1'), 1);
});

test('a long response is compressed for a client that accepts gzip, with an entity tag of its own', async () => {
  const items = Array.from({ length: 50 }, () => ({
    title: 'Tea',
    price: { value: '1.00', currency: 'EUR' },
  }));
  const { ask } = openService({ seed: { '/articles': items } });
  const plain = await ask('GET', '/articles', { fields: { 'Accept-Encoding': 'gzip;q=0' } });
  const packed = await ask('GET', '/articles', { fields: { 'Accept-Encoding': 'br, gzip' } });
  assert.equal(plain.field('Content-Encoding'), '');
  assert.equal(packed.field('Content-Encoding'), 'gzip');
  assert.equal(gunzipSync(packed.bytes).toString(), plain.text);
  assert.notEqual(packed.field('ETag'), plain.field('ETag'));
  const again = await ask('GET', '/articles', {
    fields: { 'Accept-Encoding': 'gzip', 'If-None-Match': packed.field('ETag') },
  });
  assert.equal(`${again.status} ${again.field('ETag')}`, `304 ${packed.field('ETag')}`);
});

test('gzip content is decompressed up to the limit, and another coding returns 415', async () => {
  const { ask } = openService({ limits: { body: 2000 } });
  const put = (content: Uint8Array, coding = 'gzip') =>
    ask('PUT', '/articles/1', { ...ann, content, fields: { 'Content-Encoding': coding } });
  assert.equal((await put(gzipSync(article('Tea')))).status, 201);
  const bomb = await put(gzipSync(article('a'.repeat(100_000))));
  assert.equal(`${bomb.status} ${bomb.member('type')}`, '413 /problems/content-too-large');
  const broken = await put(gzipSync(article('Tea')).subarray(0, 30));
  assert.equal(`${broken.status} ${broken.member('type')}`, '400 /problems/content-coding-broken');
  const other = await put(gzipSync(article('Tea')), 'br');
  assert.equal(`${other.status} ${other.field('Accept-Encoding')}`, '415 gzip');
});

test('a resource in code has entity tags, preconditions, content negotiation and access control', async () => {
  const { ask } = openService({
    resources: {
      '/weather/{city}': {
        GET: action('anyone', async ({ parameters }) => xml(`<weather city="${parameters['city']}"/>`)),
        PUT: action(
          ['ann'],
          async ({ principal, body: content }) =>
            json({ by: principal?.name, kept: Buffer.from(content ?? []).toString() }),
          { reads: [readBytes] },
        ),
      },
    },
  });
  const get = await ask('GET', '/weather/Oslo');
  assert.equal(get.text, '<weather city="Oslo"/>');
  assert.match(get.field('ETag'), /^".{22}"$/);
  assert.equal(
    (await ask('GET', '/weather/Oslo', { fields: { 'If-None-Match': get.field('ETag') } })).status,
    304,
  );
  assert.equal((await ask('GET', '/weather/Oslo', { fields: { 'If-Match': '"other"' } })).status, 412);
  assert.equal((await ask('GET', '/weather/Oslo', { fields: { Accept: 'application/json' } })).status, 406);
  assert.equal((await ask('PUT', '/weather/Oslo', { user: 'bob' })).status, 403);
  const put = await ask('PUT', '/weather/Oslo', { ...ann, content: 'sunny', type: 'text/plain' });
  assert.equal(put.text, '{"by":"ann","kept":"sunny"}');
  assert.equal((await ask('OPTIONS', '/weather/Oslo', ann)).field('Allow'), 'HEAD, GET, PUT, OPTIONS');
});

test('user information in an absolute target is neither logged nor returned', async () => {
  const entries: string[] = [];
  const { service } = openService({ onRequest: (entry) => entries.push(JSON.stringify(entry)) });
  for (const target of ['http://me:hunter2@x/nope?a', 'http://x/nope']) {
    const { body: content } = await service.respond(createRequest({ method: 'GET', target }));
    assert.match(String(content), /<instance>\/nope<\/instance>/);
    assert.doesNotMatch(String(content), /hunter2/);
  }
  assert.match(entries.join(), /"path":"\/nope"/);
  assert.doesNotMatch(entries.join(), /hunter2/);
});

test('an exception in an action returns 500, and is reported to the operator but not to the client', async () => {
  const faults: unknown[] = [];
  const { ask } = openService({
    resources: {
      '/broken': {
        GET: action('anyone', async () => {
          throw new Error('the inside');
        }),
      },
    },
    onError: (error) => faults.push(error),
  });
  const reply = await ask('GET', '/broken');
  assert.equal(`${reply.status} ${reply.member('type')}`, '500 /problems/internal-error');
  assert.doesNotMatch(reply.text, /the inside/);
  assert.equal(faults.length, 1);
});
