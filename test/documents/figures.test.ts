import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from '../support/documents/markdown.ts';

const readme = readPage('README.md').text;
const results = ['requests', 'signatures', 'xml']
  .map((name) => readPage(`bench/pages/${name}.md`).text)
  .join('\n');

/** The rows of README.md: the section of bench/pages/ that each is from, and its contestants by their names in the row. */
const rows: Readonly<Record<string, { section: string; contestants: Readonly<Record<string, string>> }>> = {
  'a signed GET': {
    section: 'Signed GET of an article',
    contestants: {
      Countersign: 'countersign, full form',
      'bare node:http that sends the same bytes': 'bare node:http, the same bytes',
      'hawk on fastify': 'hawk on fastify',
    },
  },
  'a signature check': {
    section: 'A whole signature check',
    contestants: {
      Countersign: 'countersign',
      'plain `createHmac`': 'createHmac, as people write it',
      '@hapi/hawk': '@hapi/hawk',
    },
  },
  'parsing an XML document of 92 bytes': {
    section: 'An article, from its bytes to title, price and currency',
    contestants: {
      Countersign: 'countersign',
      saxes: 'saxes',
      'fast-xml-parser': 'fast-xml-parser',
    },
  },
};

/** The cells of the row of a table that begins with this cell. */
function parseCells(text: string, first: string): readonly string[] {
  const line = text.split('\n').find((line) => line.startsWith(`| ${first} |`));
  assert.ok(line !== undefined, `there is no row ${first}`);
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
}

/** The figures of a row of README.md by the name of the contestant. */
function parseFigures(row: string): Readonly<Record<string, string>> {
  const [own = '', others = ''] = parseCells(readme, row);
  const compared = others
    .split('; ')
    .map((text) => text.split(': '))
    .map(([figure, ...name]) => [name.join(': '), figure]);
  return Object.fromEntries([['Countersign', own], ...compared]);
}

/** The ratio of the CPU time of a contestant in a section of bench/pages/. */
function parseRatio(section: string, contestant: string): string | undefined {
  const [, text = ''] = results.split(`\n## ${section}\n`);
  const [, , , ratio] = parseCells(text, contestant);
  return ratio;
}

test('README.md shows the ratios that bench/pages has published', () => {
  for (const [row, { section, contestants }] of Object.entries(rows)) {
    const published = Object.entries(contestants).map(([name, contestant]) => [
      name,
      parseRatio(section, contestant),
    ]);
    assert.deepEqual(parseFigures(row), Object.fromEntries(published), row);
  }
});

test('every figure of README.md is compared with bench/pages', () => {
  const [, section = ''] = readme.split('## Figures\n');
  const [table = ''] = section.split('\n## ');
  const shown = [...table.matchAll(/^\| ([^|]*\w[^|]*) \|/gm)].map(([, first]) => first);
  assert.deepEqual(shown, Object.keys(rows));
});
