import assert from 'node:assert/strict';
import test from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import { openJournaledStore } from '../../src/store/durable.ts';
import { recover } from '../../src/store/recover.ts';
import { article, openService, start } from '../support/service/open-service.ts';
import { faultyDisk } from '../support/store/faulty-disk.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ann = { user: 'ann' };

async function withArticle() {
  const service = openService();
  await service.ask('PUT', '/articles/1', { ...ann, content: article('Tea') });
  const tag = (await service.ask('GET', '/articles/1')).field('ETag');
  return { ...service, tag };
}

test('each representation has a strong entity tag of its own', async () => {
  const { ask } = await withArticle();
  const accepts = ['application/xml', 'text/xml', 'application/json'];
  const tags = await Promise.all(
    accepts.map(async (Accept) => (await ask('GET', '/articles/1', { fields: { Accept } })).field('ETag')),
  );
  assert.equal(new Set(tags).size, 3);
  for (const tag of tags) assert.match(tag, /^"[^"]+"$/);
});

test('a GET with a matching If-None-Match returns 304 with ETag, Vary and Cache-Control, and without content', async () => {
  const { ask, tag } = await withArticle();
  const get = await ask('GET', '/articles/1');
  for (const fields of [
    { 'If-None-Match': tag },
    { 'If-None-Match': `"x", W/${tag}` },
    { 'If-None-Match': '*' },
  ]) {
    const reply = await ask('GET', '/articles/1', { fields });
    assert.equal(reply.status, 304);
    assert.equal(reply.text, '');
    for (const name of ['ETag', 'Vary', 'Cache-Control', 'Last-Modified']) {
      assert.equal(reply.field(name), get.field(name), name);
    }
    assert.equal(reply.field('Content-Type'), '');
  }
  const other = { 'If-None-Match': tag, Accept: 'application/json' };
  assert.equal((await ask('GET', '/articles/1', { fields: other })).status, 200, 'another representation');
});

test('a change accepts the entity tag of any current representation in If-Match', async () => {
  const { ask } = await withArticle();
  const tag = (await ask('GET', '/articles/1', { fields: { Accept: 'application/json' } })).field('ETag');
  const reply = await ask('PUT', '/articles/1', {
    ...ann,
    fields: { 'If-Match': tag },
    content: article('Mate'),
  });
  assert.equal(reply.status, 200);
});

test('If-Match on a missing item returns 412 for PUT and 404 for DELETE', async () => {
  const { ask } = openService();
  const fields = { 'If-Match': '*' };
  assert.equal((await ask('PUT', '/articles/1', { ...ann, fields, content: article('Tea') })).status, 412);
  assert.equal((await ask('DELETE', '/articles/1', { ...ann, fields })).status, 404);
});

test('dates are compared to the second, and entity tags take precedence over dates', async () => {
  const { ask, clock, tag } = await withArticle();
  clock.advance(5000);
  const at = (ms: number): string => new Date(ms).toUTCString();
  const get = async (fields: Record<string, string>) => (await ask('GET', '/articles/1', { fields })).status;
  assert.equal(await get({ 'If-Modified-Since': at(start) }), 304);
  assert.equal(await get({ 'If-Modified-Since': at(start - 1000) }), 200);
  assert.equal(await get({ 'If-Modified-Since': at(start), 'If-None-Match': '"other"' }), 200);
  assert.equal(await get({ 'If-Modified-Since': at(start - 1000), 'If-None-Match': tag }), 304);
  assert.equal(await get({ 'If-Modified-Since': 'yesterday' }), 200);
  assert.equal(await get({ 'If-Unmodified-Since': at(start - 1000) }), 412);
  assert.equal(await get({ 'If-Unmodified-Since': at(start) }), 200);
  assert.equal(await get({ 'If-Unmodified-Since': at(start - 1000), 'If-Match': tag }), 200);
});

test('an item that is deleted and created again has another entity tag', async () => {
  const { ask, tag } = await withArticle();
  await ask('DELETE', '/articles/1', ann);
  await ask('PUT', '/articles/1', { ...ann, content: article('Tea') });
  assert.notEqual((await ask('GET', '/articles/1')).field('ETag'), tag);
});

test('the entity tag of a collection changes with every change of its items, including deletions', async () => {
  const { ask } = await withArticle();
  const tagNow = async () => (await ask('GET', '/articles')).field('ETag');
  const seen = [await tagNow()];
  await ask('POST', '/articles', { ...ann, content: article('More') });
  seen.push(await tagNow());
  await ask('POST', '/articles/2', { ...ann, content: article('Changed') });
  seen.push(await tagNow());
  await ask('DELETE', '/articles/2', ann);
  seen.push(await tagNow());
  assert.equal(new Set(seen).size, 4);
  const again = await ask('GET', '/articles', { fields: { 'If-None-Match': seen[3] ?? '' } });
  assert.equal(again.status, 304);
});

test('Last-Modified is never later than Date, even after the clock is set back', async () => {
  const { ask, clock } = await withArticle();
  clock.advance(-3_600_000);
  const reply = await ask('GET', '/articles/1');
  assert.equal(reply.field('Last-Modified'), reply.field('Date'));
});

test('two services have different entity tags for the same item', async () => {
  const requestTag = async (seed: number) => {
    const service = openService({ random: (size) => Buffer.alloc(size, seed) });
    await service.ask('PUT', '/articles/1', { ...ann, content: article('Tea') });
    return (await service.ask('GET', '/articles/1')).field('ETag');
  };
  assert.notEqual(await requestTag(1), await requestTag(2));
});

for (const kept of [true, false]) {
  const what = kept ? 'is kept' : 'cannot be kept';
  test(`a precondition waits for a pending change, and is evaluated when that ${what}`, async (context) => {
    const disk = faultyDisk();
    const directory = temporaryDirectory(context);
    const recovered = await recover({ directory, disk });
    const clock = createManualClock(start);
    const opened = { directory, disk, recovered, clock, newStoreId: () => 'abc', onWarning: () => {} };
    const store = await openJournaledStore({ ...opened, durability: 'fsync' });
    const { ask } = openService({ store });
    const put = (title: string, fields = {}) =>
      ask('PUT', '/articles/1', { ...ann, fields, content: article(title) });
    await put('Tea');
    const tag = (await ask('GET', '/articles/1')).field('ETag');
    const gate = disk.hold('write');
    const first = [put('Mate'), put('Coffee')];
    await gate.reached;
    const conditional = [put('Milk', { 'If-Match': tag }), put('Wine', { 'If-None-Match': '*' })];
    if (!kept) disk.failNext('write', 'ENOSPC');
    gate.release();
    const statuses = async (replies: Promise<{ status: number }>[]) =>
      (await Promise.all(replies)).map(({ status }) => status);
    assert.deepEqual(await statuses(first), kept ? [200, 200] : [507, 507]);
    assert.deepEqual(await statuses(conditional), kept ? [412, 412] : [200, 412]);
    assert.match((await ask('GET', '/articles/1')).text, kept ? /Coffee/ : /Milk/);
    await store.close();
  });
}
