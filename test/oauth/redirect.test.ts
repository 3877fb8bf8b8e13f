import assert from 'node:assert/strict';
import test from 'node:test';
import { redirect } from '../../src/oauth/redirect.ts';

const cases: readonly (readonly [uri: string, extended: string])[] = [
  ['https://app.example', 'https://app.example?code=1&state=2'],
  ['https://app.example/cb', 'https://app.example/cb?code=1&state=2'],
  ['https://app.example/cb?from=here', 'https://app.example/cb?from=here&code=1&state=2'],
  ['https://app.example/cb?', 'https://app.example/cb?code=1&state=2'],
  ['https://app.example/cb?from=here&', 'https://app.example/cb?from=here&code=1&state=2'],
  ['app.phone:/cb', 'app.phone:/cb?code=1&state=2'],
];

for (const [uri, extended] of cases) {
  test(`parameters are added to the query of ${uri}, which is otherwise unchanged`, () => {
    const { headers } = redirect(uri, { code: '1', state: '2' });
    assert.deepEqual(headers, [
      ['Location', extended],
      ['Referrer-Policy', 'no-referrer'],
    ]);
  });
}
