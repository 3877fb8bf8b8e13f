import type { Benchmark, Contestant, Group, Stage } from '../benchmark.ts';
import { type Taken, takeRounds } from '../parts/rounds.ts';
import { onStage } from '../parts/stage.ts';
import type { Setting } from '../run-benchmark.ts';
import { movementOf } from './movement.ts';
import { median } from './statistics.ts';
import { labelOf, type Table } from './table.ts';
import { digits, withUnit } from './unit.ts';

/** The minimum number of rounds of a comparison: with it, the interval excludes one round at each end. */
const comparedRounds = 9;

/** The result of a comparison. */
export interface Comparison {
  readonly table: Table;
  /** The changes beyond the noise, one line each. */
  readonly moved: readonly string[];
}

/** A contestant in three processes: of the other commit, of the same commit again, and of the working tree. */
type Triple = readonly [other: Contestant, again: Contestant, tree: Contestant];

/**
 * Measures this project's contestants in the working tree and, twice, in another tree, in turns. Resolves to a text if
 * that is not possible.
 */
export async function compareTrees(
  benchmark: Benchmark,
  setting: Setting,
  otherRoot: string,
): Promise<Comparison | string> {
  const { root, full, rounds = Math.max(comparedRounds, benchmark.rounds ?? 0) } = setting;
  const on = <T>(tree: string, work: (stage: Stage) => Promise<T>): Promise<T> => onStage(tree, full, work);
  return on(otherRoot, (first) =>
    on(otherRoot, (second) =>
      on(root, async (third) => {
        const opened = [];
        for (const stage of [first, second, third]) opened.push(await benchmark.open(stage));
        const [other = '', again = '', tree = ''] = opened;
        if (typeof other === 'string') return other;
        if (typeof again === 'string') return again;
        if (typeof tree === 'string') return tree;
        const rows: string[][] = [];
        for (const [index, group] of tree.entries()) {
          const triples = triplesOf(other[index], again[index], group);
          const onProgress = (part: number, name: string): void =>
            setting.progress.show(`${setting.name} · ${group.name} · ${Math.round(part * 100)} % · ${name}`);
          const taken = await takeRounds(triples.flat(), rounds, onProgress);
          for (let at = 0; at < taken.length; at += 3) {
            rows.push(...rowsOf(group, taken.slice(at, at + 3), benchmark));
          }
        }
        setting.progress.clear();
        return comparisonOf(rows);
      }),
    ),
  );
}

function triplesOf(other: Group | undefined, again: Group | undefined, tree: Group): Triple[] {
  return tree.contestants
    .filter(({ ours }) => ours)
    .flatMap((contestant) => {
      const same = ({ name, size }: Contestant): boolean =>
        name === contestant.name && size === contestant.size;
      const [one, two] = [other?.contestants.find(same), again?.contestants.find(same)];
      return one === undefined || two === undefined ? [] : [[one, two, contestant] as const];
    });
}

const verdictColumn = 6;

function rowsOf(group: Group, taken: readonly Taken[], { figures }: Benchmark): string[][] {
  const [other, again, tree] = taken;
  if (other === undefined || again === undefined || tree === undefined) return [];
  const { name, ours, size } = tree.contestant;
  const row = labelOf({ name, ours, values: {}, ...(size !== undefined && { size }) }, group.sizes);
  return figures.flatMap(({ key, label, unit, more }) => {
    const [one, two, three] = [other, again, tree].map(({ samples }) =>
      samples.flatMap((sample) => sample[key] ?? []),
    );
    if (!one?.length || !two?.length || !three?.length) return [];
    const { ratio, low, high, noise, moved } = movementOf(one, two, three);
    const better = ratio > 1 === (more === true) ? 'better' : 'worse';
    return [
      [
        [group.name, row, label].filter((part) => part !== '').join(': '),
        withUnit(median(one), unit),
        withUnit(median(three), unit),
        digits(ratio),
        `${digits(low)} to ${digits(high)}`,
        withUnit(noise, 'share'),
        moved ? better : '',
      ],
    ];
  });
}

function comparisonOf(rows: readonly (readonly string[])[]): Comparison {
  const head = ['', 'before', 'now', 'ratio', 'interval', 'noise', 'moved'];
  const moved = rows
    .filter((row) => row[verdictColumn] !== '')
    .map((row) => `${row[verdictColumn]}: ${row[0]}: ${row[1]} before, ${row[2]} now (${row[3]})`);
  return { table: { head, rows }, moved };
}
