import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signRequest } from '../../src/client/sign.ts';
import { createRequest } from '../../src/http/message.ts';
import { createService } from '../../src/index.ts';
import { createBasePathRewrite, isBasePath } from '../../src/pipeline/proxy.ts';
import { type Answer, article, openService } from '../support/service/open-service.ts';

const basePath = '/api/v1';
const service = openService({ basePath, explain: true, clients: {} });

/** Sends a request from which a proxy removed the prefix. The client signs `signed`: by default the target that it sends. */
function ask(
  method: string,
  target: string,
  {
    content,
    accept,
    signed = basePath + target,
  }: { content?: string; accept?: string; signed?: string } = {},
): Promise<Answer> {
  const url = `http://localhost${signed}`;
  const fields: Record<string, string> = {
    ...signRequest({ method, url, user: 'ann', secret: 'ann-secret', clock: service.clock }),
    ...(accept === undefined ? {} : { Accept: accept }),
  };
  return service.ask(method, target, content === undefined ? { fields } : { fields, content });
}

test('a signature covers the target with the prefix that the proxy removed', async () => {
  assert.equal((await ask('PUT', '/articles/1', { content: article('Tea') })).status, 201);
  assert.equal((await ask('GET', '/articles/1?a=%2Fb')).status, 200);
  for (const signed of ['/articles/1', '/api/articles/1', '/api/v1/api/v1/articles/1', '/api/v1articles/1'])
    assert.equal((await ask('GET', '/articles/1', { signed })).status, 401, signed);
});

test('the hint names the prefix if the client did not sign it', async () => {
  const refused = await ask('GET', '/articles/1', { signed: '/articles/1' });
  assert.equal(
    refused.member('hint'),
    'the prefix /api/v1, which the proxy removes, was not signed: sign the target as the client sends it',
  );
  assert.match(refused.member('message'), /^GET\+\/api\/v1\/articles\/1\+/);
});

test('the 404 for a target with the prefix reports that the proxy did not remove it', async () => {
  const missed = await ask('GET', '/api/v1/articles/1', { signed: '/api/v1/articles/1' });
  assert.equal(missed.status, 404);
  assert.equal(
    missed.member('detail'),
    'Nothing is at this address. The proxy did not remove the base path /api/v1.',
  );
  assert.equal((await ask('GET', '/nothing')).member('detail'), 'Nothing is at this address.');
});

test('every path in a response has the prefix', async () => {
  const created = await ask('POST', '/articles', { content: article('Sencha') });
  const location = created.field('Location');
  assert.match(location, /^\/api\/v1\/articles\/[0-9]+$/);
  assert.equal(created.field('Content-Location'), location);

  const listed = await ask('GET', '/articles?limit=1');
  assert.match(listed.text, /<article href="\/api\/v1\/articles\/[0-9]+">/);
  assert.match(
    listed.field('Link'),
    /^<\/api\/v1\/articles\?limit=1&after=[0-9a-z]+>; rel="next", <\/api\/v1\/articles\?limit=1>/,
  );

  const problem = await ask('GET', '/articles/none');
  assert.equal(problem.member('type'), '/api/v1/problems/not-found');
  assert.equal(problem.member('instance'), '/api/v1/articles/none');
  const explained = await ask('GET', '/problems/not-found');
  assert.equal(explained.member('type'), '/api/v1/problems/not-found');

  for (const target of ['/', '/problems']) {
    const hrefs = [...(await ask('GET', target)).text.matchAll(/<href>([^<]*)</g)].map(
      ([, href = '']) => href,
    );
    assert.ok(hrefs.length > 1, target);
    for (const href of hrefs) assert.ok(href.startsWith('/api/v1/'), href);
  }
  assert.equal((await ask('OPTIONS', '/articles')).member('href'), '/api/v1/articles');
});

test('a client can read a created item at its Location', async () => {
  const created = await ask('POST', '/articles', { content: article('Oolong') });
  const location = created.field('Location');
  const read = await ask('GET', location.slice(basePath.length), { signed: location });
  assert.equal(read.text, article('Oolong'));
});

test('the prefix is added to the path of an absolute form, and the asterisk form is unchanged', () => {
  const restore = createBasePathRewrite(basePath);
  const restored = (target: string): string => restore(createRequest({ method: 'GET', target })).target;
  assert.equal(restored('/'), '/api/v1/');
  assert.equal(restored('/a?b=/c'), '/api/v1/a?b=/c');
  assert.equal(restored('http://localhost:8080/a'), 'http://localhost:8080/api/v1/a');
  for (const target of ['*', 'http://localhost', 'http://localhost?/a', 'a/b', ''])
    assert.equal(restored(target), target);
});

test('OPTIONS * returns 200, and the problem of an invalid target has the prefix', async () => {
  assert.equal((await ask('OPTIONS', '*', { signed: '/' })).status, 401);
  assert.equal((await service.ask('OPTIONS', '*')).status, 200);
  assert.equal((await service.ask('GET', '/%zz')).member('instance'), '/api/v1/%zz');
});

test('a base path must be a plain path without a trailing slash', () => {
  for (const text of ['/api', '/api/v1', '/a.b~c_d-e/0', '/..a']) assert.ok(isBasePath(text), text);
  for (const text of [
    ...['', '/', 'api', '/api/', '//api', '/a/../b', '/.', '/a%20b', '/a?b', '/a b', '/é', '/{a}', '/a\n'],
  ])
    assert.equal(isBasePath(text), false, text);
  assert.throws(() => createService({ basePath: '/api/' }), {
    name: 'RangeError',
    message: '"/api/" is not a base path such as /api, without a slash at the end',
  });
});
