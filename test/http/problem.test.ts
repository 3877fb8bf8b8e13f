import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Problem } from '../../src/http/problem.ts';
import { Problem as ThrownProblem } from '../../src/pipeline/thrown-problem.ts';

test('a refusal of the server is an error with its type and its detail, and records no stack trace', () => {
  const problem = new Problem('not-found', 'Nothing is at this address.');
  assert.ok(problem instanceof Error);
  assert.equal(String(problem), 'Problem: not-found: Nothing is at this address.');
  assert.equal(problem.status, 404);
  assert.equal(problem.stack, undefined);
});

test('a problem that the code of a resource throws has a full stack trace', () => {
  const problem = thrownHere();
  const [first, frame] = problem.stack?.split('\n') ?? [];
  assert.equal(first, 'Problem: not-found: There is no such city.');
  assert.match(frame ?? '', /at thrownHere /);
  assert.match(inspect(problem), /^Problem: not-found: There is no such city\.\n +at thrownHere /);
});

function thrownHere(): Problem {
  return new ThrownProblem('not-found', 'There is no such city.');
}

test('problems of the server and of resources are instances of both classes, and a subclass has only its own instances', () => {
  class Missing extends ThrownProblem {}
  const own = new Problem('not-found', 'Nothing is at this address.');
  const missing = new Missing('not-found', 'There is no such city.');
  assert.deepEqual([own instanceof ThrownProblem, missing instanceof Problem], [true, true]);
  assert.deepEqual([missing instanceof Missing, own instanceof Missing], [true, false]);
  assert.equal(Reflect.apply(Function.prototype[Symbol.hasInstance], Error, [missing]), true);
});

test('making a problem never sets Error.stackTraceLimit', (t) => {
  const { stackTraceLimit } = Error;
  let sets = 0;
  Object.defineProperty(Error, 'stackTraceLimit', {
    configurable: true,
    get: () => stackTraceLimit,
    set: () => sets++,
  });
  t.after(() => {
    const value = { configurable: true, enumerable: true, writable: true, value: stackTraceLimit };
    Object.defineProperty(Error, 'stackTraceLimit', value);
  });
  new Problem('not-found', 'Nothing is at this address.').with([['Retry-After', '1']]);
  new ThrownProblem('not-found', 'There is no such city.');
  assert.equal(sets, 0);
});

test('with() returns the same problem with more field lines, and leaves the original unchanged', () => {
  const problem = new Problem('full', 'No room.', {
    members: { field: 'a' },
    headers: [['A', '1']],
    close: true,
  });
  const { type, detail, members, headers: fields, close } = problem.with([['B', '2']]);
  assert.deepEqual(
    { type, detail, members, close },
    {
      type: 'full',
      detail: 'No room.',
      members: { field: 'a' },
      close: true,
    },
  );
  assert.deepEqual(fields, [
    ['A', '1'],
    ['B', '2'],
  ]);
  assert.deepEqual(problem.headers, [['A', '1']]);
});
