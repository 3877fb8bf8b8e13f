import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeVersionFault } from '../../src/cli/node-version.ts';
import { root, run } from '../support/cli/command.ts';

const older = ['v0.10.48', 'v12.22.12', 'v18.20.8', 'v20.9.0', 'v20.18.3', 'v20.19.0', 'v20.19.1'];
const supported = [
  'v20.19.2',
  'v20.19.10',
  'v20.20.0',
  'v22.2.0',
  'v22.10.1',
  'v24.1.0',
  'v26.0.0',
  'v27.0.0-nightly2026',
];

test('versions of Node.js below 20.19.2, and from 21 to 22.1, are too old, and no others', () => {
  for (const version of ['v21.7.3', 'v22.0.0', 'v22.1.0'])
    assert.equal(nodeVersionFault(version), `Node.js 22.2.0 or newer is required; this is ${version}`);
  for (const version of older)
    assert.equal(nodeVersionFault(version), `Node.js 20.19.2 or newer is required; this is ${version}`);
  for (const version of supported) assert.equal(nodeVersionFault(version), undefined, version);
});

test('package.json states the same versions', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.deepEqual(engines, { node: '>=20.19.2 <21 || >=22.2' });
});

test('in Bun, a server does not start, and reports that Bun is not supported', async () => {
  const versions = '{...process.versions,bun:%271.4.5%27}';
  const preload = `data:text/javascript,Object.defineProperty(process,'versions',{value:${versions}})`;
  const environment = { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import "${preload}"` };
  const args = ['serve', '--memory', '--no-tls', '--port', '0', '--log', 'off'];
  const { status, stdout, stderr } = await run(args, { environment });
  assert.deepEqual([status, stdout], [1, '']);
  assert.equal(stderr, 'countersign: Bun is not supported: use Node.js, or Deno.\n');
});

test('on an older Node.js the command prints one line and exits with 1', async () => {
  const preload = "data:text/javascript,Object.defineProperty(process,'version',{value:'v20.19.1'})";
  const environment = { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import "${preload}"` };
  for (const args of [[], ['--version'], ['serve', '--memory', '--no-tls', '--port', '0']]) {
    const { status, stdout, stderr } = await run(args, { environment });
    assert.deepEqual(
      { status, stdout, stderr },
      {
        status: 1,
        stdout: '',
        stderr: 'countersign: Node.js 20.19.2 or newer is required; this is v20.19.1\n',
      },
    );
  }
});
