import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { signRequest } from '../../../src/client/index.ts';
import { lockDirectory } from '../../../src/store/files/lock.ts';
import { scan } from '../../../src/store/scan.ts';
import { call, run, startServer } from '../../support/cli/command.ts';
import { compiled, startCompiled } from '../../support/cli/compiled.ts';
import { modulePath, reading } from '../../support/program.ts';
import { begun, History } from '../../support/store/history.ts';
import { long, wideStride } from '../../support/store/thoroughness.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const notes = { element: 'notes', item: 'note', fields: { text: { type: 'text' } } } as const;
const declared = { '/notes': { ...notes, access: { read: 'anyone', write: 'anyone' } } } as const;

/** Returns the path of a new configuration with a data directory. */
function configured(more: object = {}): { config: string; data: string } {
  const directory = temporaryDirectory();
  const config = join(directory, 'config.json');
  const data = join(directory, 'data');
  writeFileSync(config, JSON.stringify({ data, collections: declared, ...more }), { mode: 0o600 });
  return { config, data };
}

function freshDirectory(name = 'copy'): string {
  return join(temporaryDirectory(), name);
}

/** Creates a stopped data directory with one item, a user, a key and a certificate. */
function stoppedDirectory(text = 'a'): string {
  const data = freshDirectory('data');
  mkdirSync(join(data, 'tls'), { recursive: true, mode: 0o700 });
  chmodSync(data, 0o700);
  const made = new History();
  made.add({ kind: 'create', collection: '/notes', value: { text }, at: begun });
  made.snapshot();
  const others: [string, string][] = [
    ['users.json', '{"version":1,"users":{}}'],
    ['oauth.key', `${'A'.repeat(43)}\n`],
    ['nonces-1.jsonl', ''],
    ['tls/key.pem', 'key'],
    ['tls/certificate.pem', 'certificate'],
  ];
  for (const [name, content] of [...made.files, ...others])
    writeFileSync(join(data, name), content, { mode: 0o600 });
  return data;
}

async function textIn(directory: string): Promise<unknown> {
  return (await scan({ directory })).state.read('/notes', '1')?.value['text'];
}

