import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Double, DoubleError, startDouble } from '../../src/double/index.ts';

/** A timer that stands still fails its test after so many ms. */
const timeout = 20_000;

/** A double that is started before the fake timers are enabled, or after. */
const starts = {
  before: async (t: TestContext): Promise<Double> => {
    const double = await startDouble({ users: ['ann'] });
    t.mock.timers.enable();
    return double;
  },
  after: async (t: TestContext): Promise<Double> => {
    t.mock.timers.enable();
    return startDouble({ users: ['ann'] });
  },
};

for (const [when, start] of Object.entries(starts)) {
  test(`a double that was started ${when} fake timers responds over a socket and in process`, {
    timeout,
  }, async (t) => {
    await using double = await start(t);
    for (const url of ['/articles', '/', '/nothing']) {
      const status = url === '/nothing' ? 404 : 200;
      assert.equal((await fetch(double.url + url)).status, status);
      assert.equal((await double.as('ann').fetch(url)).status, status);
    }
    const body = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';
    const made = { method: 'POST', body, headers: { 'Content-Type': 'application/xml' } };
    const { headers } = await double.as('ann').fetch('/articles', made);
    assert.equal(headers.get('location'), '/articles/1');
    const signed = await double
      .as('ann')
      .signRequest({ method: 'POST', url: `${double.url}/articles`, body });
    const sent = { ...made, headers: { ...made.headers, ...signed } };
    assert.equal((await fetch(`${double.url}/articles`, sent)).status, 201);
    assert.equal((await fetch(`${double.url}/articles`, made)).status, 401);
    for (const [password, status] of [
      [undefined, 200],
      ['wrong', 401],
    ] as const) {
      const signer = double.as('ann', { scheme: 'basic', ...(password && { password }) });
      assert.equal((await signer.fetch('/articles', { secure: true })).status, status);
    }
    const { url } = await double.openControl();
    assert.equal((await fetch(`${url}/health`)).status, 200);
  });

  test(`faults with a duration use the host’s time in a double that was started ${when} fake timers`, {
    timeout,
  }, async (t) => {
    await using double = await start(t);
    for (const fault of [{ delay: 20 }, { dribble: 4000 }, { delay: 20, before: true }]) {
      double.faults.times(2, {}, fault);
      assert.notEqual(await (await double.fetch('/articles')).text(), '');
      assert.notEqual(await (await fetch(`${double.url}/articles`)).text(), '');
    }
  });

  test(`waiting for an entry uses the host’s time in a double that was started ${when} fake timers`, {
    timeout,
  }, async (t) => {
    await using double = await start(t);
    await assert.rejects(double.journal.waitFor({ path: '/never' }, { timeout: 20 }), DoubleError);
    const waiting = double.journal.waitFor({ path: '/articles' });
    await fetch(`${double.url}/articles`);
    assert.equal((await waiting).response?.status, 200);
  });

  test(`a double that was started ${when} fake timers closes with a connection open`, {
    timeout,
  }, async (t) => {
    const double = await start(t);
    const response = await fetch(`${double.url}/articles`);
    await double.close({ grace: 100 });
    assert.equal(response.status, 200);
    await assert.rejects(fetch(`${double.url}/articles`));
  });
}
