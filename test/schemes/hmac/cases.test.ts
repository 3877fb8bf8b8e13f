import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import { Problem } from '../../../src/http/problem.ts';
import { createKey } from '../../../src/schemes/hmac/credentials.ts';
import { openTestService } from '../../support/schemes/clients/service.ts';

const folder = join(import.meta.dirname, '../../../fixtures/hmac');
const cases = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const read = (name: string, file: string): string => readFileSync(join(folder, name, file), 'latin1');

function parseRequest(text: string): IncomingRequest {
  const [head = '', content = ''] = text.split('\n\n', 2);
  const [start = '', ...lines] = head.split('\n');
  const [method = '', target = ''] = start.split(' ');
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return createRequest(
    content === '' ? { method, target, headers: fields } : { method, target, headers: fields, body: content },
  );
}

async function verdictOn(request: IncomingRequest): Promise<string> {
  const secret = (text: string) => ({ secrets: [{ secret: text }] });
  const users = new Map([
    ['johndoe', secret('secret')],
    ['jürgen', secret('secret')],
    ['longkey', secret(read('secret-over-64-bytes', 'secret.txt').trim())],
  ]);
  const { outcome } = openTestService({ users, at: Date.UTC(2013, 3, 20, 12, 59, 24) });
  const result = await outcome(request);
  if (result instanceof Problem) return result.type;
  return result === 'nobody' ? result : `good ${result}`;
}

test('there are at least twenty cases', () => {
  assert.ok(cases.length >= 20, `found ${cases.length}`);
});

for (const name of cases) {
  test(`the case ${name} has the verdict of its verdict.txt`, async () => {
    const verdict = Buffer.from(read(name, 'verdict.txt'), 'latin1').toString('utf8').trim();
    assert.equal(await verdictOn(parseRequest(read(name, 'request.http'))), verdict);
  });

  test(`the case ${name} has the digest of its message`, () => {
    const key = createKey(read(name, 'secret.txt').trim());
    assert.equal(key.digest([read(name, 'message.txt')]), read(name, 'digest.txt').trim());
  });
}

test('openssl computes the digests of the two documented messages', (context) => {
  for (const name of ['simple-get', 'full-get']) {
    const input = readFileSync(join(folder, name, 'message.txt'));
    const run = spawnSync('openssl', ['dgst', '-sha256', '-hmac', 'secret', '-binary'], { input });
    if (run.error !== undefined) return context.skip('openssl is not installed');
    assert.equal(run.stdout.toString('base64'), read(name, 'digest.txt').trim());
  }
});
