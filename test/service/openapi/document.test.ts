import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import {
  type CollectionDeclaration,
  createService,
  type OpenApiDocument,
  type ServiceOptions,
} from '../../../src/index.ts';
import { drawFields } from '../../support/collections/random-schema.ts';
import { missingPackage, resolvePackage } from '../../support/packages.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';
import { accessRules, configurations, everyType, resourcesInCode } from './configurations.ts';

describe('an independent validator', {
  skip: missingPackage('@seriousme/openapi-schema-validator'),
}, () => {
  for (const [name, options] of Object.entries(configurations)) {
    test(`accepts the document of ${name}`, async () => {
      await using double = await startDouble({ users: ['ann'], ...options });
      const { Validator } = await import(resolvePackage('@seriousme/openapi-schema-validator'));
      const { valid, errors } = await new Validator().validate(await double.openapi());
      assert.ok(valid, JSON.stringify(errors));
    });
  }
});

/** Asserts that every operation has its own id, and every reference has a target. */
function checkNames(openapi: OpenApiDocument, name: string): void {
  const text = JSON.stringify(openapi);
  const ids = [...text.matchAll(/"operationId":"([^"]*)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length, name);
  const document: unknown = JSON.parse(text);
  for (const [, reference = ''] of text.matchAll(/"\$ref":"#\/([^"]*)"/g)) {
    let target: unknown = document;
    for (const part of reference.split('/'))
      target = typeof target === 'object' && target !== null ? Reflect.get(target, part) : undefined;
    assert.ok(target !== undefined, `${name}: ${reference}`);
  }
}

test('every operation has its own id, and every reference has a target', async () => {
  for (const [name, options] of Object.entries(configurations)) {
    await using double = await startDouble({ users: ['ann'], ...options });
    checkNames(await double.openapi(), name);
  }
});

test('the document of a random configuration is valid', {
  skip: missingPackage('@seriousme/openapi-schema-validator'),
}, async () => {
  const { Validator } = await import(resolvePackage('@seriousme/openapi-schema-validator'));
  const seed = Number(process.env['SEED'] ?? process.hrtime()[1]);
  const random = seeded(seed);
  for (let round = 0; round < 20; round += 1) {
    const options = drawConfiguration(random);
    const service = createService(options);
    const document = await service.openapi();
    await service.close({ grace: 0 });
    const where = `SEED=${seed} ${JSON.stringify(options)}`;
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    assert.ok(valid, `${where}: ${JSON.stringify(errors)}`);
    checkNames(document, where);
  }
});

/** Draws collections with random fields, access rules, lists and schemes. */
function drawConfiguration(random: Seeded): ServiceOptions {
  const some = <T extends object>(part: T): Partial<T> => (random.below(2) === 0 ? part : {});
  const configured = configurations['every scheme'] ?? {};
  const { schemes = {}, clients = {}, consumers = {} } = configured;
  const offered = random.below(2) === 0 ? schemes : {};
  const names = ['basic', 'hmac', ...Object.keys(offered)];
  const rules = ['anyone', 'authenticated', 'nobody', 'owner:user', ['ann'], []] as const;
  const collection = (): CollectionDeclaration => {
    const fields = JSON.parse(
      JSON.stringify(drawFields(random, 2, ['href', 'sort', 'limit', 'after', 'plain'])),
    );
    const access = Object.fromEntries(
      ['read', 'HEAD', 'PUT', 'POST', 'DELETE'].flatMap((method) =>
        random.below(3) === 0 ? [] : [[method, random.pick(rules)]],
      ),
    );
    return {
      element: random.pick(['things', 'article', 'título']),
      item: random.pick(['thing', 'article']),
      fields: { plain: { type: random.pick(['decimal', 'date']) }, ...fields },
      access,
      ...some({ filter: ['plain'], sort: ['-plain', 'modified'] }),
      ...some({ createWithPut: false }),
      ...some({ schemes: [random.pick(names)] }),
      ...some({ defaultFormat: 'json' as const }),
    };
  };
  return {
    collections: { '/{user}/a': collection(), '/{user}/b/{id}': collection(), '/{user}': collection() },
    users: { ann: { secret: 's' } },
    schemes: offered,
    ...some({ clients }),
    ...some({ consumers }),
    ...some({ strictQuery: true, quota: '5/1m' }),
    ...some({ basePath: '/v1', publicUrl: 'https://api.example' }),
    ...some({ openapi: true, health: { path: '/up' }, requestId: true }),
    ...some({ resources: resourcesInCode }),
  };
}

/** Returns the operations of a path that are in the document. */
async function listMethods(options: ServiceOptions, path: string): Promise<string[]> {
  const service = createService(options);
  const { paths } = await service.openapi();
  await service.close({ grace: 0 });
  return Object.keys(paths[path] ?? {}).filter((key) => key !== 'parameters');
}

test('the document omits methods that no user may use', async () => {
  const collections = accessRules;
  assert.deepEqual(await listMethods({ collections }, '/{owner}/things'), ['get', 'head', 'post']);
  assert.deepEqual(await listMethods({ collections }, '/{owner}/things/{id}'), ['get', 'head', 'post']);
  assert.deepEqual(await listMethods({ collections }, '/hidden'), []);
  const { paths } = await createService({ collections }).openapi();
  assert.ok(!Object.hasOwn(paths, '/hidden'));
});

