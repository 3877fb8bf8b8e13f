import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadModule } from '../../../src/cli/module/load-module.ts';
import { redactPasswords } from '../../../src/cli/module/module-fault.ts';
import { readOptions } from '../../../src/options/options.ts';
import { call, run } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { importFrom, writeModule } from '../write-module.ts';

/** Modules that cannot be used, and what is printed instead of `FILE`. */
const invalid: readonly (readonly [what: string, text: string, message: RegExp])[] = [
  ['a syntax error', 'export default (\n', /^the module FILE has a syntax error: .*[^.\n]$/],
  [
    'no default export',
    'export const store = 1;',
    /^the default export of the module FILE must be a function, is missing$/,
  ],
  ['code that throws', 'throw new TypeError("no\\nway");', /^the module FILE failed: no way \(line 1\)$/],
  [
    'a function that throws',
    '\nexport default () => { throw new Error("no way"); };',
    /^the module FILE failed: no way \(line 2\)$/,
  ],
  [
    'a function that throws a text',
    'export default () => { throw "no way"; };',
    /^the module FILE failed: no way$/,
  ],
  [
    'a promise that rejects for several addresses',
    'export default () => Promise.reject(new AggregateError([new Error("connect 1"), new Error("connect 2")]));',
    /^the module FILE failed: connect 1; connect 2 \(line 1\)$/,
  ],
  [
    'a promise that is never settled',
    'export default () => new Promise(() => {});',
    /^the module FILE returned a promise that is never settled$/,
  ],
  [
    'a missing driver',
    'import pg from "pgx";\nexport default () => ({});',
    /^the module FILE requires the package pgx, which is not installed; to install it: npm install pgx$/,
  ],
  [
    'a missing driver with a scope that is imported later',
    'export default async () => { await import("@acme/driver/pool"); };',
    /^the module FILE requires the package @acme\/driver, which is not installed; to install it: npm install @acme\/driver$/,
  ],
  ['a missing file', 'import "./other.mjs";', /^the module FILE failed: Cannot find module .*other\.mjs/],
  [
    'nothing',
    'export default () => {};',
    /^the module FILE: what the function returns must be an object with any of store, nonces, .*, is missing$/,
  ],
  [
    'a misspelt member',
    'export default () => ({ stroe: {} });',
    /^the module FILE: stroe is not a member of what the function returns; did you mean "store"\?$/,
  ],
  [
    'a store without apply',
    'export default () => ({ store: { storeId: "a", read() {}, list() {}, close() {} } });',
    /^the module FILE: store\.apply of what the function returns must be a function, is missing$/,
  ],
  [
    'a store with documents that are none',
    'const f = () => {}; export default () => ({ store: { storeId: "a", read: f, list: f, apply: f, close: f, documents: { location: "x", read: f, replace: f } } });',
    /^the module FILE: store\.documents\.watch of what the function returns must be a function, is missing$/,
  ],
  [
    'nonces without claim',
    'export default () => ({ nonces: { kept() {} } });',
    /^the module FILE: nonces\.claim of what the function returns must be a function, is missing$/,
  ],
  [
    'resources of another type',
    'export default () => ({ resources: 3 });',
    /^the module FILE: resources must be an object such as \{ '\/path': \{ GET: action\('anyone', …\) \} \}, is 3$/,
  ],
  [
    'a function of resources that throws',
    'export default () => ({ resources() { throw new Error("no way"); } });',
    /^the module FILE failed: no way \(line 1\)$/,
  ],
  [
    'a resource with a misspelt method',
    'export default () => ({ resources: { "/a": { GTE: {} } } });',
    /^the module FILE: GTE is not a member of the resource at \/a; did you mean "GET"\?$/,
  ],
  [
    'a user without a secret',
    'export default () => ({ users: { ann: {} } });',
    /^the module FILE: secret of the user "ann" must be non-empty text, is missing$/,
  ],
  [
    'a user with an invalid name',
    'export default () => ({ users: { "a:b": { secret: "s" } } });',
    /^the module FILE: users: /,
  ],
  [
    'a scheme that is built in',
    'export default () => ({ schemes: { hmac: {} } });',
    /^the module FILE: schemes\.hmac: this scheme is built in/,
  ],
];

describe('serve prints one line and exits with 1 for a module', () => {
  for (const [what, text, message] of invalid) {
    test(`with ${what}`, async () => {
      const file = writeModule(text);
      // A process that has nothing else to do notices a promise that is never settled.
      const execute = what.includes('never settled') ? run : call;
      const place = ['--memory', '--no-tls', '--port', '0'];
      const { status, stdout, stderr } = await execute(['serve', ...place, '--module', file]);
      assert.equal(stdout, '');
      assert.match(stderr, /^countersign: [^\n]*\n$/);
      assert.match(stderr.slice('countersign: '.length, -1).replace(file, 'FILE'), message);
      assert.equal(status, 1);
    });
  }

  test('that does not exist, or is a directory', async () => {
    for (const file of [join(temporaryDirectory(), 'none.mjs'), temporaryDirectory()]) {
      const { status, stderr } = await call(['serve', '--memory', '--module', file]);
      assert.deepEqual([status, stderr], [1, `countersign: the module ${file} does not exist\n`]);
    }
  });
});

test('a store that an invalid module returned is closed', async () => {
  const directory = temporaryDirectory();
  const file = writeModule(
    `${importFrom('test/support/module/shared-store.ts', 'openSharedStore')}
export default () => ({ store: openSharedStore(${JSON.stringify(directory)}), oops: 1 });`,
  );
  await assert.rejects(loadModule(readOptions(['--module', file], {}), {}), /oops is not a member/);
  assert.ok(existsSync(join(directory, 'closed')));
});

