// Clients that generators of others make from a partner's document, against a double of it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { startDouble } from '../../../src/double/index.ts';
import { missingPackage, resolvePackage } from '../../support/packages.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const partner = '@figma/rest-api-spec';
const key = 'key of ann';
const compiler = join(import.meta.dirname, '../../..', 'node_modules/@typescript/native/bin/tsc');
const folderOf = (name: string): string => dirname(resolvePackage(`${name}/package.json`));

/** What each client asks for: the user, with a right and a wrong key, and a comment, with right and wrong content. */
const expected = ['200 object', '401 status,err', '200 string', '422 undefined'];

/** A client on the types of openapi-typescript. Where a line has `@ts-expect-error`, the types must refuse it. */
const fetching = `
import createClient from 'openapi-fetch';
import type { paths } from './api';

export async function use(baseUrl: string, key: string): Promise<string[]> {
  const client = createClient<paths>({ baseUrl, headers: { 'X-Figma-Token': key } });
  const stranger = createClient<paths>({ baseUrl, headers: { 'X-Figma-Token': 'wrong' } });
  const me = await client.GET('/v1/me');
  const refused = await stranger.GET('/v1/me');
  const path = { file_key: 'abc' };
  const posted = await client.POST('/v1/files/{file_key}/comments', { params: { path }, body: { message: 'Hi' } });
  // @ts-expect-error the message is a text
  const wrong = await client.POST('/v1/files/{file_key}/comments', { params: { path }, body: { message: 1 } });
  const id: string | undefined = posted.data?.id;
  return [
    me.response.status + ' ' + typeof me.data,
    refused.response.status + ' ' + Object.keys(refused.error ?? {}),
    posted.response.status + ' ' + typeof id,
    wrong.response.status + ' ' + typeof wrong.data,
  ];
}
`;

/** Bundles the client in a folder, and lets it ask a double of the partner. */
async function useClient(folder: string): Promise<readonly string[]> {
  const outfile = join(folder, 'client.mjs');
  const nodePaths = [dirname(folderOf('openapi-fetch'))];
  await build({ entryPoints: [join(folder, 'use.ts')], bundle: true, format: 'esm', outfile, nodePaths });
  const { use } = await import(pathToFileURL(outfile).href);
  await using double = await startDouble({
    users: { ann: { secret: key } },
    partner: join(folderOf(partner), 'openapi/openapi.yaml'),
    onError: () => {},
  });
  return await use(double.url, key);
}

const names = [partner, 'yaml', 'openapi-typescript', 'openapi-fetch'];

test('a client of openapi-fetch type-checks, and calls a double of the partner', {
  skip: names.map(missingPackage).find((reason) => reason !== false) ?? false,
}, async () => {
  const folder = temporaryDirectory();
  const { default: generate, astToString } = await import(
    join(folderOf('openapi-typescript'), 'dist/index.mjs')
  );
  const source = pathToFileURL(join(folderOf(partner), 'openapi/openapi.yaml'));
  writeFileSync(join(folder, 'api.d.ts'), astToString(await generate(source)));
  writeFileSync(join(folder, 'use.ts'), fetching);
  const compilerOptions = {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable'],
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: true,
    paths: { 'openapi-fetch': [folderOf('openapi-fetch')] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const checked = spawnSync(process.execPath, [compiler, '-p', folder], {
    encoding: 'utf8',
  });
  assert.equal(checked.status, 0, checked.stdout);
  assert.deepEqual(await useClient(folder), expected);
});
