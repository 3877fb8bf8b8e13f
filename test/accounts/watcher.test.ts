import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createSecretBox, type SecretBox } from '../../src/accounts/secret-box.ts';
import { type StoredUser, userFile } from '../../src/accounts/users.ts';
import { type AccountFileWatcher, waitForUsage, watchAccountFile } from '../../src/accounts/watcher.ts';
import type { DocumentStore } from '../../src/store/documents.ts';
import { StoreError } from '../../src/store/errors.ts';
import { lockDirectory } from '../../src/store/files/lock.ts';
import { nextTurn } from '../../src/timers.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A watch that looks only when it is told to, and what it did. */
interface Watched {
  readonly directory: string;
  readonly watch: AccountFileWatcher;
  /** The names of the users, each time that they were changed. */
  readonly used: string[][];
  readonly told: string[];
  /** How often it began to watch the file that is there. */
  watches(): number;
  /** What a prompt does. */
  prompt(): void;
}

async function watched(
  context: TestContext,
  { secretBox, users = new Map() }: { secretBox?: SecretBox; users?: ReadonlyMap<string, StoredUser> } = {},
): Promise<Watched> {
  const directory = temporaryDirectory(context);
  if (users.size > 0) await userFile.write(directory, users, { secretBox });
  const { mark } = await userFile.read(directory, { secretBox });
  const [used, told]: [string[][], string[]] = [[], []];
  let [watches, prompt] = [0, (): void => {}];
  const watch = watchAccountFile({
    accountFile: userFile,
    place: directory,
    secretBox,
    mark,
    use: (found) => void used.push([...found.keys()]),
    onWarning: (line) => told.push(line),
    triggers: {
      watch(path, look) {
        assert.equal(path, join(directory, 'users.json'));
        [watches, prompt] = [watches + 1, look];
      },
      stop() {},
    },
  });
  await watch.check();
  context.after(() => watch.close());
  return { directory, watch, used, told, watches: () => watches, prompt: () => prompt() };
}

function named(...names: string[]): Map<string, StoredUser> {
  return new Map(names.map((name) => [name, { secrets: [{ secret: `of ${name}` }] }]));
}

