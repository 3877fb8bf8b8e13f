import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAccessLog } from '../../../src/cli/serve/access-log.ts';
import { createNotices } from '../../../src/cli/serve/notices.ts';
import { createManualClock } from '../../../src/clock.ts';
import { run, startProcess } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

interface Line {
  readonly time: string;
  readonly level?: string;
  readonly message?: string;
  readonly [member: string]: unknown;
}

/** Returns the lines of standard error, all of which must be JSON objects with a time. */
function parseLines(stderr: string): readonly Line[] {
  assert.ok(stderr.endsWith('\n'), stderr);
  return stderr
    .slice(0, -1)
    .split('\n')
    .map((line) => {
      const parsed: Line = JSON.parse(line);
      assert.match(parsed.time, /^2[0-9-]+T[0-9:.]+Z$/, line);
      return parsed;
    });
}

test('with a JSON log, every line on standard error is JSON, including those of the first start', async () => {
  const environment = { COUNTERSIGN_PROT: '1' };
  const args = ['--memory', '--port', '0', '--control-port', '0', '--log', 'json'];
  const server = await startProcess(args, { environment, json: true });
  await fetch(`${server.url}/articles`, { headers: { 'User-Agent': 'client/1.0' } });
  const lines = parseLines((await server.stop()).stderr);
  const shown = lines.map(({ level, message, path }) => [level, message?.split(':')[0] ?? path]);
  assert.deepEqual(shown, [
    ['warn', 'unknown environment variable COUNTERSIGN_PROT is ignored; did you mean "COUNTERSIGN_PORT"?'],
    ['info', 'First start'],
    ['warn', 'control token, shown only once'],
    ['info', 'Console'],
    [undefined, '/articles'],
  ]);
  const [, first, , console, exchange] = lines;
  assert.equal(first?.['user'], 'demo');
  const { secret, commands } = first;
  assert.ok(typeof secret === 'string' && secret.length === 43 && Array.isArray(commands));
  assert.equal(commands[0], `export COUNTERSIGN_SECRET=${secret}`);
  assert.match(String(console?.['url']), /^http:\/\/127\.0\.0\.1:[0-9]+\/#/);
  assert.equal(exchange?.['peer'], '127.0.0.1');
  assert.equal(exchange['userAgent'], 'client/1.0');
});

test('if standard error is not a terminal, the log is JSON by default, and so are errors at the start', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  assert.ok(address !== null && typeof address === 'object');
  const args = ['--memory', '--no-tls', '--port', String(address.port)];
  const { status, stderr } = await run(args, { json: true });
  const [line, ...more] = parseLines(stderr);
  assert.equal(status, 1);
  assert.equal(line?.level, 'error');
  assert.match(line.message ?? '', /in use/);
  assert.deepEqual(more, []);
  const asText = await run([...args, '--log', 'off'], { json: true });
  assert.match(asText.stderr, /^countersign: .*in use.*\n$/);
  taken.close();
});

test('an error in the options is printed as text, because the format of the log is not known', async () => {
  const { status, stderr } = await run(['--prot', '1', '--log', 'json'], { json: true });
  assert.equal(status, 2);
  assert.equal(stderr, 'countersign: unknown option --prot; did you mean "--port"?\n');
});

test('a client cannot add a line, a member or a control character to the log', async () => {
  const server = await startProcess(['--memory', '--no-tls', '--port', '0'], { json: true });
  const forged = '","status":200,"x":"';
  const agents = [forged, '[2J\u009b', 'a\tb', '\\', 'é\u0085', '{"time":"2026"}'];
  for (const agent of agents) {
    const sent = request(`${server.url}/${encodeURIComponent(`\n${forged}`)}`, {
      headers: {
        'User-Agent': agent,
        'X-Request-Id': forged,
        traceparent: forged,
        'X-Forwarded-For': forged,
      },
    });
    sent.end();
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'end');
  }
  const { stderr } = await server.stop();
  assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  const lines = parseLines(stderr).filter(({ method }) => method === 'GET');
  assert.equal(lines.length, agents.length);
  for (const [at, line] of lines.entries()) {
    assert.equal(line['status'], 404);
    assert.equal(line['x'], undefined);
    assert.equal(line['traceparent'], undefined);
    assert.equal(line['peer'], '127.0.0.1');
    assert.match(String(line['requestId']), /^[0-9a-f]{16}-[0-9]+$/);
    assert.equal(line['userAgent'], agents[at]);
  }
});

test('a JSON log reports an internal error and its stack in one line, and a text log prints text', () => {
  const written: string[] = [];
  const stderr = { write: (text: string) => written.push(text) };
  const clock = createManualClock(0);
  createNotices('json', { stderr, clock }).fault(new Error('a\nb\u202e'));
  const [line = ''] = written;
  const parsed = JSON.parse(line);
  assert.deepEqual([parsed.time, parsed.level], ['1970-01-01T00:00:00.000Z', 'error']);
  assert.match(parsed.fault, /^Error: a\nb\u202e\n +at /);
  assert.doesNotMatch(line, /\u202e/);
  createNotices('text', { stderr, clock }).warn('careful');
  assert.equal(written[1], 'countersign: careful\n');
});

test('a JSON log reports dropped requests as JSON', async () => {
  const path = join(temporaryDirectory(), 'log');
  const descriptor = openSync(path, 'w');
  const log = createAccessLog('json', descriptor);
  const entry = {
    time: 0,
    method: 'GET',
    path: `/${'a'.repeat(8000)}`,
    status: 200,
    principal: undefined,
    scheme: undefined,
    microseconds: 1,
    problem: undefined,
    peer: '-',
    requestId: '-',
    traceparent: undefined,
    bytesReceived: 0,
    bytesSent: 0,
    userAgent: undefined,
  };
  for (let count = 0; count < 600; count += 1) log.add(entry);
  await log.flush();
  closeSync(descriptor);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const { level, message } = JSON.parse(lines.at(-1) ?? '');
  assert.equal(level, 'warn');
  assert.equal(message, `${600 - (lines.length - 1)} requests were dropped from this log`);
});
