import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { commandSpecs } from '../../../src/cli/command-table.ts';
import { formatCompletion } from '../../../src/cli/commands/completion.ts';
import { formatFlag, optionSpecs } from '../../../src/options/table.ts';
import { run } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const folder = temporaryDirectory();

/** Returns what bash offers for the last of these words. */
function complete(...words: string[]): string[] {
  const script = join(folder, 'completion.bash');
  writeFileSync(script, formatCompletion('bash'));
  const line = `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _countersign; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['-c', line, 'bash', 'countersign', ...words], { encoding: 'utf8' });
  return output.split('\n').filter((word) => word !== '');
}

suite('countersign completion', () => {
  test('bash completes commands, their actions and their options', () => {
    assert.deepEqual(complete(''), [...commandSpecs.keys()]);
    assert.deepEqual(complete('at'), ['attack']);
    assert.deepEqual(complete('grant', ''), [
      'list',
      'revoke',
      '--user',
      '--client',
      '--data',
      '--module',
      '--config',
      '--help',
    ]);
    assert.deepEqual(complete('user', 'r'), ['rotate', 'remove', 'role']);
    assert.ok(complete('user', '').includes('key'));
    assert.deepEqual(complete('attack', '--w'), ['--window', '--waive']);
    assert.deepEqual(complete('completion', ''), ['bash', 'zsh', 'fish', '--help']);
    assert.deepEqual(complete('export', '--data', '/none'), []);
  });

  test('options without a command are those of serve, and --version', () => {
    assert.deepEqual(complete('--po'), ['--port']);
    assert.deepEqual(complete('--port', '0', '--mem'), ['--memory']);
    assert.deepEqual(complete('--ve'), ['--version']);
    assert.match(formatCompletion('zsh'), /^ {4}-\*\) candidates=\(--host .* --version\) ;;$/m);
  });

  test('the values of an option are completed, also after "=", and no words where a file or text follows', () => {
    assert.deepEqual(complete('serve', '--durability', ''), ['fsync', 'os']);
    assert.deepEqual(complete('check', '--durability', '=', 'f'), ['fsync']);
    assert.deepEqual(complete('--log', '='), ['pretty', 'json', 'off']);
    assert.deepEqual(complete('import', '--on-mismatch', ''), ['refuse', 'warn']);
    assert.deepEqual(complete('user', 'list', '--data', ''), []);
  });

  test('fish and zsh complete commands, options and their values', (context) => {
    const scripts = { fish: join(folder, 'completion.fish'), zsh: join(folder, 'completion.zsh') };
    writeFileSync(scripts.fish, formatCompletion('fish'));
    // Outside the editor of zsh there is no list of matches, so what is offered is printed.
    const shown = 'compdef() { : }; compadd() { shift; print -l -- "$@" };';
    writeFileSync(scripts.zsh, `${shown}\n${formatCompletion('zsh')}`);
    const fish = (line: string) => ['-c', `source ${scripts.fish}; complete -C '${line}'`];
    const zsh = (line: string) => [
      '-fc',
      `source ${scripts.zsh}; words=("\${(@s: :)1}"); CURRENT=$#words; _countersign`,
      'zsh',
      line,
    ];
    for (const [shell, argumentsFor] of [
      ['fish', fish],
      ['zsh', zsh],
    ] as const)
      for (const [line, expected] of [
        ['countersign ', 'backup'],
        ['countersign user ', 'rotate'],
        ['countersign --', '--port'],
        ['countersign attack --', '--waive'],
        ['countersign --log ', 'json'],
        ['countersign serve --durability ', 'fsync'],
      ] as const) {
        const { error, stdout, stderr } = spawnSync(shell, argumentsFor(line), { encoding: 'utf8' });
        if (error !== undefined) return context.diagnostic(`${shell} is not installed`);
        const offered = stdout.split('\n').map((each) => each.split('\t')[0]);
        assert.ok(offered.includes(expected), `${shell} ${line}: ${stdout}${stderr}`);
      }
  });

  test('every option of the server is completed for serve, check and openapi', () => {
    const flags = [...optionSpecs.keys()].map(formatFlag);
    for (const command of ['serve', 'check', 'openapi']) {
      const offered = complete(command, '--');
      for (const flag of flags) assert.ok(offered.includes(flag), `${command} ${flag}`);
    }
  });

  test('the scripts for zsh and fish name the same, and are valid where the shell is installed', (context) => {
    const [zsh, fish] = [formatCompletion('zsh'), formatCompletion('fish')];
    assert.match(zsh, /^ {4}grant\) candidates=\(list revoke --user /m);
    assert.match(
      fish,
      /^complete -c countersign -n __fish_use_subcommand -f -a backup -d 'copy the data directory, also while a server uses it'$/m,
    );
    assert.match(
      fish,
      /^complete -c countersign -n '__fish_seen_subcommand_from attack' -l window -r -d 'how far the server/m,
    );
    for (const [shell, script] of [
      ['zsh', zsh],
      ['fish', fish],
    ] as const) {
      const path = join(folder, `checked.${shell}`);
      writeFileSync(path, script);
      const checked = spawnSync(shell, ['-n', path], { encoding: 'utf8' });
      if (checked.error !== undefined) context.diagnostic(`${shell} is not installed`);
      else assert.equal(checked.status, 0, checked.stderr);
    }
  });

  test('another shell is refused, with those that there are', async () => {
    const none = await run(['completion']);
    assert.deepEqual([none.status, none.stdout], [2, '']);
    assert.match(none.stderr, /completion requires a shell: bash, zsh, fish/);
    assert.match((await run(['completion', 'bsh'])).stderr, /no completion for "bsh"; did you mean "bash"/);
  });
});