/** Returns the names of all files but those of the lock, sorted. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('lock.'))
    .sort();
}

describe('backup', () => {
  test('copies every acknowledged change without gaps, under concurrent writes and compactions', async () => {
    const { config, data } = configured();
    const program = await compiled('compacting-server.ts');
    const server = startCompiled(program, '--config', config, '--port', '0', '--no-tls', '--log', 'off');
    try {
      await server.ready;
      const url = `http://127.0.0.1:${server.port}/notes`;
      const headers = { 'Content-Type': 'application/json', Prefer: 'return=minimal' };
      let [acknowledged, writing] = [0, true];
      const write = async (): Promise<void> => {
        const body = JSON.stringify({ text: 'x'.repeat(200) });
        while (writing) {
          const { status } = await fetch(url, { method: 'POST', headers, body });
          assert.equal(status, 201);
          acknowledged += 1;
        }
      };
      const writers = Promise.all(Array.from({ length: 4 }, write));
      const generations = new Set<number>();
      const copies: string[] = [];
      // Until the server has compacted its journals at least once.
      for (let round = 0; round < (long ? 12 : 5) || generations.size < 2; round += 1) {
        const [before, copy] = [acknowledged, freshDirectory()];
        const { status, stderr } = await call(['backup', copy, '--data', data]);
        assert.deepEqual([status, stderr], [0, '']);
        const { state, generation, sequence } = await scan({ directory: copy });
        const view = [...state.collections()].find(({ path }) => path === '/notes');
        assert.ok(sequence >= before, `${sequence} of ${before}`);
        assert.deepEqual(
          Array.from(view?.entries ?? [], ({ id }) => Number(id)),
          Array.from({ length: sequence }, (_, index) => index + 1),
        );
        generations.add(generation);
        copies.push(copy);
      }
      writing = false;
      await writers;
      const last = copies.at(-1) ?? '';
      const checked = await call(['check', '--config', config, '--data', last]);
      assert.equal(checked.status, 0, checked.stderr);
      const restarted = await startServer(['--config', config, '--data', last, '--port', '0', '--no-tls']);
      assert.equal((await fetch(`${restarted.url}/notes/1`)).status, 200);
      assert.equal((await restarted.stop()).status, 0);
    } finally {
      server.child.kill('SIGTERM');
    }
    assert.equal(await server.ended, 0, server.told());
  });

  test('copies items, accounts, keys and the certificate, readable only by the owner, and no nonces', async () => {
    const data = stoppedDirectory();
    const copy = freshDirectory();
    const { status, stdout, stderr } = await call(['backup', copy, '--data', data]);
    assert.deepEqual(
      [status, stdout, stderr],
      [0, `copied       /notes: 1\ncopied       oauth.key, users.json, tls\nwritten to   ${copy}\n`, ''],
    );
    assert.deepEqual(filesIn(copy), [
      'journal-2.jsonl',
      'oauth.key',
      'store.jsonl',
      'tls',
      'tls/certificate.pem',
      'tls/key.pem',
      'users.json',
    ]);
    for (const name of filesIn(copy)) {
      const path = join(copy, name);
      assert.equal(statSync(path).mode & 0o777, statSync(path).isDirectory() ? 0o700 : 0o600, name);
      if (statSync(path).isFile() && !/^(?:store|journal)/.test(name))
        assert.deepEqual(readFileSync(path), readFileSync(join(data, name)), name);
    }
    assert.equal(statSync(copy).mode & 0o777, 0o700);
  });

  test('repairs the effects of a crash in the copy, and changes nothing in the original', async () => {
    const data = stoppedDirectory();
    const journal = join(data, 'journal-2.jsonl');
    const torn = `${readFileSync(journal, 'utf8')}{"crc":"00000000","seq":2,`;
    writeFileSync(journal, torn);
    const copy = freshDirectory();
    const { status, stderr } = await call(['backup', copy, '--data', data]);
    assert.equal(status, 0);
    assert.match(stderr, /journal-2\.jsonl has an incomplete end, as after a crash/);
    assert.equal(await textIn(copy), 'a');
    assert.equal(readFileSync(journal, 'utf8'), torn);
  });

  test('while a server writes has no incomplete line, and reports none', async () => {
    const made = new History();
    made.add({ kind: 'create', collection: '/notes', value: { text: 'a' }, at: begun });
    const line = '{"crc":"00000000","seq":2,"dura';
    for (const tail of [line, `${line}${'\0'.repeat(2_000_000)}`, '\0'.repeat(2_000_000)]) {
      const data = temporaryDirectory();
      const journal = `${made.files.get('journal-1.jsonl')}${tail}`;
      writeFileSync(join(data, 'journal-1.jsonl'), journal, { mode: 0o600 });
      const lock = await lockDirectory(data);
      const copy = freshDirectory();
      const { status, stderr } = await call(['backup', copy, '--data', data]);
      await lock.release();
      assert.deepEqual([status, stderr], [0, '']);
      assert.equal(await textIn(copy), 'a');
    }
  });

  test('while the snapshot is being replaced has the previous one and all changes since', async () => {
    const data = stoppedDirectory();
    renameSync(join(data, 'store.jsonl'), join(data, 'store.previous.jsonl'));
    const lock = await lockDirectory(data);
    const copy = freshDirectory();
    const { status, stderr } = await call(['backup', copy, '--data', data]);
    await lock.release();
    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(await textIn(copy), 'a');
  });

  test('a server that starts on a copy rejects the signed requests of the original', async () => {
    const { config, data } = configured({ users: { ann: { secret: 'hidden-from-all' } } });
    const server = await startServer(['--config', config, '--port', '0', '--no-tls']);
    const fields = signRequest({
      method: 'GET',
      url: `${server.url}/notes`,
      user: 'ann',
      secret: 'hidden-from-all',
    });
    assert.equal((await fetch(`${server.url}/notes`, { headers: { ...fields } })).status, 200);
    const copy = freshDirectory();
    assert.equal((await call(['backup', copy, '--data', data])).status, 0);
    const second = await startServer(['--config', config, '--data', copy, '--port', '0', '--no-tls']);
    assert.match(await second.awaitStderr(/nonce/i), /has a store, but no nonce files any more/);
    const rejected = await fetch(`${second.url}/notes`, { headers: { ...fields } });
    assert.equal(rejected.status, 503);
    assert.match(await rejected.text(), /nonces-lost/);
    for (const each of [server, second]) assert.equal((await each.stop()).status, 0);
  });

  test('leaves nothing that can be mistaken for a backup if it is killed, and can be repeated', async () => {
    const data = stoppedDirectory();
    const options = [...reading, '--import', modulePath('test/support/cli/killing-host.ts')].join(' ');
    let refused = 0;
    for (let at = 2; ; at += wideStride) {
      const copy = freshDirectory();
      const environment = { NODE_OPTIONS: options, KILL_AT: String(at) };
      const { status } = await run(['backup', copy, '--data', data], { environment });
      const target = freshDirectory('restored');
      const restored = await call(['restore', copy, '--data', target]);
      if (restored.status === 0) assert.equal(await textIn(target), 'a');
      else {
        refused += 1;
        assert.match(
          restored.stderr,
          /does not exist|is not a data directory|a backup or restore into it was interrupted/,
        );
        assert.equal(existsSync(target), false);
      }
      if (status !== null) {
        assert.deepEqual([status, restored.status], [0, 0]);
        break;
      }
      const repeated = await call(['backup', copy, '--data', data]);
      if (restored.status !== 0) assert.equal(repeated.status, 0, repeated.stderr);
    }
    assert.ok(refused > 2);
  });
});

describe('restore', () => {
  test('copies a backup to a new directory, on which a server starts', async () => {
    const { config, data } = configured();
    const backup = stoppedDirectory();
    const { status, stdout, stderr } = await call(['restore', backup, '--config', config]);
    const lines = [
      'copied       /notes: 1',
      'copied       oauth.key, users.json, tls',
      `restored to  ${data}`,
    ];
    assert.deepEqual([status, stdout, stderr], [0, `${lines.join('\n')}\n`, '']);
    const server = await startServer(['--config', config, '--port', '0', '--no-tls']);
    const reply = await fetch(`${server.url}/notes/1`, { headers: { Accept: 'application/json' } });
    assert.equal(await reply.text(), '{"text":"a"}');
    assert.equal((await server.stop()).status, 0);
  });

  test('replaces data only with --replace, and does not remove other files', async () => {
    const [backup, data] = [stoppedDirectory('new'), stoppedDirectory('old')];
    writeFileSync(join(data, 'clients.json'), '{}', { mode: 0o600 });
    writeFileSync(join(data, 'my-notes.txt'), '', { mode: 0o600 });
    const refused = await call(['restore', backup, '--data', data]);
    assert.deepEqual(
      [refused.status, refused.stderr],
      [1, `countersign: ${data} is not empty; to replace its data, use --replace\n`],
    );
    assert.equal(await textIn(data), 'old');
    const { status, stderr } = await call(['restore', backup, '--data', data, '--replace']);
    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(await textIn(data), 'new');
    assert.deepEqual(
      filesIn(data).filter((name) => !name.startsWith('tls')),
      ['journal-2.jsonl', 'my-notes.txt', 'oauth.key', 'store.jsonl', 'users.json'],
    );
  });

  test('leaves the old data, the new data, or a directory that cannot be used, if it is killed', async () => {
    const backup = stoppedDirectory('new');
    const options = [...reading, '--import', modulePath('test/support/cli/killing-host.ts')].join(' ');
    const outcomes = new Map<string, number>();
    for (let at = 1; ; at += wideStride) {
      const data = stoppedDirectory('old');
      const environment = { NODE_OPTIONS: options, KILL_AT: String(at) };
      const { status, stderr } = await run(['restore', backup, '--data', data, '--replace'], { environment });
      const outcome = await textIn(data).catch((error: unknown) => {
        assert.equal(
          String(error),
          `StoreError: ${data} cannot be the data directory: a backup or restore into it was interrupted; repeat it, or remove the directory`,
        );
        return 'refused';
      });
      outcomes.set(String(outcome), (outcomes.get(String(outcome)) ?? 0) + 1);
      if (status !== null) {
        assert.deepEqual([status, stderr, outcome], [0, '', 'new']);
        break;
      }
      if (outcome === 'refused') {
        const started = await call(['check', '--data', data]);
        assert.match(started.stderr, /a backup or restore into it was interrupted/);
        const repeated = await call(['restore', backup, '--data', data]);
        assert.equal(repeated.status, 0, repeated.stderr);
        assert.equal(await textIn(data), 'new');
        assert.ok(!filesIn(data).some((name) => name.startsWith('copy.')));
      }
    }
    assert.deepEqual([...outcomes.keys()].sort(), ['new', 'old', 'refused']);
  });

  test('creates files that belong to the owner of the directory if it runs as root', async () => {
    const data = freshDirectory('data');
    mkdirSync(data, { mode: 0o700 });
    const owner = process.geteuid?.() === 0 ? 12_345 : statSync(data).uid;
    chownSync(data, owner, statSync(data).gid);
    const { status, stderr } = await call(['restore', stoppedDirectory(), '--data', data]);
    assert.equal(status, 0, stderr);
    const names = readdirSync(data, { recursive: true, encoding: 'utf8' });
    for (const name of names) assert.equal(lstatSync(join(data, name)).uid, owner, name);
  });

  test('follows no symbolic link out of the data directory', async () => {
    const data = stoppedDirectory('old');
    const outside = temporaryDirectory();
    writeFileSync(join(outside, 'key.pem'), 'other', { mode: 0o600 });
    spawnSync('rm', ['-r', join(data, 'tls')]);
    symlinkSync(outside, join(data, 'tls'));
    const { status } = await call(['restore', stoppedDirectory('new'), '--data', data, '--replace']);
    assert.equal(status, 0);
    assert.deepEqual(readdirSync(outside), ['key.pem']);
    assert.equal(readFileSync(join(outside, 'key.pem'), 'utf8'), 'other');
    assert.equal(readFileSync(join(data, 'tls/key.pem'), 'utf8'), 'key');
  });
});

describe('a copy made with cp -a', () => {
  for (const state of ['running', 'stopped'] as const) {
    test(`of a ${state} server's directory can be served immediately`, async () => {
      const { config, data } = configured();
      const server = await startServer(['--config', config, '--port', '0', '--no-tls']);
      const headers = { 'Content-Type': 'application/json' };
      assert.equal(
        (await fetch(`${server.url}/notes`, { method: 'POST', headers, body: '{"text":"a"}' })).status,
        201,
      );
      if (state === 'stopped') {
        assert.equal((await server.stop()).status, 0);
      }
      const copy = freshDirectory();
      assert.equal(spawnSync('cp', ['-a', data, copy]).status, 0);
      const checked = await call(['check', '--config', config, '--data', copy]);
      assert.equal(checked.status, 0, checked.stderr);
      assert.doesNotMatch(checked.stdout, /in use/);
      const second = await startServer(['--config', config, '--data', copy, '--port', '0', '--no-tls']);
      assert.equal((await fetch(`${second.url}/notes/1`)).status, 200);
      const third = await run(['--config', config, '--data', copy, '--port', '0', '--no-tls']);
      assert.match(third.stderr, new RegExp(`is in use by process ${second.pid}`));
      assert.equal((await second.stop()).status, 0);
      if (state === 'stopped') return;
      assert.equal((await server.stop()).status, 0);
    });
  }
});
