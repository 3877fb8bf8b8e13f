import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Running } from '../../support/cli/command.ts';
import { changedHost, signedOnce } from './host.ts';

const minute = 60_000;
const hour = 60 * minute;
const article = '<article><title>One</title><price currency="EUR">12.30</price></article>';

async function end(server: Running, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  process.kill(server.pid, signal);
  await server.ended;
}

function put(ahead: number): (server: Running) => Promise<string> {
  return signedOnce('PUT', '/articles/x', ahead, article);
}

describe('a clock jump', () => {
  for (const jump of [-hour, hour]) {
    const how = `${jump / hour} hour`;

    test(`by ${how} and back while the server runs permits no replay`, async () => {
      const host = changedHost();
      const server = await host.start('--log', 'off');
      const before = [put(0), signedOnce('GET', '/articles')];
      for (const send of before) assert.match(await send(server), /^20/);
      await host.change({ ahead: jump, failing: false }, server);
      const meanwhile = [put(jump), signedOnce('GET', '/articles', jump)];
      for (const send of before) assert.match(await send(server), /^(date-out-of-window|nonce-replayed)$/);
      for (const send of meanwhile) assert.match(await send(server), /^20/, 'somebody is locked out');
      await host.change({ ahead: 0, failing: false }, server);
      for (const send of before) assert.equal(await send(server), 'nonce-replayed');
      for (const send of meanwhile) assert.notEqual((await send(server)).slice(0, 2), '20');
      assert.equal(await put(0)(server), '200');
      await end(server, 'SIGTERM');
    });

    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      test(`by ${how} from one start to the next, after ${signal}, and back permits no replay`, async () => {
        const host = changedHost();
        const first = await host.start('--log', 'off');
        const before = [put(0), signedOnce('GET', '/articles')];
        for (const send of before) assert.match(await send(first), /^20/);
        await end(first, signal);
        await host.change({ ahead: jump, failing: false });
        const second = await host.start('--log', 'off');
        const meanwhile = put(jump);
        for (const send of before) assert.notEqual((await send(second)).slice(0, 2), '20');
        assert.match(await meanwhile(second), /^20/, 'somebody is locked out');
        await host.change({ ahead: minute, failing: false }, second);
        for (const send of [...before, meanwhile]) assert.notEqual((await send(second)).slice(0, 2), '20');
        await end(second, signal);
        await host.change({ ahead: 2 * minute, failing: false });
        const third = await host.start('--log', 'off');
        for (const send of before) assert.match(await send(third), /^(nonce-replayed|nonces-lost)$/);
        assert.equal(await meanwhile(third).then((said) => said.slice(0, 2) === '20'), false);
        // What was claimed under the wrong time may keep others out, but no longer than a window.
        await host.change({ ahead: 12 * minute, failing: false }, third);
        assert.equal(await put(12 * minute)(third), '200');
        await end(third, 'SIGTERM');
      });
    }
  }
});
