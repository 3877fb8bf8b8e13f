import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
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

const refused: readonly (readonly [argv: readonly string[], fault: string])[] = [
  [[`${app}/`], `"${app}/" has a trailing slash; write ${app}`],
  [[`${app}/login`], `"${app}/login" has a path or a query; write ${app}`],
  [['app.example'], `"app.example" has no scheme; write ${app}`],
  [['https://App.Example'], `"https://App.Example" is not in lower case; write ${app}`],
  [[app, 'localhost:3000'], `"localhost:3000" has no scheme; write ${other}`],
  [['\u001b[2J'], '"\\u001b[2J" is not an origin such as https://app.example'],
  [['*', app], '"*" includes all origins; remove the others'],
];

describe('an invalid origin is rejected in one line', () => {
  for (const [values, fault] of refused)
    test(fault, () => {
      assert.deepEqual(listFaults(values.flatMap((value) => ['--cors-origin', value])), [
        `--cors-origin: ${fault}`,
      ]);
      const file = fileWith({ cors: values });
      assert.deepEqual(listFaults(['--config', file]), [`${file}: cors.origins: ${fault}`]);
    });

  test('a wildcard with credentials is rejected', () => {
    assert.deepEqual(listFaults(['--cors-origin', '*', '--cors-credentials']), [
      '--cors-origin: "*" is impossible with credentials; write each origin',
    ]);
  });

  test('an empty text is rejected', () => {
    assert.deepEqual(listFaults(['--cors-origin=']), ['--cors-origin must be a list of origins, is empty']);
  });

  test('an array with anything but strings is rejected', () => {
    const file = fileWith({ corsOrigin: [1] });
    assert.deepEqual(listFaults(['--config', file]), [`${file}: corsOrigin[0] must be non-empty text, is 1`]);
  });

  test('an unknown member and a value of another kind are rejected', () => {
    const file = fileWith({ cors: { origin: [app] } });
    assert.deepEqual(listFaults(['--config', file]), [
      `${file}: unknown key cors.origin; did you mean "origins"?`,
    ]);
    const text = fileWith({ cors: app });
    assert.deepEqual(listFaults(['--config', text]), [`${text}: cors must be an object`]);
  });
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
