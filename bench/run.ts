/** Runs the benchmarks one after the other: `npm run bench`, or `npm run bench -- NAME…` for those whose path has a NAME in it. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const words = process.argv.slice(2);
const names = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.bench.ts') && !path.includes('node_modules'))
  .filter((path) => words.length === 0 || words.some((word) => path.includes(word)))
  .sort();

if (names.length === 0) {
  console.error(`no benchmark matches ${words.join(', ')}`);
  process.exit(1);
}
for (const name of names) {
  console.log(`\n--- ${name}`);
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', join(import.meta.dirname, name)], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
