import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { limitRest, type Resting } from '../../src/net/rest.ts';
import { seeded } from '../seeded.ts';

/** A connection in a time of its own, in milliseconds; something comes on it when `hear` is called. */
class Quiet implements Resting {
  now = 0;
  heard = 0;
  ended: number | undefined;
  #comes = false;
  #looks = 0;

  hear(): void {
    this.heard = this.now;
    this.#comes = true;
  }

  look(): number {
    this.#looks = this.#comes ? 0 : this.#looks + 1;
    this.#comes = false;
    return this.#looks;
  }

  destroy(): void {
    this.ended ??= this.now;
  }
}

function pass(context: TestContext, connection: Quiet, time: number): void {
  for (let passed = 0; passed < time && connection.ended === undefined; passed += 1) {
    connection.now += 1;
    context.mock.timers.tick(1);
  }
}

test('a connection is let go when nothing has come on it for so long, and hardly later', (context) => {
  const random = seeded();
  context.mock.timers.enable({ apis: ['setInterval'] });
  for (let round = 0; round < 300; round += 1) {
    const time = 1 + random.below(random.pick([20, 1000, 8000]));
    const connection = new Quiet();
    const end = limitRest(time, () => [connection]);
    connection.hear();
    for (let times = random.below(4); times > 0; times -= 1) {
      pass(context, connection, random.below(time));
      connection.hear();
    }
    pass(context, connection, 20_000);
    end();
    const rested = (connection.ended ?? Number.POSITIVE_INFINITY) - connection.heard;
    const message = `seed ${random.seed}: let go after ${rested} ms where it may rest for ${time}`;
    assert.ok(rested >= time && rested <= time + Math.max(20, Math.min(1000, time / 4) + 10), message);
  }
});

test('one on which something comes often enough stays, and all do when the looks are ended', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const [busy, idle] = [new Quiet(), new Quiet()];
  const end = limitRest(40, () => [busy, idle]);
  for (let times = 0; times < 100; times += 1) {
    busy.hear();
    context.mock.timers.tick(10);
    if (times === 1) end();
  }
  assert.deepEqual([busy.ended, idle.ended], [undefined, undefined]);
});
