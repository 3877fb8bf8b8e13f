import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OptionsError, readOptions } from '../../src/options/options.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const app = 'https://app.example';
const other = 'http://localhost:3000';

function fileWith(content: unknown): string {
  const path = join(temporaryDirectory(), 'config.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

function listFaults(argv: readonly string[]): readonly string[] {
  try {
    readOptions(argv, {});
  } catch (error) {
    if (error instanceof OptionsError) return error.faults;
    throw error;
  }
  return [];
}

test('the flag is repeatable, the variable has commas, and the file has an array', () => {
  const read = (argv: readonly string[], environment: Record<string, string> = {}): readonly string[] =>
    readOptions(argv, environment).corsOrigin;
  const both = [app, other];
  const variable = { COUNTERSIGN_CORS_ORIGIN: `${app}, ${other}` };
  assert.deepEqual(read(['--cors-origin', app, `--cors-origin=${other}`]), both);
  assert.deepEqual(read(['--cors-origin', `${app},${other}`]), both);
  assert.deepEqual(read([], variable), both);
  for (const content of [
    { corsOrigin: both },
    { corsOrigin: `${app},${other}` },
    { cors: both },
    { cors: { origins: both } },
  ])
    assert.deepEqual(read(['--config', fileWith(content)]), both);
  assert.deepEqual(read(['--config', fileWith({ cors: [] })]), []);
  assert.deepEqual(read(['--cors-origin', 'null'], variable), ['null']);
  assert.deepEqual(read(['--cors-origin', '*']), ['*']);
});

test('the group of the file has the other options too', () => {
  const file = fileWith({ cors: { origins: [app], credentials: true, maxAge: 0 } });
  const { corsOrigin, corsCredentials, corsMaxAge } = readOptions(['--config', file], {});
  assert.deepEqual([corsOrigin, corsCredentials, corsMaxAge], [[app], true, 0]);
});

test('credentials without an origin are reported as ignored', () => {
  assert.deepEqual(readOptions(['--cors-credentials'], {}).warnings, [
    '--cors-credentials is ignored because there is no --cors-origin',
  ]);
});

test('a collection of the file has its own origins', () => {
  const notes = { element: 'notes', item: 'note', fields: { text: { type: 'text' } } };
  const file = (cors: unknown): string => fileWith({ collections: { '/notes': { ...notes, cors } } });
  const [collection] = readOptions(['--config', file([app])], {}).collections;
  assert.deepEqual(collection?.cors, { origins: [app], credentials: false, maxAge: 600 });
  const path = file({ origins: [`${app}/`] });
  assert.deepEqual(listFaults(['--config', path]), [
    `${path}: collections./notes.cors.origins: "${app}/" has a trailing slash; write ${app}`,
  ]);
});
