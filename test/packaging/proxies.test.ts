import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../support/cli/command.ts';
import { readPage } from '../support/documents/markdown.ts';
import { missing } from '../support/net/program.ts';
import { makeIdentity } from '../support/net/transport.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [nginx, caddy] = ['nginx.conf', 'Caddyfile'].map((name) =>
  readFileSync(join(root, 'packaging', name), 'utf8'),
);

/** Returns a block of a configuration without indentation, from the line that begins like this to the brace that closes it. */
function block(configuration: string, start: string): string[] {
  const lines = configuration.split('\n').map((line) => line.trim());
  const first = lines.findIndex((line) => line.startsWith(start));
  let depth = 0;
  const end = lines.findIndex((line, at) => {
    if (at < first) return false;
    depth += Number(line.endsWith('{')) - Number(line === '}');
    return depth === 0;
  });
  assert.ok(first >= 0 && end > first, start);
  return lines.slice(first, end + 1);
}

// test/documents sends requests through these configurations.
test('the site for nginx forwards as the configuration in examples/nginx does', () => {
  const tested = readFileSync(join(root, 'examples/nginx/nginx.conf'), 'utf8');
  for (const start of ['upstream countersign', 'location / {'])
    assert.deepEqual(block(nginx ?? '', start), block(tested, start));
  assert.ok(nginx?.includes('client_max_body_size 1m;') && tested.includes('client_max_body_size 1m;'));
});

test('the site for Caddy forwards as the configuration in docs/behind-a-proxy.md does', () => {
  const tested = readPage('docs/behind-a-proxy.md').blocks.find(({ file }) => file === 'Caddyfile')?.text;
  const start = 'reverse_proxy ';
  assert.deepEqual(block(caddy ?? '', start), block(tested ?? '', start));
});

test('nginx accepts the site without a warning', { skip: missing('nginx') }, () => {
  const folder = temporaryDirectory();
  const { cert, key } = makeIdentity('api.example');
  writeFileSync(join(folder, 'certificate.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  // nginx binds the addresses when it checks them.
  const site = (nginx ?? '')
    .replaceAll('/etc/ssl/api.example', folder)
    .replaceAll(/\b443 ssl/g, '0 ssl')
    .replace(/listen .*:0 ssl;/, '')
    .replace('listen 0 ssl', `listen unix:${folder}/socket ssl`)
    .replace(/listen \[::\].*\n/, '');
  writeFileSync(join(folder, 'site.conf'), site);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
  const whole = `pid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${paths}\ninclude ${folder}/site.conf;\n}\n`;
  writeFileSync(join(folder, 'nginx.conf'), whole);
  const args = ['-t', '-p', folder, '-c', join(folder, 'nginx.conf')];
  const { status, stderr } = spawnSync('nginx', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /warn/);
});

test('Caddy accepts the site without a warning, even about its format', { skip: missing('caddy') }, () => {
  const folder = temporaryDirectory();
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const file = join(root, 'packaging/Caddyfile');
  const options = { encoding: 'utf8', env, cwd: folder } as const;
  const { status, stderr } = spawnSync(
    'caddy',
    ['validate', '--adapter', 'caddyfile', '--config', file],
    options,
  );
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /"level":"warn"|not formatted/);
});
