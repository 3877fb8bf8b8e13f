// Chooses the test files of `npm test -- --quick`: those that together execute most of what all execute, in little time. Writes
// their names to quick.json. Run it on a machine that does nothing else; it takes as long as all tests.
//
//   node scripts/quick.mjs [--share 0.95] [--jobs N]
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compile } from './compile.mjs';
import { createCopies, findMeasuredFiles, measureCoverage } from './coverage.mjs';

const { values } = parseArgs({
  options: {
    share: { type: 'string', default: '0.95' },
    jobs: { type: 'string', default: `${availableParallelism()}` },
  },
});

await compile();
const jobs = Number(values.jobs);
createCopies(jobs);
const files = findMeasuredFiles([]);
const measured = await measureCoverage(files, jobs);
const { chosen, share, time } = choose(
  files.map((file) => ({ file, ...measured[file] })),
  Number(values.share),
);
writeFileSync(
  join(dirname(fileURLToPath(import.meta.url)), 'quick.json'),
  `${JSON.stringify(chosen, null, 2)}\n`,
);
const percent = (part) => `${(100 * part).toFixed(1)} %`;
console.log(
  `${chosen.length} of ${files.length} files execute ${percent(share)} of the code in ${percent(time)} of the time`,
);

/** Takes the file that adds most code per time, again and again, until the share of the code is reached. */
function choose(candidates, wanted) {
  const { sizes, spansOf } = divide(candidates);
  const covered = new Uint8Array(sizes.length);
  const sizeOf = (spans) => spans.reduce((sum, span) => sum + (covered[span] === 1 ? 0 : sizes[span]), 0);
  const duration = (list) => list.reduce((sum, each) => sum + each.duration, 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const left = candidates.map((each) => ({ ...each, spans: spansOf(each) }));
  const taken = [];
  let length = 0;
  while (left.length > 0 && length < wanted * total) {
    const gains = left.map(({ spans, duration: time }) => sizeOf(spans) / time);
    const [best] = left.splice(gains.indexOf(Math.max(...gains)), 1);
    length += sizeOf(best.spans);
    for (const span of best.spans) covered[span] = 1;
    taken.push(best);
  }
  const chosen = taken.map(({ file }) => file.replace(/\.js$/, '.ts')).sort();
  return { chosen, share: length / total, time: duration(taken) / duration(candidates) };
}

/**
 * Divides what any of the files execute into spans that a file executes as a whole or not at all. Returns how many characters of
 * compiled code each span has, and a function that returns the numbers of those of a file.
 */
function divide(candidates) {
  const borders = new Map();
  for (const { covered } of candidates)
    for (const [module, pairs] of Object.entries(covered)) {
      const known = borders.get(module) ?? new Set();
      for (const border of pairs.flat()) known.add(border);
      borders.set(module, known);
    }
  const sizes = [];
  const numbers = new Map();
  for (const [module, known] of borders) {
    const sorted = [...known].sort((one, other) => one - other);
    numbers.set(module, new Map(sorted.map((border, at) => [border, sizes.length + at])));
    // Behind the last border there is nothing.
    sizes.push(...sorted.map((border, at) => (sorted[at + 1] ?? border) - border));
  }
  const executed = new Uint8Array(sizes.length);
  const spansOf = ({ covered }) =>
    Object.entries(covered).flatMap(([module, pairs]) =>
      pairs.flatMap(([from, to]) => {
        const [first, end] = [numbers.get(module).get(from), numbers.get(module).get(to)];
        return Array.from({ length: end - first }, (_, at) => first + at);
      }),
    );
  for (const each of candidates) for (const span of spansOf(each)) executed[span] = 1;
  return { sizes: sizes.map((size, at) => (executed[at] === 1 ? size : 0)), spansOf };
}
