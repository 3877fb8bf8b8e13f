import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../src/http/problem.ts';

test('A problem is an error that says its type and its detail, without the calls that led to it.', () => {
  const problem = new Problem('not-found', 'Nothing is at this address.');
  assert.ok(problem instanceof Error);
  assert.equal(problem.message, 'not-found: Nothing is at this address.');
  assert.equal(problem.status, 404);
  assert.doesNotMatch(problem.stack ?? '', /\n/);
});

test('Other errors are written down with as many calls as before.', () => {
  const before = Error.stackTraceLimit;
  new Problem('not-found', 'Nothing is at this address.').with([['Retry-After', '1']]);
  assert.equal(Error.stackTraceLimit, before);
  assert.match(new Error('another').stack ?? '', /\n +at /);
});

test('What cannot be said as a detail, from code without types, changes nothing for other errors.', () => {
  const before = Error.stackTraceLimit;
  assert.throws(() => Reflect.construct(Problem, ['not-found', Symbol('no text')]), TypeError);
  assert.equal(Error.stackTraceLimit, before);
});

test('With more field lines it is the same problem, and the one before is as it was.', () => {
  const problem = new Problem('full', 'No room.', {
    members: { field: 'a' },
    fields: [['A', '1']],
    close: true,
  });
  const { type, detail, members, fields, close } = problem.with([['B', '2']]);
  assert.deepEqual(
    { type, detail, members, close },
    {
      ...{ type: 'full', detail: 'No room.', members: { field: 'a' }, close: true },
    },
  );
  assert.deepEqual(fields, [
    ['A', '1'],
    ['B', '2'],
  ]);
  assert.deepEqual(problem.fields, [['A', '1']]);
});