test('the document describes the methods, content types and security of resources in code', async () => {
  const { paths } = await createService({
    resources: resourcesInCode,
    users: { ann: { secret: 's' } },
  }).openapi();
  assert.deepEqual(Object.keys(paths['/weather/{city}'] ?? {}), ['parameters', 'get', 'head']);
  const upload = paths['/upload'] ?? {};
  assert.deepEqual(Object.keys(upload), ['put', 'post']);
  const post = JSON.parse(JSON.stringify(upload['post']));
  assert.deepEqual(post.requestBody, { required: true, content: { 'image/png': {} } });
  assert.deepEqual(post.responses['2XX'].content, { 'application/json': {} });
  assert.deepEqual(post.security, [{ hmac: [] }]);
  assert.ok(!JSON.stringify(upload).includes('ann'));
});

test('credentials are optional only if anyone has access, and a requirement lists all locations of credentials', async () => {
  await using double = await startDouble({ users: ['ann'], ...configurations['every scheme'] });
  const document = await double.openapi();
  const { paths, components } = JSON.parse(JSON.stringify(document));
  const restricted = [
    {
      partner: [],
      'partner.user': [],
      'partner.timestamp': [],
      'partner.nonce': [],
    },
    { basic: [] },
  ];
  assert.deepEqual(paths['/things'].post.security, restricted);
  assert.deepEqual(paths['/things'].get.security, [{}, ...restricted]);
  const names = paths['/others'].post.security.map((each: object) => Object.keys(each).join(' '));
  assert.deepEqual(names, [
    'basic',
    'hmac',
    'message-signatures message-signatures.input',
    'aws4',
    'key.user key.secret',
    'partner partner.user partner.timestamp partner.nonce',
    'hook',
    'link',
    'bearer',
    'oauth',
  ]);
  assert.deepEqual(paths['/others'].post.security[8], { bearer: ['write'] });
  assert.deepEqual(paths['/others'].get.security[9], { bearer: ['read'] });
  const { securitySchemes } = components;
  assert.equal(securitySchemes.link.in, 'query');
  assert.equal(securitySchemes.bearer.flows.authorizationCode.tokenUrl, '/oauth2/token');
  assert.deepEqual(securitySchemes['key.secret'].name, 'X-Secret');
});

test('the document describes the elements and attributes of XML', async () => {
  await using double = await startDouble({ collections: { '/things': everyType } });
  const { components } = JSON.parse(JSON.stringify(await double.openapi()));
  const { Thing, ListedThing, Things } = components.schemas;
  assert.deepEqual(Thing.xml, { name: 'thing' });
  assert.deepEqual(Things.xml, { name: 'things' });
  assert.deepEqual(ListedThing.properties.href.xml, { attribute: true });
  const { price, tags, notes, address } = Thing.properties;
  assert.deepEqual(price.properties.currency.xml, { attribute: true });
  assert.deepEqual(price.properties.value.xml, { 'x-nodeType': 'text' });
  assert.deepEqual([tags.xml, tags.items.xml], [{ wrapped: true }, { name: 'tag' }]);
  assert.deepEqual(
    [notes.properties.value.xml, notes.properties.value.items.xml],
    [undefined, { name: 'item' }],
  );
  assert.deepEqual(address.properties.kind.xml, { attribute: true });
});

test('the document lists the URLs of the server, and a relative URL when it is served', async () => {
  await using double = await startDouble({ openapi: true });
  const { servers } = await double.openapi();
  assert.deepEqual(servers, [{ url: double.url }, { url: double.secureUrl }]);
  const response = await double.fetch('/openapi.json');
  assert.deepEqual(JSON.parse(await response.text()).servers, [{ url: '/' }]);
  const service = createService({ publicUrl: 'https://api.example/', basePath: '/v1', openapi: true });
  assert.deepEqual((await service.openapi()).servers, [{ url: 'https://api.example/v1' }]);
});

test('the document is served only with the option openapi, and describes the current resources', async () => {
  await using without = await startDouble();
  assert.equal((await without.fetch('/openapi.json')).status, 404);
  await using double = await startDouble({ openapi: true });
  const pathsNow = async (): Promise<string[]> => {
    const response = await double.fetch('/openapi.json');
    return Object.keys(JSON.parse(await response.text()).paths);
  };
  assert.ok((await pathsNow()).includes('/openapi.json'));
  assert.ok(!(await pathsNow()).includes('/things'));
  double.collection('/things', everyType);
  assert.ok((await pathsNow()).includes('/things'));
  const first = await double.fetch('/openapi.json');
  const again = await double.fetch('/openapi.json', {
    headers: { 'If-None-Match': first.headers.get('etag') ?? '' },
  });
  assert.equal(again.status, 304);
  const index = await double.fetch('/', { headers: { Accept: 'application/json' } });
  assert.match(await index.text(), /"href":"\/openapi\.json"/);
});

test('createService rejects a resource at the path of the document', () => {
  const resources = { '/openapi.json': {} };
  assert.throws(() => createService({ resources, openapi: true }), /\/openapi\.json, which is that of/);
  createService({ resources });
});
