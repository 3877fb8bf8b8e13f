import assert from 'node:assert/strict';
import { createHash, createHmac, generateKeyPairSync } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { call } from '../../support/cli/command.ts';
import { rsa } from '../../support/keys.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const folder = temporaryDirectory();
const secret = 'secret of ann';
const pairs = {
  ed25519: generateKeyPairSync('ed25519'),
  rsa,
};
const keys = {
  'key-1': { algorithm: 'ed25519', publicKey: pem(pairs.ed25519) },
  'key-rsa': { algorithm: 'rsa-pss-sha512', publicKey: pem(pairs.rsa) },
  'key-mac': { algorithm: 'hmac-sha256', secret: 'shared secret of ann' },
} as const;
const users = { ann: { secret, keys } };
const schemes = {
  partner: {
    message: '{timestamp}.{nonce}.{method}.{target}.{field:X-Tenant}.{body}',
    signature: { field: 'X-Partner-Signature', format: 'v1={signature}' },
    user: { field: 'X-Partner-Key' },
    timestamp: { field: 'X-Partner-Time' },
    nonce: { field: 'X-Partner-Nonce' },
  },
  stripe: { preset: 'stripe', user: 'ann' },
  key: { user: { field: 'X-Own-Id' }, secret: { field: 'X-Own-Secret' } },
  'message-signatures': { nonce: 'optional' },
  aws4: { region: 'eu-central-1', service: 'execute-api' },
} as const;
const config = file('countersign.json', JSON.stringify({ users, schemes }));
const content = file('event.json', '{"id":"evt_1"}');
const [keyFile, rsaFile] = [file('ann.pem', privatePem('ed25519')), file('rsa.pem', privatePem('rsa'))];
const date = '22 nov 2026 12:00:00';
/** The secret of an API key, which the command prints because it is sent. */
const apiSecret = 'api-key-1';
const second = Date.UTC(2026, 10, 22, 12) / 1000;
const bySecret = { COUNTERSIGN_SECRET: secret };
const byKey = { COUNTERSIGN_PRIVATE_KEY_FILE: keyFile };

