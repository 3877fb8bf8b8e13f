import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartOf } from '../chart/chart.ts';
import { reportMarkdown } from './report.ts';
import type { Result } from './result.ts';

const begins = '<!-- results: from here on written by npm run bench -- --publish -->';

/** Returns the file name for a benchmark such as `load/get`. */
function fileName(name: string): string {
  return name.replaceAll('/', '-');
}

/** Writes a result and its chart. Returns the path of the chart. */
export function keepResult(directory: string, result: Result): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, fileName(result.name));
  writeFileSync(`${path}.json`, `${JSON.stringify(result, null, 1)}\n`);
  writeFileSync(`${path}.svg`, chartOf(result));
  return `${path}.svg`;
}

/**
 * Rewrites the results and charts of the page from the stored results, in the order of the names. Throws if there are
 * none.
 */
export function publish(bench: string, names: readonly string[]): void {
  const results = keptResults(join(bench, 'results'), names);
  if (results.length === 0) throw new Error('there are no results to publish');
  const charts = join(bench, 'charts');
  rmSync(charts, { recursive: true, force: true });
  mkdirSync(charts);
  for (const result of results) {
    writeFileSync(join(charts, `${fileName(result.name)}.svg`), chartOf(result));
  }
  const page = join(bench, 'README.md');
  const [head = ''] = readFileSync(page, 'utf8').split(begins);
  const sections = results.map((result) => reportMarkdown(result, `charts/${fileName(result.name)}.svg`));
  writeFileSync(page, `${[head.trimEnd(), begins, '## Results', ...sections].join('\n\n')}\n`);
}

function keptResults(directory: string, names: readonly string[]): Result[] {
  const kept = new Set(readdirSync(directory));
  return names
    .filter((name) => kept.has(`${fileName(name)}.json`))
    .map((name) => {
      const result: Result = JSON.parse(readFileSync(join(directory, `${fileName(name)}.json`), 'utf8'));
      return result;
    });
}
