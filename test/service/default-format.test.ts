import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { action, createService, json, Problem, readBytes, readJson, xml } from '../../src/index.ts';
import { openService } from '../support/service/open-service.ts';

const thing = {
  element: 'things',
  item: 'thing',
  fields: { title: { type: 'text' } },
  access: { read: 'anyone', write: 'anyone' },
} as const;

const collections = {
  '/things': thing,
  '/json': { ...thing, defaultFormat: 'json' },
  '/xml': { ...thing, defaultFormat: 'xml' },
} as const;

const seed = { '/things': [{ title: 'a' }], '/json': [{ title: 'a' }], '/xml': [{ title: 'a' }] };

type DefaultFormat = 'xml' | 'json';

const plainTypes = { xml: 'application/xml; charset=utf-8', json: 'application/json' };
const problemTypes = { xml: 'application/problem+xml; charset=utf-8', json: 'application/problem+json' };

for (const defaultFormat of [undefined, 'xml', 'json'] as const) {
  describe(`a service with the default format ${defaultFormat}`, () => {
    const service: DefaultFormat = defaultFormat ?? 'xml';
    const options = { collections, seed, ...(defaultFormat && { defaultFormat }) };
    const of: Readonly<Record<string, DefaultFormat>> = {
      '/things': service,
      '/json': 'json',
      '/xml': 'xml',
    };

    for (const accept of [undefined, '*/*', '', 'text/html, */*;q=0.8', 'application/*']) {
      const fields: Record<string, string> = accept === undefined ? {} : { Accept: accept };

      test(`responds in the default format to Accept: ${accept}`, async () => {
        const { ask } = openService(options);
        for (const [path, format] of Object.entries(of)) {
          for (const target of [path, `${path}/1`])
            for (const method of ['GET', 'HEAD'])
              assert.equal((await ask(method, target, { fields })).field('Content-Type'), plainTypes[format]);
          assert.equal((await ask('OPTIONS', path, { fields })).field('Content-Type'), plainTypes[format]);
          const content = '{"title":"b"}';
          const created = await ask('POST', path, { fields, content, type: 'application/json' });
          assert.deepEqual([created.status, created.field('Content-Type')], [201, plainTypes[format]]);
          const inXml = await ask('PUT', `${path}/1`, { fields, content: '<thing><title>c</title></thing>' });
          assert.deepEqual([inXml.status, inXml.field('Content-Type')], [200, plainTypes[format]]);
        }
        for (const target of ['/', '/problems', '/problems/not-found'])
          assert.equal((await ask('GET', target, { fields })).field('Content-Type'), plainTypes[service]);
        assert.equal((await ask('OPTIONS', '*', { fields })).field('Content-Type'), plainTypes[service]);
      });
    }

    for (const accept of [undefined, '*/*', 'text/html, */*;q=0.8']) {
      const fields: Record<string, string> = accept === undefined ? {} : { Accept: accept };

      test(`reports problems in the default format to Accept: ${accept}`, async () => {
        const { ask } = openService(options);
        for (const [path, format] of Object.entries(of))
          for (const [method, target, content] of [
            ['GET', `${path}/9`],
            ['GET', `${path}?limit=x`],
            ['PUT', path],
            ['POST', path, '<thing>'],
            ['POST', path, '<thing><x/></thing>'],
          ] as const) {
            const answer = await ask(method, target, { fields, ...(content && { content }) });
            assert.ok(answer.status >= 400);
            assert.equal(answer.field('Content-Type'), problemTypes[format], `${method} ${target}`);
          }
        for (const [method, target] of [
          ['GET', '/nothing'],
          ['BREW', '/json'],
          ['PUT', '/'],
        ] as const)
          assert.equal((await ask(method, target, { fields })).field('Content-Type'), problemTypes[service]);
      });
    }

    test('responds in the type that Accept prefers', async () => {
      const { ask } = openService(options);
      for (const path of Object.keys(of))
        for (const [accept, type] of [
          ['application/xml', plainTypes.xml],
          ['text/xml', 'text/xml; charset=utf-8'],
          ['application/json', plainTypes.json],
          ['application/json;q=0.5, application/xml', plainTypes.xml],
          ['application/xml;q=0.5, application/json', plainTypes.json],
          ['text/*', 'text/xml; charset=utf-8'],
          ['application/json;q=0.4, */*;q=0.5', plainTypes.xml],
          [
            'application/xml;q=0.4, */*;q=0.5',
            of[path] === 'json' ? plainTypes.json : 'text/xml; charset=utf-8',
          ],
        ] as const)
          assert.equal((await ask('GET', path, { fields: { Accept: accept } })).field('Content-Type'), type);
      assert.equal((await ask('GET', '/json', { fields: { Accept: 'image/png' } })).status, 406);
    });
  });
}

test('a resource in code returns its own type, and its problems default to the format of the service', async () => {
  const resources = {
    '/both': { GET: action('anyone', () => xml('<a/>')) },
    '/own': { GET: action('anyone', () => json(1)), defaultFormat: 'json' },
  } as const;
  const { ask } = openService({ resources });
  assert.equal((await ask('GET', '/both')).field('Content-Type'), plainTypes.xml);
  assert.equal((await ask('PUT', '/both')).field('Content-Type'), problemTypes.xml);
  assert.equal((await ask('PUT', '/own')).field('Content-Type'), problemTypes.json);
  const inJson = openService({ resources, defaultFormat: 'json' });
  assert.equal((await inJson.ask('GET', '/both')).field('Content-Type'), plainTypes.xml);
  assert.equal((await inJson.ask('PUT', '/both')).field('Content-Type'), problemTypes.json);
});

test('a resource that reads and produces nothing but JSON has its problems in JSON', async () => {
  const refuse = () => {
    throw new Problem('invalid-content', 'No.');
  };
  const jsonType = { type: 'application/vnd.example+json', mark: 'j' };
  const { ask } = openService({
    resources: {
      '/reads': { POST: action('anyone', refuse, { reads: [readJson] }), GET: action('anyone', refuse) },
      '/produces': { GET: action('anyone', refuse), produces: [jsonType] },
      '/both': { POST: action('anyone', refuse, { reads: [readJson, readBytes] }) },
      '/neither': { GET: action('anyone', refuse) },
    },
  });
  const types = new Map<string, string | undefined>();
  for (const path of ['/reads', '/produces', '/both', '/neither'])
    types.set(path, (await ask('GET', path)).field('Content-Type'));
  assert.deepEqual(
    [...types],
    [
      ['/reads', problemTypes.json],
      ['/produces', problemTypes.json],
      ['/both', problemTypes.xml],
      ['/neither', problemTypes.xml],
    ],
  );
});

test('an invalid default format of a resource is rejected', () => {
  const wrong: object = { defaultFormat: 'jsno' };
  const resource = { GET: action('anyone', () => json(1)), ...wrong };
  assert.throws(
    () => createService({ resources: { '/x': resource } }),
    /defaultFormat of the resource at \/x must be one of xml, json, is "jsno"/,
  );
});
