import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');

/** A command of the README with the output that is shown below it. */
interface Step {
  readonly command: string;
  readonly shown: string;
}

/** The commands in order; those that show nothing go with the next one that does. */
function stepsOf(readme: string): Step[] {
  const steps: Step[] = [];
  let command = '';
  for (const [, language, text = ''] of readme.matchAll(/^```(sh|text)\n(.*?)^```$/gms)) {
    if (language === 'sh') command += text;
    else {
      steps.push({ command, shown: text });
      command = '';
    }
  }
  return steps;
}

/** What differs from one day, store and key to the next. */
function withoutChance(output: string): string {
  return output
    .replaceAll('\r', '')
    .replace(/^(Date|Last-Modified): .*$/gm, '$1: …')
    .replace(/"[0-9a-f]{8}\.([0-9a-z.]+)"/g, '"….$1"')
    .trim();
}

/** Gives the process's output up to the first line that fits. */
async function outputUpTo(
  child: ChildProcess,
  stream: 'stdout' | 'stderr',
  pattern: RegExp,
): Promise<string> {
  let output = '';
  for await (const chunk of child[stream] ?? []) {
    output += String(chunk);
    if (pattern.test(output)) return output;
  }
  throw new Error(`the server ended after ${output}`);
}

test('the first session of the README goes as it is shown', async (context) => {
  for (const program of ['bash', 'curl', 'openssl']) {
    if (spawnSync(program, ['--version']).error !== undefined)
      return context.skip(`${program} is not installed`);
  }
  const data = mkdtempSync(join(tmpdir(), 'countersign-readme-'));
  const server = spawn(
    process.execPath,
    ['dist/server.js', '--port', '0', '--tls-port', '0', '--data', data, '--log', 'off'],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [told, ready] = await Promise.all([
    outputUpTo(server, 'stderr', /export COUNTERSIGN_SECRET=\S+\n/),
    outputUpTo(server, 'stdout', /ready: .+\n/),
  ]);
  const secret = /export COUNTERSIGN_SECRET=(\S+)/.exec(told)?.[1];
  const [, url = '', securePort = ''] = /ready: (\S+) https:\S+:([0-9]+)\n/.exec(ready) ?? [];
  try {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
      .replaceAll('http://127.0.0.1:8080', url)
      .replaceAll('https://localhost:8443', `https://localhost:${securePort}`)
      .replaceAll('countersign-data/', `${data}/`);
    const steps = stepsOf(readme);
    assert.ok(steps.length >= 10, `${steps.length} steps are found`);
    const marks = steps.map((_, at) => `--- ${at} ---`);
    const script = steps.map(({ command }, at) => `${command}\necho; echo '${marks[at]}'`).join('\n');
    const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
    const environment = {
      ...process.env,
      PATH,
      COUNTERSIGN_SECRET: secret,
      NODE_OPTIONS: '',
      NODE_V8_COVERAGE: '',
    };
    const { stdout, stderr } = spawnSync('bash', {
      cwd: root,
      input: script,
      encoding: 'utf8',
      env: environment,
    });
    let rest = stdout;
    for (const [at, { command, shown }] of steps.entries()) {
      const [output = '', ...others] = rest.split(`${marks[at]}\n`);
      rest = others.join(`${marks[at]}\n`);
      assert.equal(withoutChance(output), withoutChance(shown), `${command}\n${stderr}`);
    }
  } finally {
    server.kill();
    await once(server, 'exit');
    rmSync(data, { recursive: true });
  }
});
