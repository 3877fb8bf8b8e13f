import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killAgainAndAgain } from '../../support/cli/killing.ts';
import { seeded } from '../../support/seeded.ts';
import { long } from '../../support/store/thoroughness.ts';

/** A life takes a third of a second. */
const rounds = long ? 120 : 8;

test(`a server that is killed ${rounds} times under load loses no acknowledged change, and accepts no request twice`, async (context) => {
  const random = seeded();
  context.diagnostic(`SEED=${random.seed}`);
  const tally = await killAgainAndAgain(rounds, random);
  context.diagnostic(JSON.stringify(tally));
  assert.ok(tally.acknowledged > 0 && tally.replayed > 0 && tally.compactions > 1);
});
