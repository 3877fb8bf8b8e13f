// Texts of clients, documents, files and arguments must not change what a terminal displays.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { exportItems } from '../../src/cli/commands/export.ts';
import { sign } from '../../src/cli/commands/sign.ts';
import { createNotices, type NoticeFormat, type Notices } from '../../src/cli/serve/notices.ts';
import type { Command } from '../../src/cli/terminal.ts';
import { createManualClock } from '../../src/clock.ts';
import { call, run } from '../support/cli/command.ts';
import { begun, History } from '../support/store/history.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { writeModule } from './write-module.ts';

/** C0 and C1 controls, a bidirectional control, line separators, a zero-width character and a byte order mark. */
const evil = 'a\u001b[2J\u0085\u009b31m\u202e\u2028\u2029\u200b\ufeffz';
/** The invisible characters of Unicode that a name may contain. */
const evilName = 'a\u202e\u2029\u200bz';
const changesDisplay = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const plain = ['--no-tls', '--port', '0', '--log', 'off'];
const memory = ['--memory', ...plain];
const secret = 'secret-of-ann-0123456789';

/** Returns both outputs of a command. */
async function outputOf(args: readonly string[], input = ''): Promise<string> {
  const environment = { COUNTERSIGN_SECRET: secret, [`COUNTERSIGN_${evilName}`]: '1' };
  const { stdout, stderr } = await call(args, { environment, input });
  return stdout + stderr;
}

/** Returns what a command displays whose outputs are terminals. */
async function displayOf(command: Command, args: readonly string[]): Promise<string> {
  let text = '';
  const outlet = {
    isTTY: true,
    write(more: string, onWritten?: () => void) {
      text += more;
      onWritten?.();
    },
  };
  const terminal = { stdin: Readable.from([]), stdout: outlet, stderr: outlet };
  await command(args, { COUNTERSIGN_SECRET: secret }, terminal);
  return text;
}

function noticesOf(format: NoticeFormat, notify: (notices: Notices) => void): string {
  let text = '';
  const stderr = {
    write(more: string) {
      text += more;
    },
  };
  notify(createNotices(format, { stderr, clock: createManualClock(0) }));
  return text;
}

function writeFile(name: string, content: string): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

/** Returns a document of a partner with a path and a title that nothing may display, and a pattern that is not supported. */
function partnerFile(security: readonly object[] = []): string {
  const schema = { type: 'string', pattern: `(?<=${evil})(a)\\1` };
  const requestBody = { content: { 'application/json': { schema } } };
  const responses = { 200: { description: evil } };
  const paths = { [`/${evilName}`]: { post: { requestBody, responses, security } } };
  return writeFile(
    'partner.json',
    JSON.stringify({ openapi: '3.1.0', info: { title: evil, version: '1' }, paths }),
  );
}

/** Returns a data directory whose items and their collection have such names. `rest` is added to its last journal. */
function dataDirectory(rest = ''): string {
  const made = new History();
  made.add({ kind: 'create', collection: `/${evilName}`, value: { text: evil }, at: begun });
  const data = join(temporaryDirectory(), 'data');
  mkdirSync(data, { mode: 0o700 });
  for (const [name, content] of made.files)
    writeFileSync(join(data, name), name.startsWith('journal') ? content + rest : content, { mode: 0o600 });
  return data;
}

const fresh = (): string => join(temporaryDirectory(), 'fresh');
const signed = ['GET', 'http://a.example/', '--user', 'ann'];
const levels: readonly (readonly [what: string, (notices: Notices) => void])[] = [
  ['a warning', ({ warn }) => warn(evil)],
  ['an error', ({ error }) => error(new Error(evil))],
  ['an internal error', ({ fault }) => fault(new Error(evil))],
  ['information', ({ info }) => info(`one ${evil}\ntwo ${evil}`, evil, { url: evil })],
];

