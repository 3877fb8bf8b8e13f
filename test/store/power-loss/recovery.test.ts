import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seeded } from '../../support/seeded.ts';
import { type Files, PowerLossDisk } from '../../support/store/power-loss-disk.ts';
import { always, countShown, type Findings, judgeLosses, puts, Run, say } from './power-loss.ts';

const random = seeded();
const few = { random, all: 6, drawn: 2 };

/** Adds what was found to a total. */
function count(total: Findings, found: Findings): void {
  total.states += found.states;
  total.unacknowledged += found.unacknowledged;
}

/** What a crash or a damaged snapshot leaves that has to be mended: by name, with a run that shows all of its changes. */
async function* mended(): AsyncGenerator<{
  readonly name: string;
  readonly files: Files;
  readonly run: Run;
}> {
  const run = await Run.open({ disk: new PowerLossDisk(), limits: always });
  for (let round = 0; round < 6; round += 1) {
    await run.askAll(puts(`round-${round}`, 2, random));
    await run.settle();
  }
  const whole = run.disk.files();
  const names = [...whole.keys()];
  const journal =
    names
      .filter((name) => name.startsWith('journal-'))
      .sort()
      .at(-1) ?? '';
  const lines = Buffer.from(whole.get(journal) ?? []);
  const end = lines.lastIndexOf('\n') + 1;
  const next = `journal-${Number(/[0-9]+/.exec(journal)) + 1}.jsonl`;
  const torn = Buffer.concat([
    lines.subarray(0, end),
    Buffer.from('{"crc":"12345678","seq":'),
    Buffer.alloc(700),
  ]);
  const snapshot = Buffer.from(whole.get('store.jsonl') ?? []);
  snapshot[200] = (snapshot[200] ?? 0) ^ 1;
  const without = new Map(whole);
  without.delete('store.jsonl');
  yield { name: 'a torn end', files: new Map(whole).set(journal, torn), run };
  yield {
    name: 'a journal that was being begun',
    files: new Map(whole).set(next, Buffer.from('{"crc":"12')),
    run,
  };
  yield { name: 'a damaged snapshot', files: new Map(whole).set('store.jsonl', snapshot), run };
  yield { name: 'no snapshot but the one before', files: without, run };
}

describe('a power loss after a recovery that was killed', () => {
  test('loses nothing that the next process showed', async (context) => {
    for await (const { name, files, run } of mended()) {
      const total: Findings = { states: 0, second: 0, torn: 0, unacknowledged: 0, refused: 0, lost: 0 };
      const first = await Run.open({ disk: new PowerLossDisk(files) });
      assert.ok(first.recovered.reports.length > 0, name);
      for (let operations = 0; operations <= first.disk.operations; operations += 1) {
        const disk = first.disk.after(operations);
        const next = await Run.open({ disk });
        assert.equal(await countShown(next.store, run.asked), run.asked.length, name);
        const from = disk.operations;
        await next.askAll(puts('then', 2, random));
        await next.settle();
        count(total, await judgeLosses(next, { sampling: few, before: run.asked, from, briefly: true }));
      }
      context.diagnostic(name);
      say(context, random, total);
    }
  });
});

test('a power loss loses nothing that a process showed after a failed sync of the previous process', async (context) => {
  const run = await Run.open({ disk: new PowerLossDisk() });
  await run.askAll(puts('first', 2, random));
  await run.settle();
  run.disk.failNext('sync', 'EIO', 'journal-1');
  await run.askAll(puts('refused', 3, random));
  await run.store.close();
  const next = await Run.open({ disk: run.disk.after(run.disk.operations) });
  assert.equal(await countShown(next.store, run.asked), 2);
  const from = next.disk.operations;
  await next.askAll(puts('then', 3, random));
  await next.settle();
  const before = run.asked.slice(0, 2);
  say(context, random, await judgeLosses(next, { sampling: few, before, from, briefly: true }));
});
