import assert from 'node:assert/strict';
import test from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { action, text } from '../../src/index.ts';

const clients = { app: { secret: 'the secret of the client', redirectUris: ['https://client.example/cb'] } };
const handler = async () => text('');

test('the types reject mistakes that the double rejects', async () => {
  await using double = await startDouble({ users: ['johndoe'], clients });
  const { journal, faults, auth } = double;
  const mistakes: readonly (() => unknown)[] = [
    // @ts-expect-error A match is an object or a function.
    () => journal.all('/x'),
    // @ts-expect-error Methods are in upper case.
    () => journal.all({ method: 'get' }),
    // @ts-expect-error A path begins with a slash.
    () => journal.all({ path: 'articles' }),
    // @ts-expect-error A path has no query.
    () => journal.all({ path: '/articles?limit=1' }),
    // @ts-expect-error A path has no fragment.
    () => journal.last({ path: '/articles#top' }),
    // @ts-expect-error A problem type is known.
    () => journal.all({ problem: 'nonce-replay' }),
    // @ts-expect-error A match has known members.
    () => faults.next({ methd: 'GET' }, { status: 503 }),
    // @ts-expect-error The match comes first.
    () => faults.next({ status: 503 }),
    // @ts-expect-error A path has no query.
    () => faults.next({ path: '/articles?limit=1' }, { status: 503 }),
    // @ts-expect-error A path begins with a slash.
    () => faults.times(2, { path: 'articles' }, { status: 503 }),
    // @ts-expect-error A response breaks in one way.
    () => faults.next({}, { truncate: 1, reset: 'amid' }),
    // @ts-expect-error A response that is lost is not that of another status.
    () => faults.next({}, { lostAfterActing: true, status: 503 }),
    // @ts-expect-error Only a response with a status has fields of its own.
    () => faults.next({}, { headers: { 'X-Foo': 'bar' } }),
    // @ts-expect-error A response with a status is not a document of the server.
    () => faults.next({}, { status: 503, malformedXml: true }),
    // @ts-expect-error Without a delay or a reset, nothing precedes the processing.
    () => faults.next({}, { truncate: 1, before: true }),
    // @ts-expect-error There is no request yet.
    () => faults.next({}, { staleCertificate: true, delay: 1 }),
    // @ts-expect-error Parameters are text or patterns.
    () => faults.always({ query: { limit: 1 } }, { status: 503 }),
    // @ts-expect-error A rotation is an object.
    () => auth.rotateSecret('johndoe', 'new'),
    // A scheme is one of the double's.
    () => double.as('johndoe', { scheme: 'digest' }),
    // @ts-expect-error Basic has no nonce.
    () => double.as('johndoe', { scheme: 'basic', nonce: 'n' }),
    // @ts-expect-error The simple form has no date.
    () => double.as('johndoe', { form: 'simple', date: '2020-01-01T00:00:00Z' }),
    // @ts-expect-error The default scheme has no password.
    () => double.as('johndoe', { password: 'pw' }),
    // @ts-expect-error A token belongs to a client.
    () => double.as('johndoe', { scheme: 'bearer', token: 't', client: 'app' }),
    // @ts-expect-error A kind of event is known.
    () => double.on('reuse', () => undefined),
    // @ts-expect-error A resource is an object.
    () => double.resource('/x', handler),
    // @ts-expect-error An access rule is known.
    () => double.resource('/x', { GET: action('everyone', handler) }),
  ];
  for (const mistake of mistakes) assert.throws(mistake, RangeError, String(mistake));
  faults.next({}, { status: 503, delay: 1, before: true, truncate: 1, retryAfter: 2 });
  faults.next({}, { reset: 'before', before: true, badChunk: false });
  faults.next({}, { staleCertificate: true });
});

test('the type of waitFor also rejects a path with a query', async () => {
  await using double = await startDouble();
  // @ts-expect-error A path has no query.
  await assert.rejects(double.journal.waitFor({ path: '/articles?limit=1' }), {
    name: 'RangeError',
    message:
      'path of a match must not have a query or fragment, is "/articles?limit=1"; did you mean "/articles"?',
  });
});
