import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { command, root, run } from '../support/cli/command.ts';
import { missing } from '../support/net/program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const unit = readFileSync(join(root, 'packaging/countersign.service'), 'utf8');

/** The highest permitted exposure, in tenths. */
const threshold = 15;

/** Returns the values of a setting, in order. */
function listValues(name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

function analyze(...args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

/** Writes the unit with a program that exists. Returns its path. */
function installed(): string {
  const folder = temporaryDirectory();
  const program = join(folder, 'countersign');
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o755);
  const path = join(folder, 'countersign.service');
  writeFileSync(path, unit.replace('/usr/bin/countersign', program));
  return path;
}

test('systemd accepts the unit without a warning', { skip: missing('systemd-analyze') }, () => {
  assert.deepEqual(analyze('verify', '--man=no', installed()), { status: 0, output: '' });
});

test('systemd rates the exposure of the service below the threshold', {
  skip: missing('systemd-analyze'),
}, () => {
  const options = ['--offline=true', `--threshold=${threshold}`, '--no-pager'];
  const { status, output } = analyze('security', ...options, installed());
  assert.equal(status, 0, output);
});

test('the command of the unit uses only existing options and credentials that the unit loads', async () => {
  const [start = ''] = listValues('ExecStart');
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'config.json'), '{ "users": { "ann": { "secret": "a secret of ann" } } }');
  writeFileSync(join(folder, 'key'), `${'0123456789abcdef'.repeat(4)}\n`, { mode: 0o600 });
  const credentials = [...start.matchAll(/\$\{CREDENTIALS_DIRECTORY\}\/(\S+)/g)].map(([, name]) => name);
  assert.deepEqual(
    credentials,
    listValues('LoadCredential').map((value) => value.split(':')[0]),
  );
  const [, ...args] = start
    .replaceAll(/\$\{CREDENTIALS_DIRECTORY\}/g, folder)
    .replaceAll(/\$\{STATE_DIRECTORY\}/g, join(folder, 'data'))
    .split(' ');
  assert.equal(args[0], 'serve');
  const checked = await run(['check', ...args.slice(1)]);
  assert.equal(checked.status, 0, checked.stderr);
});

test('the unit has a static user, and does not restrict /proc, which the lock reads', () => {
  // The directories of a dynamic user are below /var/lib/private, which only root can open.
  assert.deepEqual([listValues('User'), listValues('DynamicUser')], [['countersign'], []]);
  assert.deepEqual([...listValues('ProtectProc'), ...listValues('ProcSubset')], []);
});

test('the unit stops the server with SIGTERM, waits more than 10 seconds, and reloads it with SIGHUP', () => {
  assert.deepEqual(listValues('KillSignal'), ['SIGTERM']);
  assert.ok(Number(listValues('TimeoutStopSec')[0]) > 10);
  assert.deepEqual(listValues('ExecReload'), ['/bin/kill -HUP $MAINPID']);
});

/** Returns the system calls of a set of systemd, with those of the sets in it. */
function listCalls(set: string): Set<string> {
  const { status, output } = analyze('syscall-filter', '--no-pager', set);
  assert.equal(status, 0, output);
  const lines = output.split('\n').map((line) => line.trim());
  const names = lines.filter((line) => /^[@a-z_0-9-]+$/.test(line) && line !== set);
  return new Set(names.flatMap((name) => (name.startsWith('@') ? [...listCalls(name)] : [name])));
}

/** Returns the system calls that the unit permits. */
function permittedCalls(): Set<string> {
  const [permitted = '', ...excluded] = listValues('SystemCallFilter');
  const calls = new Set(permitted.split(' ').flatMap((set) => [...listCalls(set)]));
  // These are always permitted: systemd.exec(5).
  for (const call of listCalls('@default')) calls.add(call);
  for (const each of excluded) for (const call of listCalls(each.replace('~', ''))) calls.delete(call);
  return calls;
}

const noTrace = missing('systemd-analyze') || missing('strace');

test('the server makes only system calls that the unit permits', { skip: noTrace }, async (context) => {
  const folder = temporaryDirectory();
  const trace = join(folder, 'trace');
  const options = ['--port', '0', '--tls-port', '0', '--data', join(folder, 'data'), '--log', 'json'];
  const server = [process.execPath, ...command, 'serve', ...options];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const child = spawn('strace', ['-f', '-qq', '-o', trace, ...server], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  context.after(() => child.kill('SIGKILL'));
  let url = '';
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    url = /ready: (\S+)/.exec(String(chunk))?.[1] ?? '';
    if (url !== '') break;
  }
  if (url === '') return context.skip('strace cannot trace a process here');
  assert.equal((await fetch(`${url}/articles`)).status, 200);
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
  process.kill(Number(children.split(' ')[0]), 'SIGTERM');
  await once(child, 'exit');
  assert.ok(existsSync(trace));
  const made = new Set(
    [...readFileSync(trace, 'utf8').matchAll(/^[0-9]+ +([a-z_0-9]+)\(/gm)].map(([, name = '']) => name),
  );
  const permitted = permittedCalls();
  assert.ok(made.size > 30, [...made].join(' '));
  assert.deepEqual(
    [...made].filter((name) => !permitted.has(name)),
    [],
  );
});
