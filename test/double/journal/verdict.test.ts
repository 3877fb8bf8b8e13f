import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAccepted, assertRefused, startDouble } from '../../../src/double/index.ts';
import { toBeAccepted, toBeRefused } from '../../../src/double/matchers/index.ts';

const users = { ann: { secret: 's3cret of ann' } };

test('assertAccepted passes and assertRefused throws for an accepted request', async () => {
  await using double = await startDouble({ users, https: false });
  const response = await double.as('ann').fetch('/articles');
  for (const answer of [response, double.journal.last()]) {
    assertAccepted(answer);
    assert.equal(toBeAccepted(answer).pass, true);
    assert.throws(() => assertRefused(answer), {
      name: 'AssertionError',
      message: 'expected the request to be refused:\n#1 GET /articles by ann: 200, step 16 (action)',
    });
    assert.equal(toBeRefused(answer).pass, false);
    assert.match(toBeAccepted(answer).message(), /^expected the request to be refused:\n#1 GET/, 'with not');
  }
});

test('assertRefused passes, and assertAccepted throws with the entry, for a refused request', async () => {
  await using double = await startDouble({ users, https: false });
  const headers = await double.as('ann').signRequest({ url: '/articles' });
  const response = await double.fetch('/articles?limit=1', { headers });
  for (const answer of [response, double.journal.last()]) {
    assertRefused(answer);
    assertRefused(answer, { status: 401, problem: 'credentials-refused', hint: 'query was left out' });
    assertRefused(answer, { hint: /^the query/ });
    const refused = toBeRefused(answer, { status: 401 });
    assert.deepEqual(
      [refused.pass, refused.message().split('\n')[0]],
      [true, 'expected the request not to be refused like this:'],
    );
    assert.throws(
      () => assertAccepted(answer),
      /to be accepted:\n#1 GET .* 401, .*the query was left out\n {2}hmac: failed/,
    );
    assert.throws(
      () => assertRefused(answer, { status: 403, problem: 'forbidden', hint: 'secret' }),
      /another refusal: the status is 401, not 403; the problem is credentials-refused, not forbidden; the hint is the query was left out, not secret:\n#1 GET/,
    );
  }
});

test('concurrent responses have their own entries, also those of a fault and of a signing client', async () => {
  await using double = await startDouble({ users, https: false });
  double.faults.next({ path: '/articles' }, { status: 503, dribble: 1000, body: 'x' });
  const [faulty, signed, missing] = await Promise.all([
    double.fetch('/articles'),
    double.as('ann').fetch('/articles'),
    double.fetch('/nothing'),
  ]);
  assertRefused(faulty, { status: 503 });
  assertAccepted(signed);
  assertRefused(missing, { problem: 'not-found' });
});

test('the assertions throw an error for a value that is not a response, and for an impossible refusal', async () => {
  await using double = await startDouble({ https: false });
  const real = await fetch(`${double.url}/articles`);
  assert.throws(() => assertAccepted(real), {
    name: 'TypeError',
    message: /a response that came over a socket/,
  });
  for (const answer of [undefined, null, 200, {}, double])
    assert.throws(() => toBeRefused(answer), {
      name: 'TypeError',
      message: /expected an entry of the journal/,
    });
  const refuse = (expected: unknown) => () => Reflect.apply(assertRefused, undefined, [real, expected]);
  assert.throws(refuse({ statsu: 401 }), /did you mean "status"/);
  assert.throws(refuse({ status: 200 }), /from 400 to 599/);
  assert.throws(refuse({ problem: 'nonce-replay' }), /did you mean "nonce-replayed"/);
  assert.throws(
    refuse({ hint: 1 }),
    /hint of the expected refusal must be text or a regular expression, is 1$/,
  );
});

test('journal.last returns the latest matching entry, or throws an error that lists the requests', async () => {
  await using double = await startDouble({ users, https: false });
  assert.throws(() => double.journal.last(), { name: 'DoubleError', code: 'no-match' });
  assert.equal(String(double.journal), 'The journal has no entries: there were no requests.');
  await double.fetch('/articles');
  assert.equal(double.journal.last({ method: 'GET' }).number, 1);
  assert.throws(() => double.journal.last({ method: 'PUT' }), {
    code: 'no-match',
    message:
      'No request matched PUT any path. Requests:\n  #1 GET /articles: 200, step 16 (action)\n    the method is GET, not PUT',
  });
  assert.throws(() => double.journal.last(() => false), { message: /the function returned false/ });
  assert.equal(String(double.journal), '#1 GET /articles: 200, step 16 (action)');
});