describe('a watch on the users', () => {
  test('uses each change once, and watches the file that replaced the first', async (context) => {
    const { directory, watch, used, told, watches } = await watched(context, { users: named('ann') });
    assert.deepEqual(used, []);
    await userFile.write(directory, named('ann', 'bea'));
    await watch.check();
    await watch.check();
    assert.deepEqual(used, [['ann', 'bea']]);
    assert.equal(watches(), 2, 'the file that took the place of the first is watched');
    await userFile.write(directory, named('ann'));
    await watch.check();
    assert.deepEqual(used, [['ann', 'bea'], ['ann']]);
    assert.deepEqual(told, []);
  });

  test('uses the first user once the file is created', async (context) => {
    const { directory, watch, used } = await watched(context);
    await userFile.write(directory, named('ann'));
    await watch.check();
    assert.deepEqual(used, [['ann']]);
  });

  test('uses a change made after the users were read and before the watch began', async (context) => {
    const directory = temporaryDirectory(context);
    const { mark } = await userFile.read(directory);
    await userFile.write(directory, named('ann'));
    const used: string[] = [];
    const watch = watchAccountFile({
      accountFile: userFile,
      place: directory,
      mark,
      use: (users) => void used.push(...users.keys()),
      onWarning: assert.fail,
    });
    await watch.check();
    await watch.close();
    assert.deepEqual(used, ['ann']);
  });

  test('merges repeated triggers, and uses the last state', async (context) => {
    const { directory, watch, used, prompt } = await watched(context);
    for (const name of ['a', 'b', 'c', 'd']) {
      await userFile.write(directory, named(name));
      for (let times = 0; times < 5; times += 1) prompt();
    }
    await watch.check();
    assert.deepEqual(used.at(-1), ['d']);
    assert.ok(used.length <= 4, String(used.length));
  });

  test('leaves the users unchanged if the file is damaged, and reports each damage once', async (context) => {
    const { directory, watch, used, told } = await watched(context, { users: named('ann') });
    const path = join(directory, 'users.json');
    await writeFile(path, '{ "version": 1, "users": { "ann": { "secrets": [{ "secret": "s3cr');
    for (let times = 0; times < 3; times += 1) await watch.check();
    assert.deepEqual(used, []);
    assert.equal(told.length, 1);
    assert.match(
      told[0] ?? '',
      /users\.json cannot be used: it is not JSON.*\. The users stay as they were\.$/,
    );
    assert.ok(!told[0]?.includes('s3cr') && !told[0]?.includes('\n'));
    await writeFile(path, '[]');
    await watch.check();
    await watch.check();
    assert.equal(told.length, 2, 'another damage is told as well');
    await userFile.write(directory, named('bea'));
    await watch.check();
    assert.deepEqual(used, [['bea']]);
    assert.equal(told.length, 2);
  });

  test('ignores a file that is empty, truncated or missing for one check', async (context) => {
    const { directory, watch, used, told } = await watched(context, { users: named('ann') });
    const path = join(directory, 'users.json');
    const text = await readFile(path, 'utf8');
    await writeFile(path, '');
    await watch.check();
    await writeFile(path, text.slice(0, 20));
    await watch.check();
    await writeFile(path, text);
    await watch.check();
    await unlink(path);
    await watch.check();
    await writeFile(path, text);
    await watch.check();
    assert.deepEqual(used, [['ann'], ['ann']]);
    assert.deepEqual(told, []);
  });

  test('reports once that the file cannot be read, and retries until it can', async (context) => {
    const { directory, watch, used, told } = await watched(context, { users: named('ann') });
    const path = join(directory, 'users.json');
    await rename(path, `${path}.away`);
    await mkdir(path);
    for (let times = 0; times < 3; times += 1) await watch.check();
    assert.deepEqual(used, []);
    assert.equal(told.length, 1);
    await rm(path, { recursive: true });
    await rename(`${path}.away`, path);
    await watch.check();
    await userFile.write(directory, named('ann', 'bea'));
    await watch.check();
    assert.deepEqual(used.at(-1), ['ann', 'bea']);
  });

  test('has no users after the file was removed, and reports it once', async (context) => {
    const { directory, watch, used, told } = await watched(context, { users: named('ann') });
    await unlink(join(directory, 'users.json'));
    for (let times = 0; times < 3; times += 1) await watch.check();
    assert.deepEqual(used, [[]]);
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /users\.json was removed/);
  });

  test('decrypts sealed secrets, and leaves the users unchanged if it cannot', async (context) => {
    const secretBox = createSecretBox(randomBytes(32), randomBytes);
    const { directory, watch, used, told } = await watched(context, { secretBox, users: named('ann') });
    await userFile.write(directory, named('ann', 'bea'), { secretBox });
    await watch.check();
    assert.deepEqual(used, [['ann', 'bea']]);
    await userFile.write(directory, named('eve'), {
      secretBox: createSecretBox(randomBytes(32), randomBytes),
    });
    await watch.check();
    await watch.check();
    assert.deepEqual(used, [['ann', 'bea']]);
    assert.equal(told.length, 1);
  });

  test('ignores changes after it is closed', async (context) => {
    const { directory, watch, used, prompt } = await watched(context);
    await watch.close();
    await userFile.write(directory, named('ann'));
    prompt();
    await watch.check();
    assert.deepEqual(used, []);
  });

  test("is triggered by the host's file system", async (context) => {
    const directory = temporaryDirectory(context);
    await userFile.write(directory, named('ann'));
    const { mark } = await userFile.read(directory);
    const names = ['bea', 'cid', 'dan'];
    // Neither the watch nor its timer keeps a process alive.
    const alive = setInterval(() => {}, 1000);
    context.after(() => clearInterval(alive));
    let saw = (_: readonly string[]): void => {};
    const watch = watchAccountFile({
      accountFile: userFile,
      place: directory,
      mark,
      use: (users) => saw([...users.keys()]),
      onWarning: assert.fail,
    });
    for (const name of names) {
      const seen = new Promise<readonly string[]>((resolve) => {
        saw = resolve;
      });
      await userFile.write(directory, named(name));
      assert.deepEqual(await seen, [name]);
    }
    await watch.close();
  });
});

