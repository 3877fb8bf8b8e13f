// Users that can authenticate with some schemes only.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { startDouble } from '../../src/double/index.ts';

const slackLike = (field: string) => ({
  message: 'v0:{timestamp}:{body}',
  signature: { field: `${field}-Signature`, format: 'v0={signature}' },
  timestamp: { field: `${field}-Timestamp` },
  user: 'ann',
  replay: 'refuse' as const,
});

const collections = {
  '/notes': {
    element: 'notes',
    item: 'note',
    fields: { text: { type: 'text' } },
    access: { read: 'authenticated', write: 'authenticated' },
  },
} as const;

test('a signature that was accepted by one scheme is a replay in another one with the same message', async () => {
  await using double = await startDouble({
    collections,
    users: { ann: { secret: 's3cret' } },
    schemes: { slack: slackLike('Slack'), zoom: slackLike('Zoom') },
  });
  const time = String(Math.floor(double.clock.now() / 1000));
  const content = '{"text":"x"}';
  const signature = createHmac('sha256', 's3cret').update(`v0:${time}:${content}`).digest('hex');
  const sent = async (field: string): Promise<number> => {
    const headers = {
      'Content-Type': 'application/json',
      [`${field}-Signature`]: `v0=${signature}`,
      [`${field}-Timestamp`]: time,
    };
    return (await fetch(`${double.url}/notes`, { method: 'POST', body: content, headers })).status;
  };
  assert.equal(await sent('Slack'), 201);
  assert.equal(await sent('Zoom'), 401);
  assert.equal(double.journal.last()?.problem?.type, 'nonce-replayed');
});

test('a user that is limited to schemes cannot authenticate with another one', async () => {
  await using double = await startDouble({
    collections,
    users: {
      ann: { secret: 's3cret', password: 'pw of ann', schemes: ['events'] },
      bob: { secret: 'another one', password: 'pw of bob' },
      eve: { secret: 'a third one', schemes: [] },
    },
    schemes: { events: { preset: 'github', user: { field: 'X-User' } } },
  });
  const status = async (user: string, scheme: 'hmac' | 'events' = 'hmac'): Promise<number> => {
    const client =
      scheme === 'hmac' ? double.as(user, { scheme: 'hmac' }) : double.as(user, { scheme: 'events' });
    return (await client.fetch('/notes')).status;
  };
  assert.equal(await status('ann', 'events'), 200);
  assert.equal(await status('ann'), 401);
  const { problem } = double.journal.last() ?? {};
  assert.equal(problem?.detail, 'The user cannot authenticate with the scheme hmac. Permitted: events.');
  const asBasic = async (name: string): Promise<number> => {
    const Authorization = `Basic ${Buffer.from(`${name}:pw of ${name}`).toString('base64')}`;
    return (await double.fetch(`${double.secureUrl}/notes`, { headers: { Authorization } })).status;
  };
  assert.equal(await asBasic('ann'), 401);
  assert.equal(await asBasic('bob'), 200);
  assert.equal(await status('bob'), 200);
  assert.equal(await status('eve', 'events'), 401);
  double.auth.rotateSecret('ann');
  assert.equal(await status('ann'), 401, 'the limit stays when the secret is replaced');
  double.auth.setUser('ann', { secret: 's3cret' });
  assert.equal(await status('ann'), 200, 'the limit ends when the user is replaced without one');
});

test('a user can be limited only to schemes that exist', async () => {
  const start = (schemes: readonly string[]) =>
    startDouble({ users: { ann: { schemes } }, schemes: { events: { preset: 'github', user: 'ann' } } });
  await assert.rejects(
    start(['event']),
    /schemes of the user "ann": there is no scheme "event"; did you mean "events"\?/,
  );
  await assert.rejects(start(['a b']), /schemes of the user "ann": "a b" is not the name of a scheme/);
  const double = await start(['events', 'hmac', 'basic']);
  await double.close();
});
