// Mistakes in signatures of draft-cavage, made with an independent signer, and the hint of the journal at each.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type Double, startDouble } from '../../../src/double/index.ts';

const { publicKey: ownKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicKey = ownKey.export({ type: 'spki', format: 'pem' }).toString();
const keyId = 'https://a.example/users/ann#main-key';
const names = ['(request-target)', 'host', 'date', 'digest'];
const body = '{"a":1}';

interface Mistake {
  readonly keyId?: string;
  readonly headers?: string;
  readonly date?: (date: string) => string;
  readonly digest?: (base64: string) => string;
  /** Builds the signing string from the lines in order. */
  readonly build?: (lines: readonly (readonly [name: string, value: string])[]) => string;
  readonly parameters?: (text: string) => string;
}

/** Sends a request that is signed with a mistake. Returns the first line of its entry. */
async function send(double: Double, mistake: Mistake): Promise<string> {
  const {
    date = (text) => text,
    digest = (text) => `SHA-256=${text}`,
    parameters = (text) => text,
  } = mistake;
  const values: Record<string, string> = {
    '(request-target)': 'post /inbox',
    host: new URL(double.url).host,
    date: date(new Date(double.clock.now()).toUTCString()),
    digest: digest(createHash('sha256').update(body).digest('base64')),
    'content-type': 'application/json',
  };
  const lines = names.map((name) => [name, values[name] ?? ''] as const);
  const build = mistake.build ?? ((some) => some.map(([name, value]) => `${name}: ${value}`).join('\n'));
  const signature = sign('sha256', Buffer.from(build(lines)), privateKey).toString('base64');
  const { host = '', date: sentDate = '', digest: sentDigest = '' } = values;
  const headers = {
    Host: host,
    Date: sentDate,
    Digest: sentDigest,
    'Content-Type': 'application/json',
    Signature: parameters(
      `keyId="${mistake.keyId ?? keyId}",algorithm="rsa-sha256",headers="${mistake.headers ?? names.join(' ')}",signature="${signature}"`,
    ),
  };
  await double.fetch('/inbox', { method: 'POST', headers, body });
  const [line = ''] = String(double.journal.last()).split('\n');
  return line;
}

const joined =
  (separator: string, between = ': '): NonNullable<Mistake['build']> =>
  (lines) =>
    lines.map(([name, value]) => `${name}${between}${value}`).join(separator);

const cases: readonly (readonly [what: string, mistake: Mistake, hint: RegExp])[] = [
  ['no mistake', {}, /: 202,/],
  [
    'the word Signature in the field Signature',
    { parameters: (text) => `Signature ${text}` },
    /begins with "Signature ", which it does in Authorization only/,
  ],
  ['single quotes', { parameters: (text) => text.replaceAll('"', "'") }, /in single quotes; double quotes/],
  ['semicolons', { parameters: (text) => text.replaceAll('",', '";') }, /separated by ";"/],
  ['keyid', { parameters: (text) => text.replace('keyId', 'keyid') }, /the parameter keyid was sent; keyId/],
  ['names with commas', { headers: names.join(',') }, /separated by a comma; a space is expected/],
  ['names in upper case', { headers: '(request-target) Host Date Digest' }, /in upper case; lower case/],
  ['a key id without its fragment', { keyId: keyId.replace('#main-key', '') }, /did you mean .*#main-key\?/],
  ['no space after the colon', { build: joined('\n', ':') }, /no space after the colon/],
  ['lines joined with spaces', { build: joined(' ') }, /joined with spaces; a line feed is expected/],
  ['values alone', { build: (lines) => lines.map(([, value]) => value).join('\n') }, /without the names/],
  [
    'names in capitals',
    {
      build: (lines) =>
        joined('\n')(
          lines.map(([name, value]) => [name.replace(/^[a-z]/, (one) => one.toUpperCase()), value]),
        ),
    },
    /names of the fields were signed in upper case/,
  ],
  [
    'a further field',
    { build: (lines) => joined('\n')([...lines, ['content-type', 'application/json']]) },
    /content-type was signed, but is missing in the parameter headers/,
  ],
  [
    'a field left out',
    { build: (lines) => joined('\n')(lines.slice(0, 3)) },
    /digest is listed in the parameter headers, but was not signed/,
  ],
  ['another key', { build: () => 'something else' }, /the key is different, or the message differs/],
];

describe('the hint at a signature of draft-cavage', () => {
  const opened = startDouble({
    https: false,
    users: { ann: { keys: { [keyId]: { algorithm: 'rsa-v1_5-sha256', publicKey } } } },
    schemes: { 'draft-cavage': {} },
  });
  before(async () => {
    (await opened).stub({ method: 'POST', path: '/inbox' }, { status: 202 });
  });
  after(async () => (await opened).close());

  for (const [what, mistake, hint] of cases)
    test(`fits ${what}`, async () => {
      assert.match(await send(await opened, mistake), hint);
    });
});
