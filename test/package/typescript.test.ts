import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { onlyLong } from '../support/store/thoroughness.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { run } from './packed.ts';

const root = join(import.meta.dirname, '../..');
/** The first TypeScript with `await using`. `fixtures/projects/least-typescript` uses the least one for other code. */
const compiler = join(root, 'test/node_modules/typescript-5.2/bin/tsc');
const folder = temporaryDirectory();

const consumer = `
import { action, createService, type Resource, xml } from 'countersign';
import { createAttempts, createSigner } from 'countersign/attack';
import { signRequest } from 'countersign/client';
import { startDouble } from 'countersign/double';
import { createWriter } from 'countersign/xml';

const weather: Resource = {
  GET: action('anyone', ({ parameters }) =>
    xml(createWriter().start('weather').attribute('city', parameters['city'] ?? '').end().toString())),
};
createService({ resources: { '/weather/{city}': weather } });
export async function use(): Promise<number> {
  await using double = await startDouble({ users: { johndoe: { secret: 's3cret' } } });
  const headers = signRequest({ method: 'GET', url: double.url, user: 'johndoe', secret: 's3cret' });
  createAttempts({ method: 'GET', url: double.url }, createSigner({ user: 'johndoe', secret: 's3cret' }));
  return (await fetch(double.url, { headers })).status;
}
`;

test('the types and "await using" work with TypeScript 5.2', { skip: onlyLong }, (context) => {
  if (!existsSync(compiler)) return context.skip('typescript-5.2 is not installed: npm ci --prefix test');
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  symlinkSync(root, join(folder, 'node_modules/countersign'));
  symlinkSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'consumer.ts'), consumer);
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2022',
      lib: ['es2022', 'esnext.disposable'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    run(process.execPath, [compiler, '-p', folder], folder);
  }
});

/** TypeScript 5 and 7. The example has the options of a strict project. */
const compilers: Readonly<Record<string, string>> = {
  '5': join(root, 'test/node_modules/typescript/bin/tsc'),
  '7': join(root, 'node_modules/@typescript/native/bin/tsc'),
};

for (const [version, strictCompiler] of Object.entries(compilers))
  test(`the Vitest example compiles in strict mode with TypeScript ${version}`, (context) => {
    const project = join(root, 'examples/vitest');
    if (!existsSync(join(project, 'node_modules/vitest')))
      return context.skip('vitest is not installed: npm ci --prefix examples/vitest');
    if (!existsSync(strictCompiler)) return context.skip('typescript is not installed: npm ci --prefix test');
    const types = join(root, 'node_modules/@types');
    run(process.execPath, [strictCompiler, '-p', project, '--typeRoots', types], project);
  });

/** A test of a project that declares the matchers as the documentation shows. */
const jestConsumer = `
import { expect, test } from '@jest/globals';
import { withDouble } from 'countersign/double';
import * as matchers from 'countersign/matchers';

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends matchers.CountersignMatchers<R> {}
}

expect.extend(matchers);
test('the client lists articles', withDouble({}, async (double) => {
  expect(await double.fetch('/articles')).toBeAccepted();
  expect(double.journal.last()).not.toBeRefused({ status: 401 });
  // @ts-expect-error: no member of a refusal
  expect(double.journal.last()).toBeRefused({ code: 401 });
}));
test.each([1, 2])('%i', withDouble({}, (_double, row: number) => row.toFixed()));
`;

test('the matchers and tests with a double have types in Jest', (context) => {
  const packages = join(root, 'examples/jest/node_modules');
  const compiler = compilers['7'] ?? '';
  if (!existsSync(packages)) return context.skip('jest is not installed: npm ci --prefix examples/jest');
  if (!existsSync(compiler)) return context.skip('typescript is not installed: npm ci --prefix test');
  const project = join(folder, 'jest');
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  symlinkSync(root, join(project, 'node_modules/countersign'));
  symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
  for (const name of ['@jest', 'expect'])
    symlinkSync(join(packages, name), join(project, 'node_modules', name));
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'esnext.disposable'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
  };
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(project, 'jest.test.ts'), jestConsumer);
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['jest.test.ts'] }));
  run(process.execPath, [compiler, '-p', project], project);
});
