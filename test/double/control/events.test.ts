import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { EventLog } from '../../../src/double/control/operations/events.ts';
import { startDouble } from '../../../src/double/index.ts';
import { openConsole } from '../../support/double/control-client.ts';

const options = {
  users: ['ann'],
  clients: { app: { redirectUris: ['https://client.example/cb'] } },
  now: '2026-03-01T12:00:00Z',
};

/** Resolves when a request has begun to wait for an event. */
function nextWait(context: TestContext): Promise<void> {
  const { waitFor } = EventLog.prototype;
  return new Promise((resolve) => {
    const replaced = context.mock.method(
      EventLog.prototype,
      'waitFor',
      function (this: EventLog, ...args: Parameters<typeof waitFor>) {
        const waiting = waitFor.apply(this, args);
        replaced.mock.restore();
        resolve();
        return waiting;
      },
    );
  });
}

test('events of tokens and nonces are listed in order, without the tokens and nonces', async () => {
  await using double = await startDouble(options);
  const control = await openConsole(double);
  assert.deepEqual(await control.send('GET', '/events'), { events: [] });
  const { accessToken } = await control.send('POST', '/tokens/oauth2', { user: 'ann' });
  await control.send('POST', '/tokens/revoke', { token: accessToken });
  await control.send('POST', '/nonces/burn', {});
  assert.equal((await double.as('ann').fetch('/articles')).status, 401);
  const { events } = await control.send('GET', '/events');
  const about = { mechanism: 'oauth2', client: 'app', user: 'ann', token: 'access' };
  const time = Date.UTC(2026, 2, 1, 12);
  assert.deepEqual(events, [
    { type: 'token-issued', ...about, number: 1, time },
    { type: 'token-revoked', ...about, number: 2, time },
    { type: 'nonce-replayed', user: 'ann', number: 3, time },
  ]);
  assert.ok(!JSON.stringify(events).includes(accessToken));
});

test('a wait returns a past or future event, and after a timeout 404 with the other events', async (context) => {
  await using double = await startDouble(options);
  const control = await openConsole(double);
  await double.oauth2.issueToken({ user: 'ann' });
  const wait = (match: object) => control.send('POST', '/events/wait', match);
  assert.equal((await wait({ type: 'token-issued', client: 'app', user: 'ann' })).number, 1);
  const begun = nextWait(context);
  const coming = wait({ after: 1, timeout: 60_000 });
  await begun;
  await double.oauth2.issueToken({ user: 'ann' });
  assert.equal((await coming).number, 2);
  for (const match of [{ type: 'nonce-replayed' }, { client: 'other' }, { user: 'bob' }, { after: 2 }]) {
    const { detail } = await control.refused(404, 'POST', '/events/wait', { ...match, timeout: 1 });
    assert.match(
      String(detail),
      'after' in match ? /Other events: none/ : /Other events: token-issued, token-issued/,
    );
  }
  await control.refused(422, 'POST', '/events/wait', { type: 'sneezed' });
});

// The request would wait for longer than the test may take.
test('closing the interface ends a waiting request with 404', async (context) => {
  const double = await startDouble(options);
  const control = await openConsole(double);
  const begun = nextWait(context);
  const waiting = control.exchange('POST', '/events/wait', { timeout: 60_000 });
  await begun;
  const [{ status }] = await Promise.all([waiting, double.close()]);
  assert.equal(status, 404);
});

test('only the latest 1,000 events are stored', async () => {
  await using double = await startDouble(options);
  const control = await openConsole(double);
  for (let count = 0; count < 1100; count += 1) await double.oauth2.issueToken({});
  const { events } = await control.send('GET', '/events');
  assert.deepEqual([events.length, events[0].number, events.at(-1).number], [1000, 101, 1100]);
});
