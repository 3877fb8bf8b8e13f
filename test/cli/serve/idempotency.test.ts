import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signRequest } from '../../../src/client/index.ts';
import { compiled, type Server, startCompiled } from '../../support/cli/compiled.ts';
import { seeded } from '../../support/seeded.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const secret = 'hidden-from-all';
const configuration = {
  users: { ann: { secret } },
  collections: {
    '/notes': {
      element: 'notes',
      item: 'note',
      fields: { text: { type: 'text', required: true } },
      access: { read: 'anyone', write: 'authenticated' },
      idempotency: 'required',
    },
  },
};

/** Creates a note whose text is the key. Returns its path; undefined if there was no response, or 409. */
async function post({ port }: Server, key: string): Promise<string | undefined> {
  const url = `http://127.0.0.1:${port}/notes`;
  const signature = signRequest({ method: 'POST', url, user: 'ann', secret });
  const headers = { ...signature, 'Content-Type': 'application/json', 'Idempotency-Key': `"${key}"` };
  const content = JSON.stringify({ text: key });
  const response = await fetch(url, { method: 'POST', headers, body: content }).catch(() => undefined);
  if (response === undefined || response.status === 409) return undefined;
  assert.equal(response.status, 201, await response.text());
  return response.headers.get('Location') ?? '';
}

/** Returns the paths of all notes by their texts. */
async function listNotes({ port }: Server): Promise<Map<string, string[]>> {
  const paths = new Map<string, string[]>();
  const origin = `http://127.0.0.1:${port}`;
  let next: string | undefined = '/notes?limit=500';
  while (next !== undefined) {
    const response: Response = await fetch(`${origin}${next}`, { headers: { Accept: 'application/json' } });
    const { notes }: { notes: { href: string; text: string }[] } = JSON.parse(await response.text());
    for (const { href, text } of notes) paths.set(text, [...(paths.get(text) ?? []), href]);
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
  }
  return paths;
}

test('a request that is repeated after kill -9 and compactions is performed once', async (context) => {
  const random = seeded();
  const program = await compiled('compacting-server.ts');
  const directory = temporaryDirectory();
  const [config, data] = [join(directory, 'config.json'), join(directory, 'data')];
  writeFileSync(config, JSON.stringify(configuration), { mode: 0o600 });
  const start = async (): Promise<Server> => {
    const server = startCompiled(program, '--config', config, '--data', data, '--no-tls', '--port', '0');
    context.after(() => server.child.kill('SIGKILL'));
    await server.ready;
    return server;
  };
  /** The path of each note; undefined if the response was lost. */
  const sent = new Map<string, string | undefined>();
  for (let round = 0; round < 3; round += 1) {
    const server = await start();
    let killed = false;
    const most = 30 + random.below(70);
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let number = 0; !killed; number += 1) {
        const key = `${round}-${writer}-${number}`;
        sent.set(key, undefined);
        const response = post(server, key);
        // The last request of all is not even read.
        if (sent.size >= most * (round + 1) && !killed) {
          killed = true;
          server.child.kill('SIGKILL');
        }
        const path = await response;
        if (path !== undefined) sent.set(key, path);
      }
    });
    await Promise.all(writers);
    await server.ended;
  }
  const lost = [...sent.values()].filter((path) => path === undefined).length;
  const where = `SEED=${random.seed}, ${sent.size} requests, ${lost} without a response`;
  assert.ok(lost > 0, where);
  let server = await start();
  for (let round = 0; round < 2; round += 1) {
    const running = server;
    const repeat = async ([key, path]: [string, string | undefined]): Promise<void> => {
      const repeated = await post(running, key);
      assert.ok(repeated !== undefined && (path === undefined || repeated === path), `${where}, ${key}`);
      sent.set(key, repeated);
    };
    await Promise.all([...sent].map(repeat));
    const notes = await listNotes(server);
    assert.equal(notes.size, sent.size, where);
    for (const [key, path] of sent) assert.deepEqual(notes.get(key), [path], `${where}, ${key}`);
    server.child.kill(round === 0 ? 'SIGTERM' : 'SIGKILL');
    await server.ended;
    if (round === 0) server = await start();
  }
  assert.match(
    readFileSync(join(data, 'store.jsonl'), 'utf8'),
    /^[^\n]*"snapshot":2,[^\n]*\n\{"crc":"[0-9a-f]{8}","seq":1,"receipts":\[/,
  );
  assert.ok(readdirSync(data).every((name) => name !== 'journal-1.jsonl'));
});
