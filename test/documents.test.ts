import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const project = join(root, 'fixtures/projects/node-test-esm');
const client = readFileSync(join(project, 'articles-client.mjs'), 'utf8');
const clientTest = readFileSync(join(project, 'articles-client.test.mjs'), 'utf8');

interface Block {
  /** The heading that it stands under. */
  readonly section: string;
  readonly language: string;
  readonly text: string;
  /** The output that the page shows below it. */
  readonly shown: string | undefined;
}

/** The code of a page, each with the output that follows it. */
function blocksOf(page: string): Block[] {
  const sections = page.split(/^## /m).map((text) => [text.split('\n', 1)[0] ?? '', text] as const);
  const all = sections.flatMap(([section, code]) =>
    [...code.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
      section,
      language,
      text,
    })),
  );
  return all
    .map((block, at) => ({
      ...block,
      shown: all[at + 1]?.language === 'text' ? all[at + 1]?.text : undefined,
    }))
    .filter(({ language }) => language !== 'text');
}

const blocks = blocksOf(readFileSync(join(root, 'docs/double.md'), 'utf8'));
const [ofClient, ofTest, ...scripts] = blocks.filter(({ language }) => language === 'js');
const mistakes = blocks.filter(({ language }) => language === 'diff');
let folder: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-page-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/countersign'));
  cpSync(project, folder, { recursive: true });
});

after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs Node.js in the folder; gives all that it wrote. */
function node(...args: string[]): { status: number | null; output: string } {
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, ...environment } = process.env;
  const env = { ...environment, NODE_OPTIONS: '', NODE_V8_COVERAGE: '', NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

/** What is the same in every run: no dates, nonces, durations and indentation, nor whether a second ended meanwhile. */
function lasting(output: string): string {
  return output
    .replace(/[A-Z][a-z]{2}, ?[0-9]{2} ?[A-Z][a-z]{2} ?[0-9]{4} ?[0-9:]{8} ?GMT/g, 'DATE')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'NONCE')
    .replace(/ \([0-9.]+ms\)$/gm, '')
    .replace(/\b36[0-9]{2} s\b/g, 'AN HOUR')
    .replace(/\b(?:exactly|nearly) 1 hour\b/g, 'ABOUT AN HOUR')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

function runScript(text: string): string {
  writeFileSync(join(folder, 'script.mjs'), text);
  const { status, output } = node('script.mjs');
  assert.equal(status, 0, `${text}\n${output}`);
  return output;
}

test('the client of the page and its test are those that pass in a project of their own', () => {
  assert.equal(ofClient?.text, client);
  assert.equal(ofTest?.text, clientTest);
  const { status, output } = node('--test');
  assert.equal(status, 0, output);
});

assert.ok(mistakes.length >= 4, `${mistakes.length} mistakes are found`);
for (const { text, shown = '' } of mistakes) {
  const lines = (sign: string): string =>
    text
      .split('\n')
      .filter((line) => line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  test(`a mistake of the client is told as the page shows it: ${lines('+').trim() || 'a line is missing'}`, () => {
    assert.equal(client.split(lines('-')).length, 2, 'the line stands in the client once');
    writeFileSync(
      join(folder, 'articles-client.mjs'),
      client.replace(lines('-'), () => lines('+')),
    );
    const { status, output } = node('--test', '--test-reporter=spec');
    assert.equal(status, 1, output);
    assert.ok(lasting(output).includes(lasting(shown)), output);
  });
}

const [start, ...examples] = scripts;
assert.ok(start !== undefined && examples.length >= 10, `${examples.length} examples are found`);
for (const { section, text, shown } of examples) {
  test(`the page is right under "${section}"`, () => {
    const output = runScript(`${start.text}try {\n${text}} finally {\nawait double.close();\n}\n`);
    assert.equal(lasting(output), lasting(shown ?? ''));
  });
}

test('the example of the README works', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const example = blocksOf(readme).find(({ section }) => section === 'Test double');
  assert.ok(example !== undefined, 'there is an example');
  runScript(example.text);
});
