import assert from 'node:assert/strict';
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Running, startProcess, startServer } from '../../support/cli/command.ts';
import { article } from '../../support/service/open-service.ts';
import { outcome, secrets, signed } from '../../support/service/test-server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** A data directory of a server that ended, and two requests that passed there. */
interface Lived {
  readonly data: string;
  readonly read: string;
  readonly change: string;
}

const readPort = ({ url }: Running): number => Number(new URL(url).port);

/** The time of this host, so many seconds on, as a signature dates it. */
function dateIn(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString();
}

type Ending = 'SIGTERM' | 'SIGKILL';

async function end(server: Running, by: Ending): Promise<void> {
  if (by === 'SIGTERM') server.signal(by);
  else process.kill(server.pid, by);
  const { status } = await server.ended;
  assert.equal(status, by === 'SIGTERM' ? 0 : null);
}

const directory = temporaryDirectory();
const config = join(directory, 'config.json');
writeFileSync(config, JSON.stringify({ users: { ann: { secret: secrets.ann } } }), { mode: 0o600 });
const argsFor = (data: string): string[] => [
  '--config',
  config,
  '--data',
  data,
  '--port',
  '0',
  '--no-tls',
  '--log',
  'off',
];

/** Lets a server live until it is ended: it takes a request that reads and one that changes. */
async function lived(ending: Ending): Promise<Lived> {
  const data = join(directory, ending);
  const server = await startProcess(argsFor(data));
  const content = article('Once');
  const read = signed({ nonce: 'read', date: dateIn(300) });
  const change = signed({ verb: 'POST', target: '/articles', nonce: 'change', date: dateIn(300), content });
  assert.equal(await outcome(readPort(server), read), '200');
  assert.equal(await outcome(readPort(server), change), '201');
  await end(server, ending);
  return { data, read, change };
}

const lives = new Map<Ending, Lived>();
for (const ending of ['SIGTERM', 'SIGKILL'] as const) lives.set(ending, await lived(ending));

let copies = 0;

/** A copy of what the server left that was ended so. */
function copied(ending: Ending): Lived {
  const original = lives.get(ending);
  assert.ok(original !== undefined);
  copies += 1;
  const data = join(directory, `copy-${copies}`);
  cpSync(original.data, data, { recursive: true });
  chmodSync(data, 0o700); // not every release of Node.js keeps the mode
  return { ...original, data };
}

/** What a new start makes of both requests: it does not come about, or refuses them. */
async function replays({ data, read, change }: Lived): Promise<string[]> {
  const server = await startServer(argsFor(data)).catch((error: Error) => error);
  if (server instanceof Error) {
    assert.match(
      server.message,
      /^it ended with 1: countersign: .* cannot be used: .*nonces-[0-9]+\.jsonl|^it ended with 1: countersign: .*nonces-[0-9]+\.jsonl cannot be used: /,
    );
    return ['no start'];
  }
  const count = async (): Promise<number> =>
    (await (await fetch(`${server.url}/articles`)).text()).split('<title>').length;
  const before = await count();
  const outcomes = [await outcome(readPort(server), read), await outcome(readPort(server), change)];
  assert.equal(await count(), before);
  await end(server, 'SIGTERM');
  return outcomes;
}

const namesIn = (data: string): string[] =>
  readdirSync(data)
    .filter((name) => /^nonces-[0-9]+\.jsonl$/.test(name))
    .sort();

/** The first or the last file of nonces. */
const pathIn = (data: string, at: number): string => join(data, namesIn(data).at(at) ?? 'nonces-0.jsonl');

const replayed = ['401 nonce-replayed', '401 nonce-replayed'];
const lost = ['503 nonces-lost', '503 nonces-lost'];
const noStart = ['no start'];

type Spoil = (data: string) => void;
const cut =
  (at: number, length: (bytes: number) => number): Spoil =>
  (data) => {
    const path = pathIn(data, at);
    truncateSync(path, length(readFileSync(path).length));
  };