function file(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function pem({ publicKey }: (typeof pairs)[keyof typeof pairs]): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

function privatePem(name: keyof typeof pairs): string {
  return pairs[name].privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Runs `sign` with the configuration file. */
function sign(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = bySecret,
  input = '',
) {
  return call(['sign', ...words, '--config', config], { environment, input });
}

const url = 'https://api.example/articles?limit=1';

test('a declared scheme signs date, nonce, a given field and the content, as node:crypto computes it', async () => {
  const words = ['POST', url, '--user', 'ann', '--scheme', 'partner', '--date', date, '--nonce', 'n-1'];
  const more = ['--header', 'X-Tenant: 7', '--content', content];
  const { status, stdout, stderr } = await sign([...words, ...more]);
  assert.equal(stderr, '');
  const mac = createHmac('sha256', secret).update(`${second}.n-1.POST./articles?limit=1.7.{"id":"evt_1"}`);
  assert.equal(
    stdout,
    [
      'X-Tenant: 7',
      'Content-Type: application/json',
      'X-Partner-Key: ann',
      `X-Partner-Time: ${second}`,
      'X-Partner-Nonce: n-1',
      `X-Partner-Signature: v1=${mac.digest('hex')}`,
      '',
    ].join('\n'),
  );
  assert.equal(status, 0);
});

test('--explain prints the signed message part by part on standard error, without the secret', async () => {
  const words = ['POST', url, '--user', 'ann', '--scheme', 'partner', '--date', date, '--nonce', 'n-1'];
  const { stdout, stderr } = await sign([...words, '--content', content, '--explain']);
  assert.equal(
    stderr,
    `The scheme partner signs:
  timestamp       ${second}
  (text)          "."
  nonce           n-1
  (text)          "."
  method          POST
  (text)          "."
  target          /articles?limit=1
  (text)          "."
  field:X-Tenant
  (text)          "."
  body            {"id":"evt_1"}
`,
  );
  assert.match(stdout, /^Content-Type: application\/json\nX-Partner-Key: ann\n/);
  assert.ok(!(stdout + stderr).includes(secret));
});

test('--explain works for every scheme', async () => {
  const hmac = await call(
    ['sign', 'PUT', url, '--user', 'ann', '--date', date, '--nonce', 'n', '--explain'],
    {
      environment: bySecret,
    },
  );
  assert.equal(
    hmac.stderr,
    `The scheme hmac signs:
  method  PUT
  (text)  "+"
  target  /articles?limit=1
  (text)  "+"
  date    22nov202612:00:00
  (text)  "+"
  nonce   n
`,
  );
  const aws4 = await sign(['GET', url, '--user', 'ann', '--scheme', 'aws4', '--date', date, '--explain']);
  const none = createHash('sha256').digest('hex');
  const canonical = `GET\n/articles\nlimit=1\nhost:api.example\nx-amz-content-sha256:${none}\nx-amz-date:20261122T120000Z\n\nhost;x-amz-content-sha256;x-amz-date\n${none}`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  assert.equal(
    aws4.stderr,
    `The scheme aws4 signs:
  method                       GET
  canonical path               /articles
  canonical query              limit=1
  header host                  api.example
  header x-amz-content-sha256  ${none}
  header x-amz-date            20261122T120000Z
  signed headers               host;x-amz-content-sha256;x-amz-date
  payload hash                 ${none}
  string to sign               AWS4-HMAC-SHA256\\n20261122T120000Z\\n20261122/eu-central-1/execute-api/aws4_request\\n${digest}
`,
  );
  const words = ['--key-id', 'key-1', '--scheme', 'message-signatures', '--date', date, '--nonce', 'n-1'];
  const signed = await sign(['GET', url, ...words, '--explain'], byKey);
  assert.equal(
    signed.stderr,
    `The scheme message-signatures signs:
  "@method"            GET
  "@authority"         api.example
  "@path"              /articles
  "@query"             ?limit=1
  "@signature-params"  ("@method" "@authority" "@path" "@query");created=${second};nonce="n-1";keyid="key-1"
`,
  );
  const key = await sign(['GET', url, '--user', 'ann', '--scheme', 'key', '--explain'], {}, `${apiSecret}\n`);
  assert.equal(key.stderr, 'The scheme key signs no message: it sends the secret itself.\n');
});

describe('a server accepts a request signed with', () => {
  const post = ['--content', content];
  const ways: readonly (readonly [words: readonly string[], environment: object])[] = [
    [['--user', 'ann', '--scheme', 'hmac'], bySecret],
    [['--user', 'ann', '--scheme', 'partner'], bySecret],
    [
      ['--user', 'ann', '--key-id', 'key-mac', '--scheme', 'partner'],
      { COUNTERSIGN_SECRET: 'shared secret of ann' },
    ],
    [['--scheme', 'stripe'], bySecret],
    [['--user', 'ann', '--scheme', 'aws4'], { ...bySecret, ...byKey }],
    [['--user', 'ann', '--scheme', 'aws4', '--presign', '60'], bySecret],
    [['--user', 'ann', '--scheme', 'message-signatures'], bySecret],
    [
      ['--key-id', 'key-mac', '--scheme', 'message-signatures'],
      { COUNTERSIGN_SECRET: 'shared secret of ann', ...byKey },
    ],
    [['--key-id', 'key-1', '--scheme', 'message-signatures'], byKey],
    [['--key-id', 'key-rsa', '--scheme', 'message-signatures'], { COUNTERSIGN_PRIVATE_KEY_FILE: rsaFile }],
  ];
  for (const [words, environment] of ways)
    test(words.join(' '), async () => {
      await using double = await startDouble({ https: false, users, schemes });
      const { action, json } = await import('../../../src/index.ts');
      const handler = action('anyone', async ({ principal }) => json({ user: principal?.name ?? null }));
      double.resource('/event', { POST: handler });
      const args = ['sign', 'POST', `${double.url}/event?a=b`, ...post, ...words];
      const withConfig = words.includes('hmac') ? args : [...args, '--config', config];
      const { stdout, stderr } = await call(withConfig, { environment: { ...environment } });
      assert.equal(stderr, '');
      const lines = stdout.trimEnd().split('\n');
      const target = /^http:/.test(lines[0] ?? '') ? lines.shift() : undefined;
      assert.equal(target !== undefined, words.includes('--presign'));
      const headers = lines.map((line): [string, string] => [
        line.slice(0, line.indexOf(':')),
        line.slice(line.indexOf(':') + 2),
      ]);
      const init = { method: 'POST', headers, body: '{"id":"evt_1"}' };
      const response = await fetch(target ?? `${double.url}/event?a=b`, init);
      assert.deepEqual(await response.json(), { user: 'ann' }, `${double.journal.last()}`);
    });
});

test('--curl prints a command with all fields and the URL to send', async () => {
  const words = ['POST', url, '--scheme', 'stripe', '--date', date, '--content', content, '--curl'];
  const mac = createHmac('sha256', secret).update(`${second}.{"id":"evt_1"}`).digest('hex');
  assert.equal(
    (await sign(words)).stdout,
    `curl -X POST -H 'Content-Type: application/json' -H 'Stripe-Signature: t=${second},v1=${mac}' --data-binary @${content} 'https://api.example/articles?limit=1'\n`,
  );
  // curl would drop a field that has a colon and no value.
  const empty = ['GET', url, '--scheme', 'stripe', '--date', date, '--header', 'X-Empty:', '--curl'];
  assert.match((await sign(empty)).stdout, /^curl -H 'X-Empty;' /);
  const presigned = ['GET', url, '--user', 'ann', '--scheme', 'aws4', '--presign', '60', '--curl'];
  assert.match(
    (await sign(presigned)).stdout,
    /^curl 'https:\/\/api\.example\/articles\?limit=1&X-Amz-.*'\n$/,
  );
});

test('the secret can be read from standard input', async () => {
  const words = ['GET', url, '--user', 'ann', '--scheme', 'key'];
  const { stdout } = await sign(words, {}, `${apiSecret}\n`);
  assert.equal(stdout, `X-Own-Id: ann\nX-Own-Secret: ${apiSecret}\n`);
});

test('a private key that other users can read is rejected, with the command that fixes it', async () => {
  const exposed = file('exposed.pem', privatePem('ed25519'), 0o640);
  const words = ['GET', url, '--key-id', 'key-1', '--scheme', 'message-signatures'];
  const { status, stderr } = await sign(words, { COUNTERSIGN_PRIVATE_KEY_FILE: exposed });
  assert.equal(
    stderr,
    `countersign: ${exposed} is accessible to other users (mode 0640); fix: chmod 600 ${exposed}\n`,
  );
  assert.equal(status, 1);
});

describe('an invalid call is rejected with one line', () => {
  const publicFile = file('public.pem', pem(pairs.ed25519));
  const other = file('other.pem', 'nothing secret');
  const partner = ['--scheme', 'partner', '--user', 'ann'];
  const signatures = ['--scheme', 'message-signatures'];
  const mistakes: readonly (readonly [words: readonly string[], environment: object, message: string])[] = [
    [['--scheme', 'partnr'], bySecret, `${config} has no scheme "partnr"; did you mean "partner"?`],
    [['--scheme', 'partner'], bySecret, 'the scheme partner requires a user or the id of a key'],
    [['--user', 'bob', '--scheme', 'stripe'], bySecret, 'the scheme stripe always signs as ann, not as bob'],
    [[...partner, '--presign', '60'], bySecret, 'presign is not an option of the scheme partner'],
    [
      [...partner, '--presign', 'soon'],
      bySecret,
      '--presign "soon" is not a number of seconds, or text such as 5m',
    ],
    [
      [...partner, '--date', 'now'],
      bySecret,
      '--date "now" is not a date in UTC such as "20 apr 2013 12:59:24"',
    ],
    [
      [...partner, '--header', 'no field'],
      bySecret,
      '"no field" is not a field such as "Content-Type: text/plain"',
    ],
    [[...partner, '--algorithm', 'ed25519'], bySecret, '--algorithm requires COUNTERSIGN_PRIVATE_KEY_FILE'],
    [signatures, byKey, 'the scheme message-signatures requires a user or the id of a key'],
    [
      [...signatures, '--key-id', 'key-1'],
      bySecret,
      'the key key-1 requires its private key: set COUNTERSIGN_PRIVATE_KEY_FILE',
    ],
    [
      [...signatures, '--key-id', 'k', '--algorithm', 'ed25518'],
      byKey,
      '"ed25518" is not an algorithm of a private key; did you mean "ed25519"?',
    ],
    [[...signatures, '--key-id', 'k', '--algorithm', 'aws4'], byKey, 'aws4 has no private key'],
    [[...signatures, '--key-id', 'key-rsa'], byKey, 'the key is not one for rsa-pss-sha512'],
    [
      [...signatures, '--key-id', 'k'],
      { COUNTERSIGN_PRIVATE_KEY_FILE: rsaFile },
      'the key requires an algorithm: rsa-pss-sha512 or rsa-v1_5-sha256 for an RSA key; others are not supported',
    ],
    [
      [...signatures, '--key-id', 'k'],
      { COUNTERSIGN_PRIVATE_KEY_FILE: '' },
      'COUNTERSIGN_PRIVATE_KEY_FILE must not be empty',
    ],
    [
      [...signatures, '--key-id', 'k'],
      { COUNTERSIGN_PRIVATE_KEY_FILE: publicFile },
      `${publicFile} is a public key; a private key is required`,
    ],
    [
      [...signatures, '--key-id', 'k'],
      { COUNTERSIGN_PRIVATE_KEY_FILE: other },
      `${other} is not a private key in PEM format (PKCS #8)`,
    ],
    [
      [...signatures, '--key-id', 'k'],
      { COUNTERSIGN_PRIVATE_KEY_FILE: '/no/file' },
      'the private key /no/file cannot be read (ENOENT)',
    ],
  ];
  for (const [words, environment, message] of mistakes)
    test(message, async () => {
      const { status, stdout, stderr } = await sign(['GET', url, ...words], { ...environment });
      assert.equal(stderr, `countersign: ${message}\n`);
      assert.deepEqual([status === 0, stdout], [false, '']);
    });

  test('options of other schemes require --scheme, which requires --config', async () => {
    const { stderr } = await sign(['GET', url, '--user', 'ann', '--key-id', 'k']);
    assert.equal(
      stderr,
      'countersign: --config requires --scheme\ncountersign: --key-id requires --scheme\n',
    );
    const words = ['sign', 'GET', url, '--scheme', 'partner'];
    const unconfigured = await call(words, { environment: bySecret });
    assert.equal(unconfigured.stderr, 'countersign: --scheme partner requires --config FILE\n');
  });
});
