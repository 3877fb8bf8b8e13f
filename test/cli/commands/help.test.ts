import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { commands, helpOf } from '../../../src/cli/help.ts';
import { flagOf, optionSpecs } from '../../../src/options/table.ts';
import { root, run } from '../../support/cli/command.ts';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** What is no option of the server. */
const own = ['--help', '--version', '--repair'];

test('the help lists every option that there is, and none that there is not', () => {
  for (const help of [helpOf(undefined), helpOf('serve'), helpOf('check')]) {
    const listed = [...help.matchAll(/^ {2}(--[a-z0-9-]+)/gm)].map(([, flag]) => flag);
    const there = [...optionSpecs].filter(([, { about }]) => about !== undefined).map(([key]) => flagOf(key));
    assert.deepEqual(
      listed.filter((flag) => !own.includes(flag ?? '')),
      there,
    );
  }
});

test('no line of the help is wider than 110 columns', () => {
  for (const command of [undefined, ...commands]) {
    for (const line of helpOf(command).split('\n')) assert.ok(line.length <= 110, line);
  }
});

describe('what is asked about the command itself', () => {
  const cases: readonly [args: string[], status: number, stdout: RegExp, stderr?: RegExp][] = [
    [['--help'], 0, /^Usage: countersign \[COMMAND\]/],
    [['help', 'sign'], 0, /^Usage: countersign sign METHOD URL/],
    [['sign', '--help'], 0, /^Usage: countersign sign METHOD URL/],
    [['user', 'add', '-h'], 0, /^Usage: countersign user add NAME/],
    [['--port', 'x', '--help'], 0, /^Usage: countersign \[COMMAND\]/],
    [['--version'], 0, new RegExp(`^${version}\\n$`)],
    [['check', '--version'], 0, new RegExp(`^${version}\\n$`)],
    [['srve'], 2, /^$/, /^countersign: "srve" is not a command; did you mean "serve"\?\n$/],
    [
      ['__proto__'],
      2,
      /^$/,
      /is not a command; known are serve, sign, user, client, consumer, check, export, import/,
    ],
    [['help', 'me'], 2, /^$/, /"me" is not a command/],
    [['client', 'add', '--help'], 0, /^Usage: countersign client add \[ID\]/],
    [['consumer', '-h'], 0, /^Usage: countersign consumer add \[KEY\]/],
    [['consumer', 'list', '--version'], 0, new RegExp(`^${version}\\n$`)],
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
