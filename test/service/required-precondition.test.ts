import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultDeclarations } from '../../src/collections/declaration.ts';
import { type Asking, article, openService } from '../support/service/open-service.ts';

const declared = defaultDeclarations['/articles'] ?? assert.fail();
const collections = { '/articles': { ...declared, requirePrecondition: true } };
const change = '<article><title>Milk</title></article>';

async function withArticle() {
  const service = openService({
    collections,
    seed: { '/articles': [{ title: 'Tea', price: price('9.99') }] },
  });
  const { ask } = service;
  const get = await ask('GET', '/articles/1');
  const asAnn = (method: string, path: string, fields: Record<string, string>, content?: string) => {
    const asking: Asking = { user: 'ann', fields, ...(content === undefined ? {} : { content }) };
    return ask(method, path, asking);
  };
  return { ask, asAnn, tag: get.field('ETag'), modified: get.field('Last-Modified') };
}

function price(value: string) {
  return { value, currency: 'EUR' };
}

describe('an item that requires a precondition', () => {
  const changes = [
    ['PUT', article('Coffee')],
    ['POST', change],
    ['DELETE', undefined],
  ] as const;

  for (const [method, content] of changes) {
    test(`returns 428 to ${method} without a precondition, and is unchanged`, async () => {
      const { ask, asAnn, tag } = await withArticle();
      const answer = await asAnn(method, '/articles/1', {}, content);
      assert.equal(answer.status, 428);
      assert.equal(answer.member('type'), '/problems/precondition-required');
      assert.equal((await ask('GET', '/articles/1')).field('ETag'), tag);
    });

    test(`accepts ${method} with If-Match or If-Unmodified-Since`, async () => {
      const { asAnn, tag } = await withArticle();
      assert.ok((await asAnn(method, '/articles/1', { 'If-Match': tag }, content)).status < 300);
      const other = await withArticle();
      const since = { 'If-Unmodified-Since': other.modified };
      assert.ok((await other.asAnn(method, '/articles/1', since, content)).status < 300);
    });

    test(`returns 428 to ${method} without If-Match or a valid If-Unmodified-Since`, async () => {
      const { asAnn } = await withArticle();
      for (const fields of [
        { 'If-None-Match': '"other"' },
        { 'If-Unmodified-Since': 'yesterday' },
        { 'If-Modified-Since': 'Thu, 29 Feb 2024 12:00:00 GMT' },
      ])
        assert.equal((await asAnn(method, '/articles/1', fields, content)).status, 428);
    });
  }

  test('is created by PUT with If-None-Match: *, which returns 412 if the item exists', async () => {
    const { asAnn } = await withArticle();
    const creating = { 'If-None-Match': '*' };
    assert.equal((await asAnn('PUT', '/articles/tea', creating, article('Tea'))).status, 201);
    assert.equal((await asAnn('PUT', '/articles/tea', creating, article('Tea'))).status, 412);
  });

  test('returns 428 to PUT without a precondition, even if it does not exist', async () => {
    const { asAnn } = await withArticle();
    assert.equal((await asAnn('PUT', '/articles/tea', {}, article('Tea'))).status, 428);
  });

  test('returns 404 if it does not exist, and 428 before the content is parsed', async () => {
    const { asAnn } = await withArticle();
    assert.equal((await asAnn('DELETE', '/articles/none', {})).status, 404);
    assert.equal((await asAnn('PUT', '/articles/1', {}, '<wrong')).status, 428);
  });

  test('requires no precondition for GET, or for POST to the collection', async () => {
    const { ask, asAnn } = await withArticle();
    assert.equal((await ask('GET', '/articles/1')).status, 200);
    assert.equal((await asAnn('POST', '/articles', {}, article('Tea'))).status, 201);
  });

  test('reports the requirement in the response to OPTIONS', async () => {
    const { ask } = await withArticle();
    assert.equal((await ask('OPTIONS', '/articles/1')).member('requirePrecondition'), 'true');
    assert.equal((await openService().ask('OPTIONS', '/articles/1')).member('requirePrecondition'), '');
  });
});

test('a resource in code can require a precondition, too', async () => {
  const { ask } = openService({
    resources: {
      '/note': {
        PUT: { access: 'anyone', handle: () => ({ status: 204 }) },
        find: () => ({ tag: 'one', modified: 0, value: undefined }),
        requirePrecondition: true,
      },
    },
  });
  assert.equal((await ask('PUT', '/note')).status, 428);
  assert.equal((await ask('PUT', '/note', { fields: { 'If-Match': '"one"' } })).status, 204);
});
