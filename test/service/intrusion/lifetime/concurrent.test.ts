import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startServer } from '../../../support/cli/command.ts';
import { formatOutcome, secrets, signed } from '../../../support/intrusion/guarded.ts';
import { type BothWays, connected, openBothWays } from '../../../support/intrusion/passwords.ts';
import { makeIdentity } from '../../../support/net/transport.ts';
import { article } from '../../../support/service/guest.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const replayed = '401 nonce-replayed';

/** Sends the same bytes on a hundred connections that are all open before, and gives the outcomes, sorted. */
async function atOnce(
  server: Pick<BothWays, 'port' | 'securePort' | 'ca'>,
  bytes: string,
  secure: (at: number) => boolean,
): Promise<string[]> {
  const wires = await Promise.all(
    Array.from({ length: 100 }, (_, at) => connected(server, { secure: secure(at) })),
  );
  await Promise.all(wires.map((wire) => wire.send(bytes)));
  const outcomes = await Promise.all(wires.map(async (wire) => formatOutcome(await wire.reply())));
  await Promise.all(wires.map((wire) => wire.close()));
  return outcomes.toSorted();
}

const listOutcomes = (outcome: string): string[] =>
  [outcome, ...Array.from({ length: 99 }, () => replayed)].toSorted();

const ways = [
  ['HTTP', () => false],
  ['TLS', () => true],
  ['HTTP and TLS by turns', (at: number) => at % 2 === 0],
] as const;

async function opened(context: TestContext): Promise<BothWays> {
  const server = await openBothWays();
  context.after(() => server.close());
  return server;
}

const post = (date: string): string =>
  signed({ verb: 'POST', target: '/articles', nonce: 'post', date, content: article('Once') });

for (const [name, secure] of ways) {
  test(`of a hundred equal requests at once over ${name} one passes`, async (context) => {
    const server = await opened(context);
    assert.deepEqual(await atOnce(server, signed({ nonce: 'get' }), secure), listOutcomes('200'));
  });

  test(`of a hundred equal changes at once over ${name} one is made`, async (context) => {
    const server = await opened(context);
    const before = (await server.state()).split('<title>').length;
    assert.deepEqual(await atOnce(server, post('29 feb 2024 12:00:00'), secure), listOutcomes('201'));
    assert.equal((await server.state()).split('<title>').length, before + 1);
  });

  test(`of a hundred requests at once over ${name} with one nonce under two dates one passes`, async (context) => {
    const server = await opened(context);
    const [one, other] = ['29 feb 2024 12:00:00', '29 feb 2024 12:00:01'].map((date) =>
      signed({ nonce: 'n', date }),
    );
    const outcomes = await Promise.all([one, other].map((bytes) => atOnce(server, bytes ?? '', secure)));
    assert.deepEqual(
      outcomes.flat().filter((each) => each !== replayed),
      ['200'],
    );
  });
}

test('of a hundred equal changes at once over both ports of the command one is made, and none after kill -9', async () => {
  const directory = temporaryDirectory();
  const [config, cert, key] = ['config.json', 'cert.pem', 'key.pem'].map((name) => join(directory, name));
  const identity = makeIdentity();
  const users = { ann: { secret: secrets.ann } };
  for (const [path = '', content] of [
    [config, JSON.stringify({ users })],
    [cert, identity.cert],
    [key, identity.key],
  ])
    writeFileSync(path, content ?? '', { mode: 0o600 });
  const args = [
    '--config',
    config ?? '',
    '--tls-cert',
    cert ?? '',
    '--tls-key',
    key ?? '',
    '--data',
    join(directory, 'data'),
    '--port',
    '0',
    '--tls-port',
    '0',
    '--log',
    'off',
  ];
  const bytes = post(new Date().toUTCString());
  for (const expected of [listOutcomes('201'), Array.from({ length: 100 }, () => replayed)]) {
    const server = await startServer([...args, '--max-auth-failures', '0']);
    const [port, securePort] = [server.url, server.secureUrl].map((url) => Number(new URL(url).port));
    const ports = { port: port ?? 0, securePort: securePort ?? 0, ca: identity.cert };
    assert.deepEqual(await atOnce(ports, bytes, (at) => at % 2 === 0), expected);
    const listed = await (await fetch(`${server.url}/articles`)).text();
    assert.equal(listed.split('<title>Once<').length, 2);
    process.kill(server.pid, 'SIGKILL');
    await server.ended;
  }
});
