import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { openService } from '../support/service/open-service.ts';

const thing = {
  element: 'things',
  item: 'thing',
  fields: { title: { type: 'text' }, price: { type: 'decimal' } },
  access: { read: 'anyone', write: 'anyone' },
} as const;

const collections = {
  '/things': { ...thing, filter: ['title', 'price'], sort: ['price'] },
  '/plain': thing,
} as const;

const json = { Accept: 'application/json' };

for (const [target, parameter, detail, nearest] of [
  ['/things?titel=x', 'titel', 'This list has no query parameter titel. Did you mean title?', 'title'],
  ['/things?Title=x', 'Title', 'This list has no query parameter Title. Did you mean title?', 'title'],
  [
    '/things?price.mni=1',
    'price.mni',
    'This list has no query parameter price.mni. Did you mean price.min?',
    'price.min',
  ],
  ['/things?limt=1', 'limt', 'This list has no query parameter limt. Did you mean limit?', 'limit'],
  [
    '/things?xyzzy',
    'xyzzy',
    'This list has no query parameter xyzzy. It has title, price, price.min, price.max, sort, limit, after.',
    '',
  ],
  ['/plain?sort=price', 'sort', 'This list has no query parameter sort. It has limit, after.', ''],
  ['/plain?title=x', 'title', 'This list has no query parameter title. It has limit, after.', ''],
  ['/plain?=x', '', 'This list has no query parameter without a name. It has limit, after.', ''],
  ['/plain?a%01b', 'a\ufffdb', 'This list has no query parameter a\ufffdb. It has limit, after.', ''],
] as const) {
  test(`strictQuery rejects ${target}, and names the nearest parameter`, async () => {
    const { ask } = openService({ collections, strictQuery: true });
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(method, target, { fields: json });
      assert.deepEqual([answer.status, answer.member('type')], [400, '/problems/unknown-query-parameter']);
      assert.equal(answer.member('detail'), detail);
      assert.equal(answer.member('parameter'), parameter);
      assert.equal(answer.member('nearest'), nearest);
    }
  });
}

test('strictQuery rejects a repeated parameter, also if both values are the same', async () => {
  const { ask } = openService({ collections, strictQuery: true });
  for (const query of [
    'title=a&title=b',
    'limit=1&%6Cimit=1',
    'sort=price&sort=price',
    'price.min=1&price.min=1',
  ]) {
    const answer = await ask('GET', `/things?${query}`, { fields: json });
    assert.deepEqual([answer.status, answer.member('type')], [400, '/problems/repeated-query-parameter']);
    assert.equal(answer.member('parameter'), query.split('=')[0]);
  }
});

test('strictQuery accepts every known parameter once, and any query of other requests', async () => {
  const resources = { '/code': { GET: { access: 'anyone', handle: () => ({ status: 204 }) } } } as const;
  const { ask } = openService({ collections, resources, strictQuery: true });
  const query = 'title=a&price=1&price.min=0&price.max=2&sort=-price&limit=3';
  assert.equal((await ask('GET', `/things?${query}&after=1-`)).status, 200);
  const content = '{"title":"a"}';
  for (const [method, target, status] of [
    ['POST', '/things?x=1', 201],
    ['OPTIONS', '/things?x=1', 200],
    ['GET', '/things/1?x=1', 200],
    ['DELETE', '/things/1?x=1', 204],
    ['GET', '/code?x=1&x=2', 204],
    ['GET', '/?x=1', 200],
  ] as const) {
    const asking = method === 'POST' ? { content, type: 'application/json' } : {};
    assert.equal((await ask(method, target, asking)).status, status, target);
  }
});

test('by default a service ignores unknown parameters, and uses the first of repeated ones', async () => {
  const seed = { '/things': [{ title: 'a' }, { title: 'b' }] };
  const { ask } = openService({ collections, seed });
  const answer = await ask('GET', '/things?titel=a&title=b&title=a&sort=price&sort=x', { fields: json });
  assert.equal(answer.text, '{"things":[{"href":"/things/2","title":"b"}]}');
});

test('a double is strict unless strictQuery is false', async () => {
  await using strict = await startDouble({ https: false, collections });
  const rejected = await strict.fetch('/things?titel=x');
  assert.equal(rejected.status, 400);
  assert.match(await rejected.text(), /Did you mean title\?/);
  assert.match(String(strict.journal.last()), /unknown-query-parameter, step 12 .*Did you mean title\?/);
  strict.collection('/more', thing);
  assert.equal((await strict.fetch('/more?x')).status, 400);
  await using lenient = await startDouble({ https: false, collections, strictQuery: false });
  assert.equal((await lenient.fetch('/things?titel=x')).status, 200);
});

test('strictQuery accepts the parameters of credentials', async () => {
  const schemes = {
    links: {
      message: '{user}.{timestamp}.{url}',
      signature: { query: 'sig' },
      user: { field: 'X-Link-User' },
      timestamp: { field: 'X-Link-Time' },
    },
    aws4: { region: 'eu-central-1', service: 'execute-api' },
  } as const;
  const users = { ann: { secret: 'the secret of ann' } };
  const consumers = { printer: { secret: 'the-secret-of-printer' } };
  await using double = await startDouble({ collections, schemes, users, consumers });
  for (const options of [{ scheme: 'links' }, { scheme: 'aws4', presign: 60 }] as const) {
    const response = await double.as('ann', options).fetch('/things?title=a');
    assert.equal(response.status, 200, String(double.journal.last()));
    assert.equal(double.journal.last()?.principal?.name, 'ann');
  }
  // RFC 5849 §3.5.3: the parameters of OAuth 1.0a in the query.
  const { Authorization = '' } = await double
    .as('ann', { scheme: 'oauth1' })
    .signRequest({ url: '/things?title=a' });
  const parameters = [...Authorization.matchAll(/(oauth_\w+)="([^"]*)"/g)].map(
    ([, name, value]) => `${name}=${value}`,
  );
  const response = await double.fetch(`/things?title=a&${parameters.join('&')}`, { secure: true });
  assert.equal(response.status, 200, String(double.journal.last()));
  assert.equal(double.journal.last()?.principal?.name, 'ann');
});

test('strictQuery rejects a value that the enumeration of a field does not have', async () => {
  const fields = {
    size: { type: 'text', enum: ['S', 'M'] },
    grade: { type: 'decimal', fractionDigits: 1, enum: ['1.0', '2.5'] },
  } as const;
  const shirts = { ...thing, fields, filter: ['size', 'grade'] };
  for (const strictQuery of [true, false]) {
    const { ask } = openService({ collections: { '/shirts': shirts }, strictQuery });
    const refused = strictQuery ? 400 : 200;
    assert.equal((await ask('GET', '/shirts?size=M&grade=1.0&grade.min=9.0', { fields: json })).status, 200);
    assert.equal((await ask('GET', '/shirts?grade=3.0', { fields: json })).status, refused);
    const answer = await ask('GET', '/shirts?size=XL', { fields: json });
    assert.equal(answer.status, refused);
    if (strictQuery) assert.equal(answer.member('detail'), 'The query parameter size must be one of S, M.');
  }
});
