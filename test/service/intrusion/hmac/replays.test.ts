import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createNonces } from '../../../../src/store/nonces/nonces.ts';
import {
  computeSignature,
  date,
  formatOutcome,
  formatRequest,
  fullLines,
  fullSignature,
  openGuarded,
  outcome,
  secrets,
  signed,
  simpleSignature,
  target,
} from '../../../support/intrusion/guarded.ts';
import { exchange, open, type Wire } from '../../../support/net/wire.ts';
import { seeded } from '../../../support/seeded.ts';
import { article, start } from '../../../support/service/guest.ts';

const testServer = await openGuarded();
after(() => testServer.close());

const replayed = '401 nonce-replayed';

test('a replay is refused on the same connection and on another one, and changes nothing', async () => {
  const bytes = signed({ nonce: testServer.freshNonce() });
  const wire = await open(testServer.port);
  await wire.send(bytes);
  assert.equal(formatOutcome(await wire.reply()), '200');
  const before = await testServer.state();
  await wire.send(bytes);
  assert.equal(formatOutcome(await wire.reply()), replayed);
  await wire.close();
  assert.equal(await outcome(testServer.port, bytes), replayed);
  assert.equal(await testServer.state(), before);
});

test('a replayed change changes nothing', async () => {
  const content = article('Once');
  const post = signed({ verb: 'POST', target: '/articles', nonce: testServer.freshNonce(), content });
  assert.equal(await outcome(testServer.port, post), '201');
  const before = await testServer.state();
  assert.equal(await outcome(testServer.port, post), replayed);
  assert.equal(await testServer.state(), before);
});

test('of a hundred replays at once exactly one passes', async () => {
  const content = article('Hundred');
  const before = await testServer.state();
  const post = signed({ verb: 'POST', target: '/articles', nonce: testServer.freshNonce(), content });
  const wires = await Promise.all(Array.from({ length: 100 }, () => open(testServer.port)));
  await Promise.all(wires.map((wire) => wire.send(post)));
  const outcomes = await Promise.all(wires.map(async (wire) => formatOutcome(await wire.reply())));
  await Promise.all(wires.map((wire: Wire) => wire.close()));
  assert.deepEqual(outcomes.toSorted(), ['201', ...Array.from({ length: 99 }, () => replayed)]);
  const count = (state: string): number => state.split('<title>').length;
  assert.equal(count(await testServer.state()), count(before) + 1);
});

test('pipelined replays are refused, in order', async () => {
  const [one, two] = [testServer.freshNonce(), testServer.freshNonce()];
  const wire = await open(testServer.port);
  const [first, second] = [signed({ nonce: one }), signed({ nonce: two })];
  await wire.send(first + first + second + second + first);
  wire.finish();
  assert.deepEqual((await wire.rest()).map(formatOutcome), ['200', replayed, '200', replayed, replayed]);
  await wire.close();
});

test('a nonce counts once under every date, verb, target and form of the header', async () => {
  const nonce = testServer.freshNonce();
  assert.equal(await outcome(testServer.port, signed({ nonce })), '200');
  const again = [
    signed({ nonce, date: '29 feb 2024 12:00:01' }),
    signed({ nonce, date: '29 feb 2024 12:10:00' }),
    signed({ nonce, date: 'Thu, 29 Feb 2024 12:00:00 GMT' }),
    signed({ nonce, verb: 'DELETE', target: '/articles/1' }),
    signed({ nonce, target: '/articles' }),
    formatRequest({
      lines: fullLines({ nonce }).map((line) => line.replace('Authentication', 'Authorization')),
    }),
    formatRequest({ lines: fullLines({ nonce }).map((line) => line.replace(/^Date/, 'X-Date')) }),
    formatRequest({ version: '1.0', lines: fullLines({ nonce }) }),
  ];
  const before = await testServer.state();
  for (const bytes of again) assert.equal(await outcome(testServer.port, bytes), replayed);
  assert.equal(await testServer.state(), before);
});

test('the same nonce of two users passes for both, once', async () => {
  const nonce = testServer.freshNonce();
  const as = (user: 'ann' | 'bob'): Promise<string> =>
    outcome(testServer.port, signed({ nonce, user, secret: secrets[user], target: '/articles' }));
  assert.deepEqual(
    [await as('ann'), await as('bob'), await as('ann'), await as('bob')],
    ['200', '200', replayed, replayed],
  );
});

test('user and nonce are kept apart: `ann` with `n` is not another cut of the same letters', async (context) => {
  const server = await openGuarded({ users: { a: { secret: secrets.ann }, aa: { secret: secrets.bob } } });
  context.after(() => server.close());
  const as = (user: string, nonce: string, secret: string): Promise<string> =>
    outcome(server.port, signed({ user, nonce, secret, target: '/articles' }));
  assert.equal(await as('aa', 'b', secrets.bob), '200');
  assert.equal(await as('a', 'ab', secrets.ann), '200');
});

