import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSerializedOrigin, originFault } from '../../../src/http/headers/origin.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';

const serialized = [
  ...['https://app.example', 'http://localhost:3000', 'http://127.0.0.1:8080', 'http://[::1]'],
  ...['https://[2001:db8::1]:8443', 'https://xn--bcher-kva.example', 'http://my_app.localhost'],
  ...['https://app.example:80', 'chrome-extension://abcdefghijklmnopabcdefghijklmnop'],
  ...['capacitor://localhost', 'null'],
];

for (const origin of serialized)
  test(`${origin} is an origin as a browser sends it`, () => {
    assert.equal(originFault(origin), undefined);
    if (/^https?:/.test(origin)) assert.equal(new URL(origin).origin, origin);
  });

const faults: readonly (readonly [text: string, fault: string])[] = [
  ['https://app.example/', 'has a trailing slash; write https://app.example'],
  ['https://App.Example/', 'has a trailing slash; write https://app.example'],
  ['https://app.example/login', 'has a path or a query; write https://app.example'],
  ['https://app.example?a=1', 'has a path or a query; write https://app.example'],
  ['app.example', 'has no scheme; write https://app.example'],
  ['app.example:8443', 'has no scheme; write https://app.example:8443'],
  ['localhost:3000', 'has no scheme; write http://localhost:3000'],
  ['127.0.0.1:3000', 'has no scheme; write http://127.0.0.1:3000'],
  ['https://App.Example', 'is not in lower case; write https://app.example'],
  ['HTTPS://app.example', 'is not in lower case; write https://app.example'],
  ['https://app.example:443', 'has the default port; write https://app.example'],
  ['http://app.example:80', 'has the default port; write http://app.example'],
  ['https://user:pw@app.example', 'has a user name; write https://app.example'],
  [' https://app.example', 'has a space; write https://app.example'],
  ['https://bücher.example', 'is not serialized as browsers send it; write https://xn--bcher-kva.example'],
  ['http://[0:0:0:0:0:0:0:1]', 'is not serialized as browsers send it; write http://[::1]'],
  ['http://127.1', 'is not serialized as browsers send it; write http://127.0.0.1'],
  ['https://*.app.example', 'has a wildcard; write each origin, or * alone for all of them'],
  ['NULL', 'is not in lower case; write null'],
  ['', 'is not an origin such as https://app.example'],
  ['https://', 'is not an origin such as https://app.example'],
  ['https://app.example:99999', 'is not an origin such as https://app.example'],
  ['not an origin', 'is not an origin such as https://app.example'],
];

describe('a text that is not a serialized origin is rejected with a suggestion or the reason', () => {
  for (const [text, fault] of faults)
    test(JSON.stringify(text), () => {
      assert.equal(originFault(text), fault);
      const meant = /; write (\S+)$/.exec(fault)?.[1];
      if (meant !== undefined) assert.equal(originFault(meant), undefined);
    });
});

/** Returns an origin or something near one. */
function nearOrigin(random: Seeded): string {
  const label = (): string =>
    random.pick(['app', 'a-b', 'xn--bcher-kva', 'x', '0', '1e3', '-a', 'a_b', 'É', '']);
  const address = (): string => Array.from({ length: 4 }, () => random.below(300)).join('.');
  const host = random.pick([
    () => Array.from({ length: 1 + random.below(3) }, label).join('.'),
    address,
    () =>
      `[${random.pick(['::1', '::', '1::2', '0:0::1', '2001:DB8::1', '::ffff:1.2.3.4', random.text('0123af:', 12)])}]`,
    () => random.text('abz09.-_[]:@/%*~!', 8),
  ])();
  const port = random.pick(['', '', ':80', ':443', ':8080', ':', ':0', ':00', ':65535', ':65536', ':x']);
  const scheme = random.pick(['http', 'https', 'https', 'HTTP', 'app', 'x-y+z.1', 'ftp', '1a', '']);
  return `${scheme}://${host}${port}${random.pick(['', '', '', '/', '/a', '?', '#'])}`;
}

/** The characters of hosts in the grammar, and the underscore. */
const hostCharacters =
  /^https?:\/\/(?:\[[0-9a-f:]+\]|(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*)(?::[0-9]+)?$/;

test('for http and https, the grammar accepts what URL serializes, and no other text', () => {
  const random = seeded();
  let accepted = 0;
  for (let count = 0; count < 20_000; count += 1) {
    const text = nearOrigin(random);
    if (!/^https?:/i.test(text)) continue;
    const expected = URL.canParse(text) && new URL(text).origin === text && hostCharacters.test(text);
    assert.equal(isSerializedOrigin(text), expected, `${JSON.stringify(text)}, seed ${random.seed}`);
    if (expected) accepted += 1;
  }
  assert.ok(accepted > 200, `${accepted} accepted, seed ${random.seed}`);
});

test('a suggestion is always an origin', () => {
  const random = seeded();
  for (let count = 0; count < 20_000; count += 1) {
    const text = random.below(2) === 0 ? nearOrigin(random) : random.text('hts:/.ab*@[]?# \u0000é', 40);
    const fault = originFault(text);
    assert.equal(fault === undefined, isSerializedOrigin(text), `seed ${random.seed}`);
    const meant = /; write (\S+)$/.exec(fault ?? '')?.[1];
    if (meant !== undefined && meant !== 'null')
      assert.ok(isSerializedOrigin(meant), `${JSON.stringify(text)}: ${fault}, seed ${random.seed}`);
  }
});
