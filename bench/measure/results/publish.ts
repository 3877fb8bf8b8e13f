import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartOf } from '../chart/chart.ts';
import { reportMarkdown } from './report.ts';
import { type Result, valuesOf } from './result.ts';
import { median, ratiosOf } from './statistics.ts';
import { asMarkdown, formatInterval } from './table.ts';
import { digits } from './unit.ts';

const begins = '<!-- results: from here on written by npm run bench -- --publish -->';

/** A ratio that the page begins with. */
export interface Headline {
  readonly title: string;
  readonly benchmark: string;
  /** The beginning of the name of the group. Default: any. */
  readonly group?: string;
  readonly contestant: string;
  readonly figure: string;
  /** The contestant that the ratio is relative to. */
  readonly beside: string;
}

/** A page of results. */
export interface Topic {
  readonly file: string;
  readonly title: string;
  /** The beginnings of the names of its benchmarks. */
  readonly names: readonly string[];
}

/** What is published: the names of all benchmarks in the order of the pages, the headlines and the topics. */
export interface Publication {
  readonly names: readonly string[];
  readonly headlines: readonly Headline[];
  readonly topics: readonly Topic[];
}

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
 * Rewrites the page, the pages of the topics and the charts from the stored results. Throws if a headline or all results are
 * missing.
 */
export function publish(bench: string, { names, headlines, topics }: Publication): void {
  const results = readResults(join(bench, 'results'), names);
  if (results.length === 0) throw new Error('there are no results to publish');
  emptyFolder(join(bench, 'charts'));
  for (const result of results)
    writeFileSync(join(bench, 'charts', `${fileName(result.name)}.svg`), chartOf(result));
  emptyFolder(join(bench, 'pages'));
  for (const topic of topics) writeFileSync(join(bench, 'pages', topic.file), topicPage(topic, results));
  const page = join(bench, 'README.md');
  const [head = ''] = readFileSync(page, 'utf8').split(begins);
  const blocks = [...headlineBlocks(headlines, results), topicList(topics, results)];
  writeFileSync(page, `${[head.trimEnd(), begins, ...blocks].join('\n\n')}\n`);
}

function emptyFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
}

export function readResults(directory: string, names: readonly string[]): Result[] {
  const stored = new Set(readdirSync(directory));
  return names
    .filter((name) => stored.has(`${fileName(name)}.json`))
    .map((name) => {
      const result: Result = JSON.parse(readFileSync(join(directory, `${fileName(name)}.json`), 'utf8'));
      return result;
    });
}

function belongsTo({ names }: Topic, { name }: Result): boolean {
  return names.some((start) => name.startsWith(start));
}

function topicPage(topic: Topic, results: readonly Result[]): string {
  const sections = results
    .filter((result) => belongsTo(topic, result))
    .map((result) => reportMarkdown(result, `../charts/${fileName(result.name)}.svg`));
  return `${[`# ${topic.title}`, '[All topics](../README.md)', ...sections].join('\n\n')}\n`;
}

function topicList(topics: readonly Topic[], results: readonly Result[]): string {
  const lines = topics.map((topic) => {
    const titles = results.filter((result) => belongsTo(topic, result)).map(({ title }) => title);
    return `- [${topic.title}](pages/${topic.file}): ${titles.join('; ')}`;
  });
  return ['## All results', lines.join('\n')].join('\n\n');
}

/** Returns the table of the headlines, and a section with the chart of each. */
function headlineBlocks(headlines: readonly Headline[], results: readonly Result[]): string[] {
  const shown = headlines.map((headline) => {
    const result = results.find(({ name }) => name === headline.benchmark);
    if (result === undefined) throw new Error(`there is no result of ${headline.benchmark}`);
    const ratios = ratiosOfHeadline(headline, result);
    const figure = result.figures.find(({ key }) => key === headline.figure);
    const { title, beside } = headline;
    const what = `${figure?.label ?? headline.figure}, ${figure?.more === true ? 'more' : 'less'} is better`;
    return {
      row: [title, digits(median(ratios)), formatInterval(ratios), beside, what],
      chart: `### ${title}\n\n![${result.title}](charts/${fileName(result.name)}.svg)`,
    };
  });
  const head = ['', 'ratio', 'interval', 'beside', 'of'];
  const table = asMarkdown({ head, rows: shown.map(({ row }) => row) });
  return ['## Six ratios', table, ...shown.map(({ chart }) => chart)];
}

function ratiosOfHeadline({ group = '', contestant, figure, beside }: Headline, result: Result): number[] {
  const found = result.groups.find(({ name }) => name.startsWith(group));
  const valuesBy = (wanted: string) =>
    valuesOf(
      found?.rows.find(({ name }) => name === wanted),
      figure,
    );
  const ratios = ratiosOf(valuesBy(contestant), valuesBy(beside));
  if (ratios.length === 0) throw new Error(`${result.name} has no ${figure} of ${contestant} and ${beside}`);
  return ratios;
}