const lines =
  (at: number, change: (lines: string[]) => string[]): Spoil =>
  (data) => {
    const path = pathIn(data, at);
    writeFileSync(path, change(readFileSync(path, 'latin1').split('\n')).join('\n'), 'latin1');
  };
const gone =
  (at: number): Spoil =>
  (data) =>
    rmSync(pathIn(data, at));

/** What is done to the files of nonces after the end, and what comes of it. */
const spoils: readonly (readonly [
  name: string,
  ending: Ending,
  spoil: Spoil,
  expected: readonly string[],
])[] = [
  ['nothing', 'SIGTERM', () => {}, replayed],
  ['nothing', 'SIGKILL', () => {}, replayed],
  ['half of the first file is cut off', 'SIGTERM', cut(0, (bytes) => bytes >> 1), noStart],
  ['the last byte of the first file is cut off', 'SIGTERM', cut(0, (bytes) => bytes - 1), noStart],
  ['all but one byte of the first file is cut off', 'SIGTERM', cut(0, () => 1), noStart],
  ['the first file is emptied', 'SIGTERM', cut(0, () => 0), lost],
  ['the first file is deleted', 'SIGTERM', gone(0), lost],
  ['half of the last file is cut off', 'SIGTERM', cut(-1, (bytes) => bytes >> 1), lost],
  ['all but one byte of the last file is cut off', 'SIGTERM', cut(-1, () => 1), lost],
  ['the last file is emptied', 'SIGTERM', cut(-1, () => 0), lost],
  ['the last file is deleted', 'SIGTERM', gone(-1), replayed],
  [
    'a line is taken out of the first file',
    'SIGTERM',
    lines(0, ([head = '', , ...rest]) => [head, ...rest]),
    noStart,
  ],
  [
    'the last line is taken out of the first file',
    'SIGTERM',
    lines(0, (all) => [...all.slice(0, -2), '']),
    noStart,
  ],
  [
    'two lines of the first file change places',
    'SIGTERM',
    lines(0, ([head = '', one = '', two = '', ...rest]) => [head, two, one, ...rest]),
    noStart,
  ],
  [
    'a nonce of the first file is another',
    'SIGTERM',
    lines(0, (all) => all.map((line) => line.replace('"read"', '"reed"'))),
    noStart,
  ],
  [
    'a user of the first file is another',
    'SIGTERM',
    lines(0, (all) => all.map((line) => line.replace('"ann"', '"bob"'))),
    noStart,
  ],
  ['the end of the only file is cut off', 'SIGKILL', cut(-1, (bytes) => bytes - 9), lost],
  ['half of the only file is cut off', 'SIGKILL', cut(-1, (bytes) => bytes >> 1), lost],
  ['all but one byte of the only file is cut off', 'SIGKILL', cut(-1, () => 1), lost],
  ['the only file is emptied', 'SIGKILL', cut(-1, () => 0), lost],
];

// Half of the time is spent in waiting for processes.
describe('a restarted server', { concurrency: 3 }, () => {
  for (const [name, ending, spoil, expected] of spoils) {
    test(`refuses replays or does not start after ${ending}; damage: ${name}`, async () => {
      const life = copied(ending);
      spoil(life.data);
      assert.deepEqual(await replays(life), expected);
    });
  }

  test('refuses replays at both starts after a file of nonces is deleted', async () => {
    const life = copied('SIGTERM');
    gone(0)(life.data);
    assert.deepEqual(await replays(life), lost);
    assert.deepEqual(await replays(life), lost);
  });

  for (const ending of ['SIGTERM', 'SIGKILL'] as const) {
    test(`refuses replays after ${ending} if every file of nonces is deleted`, async () => {
      const life = copied(ending);
      for (const name of namesIn(life.data)) rmSync(join(life.data, name));
      assert.deepEqual(await replays(life), lost);
    });
  }
});
