import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startDouble } from '../../../src/double/index.ts';
import { missingPackage, resolvePackage } from '../../support/packages.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { configurations } from './configurations.ts';

const skip =
  missingPackage('openapi-typescript') ||
  missingPackage('openapi-fetch') ||
  missingPackage('typescript/bin/tsc');

/** A client of the default configuration. Where a line has `@ts-expect-error`, the types must refuse it. */
const client = `
import createClient, { type Middleware } from 'openapi-fetch';
import type { paths } from './api';

export async function use(baseUrl: string, authentication: Middleware): Promise<string[]> {
  const client = createClient<paths>({ baseUrl, headers: { Accept: 'application/json' } });
  client.use(authentication);
  const body = { title: 'Green tea', price: { value: '12.30', currency: 'EUR' as const } };
  const made = await client.POST('/articles', { body });
  const place = made.response.headers.get('Location') ?? '';
  const path = { id: place.slice(place.lastIndexOf('/') + 1) };
  const read = await client.GET('/articles/{id}', { params: { path } });
  const price: string | undefined = read.data?.price.value;
  const list = await client.GET('/articles', { params: { query: { limit: 10 } } });
  const titles: string[] = (list.data?.articles ?? []).map(({ title, href }) => href + ' ' + title);
  const header = { 'If-Match': read.response.headers.get('ETag') ?? '' };
  const changed = await client.POST('/articles/{id}', { params: { path, header }, body: { title: 'Tea' } });
  const again = await client.POST('/articles/{id}', { params: { path, header }, body: { title: 'Tea' } });
  const isStale = again.error?.type === '/problems/precondition-failed';
  const deleted = await client.DELETE('/articles/{id}', { params: { path } });
  const gone = await client.GET('/articles/{id}', { params: { path } });
  // @ts-expect-error a required field is missing
  const invalid = await client.POST('/articles', { body: { title: 'Tea' } });
  // @ts-expect-error decimals are strings
  body.price.value = 12.3;
  // @ts-expect-error there is no such path
  await client.GET('/article');
  // @ts-expect-error this operation has no such problem
  const never = gone.error?.type === '/problems/json-malformed';
  const statuses = [made, read, list, changed, again, deleted, gone, invalid].map(({ response }) => response.status);
  return [...titles, price ?? '', changed.data?.title ?? '', String(isStale), statuses.join(' ')];
}
`;

test('a client generated from the document type-checks, and works with the server', {
  skip,
}, async () => {
  await using double = await startDouble({ users: { ann: { secret: 'ann-secret' } }, openapi: true });
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
    symlinkSync(dirname(resolvePackage(`${name}/package.json`)), join(folder, 'node_modules', name));
  const types = await generateTypes(double.url);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'api.d.ts'), types);
  writeFileSync(join(folder, 'client.ts'), client);
  const compilerOptions = {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    types: [],
    skipLibCheck: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['client.ts'] }));
  const compiler = resolvePackage('typescript/bin/tsc');
  const compiled = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
  assert.equal(compiled.status, 0, compiled.stdout);

  const { use } = await import(pathToFileURL(join(folder, 'client.js')).href);
  const ann = double.as('ann');
  const signing = { onRequest: ({ request }: { request: Request }) => ann.fetch(request) };
  const result = await use(double.url, signing);
  assert.deepEqual(result, [
    '/articles/1 Green tea',
    '12.30',
    'Tea',
    'true',
    '201 200 200 200 412 204 404 422',
  ]);
});

test('openapi-typescript accepts the document of every configuration', { skip }, async () => {
  for (const [name, options] of Object.entries(configurations)) {
    await using double = await startDouble({ users: ['ann'], ...options, openapi: true });
    assert.match(await generateTypes(double.url), /export interface paths/, name);
  }
});

/** Returns the types that openapi-typescript generates from the document that a server returns. */
async function generateTypes(url: string): Promise<string> {
  const module = await import(
    join(dirname(resolvePackage('openapi-typescript/package.json')), 'dist/index.mjs')
  );
  const { default: generate, astToString } = module;
  const document = await fetch(`${url}/openapi.json`);
  return astToString(await generate(JSON.parse(await document.text())));
}