describe('waiting for the server to use changed users', () => {
  const never = (): Promise<never> => assert.fail('there is nothing to wait for');

  test('returns at once if no server runs', async (context) => {
    const directory = temporaryDirectory(context);
    await userFile.write(directory, named('ann'));
    assert.deepEqual(await waitForUsage(userFile, directory, await userFile.mark(directory), never), {
      pid: undefined,
      seen: false,
    });
  });

  test('returns as soon as the server uses the change', async (context) => {
    const { directory, watch } = await watched(context, { users: named('ann') });
    const lock = await lockDirectory(directory);
    context.after(() => lock.release());
    const seen = { pid: process.pid, seen: true };
    assert.deepEqual(await waitForUsage(userFile, directory, await userFile.mark(directory), never), seen);
    await userFile.write(directory, named('ann', 'bea'));
    const mark = await userFile.mark(directory);
    let waits = 0;
    const wait = async (): Promise<void> => {
      waits += 1;
      if (waits === 3) await watch.check();
    };
    assert.deepEqual(await waitForUsage(userFile, directory, mark, wait), seen);
    assert.equal(waits, 3);
    assert.equal((await stat(join(directory, 'users.seen'))).mode & 0o777, 0o600);
    assert.equal(await readFile(join(directory, 'users.seen'), 'utf8'), mark);
  });

  test('returns after two seconds if the server does not use the change', async (context) => {
    const { directory, watch } = await watched(context, { users: named('ann') });
    const lock = await lockDirectory(directory);
    context.after(() => lock.release());
    await writeFile(join(directory, 'users.json'), 'damaged');
    await watch.check();
    await watch.check();
    let waited = 0;
    const wait = async (ms: number): Promise<void> => {
      waited += ms;
    };
    const use = await waitForUsage(userFile, directory, await userFile.mark(directory), wait);
    assert.deepEqual(use, { pid: process.pid, seen: false });
    assert.ok(waited > 1900 && waited <= 2000, `${waited} ms`);
  });
});

describe('a watch on documents', () => {
  /** Documents in memory whose methods can fail. */
  function memoryDocuments() {
    const stored = new Map<string, { content: Uint8Array; version: string }>();
    const listeners = new Set<() => void>();
    const state = { failing: false, versions: 0 };
    const documents: DocumentStore = {
      location: 'memory',
      async read(name) {
        if (state.failing) throw new StoreError('failed', 'memory cannot be reached');
        return stored.get(name);
      },
      async replace(name, content, expected) {
        if (stored.get(name)?.version !== expected) return undefined;
        state.versions += 1;
        stored.set(name, { content, version: String(state.versions) });
        for (const listener of listeners) listener();
        return String(state.versions);
      },
      watch(onChange) {
        listeners.add(onChange);
        return () => listeners.delete(onChange);
      },
    };
    return { documents, state, stored, listeners };
  }

  async function watchedDocuments(context: TestContext) {
    const memory = memoryDocuments();
    const [used, told]: [string[][], string[]] = [[], []];
    const watch = watchAccountFile({
      accountFile: userFile,
      place: memory.documents,
      mark: undefined,
      use: (found) => void used.push([...found.keys()]),
      onWarning: (line) => told.push(line),
    });
    context.after(() => watch.close());
    await watch.check();
    return { ...memory, watch, used, told };
  }

  test('uses each change at once, and stops when it is closed', async (context) => {
    const { documents, watch, used, listeners } = await watchedDocuments(context);
    await userFile.write(documents, named('ann'));
    await watch.check();
    await userFile.write(documents, named('ann', 'bea'));
    await watch.check();
    assert.deepEqual(used, [['ann'], ['ann', 'bea']]);
    await watch.close();
    assert.equal(listeners.size, 0);
  });

  test('reports a removed or invalid document at the first check', async (context) => {
    const { documents, stored, watch, used, told } = await watchedDocuments(context);
    await userFile.write(documents, named('ann'));
    await watch.check();
    stored.set('users.json', { content: Buffer.from('{'), version: 'bad' });
    await watch.check();
    assert.match(told[0] ?? '', /^users\.json \(memory\) cannot be used: .*The users stay as they were\.$/);
    stored.delete('users.json');
    await watch.check();
    assert.deepEqual(used.at(-1), []);
    assert.match(told[1] ?? '', /^users\.json \(memory\) was removed, and with it its users$/);
  });

  test('reports once that the documents cannot be reached, and reads them again by itself', async (context) => {
    const { documents, state, watch, used, told } = await watchedDocuments(context);
    await userFile.write(documents, named('ann'));
    await watch.check();
    state.failing = true;
    await watch.check();
    await watch.check();
    assert.deepEqual(told, ['memory cannot be reached. The users stay as they were.']);
    state.failing = false;
    state.versions += 1;
    await documents.replace('users.json', Buffer.from(JSON.stringify({ version: 1, users: {} })), '1');
    while (used.at(-1)?.length !== 0) await nextTurn();
  });
});
