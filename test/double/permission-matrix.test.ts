import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import { DoubleError, startDouble } from '../../src/double/index.ts';
import { action, Problem, text } from '../../src/index.ts';

const tea = { title: 'Tea', price: { value: '3.50', currency: 'EUR' } };

test('the matrix tries each method as each principal on existing items, and its table shows the status codes', async () => {
  await using double = await startDouble({
    users: ['johndoe'],
    seed: { '/articles': [tea] },
    https: false,
  });
  const matrix = await double.accessMatrix({
    users: ['nobody', 'johndoe'],
    paths: ['/articles', '/articles/{id}', '/users/{username}/financialrecords'],
  });
  assert.equal(
    String(matrix),
    [
      'path                             user     HEAD   GET    PUT    POST   DELETE  OPTIONS',
      '/articles                        nobody   200    200    (405)  (401)  (405)   200',
      '/articles                        johndoe  200    200    (405)  201    (405)   200',
      '/articles/1                      nobody   200    200    (401)  (401)  (401)   200',
      '/articles/1                      johndoe  200    200    200    200    204     200',
      '/users/johndoe/financialrecords  nobody   (401)  (401)  (405)  (401)  (405)   200',
      '/users/johndoe/financialrecords  johndoe  200    200    (405)  (403)  (405)   200',
    ].join('\n'),
  );
  assert.equal(inspect(matrix), String(matrix));
  const row = matrix.rows.find(({ path, user }) => path === '/articles/1' && user === 'nobody');
  assert.deepEqual(row?.allow, ['HEAD', 'GET', 'OPTIONS']);
  assert.deepEqual(row?.may, row?.allow);
});

test('without paths, the matrix tries all resources including OAuth, and finds no difference from Allow', async () => {
  await using double = await startDouble({
    users: ['ann', 'bob'],
    clients: { app: { redirectUris: ['https://client.example/cb'] } },
    consumers: { printer: { secret: 'a-secret-of-the-printer', callbacks: ['oob'] } },
    resources: { '/weather/{city}': { GET: action('authenticated', async () => text('rain')) } },
  });
  const { rows, differences } = await double.accessMatrix({ users: ['nobody', 'ann', 'bob'] });
  assert.deepEqual(differences, []);
  const paths = new Set(rows.map(({ path }) => path));
  for (const path of ['/', '/weather/1', '/oauth2/token', '/oauth1/authorize', '/users/bob/financialrecords'])
    assert.ok(paths.has(path), path);
  assert.equal(rows.length, paths.size * 3);
  const foreign = rows.find(({ path, user }) => path === '/users/bob/financialrecords' && user === 'ann');
  assert.deepEqual(foreign?.may, ['OPTIONS']);
});

test('accessMatrix rejects with the table if a resource refuses a principal that its Allow permits', async () => {
  await using double = await startDouble({ users: ['ann'], https: false });
  const DELETE = action('authenticated', async () => {
    throw new Problem('forbidden', 'Not on a Sunday.');
  });
  double.resource('/weather', { GET: action('anyone', async () => text('rain')), DELETE });
  await assert.rejects(double.accessMatrix({ users: ['nobody', 'ann'], paths: ['/weather'] }), (error) => {
    assert.ok(error instanceof DoubleError);
    assert.equal(error.code, 'access-mismatch');
    assert.match(error.message, /\n {2}DELETE \/weather as ann: Allow lists it, and the response was 403$/);
    assert.equal(Object(error.cause).differences.length, 1);
    assert.match(String(error.cause), /ann +200 +200 +\(405\) +\(405\) +\(403\)! +200$/);
    return true;
  });
});

test('the matrix leaves items, ids, nonces, faults, the journal and burned nonces unchanged', async () => {
  await using double = await startDouble({ users: ['ann'], seed: { '/articles': [tea] }, https: false });
  await double.fetch('/articles/1');
  double.faults.next({ method: 'PUT' }, { status: 503 });
  double.auth.burnNonces();
  const before = await (await double.fetch('/articles/1')).text();
  const { differences } = await double.accessMatrix({ users: ['nobody', 'ann'] });
  assert.deepEqual(differences, []);
  assert.equal(double.journal.length, 2);
  assert.equal(double.faults.pending().length, 1);
  assert.equal(await (await double.fetch('/articles/1')).text(), before);
  const body = JSON.stringify(tea);
  const burnt = await double.as('ann').fetch('/articles', { method: 'POST', body });
  assert.equal(burnt.status, 401);
  const made = await double.as('ann').fetch('/articles', { method: 'POST', body });
  assert.equal(made.headers.get('location'), '/articles/2');
});

test('accessMatrix rejects an unknown user or path', async () => {
  await using double = await startDouble({ users: ['ann'], https: false });
  await assert.rejects(double.accessMatrix({ users: ['anne'] }), /the double has no user anne/);
  await assert.rejects(double.accessMatrix({ users: ['ann'], paths: ['/nowhere'] }), RangeError);
});

test('writes and requests during the trials are neither lost nor disturbed', async () => {
  await using double = await startDouble({ users: ['ann'], seed: { '/articles': [tea] } });
  const ann = double.as('ann');
  await ann.fetch('/'); // loads the platform's fetch, which takes longer than the trials
  const { length } = double.journal;
  let finished = false;
  const trying = double.accessMatrix({ users: ['nobody', 'ann'] }).finally(() => {
    finished = true;
  });
  const created: string[] = [];
  while (!finished) {
    const response = await ann.fetch('/articles', { method: 'POST', body: JSON.stringify(tea) });
    assert.equal(response.status, 201);
    created.push(response.headers.get('location') ?? '');
  }
  await trying;
  assert.ok(created.length > 1);
  for (const path of created) assert.equal((await double.fetch(path)).status, 200, path);
  assert.equal(double.journal.length, length + 2 * created.length);
});

test('the matrix reflects changed users, resources and removed items', async () => {
  await using double = await startDouble({ users: ['ann'], seed: { '/articles': [tea] }, https: false });
  double.auth.setUser('bob');
  double.resource('/weather', { GET: action('authenticated', async () => text('rain')) });
  await double.as('ann').fetch('/articles/1', { method: 'DELETE' });
  const { rows } = await double.accessMatrix({ users: ['bob'], paths: ['/weather', '/articles/1'] });
  assert.deepEqual(
    rows.map(({ path, tried }) => [path, tried.GET]),
    [
      ['/weather', 200],
      ['/articles/1', 404],
    ],
  );
});
