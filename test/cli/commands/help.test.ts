import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { commandSpecs } from '../../../src/cli/command-table.ts';
import { formatHelp } from '../../../src/cli/help.ts';
import { formatFlag, optionSpecs } from '../../../src/options/table.ts';
import { root, run } from '../../support/cli/command.ts';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** What is no option of the server. */
const own = ['--help', '--version'];

test('the help lists exactly the options that exist', () => {
  for (const help of [formatHelp(undefined), formatHelp('serve')]) {
    const listed = [...help.matchAll(/^ {2}(--[a-z0-9-]+)/gm)].map(([, flag]) => flag);
    const there = [...optionSpecs.keys()].map(formatFlag);
    assert.deepEqual(
      listed.filter((flag) => !own.includes(flag ?? '')),
      there,
    );
  }
});

test('the overview lists every action of the account commands', () => {
  const overview = formatHelp(undefined);
  for (const command of ['user', 'client', 'consumer', 'grant'] as const) {
    const usages = [
      ...formatHelp(command).matchAll(new RegExp(`countersign ${command} (key )?([a-z|]+)`, 'g')),
    ];
    for (const [, key = '', actions = ''] of usages)
      for (const action of actions.split('|'))
        assert.match(overview, new RegExp(`^ {2}${command} ${key}[a-z|]*\\b${action}\\b`, 'm'));
  }
});

test('the help of check refers to that of serve, and does not repeat its options', () => {
  const help = formatHelp('check');
  assert.match(help, /all options of serve .*"countersign serve --help"/);
  assert.deepEqual(
    [...help.matchAll(/^ {2}(--[a-z0-9-]+)/gm)].map(([, flag]) => flag),
    ['--repair'],
  );
});

/** Returns the defaults that a help text states, by flag. */
function defaultsInHelp(help: string): Map<string, string> {
  const options = [...help.matchAll(/^ {2}(--[a-z0-9-]+)((?:.*\n)(?: {28,}.*\n)*)/gm)];
  return new Map(
    options.map(([, flag = '', text = '']) => [flag, /\(default: (.*)\)$/m.exec(text)?.[1] ?? '']),
  );
}

/** Returns the defaults in the options table of docs/operations.md, by flag, in the form of the help. */
function defaultsInDocument(document: string): Map<string, string> {
  const [, section = ''] = document.split('\n## Options of the server\n');
  const rows = [...section.matchAll(/^\| (`--[^|]*) \|([^|]*)\|/gm)];
  return new Map(
    rows.flatMap(([, flags = '', value = '']) =>
      [...flags.matchAll(/`(--[a-z0-9-]+)`/g)].map(([, flag = '']) => [flag, plainDefault(value)] as const),
    ),
  );
}

/** Resolves the units of a default in a document; no default is the empty string. */
function plainDefault(cell: string): string {
  const units = { million: 1_000_000, days: 86_400, KiB: 1024, MiB: 1_048_576 };
  const text = cell.replaceAll('`', '').trim();
  for (const [unit, factor] of Object.entries(units)) {
    const count = new RegExp(`^([0-9]+) ${unit}$`).exec(text)?.[1];
    if (count !== undefined) return String(Number(count) * factor);
  }
  return ['off', 'none'].includes(text) ? '' : text;
}

test('docs/operations.md lists every option with the default that the help states', () => {
  const document = readFileSync(join(root, 'docs/operations.md'), 'utf8');
  const documented = [...defaultsInDocument(document)].sort();
  const help = defaultsInHelp(formatHelp('serve'));
  assert.equal(help.get('--port'), '8080');
  assert.deepEqual(documented, [...help].sort());
});

test('no line of the help is wider than 110 columns', () => {
  for (const command of [undefined, ...commandSpecs.keys()]) {
    for (const line of formatHelp(command).split('\n')) assert.ok(line.length <= 110, line);
  }
});

describe('help, versions and unknown commands', () => {
  const cases: readonly [args: string[], status: number, stdout: RegExp, stderr?: RegExp][] = [
    [['--help'], 0, /^Usage: countersign \[COMMAND\]/],
    [['help', 'sign'], 0, /^Usage: countersign sign METHOD URL/],
    [['user', 'add', '-h'], 0, /^Usage: countersign user add NAME/],
    [['consumer', '-h'], 0, /^Usage: countersign consumer add \[KEY\]/],
    [['--version'], 0, new RegExp(`^${version}\\n$`)],
    [['-v'], 0, new RegExp(`^${version}\\n$`)],
    [['check', '--version'], 0, new RegExp(`^${version}\\n$`)],
    [['srve'], 2, /^$/, /^countersign: unknown command "srve"; did you mean "serve"\?\n$/],
    [
      ['__proto__'],
      2,
      /^$/,
      /unknown command "__proto__"; known are serve, sign, attack, user, client, consumer, grant, key, check, openapi, backup, restore, export, import, schema, completion/,
    ],
    [['help', 'me'], 2, /^$/, /unknown command "me"/],
  ];
  for (const [args, status, stdout, stderr = /^$/] of cases) {
    test(args.join(' '), async () => {
      const end = await run(args);
      assert.equal(end.status, status);
      assert.match(end.stdout, stdout);
      assert.match(end.stderr, stderr);
    });
  }
});