test('a nonce is told apart by case and by every character, up to the 128th', async () => {
  const long = testServer.freshNonce().padEnd(127, 'x');
  for (const nonce of [`${long}a`, `${long}A`, `${long}b`, long, `${long}-`]) {
    assert.equal(await outcome(testServer.port, signed({ nonce })), '200');
    assert.equal(await outcome(testServer.port, signed({ nonce })), replayed);
  }
});

test('a request that was dated ahead cannot be replayed 19 minutes later', async (context) => {
  const server = await openGuarded();
  context.after(() => server.close());
  const ahead = signed({ nonce: 'n', date: '29 feb 2024 12:10:00' });
  assert.equal(await outcome(server.port, ahead), '200');
  server.clock.advance(19 * 60_000);
  assert.equal(await outcome(server.port, ahead), replayed);
  server.clock.advance(59_999);
  assert.equal(await outcome(server.port, ahead), replayed);
  server.clock.advance(1001);
  assert.equal(await outcome(server.port, ahead), '401 date-out-of-window');
});

test('a replay is refused at every second in which its date is good', async (context) => {
  const server = await openGuarded({ window: 30 });
  context.after(() => server.close());
  const random = seeded();
  for (const behind of [-30, -1, 0, 1, 30]) {
    const when = new Date(server.clock.now() - behind * 1000).toUTCString();
    const bytes = signed({ nonce: `n${behind}`.replace('-', '_'), date: when });
    assert.equal(await outcome(server.port, bytes), '200');
    for (let second = 0; second <= 62; second += 1) {
      const result = await outcome(server.port, bytes);
      assert.ok(result === replayed || result === '401 date-out-of-window', `seed ${random.seed}: ${result}`);
      server.clock.advance(random.below(1500));
    }
  }
});

test('no replay passes after the clock was set back, at once or after an hour', async (context) => {
  for (const after of [0, 5, 11, 21, 60]) {
    const server = await openGuarded();
    context.after(() => server.close());
    const bytes = signed({ nonce: 'n' });
    assert.equal(await outcome(server.port, bytes), '200');
    server.clock.advance(after * 60_000);
    await outcome(server.port, signed({ nonce: 'm', date: new Date(server.clock.now()).toUTCString() }));
    server.clock.set(start);
    assert.equal(await outcome(server.port, bytes), replayed, `${after} minutes`);
    server.clock.set(start - 500_000);
    assert.equal(await outcome(server.port, bytes), replayed, `${after} minutes, and further back`);
  }
});

test('no replay passes after the clock leapt ahead and came back', async (context) => {
  const server = await openGuarded();
  context.after(() => server.close());
  const bytes = signed({ nonce: 'n' });
  assert.equal(await outcome(server.port, bytes), '200');
  server.clock.set(start + 365 * 86_400_000);
  assert.equal(
    await outcome(server.port, signed({ nonce: 'm', date: new Date(server.clock.now()).toUTCString() })),
    '200',
  );
  server.clock.set(start);
  assert.equal(await outcome(server.port, bytes), replayed);
});

test('a simple signature passes again and again for a safe method, and never signs a change', async () => {
  const lines = [`Authentication: hmac ann:${simpleSignature({})}`];
  assert.equal(await outcome(testServer.port, formatRequest({ lines })), '200');
  assert.equal(await outcome(testServer.port, formatRequest({ lines })), '200');
  const before = await testServer.state();
  for (const verb of ['PUT', 'POST', 'DELETE']) {
    const digest = simpleSignature({ verb, target: '/articles/1' });
    const change = { verb, target: '/articles/1', lines: [`Authentication: hmac ann:${digest}`] };
    assert.equal(
      await outcome(testServer.port, formatRequest({ ...change, content: article('X') })),
      '401 simple-form-refused',
    );
  }
  assert.equal(await testServer.state(), before);
});

test('where the simple form is switched off, it signs nothing', async (context) => {
  const server = await openGuarded({ hmacSimple: 'off' });
  context.after(() => server.close());
  const lines = [`Authentication: hmac ann:${simpleSignature({})}`];
  assert.equal(await outcome(server.port, formatRequest({ lines })), '401 simple-form-refused');
});

test('HEAD and GET are signed apart, and share their nonces', async () => {
  const nonce = testServer.freshNonce();
  const head = (digest: string): string =>
    formatRequest({ verb: 'HEAD', lines: [`Authentication: hmac ann:${nonce}:${digest}`, `Date: ${date}`] });
  const status = async (bytes: string): Promise<number | undefined> =>
    (await exchange(testServer.port, bytes, true))[0]?.status;
  assert.equal(await status(head(fullSignature({ nonce }))), 401);
  assert.equal(await status(head(fullSignature({ verb: 'HEAD', nonce }))), 200);
  assert.equal(await outcome(testServer.port, signed({ nonce })), replayed);
});

test('a signed request for what is not there, or not allowed, takes its nonce but tells a stranger nothing', async () => {
  const [one, two] = [testServer.freshNonce(), testServer.freshNonce()];
  const asBob = (nonce: string): string => signed({ user: 'bob', secret: secrets.bob, nonce });
  assert.equal(await outcome(testServer.port, asBob(one)), '403 forbidden');
  assert.equal(await outcome(testServer.port, asBob(one)), replayed);
  const unknownUserPath = `/users/nobody/financialrecords`;
  const missing = signed({ user: 'bob', secret: secrets.bob, nonce: two, target: unknownUserPath });
  assert.equal(await outcome(testServer.port, missing), '403 forbidden');
});

