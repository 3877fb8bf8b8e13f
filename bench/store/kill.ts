/**
 * Kills a server at random moments under load, many times with one directory, and checks the stored data after each:
 * the long form of test/cli/serve/kill.test.ts. Run: [SEED=…] node --import tsx bench/store/kill.ts [ROUNDS]
 */
import { killAgainAndAgain } from '../../test/support/cli/killing.ts';
import { seeded } from '../../test/support/seeded.ts';

const rounds = Number(process.argv[2] ?? 1000);
const random = seeded();
console.log(`SEED=${random.seed}, ${rounds} rounds`);
const begun = performance.now();
const tally = await killAgainAndAgain(rounds, random);
console.log(tally);
console.log(`nothing was lost in ${Math.round((performance.now() - begun) / 1000)} s`);
