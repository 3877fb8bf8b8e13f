import assert from 'node:assert/strict';
import test from 'node:test';
import { chartOf } from '../../bench/measure/chart/chart.ts';
import { escaped } from '../../bench/measure/chart/svg.ts';
import type { Result, Row } from '../../bench/measure/results/result.ts';
import { asMarkdown, asText, exponentsOf, tableOf } from '../../bench/measure/results/table.ts';
import { digits, sizeLabel, withUnit } from '../../bench/measure/results/unit.ts';
import { createParser } from '../../src/xml/index.ts';
import { seeded } from '../support/seeded.ts';

const machine = { node: 'v20.20.2', platform: 'linux x64', cores: 2, loadBefore: 0.5, loadAfter: 1 };
const row = (name: string, cpu: readonly number[], size?: number): Row => ({
  name,
  ours: name === 'ours',
  values: { cpu },
  ...(size !== undefined && { size }),
});

function buildResult(rows: readonly Row[], sizes?: string): Result {
  const group = { name: 'a <group> & "more"', yardstick: rows[0]?.name ?? '', rows, leftOut: [] };
  return {
    name: 'load/get',
    title: 'GET of <an> article',
    about: '',
    date: '2026-11-21',
    machine,
    rounds: 5,
    full: false,
    seconds: 1,
    verdicts: [],
    figures: [{ key: 'cpu', label: 'CPU & time', unit: 'ns' }],
    groups: [sizes === undefined ? group : { ...group, sizes }],
  };
}

/** The texts of a picture; throws where it is not well-formed. */
function parseTexts(svg: string): string[] {
  const texts: string[] = [];
  let inside = false;
  const parser = createParser({
    startElement(name) {
      inside = name === 'text';
      if (inside) texts.push('');
    },
    endElement() {
      inside = false;
    },
    text(data) {
      if (inside) texts.push(`${texts.pop() ?? ''}${data}`);
    },
  });
  parser.write(Buffer.from(svg));
  parser.end();
  return texts;
}

test('a bar chart is well-formed, and shows the names, the median and the ratio', () => {
  const texts = parseTexts(
    chartOf(buildResult([row('bare', [900, 1000, 1100]), row('ours', [1800, 2000, 2200])])),
  );
  for (const text of ['GET of <an> article', 'a <group> & "more"', 'bare', 'ours'])
    assert.ok(texts.includes(text), text);
  assert.ok(texts.includes('1.00 µs'));
  assert.ok(texts.includes('2.00 µs · 2.00×'), texts.join('\n'));
  assert.ok(texts.some((text) => text.includes('v20.20.2') && text.includes('2 cores')));
});

test('a chart supports light and dark colour schemes', () => {
  const svg = chartOf(buildResult([row('bare', [1])]));
  assert.match(svg, /@media \(prefers-color-scheme: dark\)/);
});

test('a bar far off the scale is cut off, and its value is shown', () => {
  const svg = chartOf(buildResult([row('ours', [10, 10]), row('other', [90_000, 90_000])]));
  assert.match(svg, /class="cut"/);
  assert.ok(parseTexts(svg).includes('90.0 µs · 9,000×'));
  assert.doesNotMatch(chartOf(buildResult([row('ours', [10]), row('other', [30])])), /class="cut"/);
});

test('a line chart shows the exponent of each curve', () => {
  const rows = [100, 1000, 10_000].flatMap((size) => [row('flat', [7], size), row('ours', [size * 3], size)]);
  const texts = parseTexts(chartOf(buildResult(rows, 'articles')));
  for (const text of ['grows to the power of 0.00', 'grows to the power of 1.00', 'articles', '10K']) {
    assert.ok(texts.includes(text), text);
  }
});

test('a chart stays well-formed and shows the name, whatever characters it contains', () => {
  const random = seeded();
  for (let round = 0; round < 200; round += 1) {
    const name = `x${random.text('<>&"\'];-a\u00e9\u{1f600}\ud800\u0000\u0007\uffff', 30)}x`;
    const texts = parseTexts(chartOf(buildResult([row(name, [1])])));
    const shown = name.replace(/\p{Surrogate}|[\u0000\u0007\uffff]/gu, '\ufffd');
    assert.ok(texts.includes(shown), `SEED=${random.seed}: ${JSON.stringify(name)}`);
  }
});

test('the special characters of XML are escaped', () => {
  assert.equal(escaped(`<a b="c" d='e'>&`), '&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;');
});

test('a table shows min, median, max, and the ratio within the same rounds with its interval', () => {
  const { groups, figures } = buildResult([row('bare', [1, 2, 4]), row('ours', [3, 4, 4])]);
  const [group] = groups;
  assert.ok(group !== undefined);
  const table = tableOf(group, figures);
  assert.deepEqual(table.head, ['', 'CPU & time: min', 'median', 'max', 'ratio', 'interval']);
  assert.deepEqual(table.rows[1], ['ours', '3.00 ns', '4.00 ns', '4.00 ns', '2.00', '1.00 to 3.00']);
  assert.match(asText(table), /^ {2}ours +3\.00 ns +4\.00 ns +4\.00 ns +2\.00 +1\.00 to 3\.00$/m);
  assert.match(
    asMarkdown({ head: ['', 'a|b'], rows: [['x', '1']] }),
    /^\| {2}\| a\\\|b \|\n\|---\|--:\|\n\| x \| 1 \|$/,
  );
});

test('the ratio at a size is relative to the yardstick at that size', () => {
  const rows = [row('bare', [1], 10), row('ours', [5], 10), row('bare', [100], 20), row('ours', [200], 20)];
  const [group] = buildResult(rows, 'users').groups;
  assert.ok(group !== undefined);
  const ratios = tableOf(group, buildResult(rows).figures).rows.map((cells) => cells.at(-2));
  assert.deepEqual(ratios, ['1.00', '5.00', '1.00', '2.00']);
  assert.equal(exponentsOf(group, buildResult(rows).figures).length, 2);
});

test('figures have three significant digits and a unit', () => {
  assert.equal(withUnit(12_345, 'ns'), '12.3 µs');
  assert.equal(withUnit(1_500_000, 'ns'), '1.50 ms');
  assert.equal(withUnit(0.123, 'share'), '12.3 %');
  assert.equal(withUnit(80_312, 'per second'), '80,300 /s');
  assert.equal(withUnit(999.9, 'bytes'), '1,000 B');
  assert.equal(digits(Number.NaN), '–');
  assert.deepEqual([1, 100, 1000, 10_000, 1_000_000].map(sizeLabel), ['1', '100', '1,000', '10K', '1M']);
});