test('a user who is disabled amid a connection is refused on it, and one who is taken back is judged anew', async (context) => {
  const server = await openGuarded();
  context.after(() => server.close());
  const wire = await open(server.port);
  const ask = async (nonce: string): Promise<string> => {
    await wire.send(signed({ nonce }));
    return formatOutcome(await wire.reply());
  };
  assert.equal(await ask('n1'), '200');
  const declared = { secrets: [{ secret: secrets.ann }] };
  server.service.replaceUsers({ ann: { ...declared, disabled: true }, bob: { secret: secrets.bob } });
  const before = await server.state();
  assert.equal(await ask('n2'), '401 credentials-refused');
  assert.equal(await server.state(), before);
  server.service.replaceUsers({ bob: { secret: secrets.bob } });
  assert.equal(await ask('n2'), '401 credentials-refused');
  server.service.replaceUsers({ ann: declared });
  assert.equal(await ask('n1'), replayed);
  assert.equal(await ask('n2'), '200');
  await wire.close();
});

test('during a rotation both secrets are good, and the old one is not from its last moment on', async (context) => {
  const fresh = 'Q7-hushed-new-secret';
  const until = start + 60_000;
  const users = { ann: { secrets: [{ secret: fresh }, { secret: secrets.ann, until }] } };
  const server = await openGuarded({ users });
  context.after(() => server.close());
  const by = (secret: string, nonce: string): Promise<string> => {
    const when = new Date(server.clock.now()).toUTCString();
    return outcome(server.port, signed({ nonce, secret, date: when }));
  };
  assert.equal(await by(fresh, 'n1'), '200');
  assert.equal(await by(secrets.ann, 'n1'), replayed);
  assert.equal(await by(secrets.ann, 'n2'), '200');
  server.clock.advance(59_999);
  assert.equal(await by(secrets.ann, 'n3'), '200');
  server.clock.advance(1);
  const before = await server.state();
  assert.equal(await by(secrets.ann, 'n4'), '401 credentials-refused');
  assert.equal(await by(secrets.ann, 'n3'), '401 credentials-refused');
  assert.equal(await server.state(), before);
  assert.equal(await by(fresh, 'n4'), '200');
});

test('a secret of 64, 65 and 200 bytes, of unicode, and of the hash of a longer one, is judged as RFC 2104 has it', async (context) => {
  const long = 'Q7-hushed-'.padEnd(200, 'x');
  const users = {
    a64: { secret: long.slice(0, 64) },
    a65: { secret: long.slice(0, 65) },
    a200: { secret: long },
    unicode: { secret: 'Q7-hushed-gr\u00fc\u00dfe-\u{1f511}' },
  };
  const server = await openGuarded({ users });
  context.after(() => server.close());
  let drawn = 0;
  const by = (user: string, secret: string): Promise<string> => {
    drawn += 1;
    return outcome(server.port, signed({ user, secret, nonce: `n${drawn}`, target: '/articles' }));
  };
  for (const [user, { secret }] of Object.entries(users)) {
    assert.equal(await by(user, secret), '200', user);
    assert.equal(await by(user, `${secret}x`), '401 credentials-refused', user);
  }
  assert.equal(await by('a200', long.slice(0, 64)), '401 credentials-refused');
  assert.equal(await by('a65', long.slice(0, 64)), '401 credentials-refused');
});

test('an empty secret is refused before the server is there', async () => {
  await assert.rejects(() => openGuarded({ users: { ann: { secret: '' } } }), RangeError);
  await assert.rejects(() => openGuarded({ users: { ann: { secrets: [{ secret: '' }] } } }), RangeError);
});

test('a user without any secret cannot sign, not even with an empty one', async (context) => {
  const server = await openGuarded({ users: { ann: { secrets: [] } } });
  context.after(() => server.close());
  for (const secret of ['', 'undefined', 'no one has this secret'])
    assert.equal(await outcome(server.port, signed({ nonce: 'n', secret })), '401 credentials-refused');
  const lines = [
    `Authentication: hmac ann:n:${computeSignature(`GET+${target}+29feb202412:00:00+n`, '')}`,
    `Date: ${date}`,
  ];
  assert.equal(await outcome(server.port, formatRequest({ lines })), '401 credentials-refused');
});

test('when no more nonces can be remembered, signed requests are refused, and none passes twice', async (context) => {
  const nonces = createNonces({
    bucketSpan: 150_000,
    max: 2,
    maxPerUser: 2,
    key: new Uint8Array(16),
    monotonic: () => 0,
  });
  const server = await openGuarded({ nonces });
  context.after(() => server.close());
  const by = (nonce: string): Promise<string> => outcome(server.port, signed({ nonce }));
  assert.deepEqual([await by('n1'), await by('n2'), await by('n3')], ['200', '200', '503 full']);
  assert.deepEqual([await by('n1'), await by('n2')], [replayed, replayed]);
});