const outputs: readonly (readonly [what: string, () => string | Promise<string>])[] = [
  ...levels.flatMap(([what, notify]) =>
    (['text', 'json'] as const).map((format): [string, () => string] => [
      `${what} of a server in ${format}`,
      () => noticesOf(format, notify),
    ]),
  ),
  ['an unknown command', async () => (await run([evil])).stderr],
  ['an unknown option', () => outputOf(['check', `--${evil}`])],
  ['an unknown variable, in check', () => outputOf(['check', ...memory])],
  ['an unknown variable, in openapi', () => outputOf(['openapi', ...memory])],
  [
    'an unknown key of a configuration file',
    () =>
      outputOf(['check', ...memory, '--config', writeFile('config.json', JSON.stringify({ [evil]: evil }))]),
  ],
  [
    'a user name, in check',
    () => {
      const config = { users: { [evilName]: { secret } } };
      return outputOf(['check', ...memory, '--config', writeFile('config.json', JSON.stringify(config))]);
    },
  ],
  ['the document of a partner, in check', () => outputOf(['check', ...memory, '--partner', partnerFile()])],
  [
    'the document of a partner, in openapi',
    () => outputOf(['openapi', ...memory, '--partner', partnerFile()]),
  ],
  [
    'an error in the document of a partner',
    () => outputOf(['check', ...memory, '--partner', partnerFile([{ [evil]: [] }])]),
  ],
  [
    'an error of a server at the start',
    async () =>
      (await call(['serve', ...memory, '--strict', '--partner', partnerFile([{ [evil]: [] }])])).stderr,
  ],
  ['a stored collection, in check', () => outputOf(['check', ...plain, '--data', dataDirectory()])],
  [
    'a damaged journal, in check',
    () => outputOf(['check', ...plain, '--data', dataDirectory(`${evil}\n${evil}\n`)]),
  ],
  [
    'a damaged journal, in check --repair',
    () => outputOf(['check', ...plain, '--repair', fresh(), '--data', dataDirectory(`${evil}\n${evil}\n`)]),
  ],
  ['a stored collection, in backup', () => outputOf(['backup', fresh(), '--data', dataDirectory()])],
  [
    'the name of a directory, in restore',
    () => outputOf(['restore', `${fresh()}${evilName}`, '--data', fresh()]),
  ],
  ['an export, on a terminal', () => displayOf(exportItems, ['--data', dataDirectory()])],
  [
    'an export that cannot be imported',
    async () => {
      const { stdout } = await call(['export', '--data', dataDirectory()]);
      return outputOf(['import', '--data', fresh()], stdout);
    },
  ],
  [
    'a file that cannot be imported',
    () => outputOf(['import', '--input', `${fresh()}${evilName}`, '--data', fresh()]),
  ],
  ['an unknown user', () => outputOf(['user', 'remove', evilName, '--data', temporaryDirectory()])],
  [
    'a listed user',
    async () => {
      const data = fresh();
      const added = await outputOf(
        ['user', 'add', evilName, '--secret-stdin', '--data', data],
        `${secret}\n`,
      );
      return added + (await outputOf(['user', 'list', '--data', data]));
    },
  ],
  ['an unknown grant', () => outputOf(['grant', 'revoke', evil, '--data', dataDirectory()])],
  ['a URL that cannot be signed', () => outputOf(['sign', 'GET', evil, '--user', 'ann'])],
  ['a field that cannot be signed', () => outputOf(['sign', ...signed, '--header', evil])],
  ['a scheme that is unknown', () => outputOf(['sign', ...signed, '--scheme', evil])],
  ['a signature, on a terminal', () => displayOf(sign, ['GET', 'http://a.example/', '--user', evilName])],
  [
    'a command for curl, on a terminal',
    () => displayOf(sign, ['GET', 'http://a.example/', '--user', evilName, '--curl']),
  ],
  [
    'an explained signature',
    async () => {
      const config = writeFile(
        'config.json',
        JSON.stringify({ schemes: { hub: { preset: 'github', user: 'ann' } } }),
      );
      const content = writeFile('content', evil);
      const scheme = ['--scheme', 'hub', '--config', config];
      return outputOf(['sign', 'POST', ...signed.slice(1), '--explain', '--content', content, ...scheme]);
    },
  ],
  [
    'an error of a module',
    async () => {
      const file = writeModule(`export default () => { throw new Error(${JSON.stringify(evil)}); };`);
      return (await call(['check', ...memory, '--module', file])).stderr;
    },
  ],
  [
    'a warning of a module',
    async () => {
      const warning = `process.emitWarning(${JSON.stringify(evil)})`;
      const file = writeModule(`export default () => { ${warning}; return {}; };`);
      return (await run(['check', ...memory, '--module', file])).stderr;
    },
  ],
];

for (const [what, output] of outputs)
  test(`each character that changes what a terminal displays is escaped: ${what}`, async () => {
    const text = await output();
    assert.doesNotMatch(text, changesDisplay);
    assert.match(text, /a(\\u001b\[2J.*)?\\u202e.*\\u200b/);
  });

test('a line break in a message does not begin a line that looks like another message', () => {
  const forged = 'first\ncountersign: second\n    at third';
  assert.equal(
    noticesOf('text', ({ warn }) => warn(forged)),
    'countersign: first\n  countersign: second\n    at third\n',
  );
});

test('data that is not written to a terminal is not changed', async () => {
  const { stdout } = await call(['sign', 'GET', 'http://a.example/', '--user', evilName], {
    environment: { COUNTERSIGN_SECRET: secret },
  });
  assert.ok(stdout.includes(evilName), stdout);
});
