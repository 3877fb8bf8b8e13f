import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compiled, type Server, startCompiled } from '../../support/cli/compiled.ts';
import { long } from '../../support/store/thoroughness.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** As many ends are by SIGTERM as by SIGKILL. */
const rounds = long ? 24 : 4;

/** Gives the one server that is ready, and holds the others to their word: it has the directory. */
async function findOwner(servers: readonly Server[]): Promise<Server> {
  const ready = await Promise.all(
    servers.map((server) =>
      server.ready.then(
        () => true,
        () => false,
      ),
    ),
  );
  const [owner, ...more] = servers.filter((_, index) => ready[index]);
  assert.ok(owner !== undefined, servers.map((server) => server.told()).join(''));
  assert.equal(more.length, 0, 'two have the directory');
  for (const server of servers) {
    if (server === owner) continue;
    assert.equal(await server.ended, 1);
    assert.match(server.told(), new RegExp(`^countersign: .* is in use by process ${owner.child.pid}\n$`));
  }
  return owner;
}

test('if five servers start on one directory after a stop or crash, one starts and the others exit with 1', async () => {
  const path = await compiled('compacting-server.ts');
  const directory = temporaryDirectory();
  const [config, data] = [join(directory, 'config.json'), join(directory, 'data')];
  writeFileSync(config, JSON.stringify({ data, users: { ann: { secret: 's' } } }), { mode: 0o600 });
  for (let round = 0; round < rounds; round += 1) {
    const servers = Array.from({ length: 5 }, () =>
      startCompiled(path, '--config', config, '--port', '0', '--no-tls', '--log', 'off'),
    );
    const owner = await findOwner(servers).finally(() => {
      if (round % 2 === 0) for (const { child } of servers) child.kill('SIGKILL');
    });
    if (round % 2 === 1) owner.child.kill('SIGTERM');
    assert.equal(await owner.ended, round % 2 === 1 ? 0 : null);
  }
  const locks = readdirSync(data).filter((name) => name.startsWith('lock.'));
  assert.ok(locks.length <= 2, locks.join(', '));
});
