import { leastRounds } from './arguments.ts';
import type { Benchmark, Group } from './benchmark.ts';
import { loadNow, machineSince } from './machine.ts';
import { takeRounds } from './parts/rounds.ts';
import { onStage } from './parts/stage.ts';
import type { Progress } from './progress.ts';
import { checkLimits, groupResult, type Result } from './results/result.ts';

/** A benchmark and its options. */
export interface Setting {
  readonly name: string;
  readonly root: string;
  readonly full: boolean;
  /** The number of rounds. Default: that of the benchmark. */
  readonly rounds: number | undefined;
  readonly progress: Progress;
}

/** Runs a benchmark. Resolves to a text if nothing can be measured: the reason. */
export async function runBenchmark(benchmark: Benchmark, setting: Setting): Promise<Result | string> {
  const { name, root, full, progress } = setting;
  const { rounds = (full ? benchmark.rounds : benchmark.shortRounds) ?? leastRounds } = setting;
  const begun = performance.now();
  const loadBefore = loadNow();
  const groups = await onStage(root, full, async (stage) => {
    progress.show(`${name}: starting`);
    const opened = await benchmark.open(stage);
    if (typeof opened === 'string') return opened;
    const results = [];
    for (const group of opened)
      results.push(groupResult(group, await taken(group, rounds, name, progress), benchmark.figures));
    return results;
  });
  progress.clear();
  if (typeof groups === 'string') return groups;
  const { title, about, figures } = benchmark;
  const date = new Date().toISOString().slice(0, 10);
  const seconds = Math.round((performance.now() - begun) / 1000);
  const head = { name, title, about, date, machine: machineSince(loadBefore), rounds, full, seconds };
  return { ...head, figures, groups, verdicts: checkLimits(benchmark, groups) };
}

function taken(
  group: Group,
  rounds: number,
  name: string,
  progress: Progress,
): ReturnType<typeof takeRounds> {
  return takeRounds(group.contestants, rounds, (part, contestant) =>
    progress.show([name, group.name, `${Math.round(part * 100)} %`, contestant].filter(Boolean).join(' · ')),
  );
}