test('no password of a connection is printed', async () => {
  const url = 'postgres://app:p@ss/w0rd%21@db.example/items';
  const environment = { DATABASE_URL: url, PGPASSWORD: 'other-pass', COUNTERSIGN_LOG: 'off' };
  const file = writeModule(
    "export default () => { const u = process.env.DATABASE_URL; throw new Error(['cannot reach', u, 'with p@ss/w0rd! or p@ss/w0rd%21 or', process.env.PGPASSWORD].join(' ')); };",
  );
  for (const command of ['serve', 'check']) {
    const { status, stdout, stderr } = await run([command, '--no-tls', '--port', '0', '--module', file], {
      environment,
    });
    assert.equal(status, 1);
    assert.equal(
      stderr,
      `countersign: the module ${file} failed: cannot reach postgres://***@db.example/items with *** or *** or *** (line 1)\n`,
    );
    assert.equal(stdout, '');
  }
});

test('the name of a user stays readable if it is also the password', () => {
  const environment = { URL: 'postgres://app:app@localhost/x' };
  assert.equal(
    redactPasswords('no role app at postgres://app:app@localhost/x', environment),
    'no role app at postgres://***@localhost/x',
  );
});

test('a module receives the options without secrets, as a frozen object', async () => {
  const config = join(temporaryDirectory(), 'config.json');
  const key = join(temporaryDirectory(), 'key');
  writeFileSync(key, 'ab'.repeat(32), { mode: 0o600 });
  const file = writeModule(
    'export default (options) => { globalThis.received = options; globalThis.key = process.env.COUNTERSIGN_KEY; return {}; };',
  );
  writeFileSync(config, JSON.stringify({ users: { ann: { secret: 'hidden' } }, module: file, port: 1234 }), {
    mode: 0o600,
  });
  const options = readOptions(['--config', config, '--key-file', key, '--trust-proxy', '10.0.0.0/8'], {});
  const environment = { COUNTERSIGN_KEY: 'ab'.repeat(32) };
  await loadModule(options, environment);
  const received: unknown = Reflect.get(globalThis, 'received');
  assert.ok(typeof received === 'object' && received !== null && Object.isFrozen(received));
  const { port, trustProxy, module, window, nonceWindow } = Object.fromEntries(Object.entries(received));
  assert.deepEqual([port, trustProxy, module, window, nonceWindow], [1234, ['10.0.0.0/8'], file, 600, 600]);
  assert.ok(!JSON.stringify(received).includes('hidden'));
  for (const name of ['users', 'clients', 'consumers', 'schemes', 'seed', 'collections', 'keyFile'])
    assert.ok(!(name in received), name);
  assert.deepEqual(environment, {}, 'the encryption key is not in the environment');
});

test('users and schemes of a module that are configured too, and a store with --memory, are rejected', async () => {
  const config = join(temporaryDirectory(), 'config.json');
  const schemes = { 'message-signatures': {} };
  writeFileSync(config, JSON.stringify({ users: { ann: { secret: 'a' } }, schemes }), { mode: 0o600 });
  const load = (text: string, ...args: string[]) => {
    const file = writeModule(text);
    return loadModule(readOptions(['--config', config, '--module', file, ...args], {}), {});
  };
  await assert.rejects(
    load('export default () => ({ users: { ann: { secret: "b" } } });'),
    /the user ann is also declared in .*config\.json$/,
  );
  await assert.rejects(
    load('export default () => ({ schemes: { "message-signatures": {} } });'),
    /the scheme message-signatures is also declared in .*config\.json$/,
  );
  const f = 'const f = async () => {};';
  const store = '{ storeId: "a", read: f, list: f, apply: f, close: f }';
  await assert.rejects(
    load(`${f} export default () => ({ store: ${store} });`, '--memory'),
    /it has a store, which excludes --memory$/,
  );
});

test('COUNTERSIGN_MODULE and the member module of the configuration specify a module, too', async () => {
  const file = writeModule('export default () => { throw new Error("it was loaded"); };');
  const config = join(temporaryDirectory(), 'config.json');
  writeFileSync(config, JSON.stringify({ module: file }), { mode: 0o600 });
  const [first, second] = await Promise.all([
    call(['serve', '--memory'], { environment: { COUNTERSIGN_MODULE: file } }),
    call(['serve', '--memory', '--config', config]),
  ]);
  assert.match(first.stderr, /it was loaded/);
  assert.match(second.stderr, /it was loaded/);
});

test('no password is printed if the store of a module fails', async () => {
  const url = 'postgres://app:hidden-word@db.example/items';
  const file = writeModule(`${importFrom('src/index.ts', 'createMemoryStore')}
const failing = async () => { throw Object.assign(new Error('no route to ${url}\\nsecond line'), { code: 'DOWN' }); };
export default () => {
  const store = createMemoryStore({ storeId: 'mem' });
  const documents = { location: 'nowhere', read: failing, replace: failing, watch: () => () => {} };
  return { store: { ...store, list: failing, documents } };
};`);
  const line = 'countersign: no route to postgres://***@db.example/items second line\n';
  for (const command of [['serve', '--port', '0'], ['check'], ['user', 'list'], ['grant', 'list']]) {
    const { status, stdout, stderr } = await call([...command, '--module', file]);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.equal(
      stderr
        .split('\n')
        .filter((each) => each !== '')
        .every((each) => `${each}\n` === line),
      true,
      stderr,
    );
  }
});
