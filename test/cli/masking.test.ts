// A known secret that stands where a name is expected must not reach a terminal or a log.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { call } from '../support/cli/command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const secret = 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY';
const password = 'Tr0ub4dor-and-3';
const memory = ['--memory', '--no-tls', '--port', '0', '--log', 'off'];
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function configWith(more: object): string {
  const path = join(temporaryDirectory(), 'config.json');
  const config = { users: { ann: { secret, password } }, ...more };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

const scheme = (user: string): object => ({ schemes: { hub: { preset: 'github', user } } });
const rule = (user: string): object => {
  const fields = { text: { type: 'text' } };
  return { collections: { '/notes': { element: 'notes', item: 'note', fields, access: { read: [user] } } } };
};

const environment = { COUNTERSIGN_SECRET: secret };
const sign = async (...args: string[]): Promise<string> => {
  const { stderr } = await call(['sign', ...args], { environment });
  return stderr;
};
const signed = ['GET', 'http://a.example/'];

/** Messages about a text that stands where a name is expected. */
const outputs: readonly (readonly [what: string, (text: string) => Promise<string>])[] = [
  [
    'the user of a scheme, in check',
    async (text) => (await call(['check', ...memory, '--config', configWith(scheme(text))])).stderr,
  ],
  [
    'a user in an access rule, in check',
    async (text) => (await call(['check', ...memory, '--config', configWith(rule(text))])).stderr,
  ],
  [
    'the user of a scheme, at the start of a server',
    async (text) => {
      // An address that no host has ends the start, after the names are checked.
      const more = { ...scheme(text), ...rule(text) };
      return (await call(['serve', ...memory, '--config', configWith(more), '--host', '192.0.2.1'])).stderr;
    },
  ],
  ['the name of a scheme, in sign', (text) => sign(...signed, '--scheme', text, '--config', configWith({}))],
  ['the path of content, in sign', (text) => sign(...signed, '--user', 'ann', '--content', text)],
  ['the URL, in sign', (text) => sign('GET', text, '--user', 'ann')],
  [
    'a target, in an explained signature',
    (text) => sign('GET', `http://a.example/${text}`, '--user', 'ann', '--explain'),
  ],
];

for (const [what, output] of outputs)
  test(`a known secret is masked as ${what}`, async () => {
    const other = 'wJalrXUtnFEMIK7-not-the-secret';
    assert.ok((await output(other)).includes(other), 'another text is shown');
    for (const sent of [secret, secret.toLowerCase(), base64(secret), base64(`ann:${secret}`)]) {
      const text = await output(sent);
      assert.ok(!text.includes(sent), text);
      assert.match(text, /\[redacted\]/);
    }
  });

test('a password that stands in place of a name is masked, and a name that is also a secret is not', async () => {
  const config = configWith({
    ...scheme(password),
    users: { ann: { secret, password }, 'bob-the-builder': { secret: 'bob-the-builder' } },
  });
  const { stderr, stdout } = await call(['check', ...memory, '--config', config]);
  assert.match(stderr, /schemes\.hub\.user: there is no user "\[redacted\]" yet/);
  assert.match(stdout, /^users +ann, bob-the-builder$/m);
});
