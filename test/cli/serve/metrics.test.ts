import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServerMetrics } from '../../../src/cli/serve/metrics.ts';
import { signRequest } from '../../../src/client/index.ts';
import { createManualClock } from '../../../src/clock.ts';
import type { AccessLogEntry } from '../../../src/index.ts';
import { startServer } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const token = 'a-token-of-32-characters-exactly';
const environment = { COUNTERSIGN_CONTROL_TOKEN: token };
const authorized = { headers: { Authorization: `Bearer ${token}` } };
const promtool =
  spawnSync('promtool', ['--version']).error === undefined ? false : 'promtool is not installed';

/** Returns what promtool reports about metrics; '' if nothing is wrong. */
function checkMetrics(metrics: string): string {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: metrics,
    encoding: 'utf8',
  });
  return status === 0 ? `${stdout}${stderr}` : `exit status ${status}: ${stdout}${stderr}`;
}

function entry(changes: Partial<AccessLogEntry>): AccessLogEntry {
  return {
    time: 0,
    method: 'GET',
    path: '/',
    status: 200,
    principal: undefined,
    scheme: undefined,
    microseconds: 700,
    problem: undefined,
    peer: '-',
    requestId: '-',
    traceparent: undefined,
    bytesReceived: 0,
    bytesSent: 10,
    userAgent: undefined,
    ...changes,
  };
}

const gauges = { connections: 1, nonces: 2, journalBytes: 3 };

test('requests are counted by method, status, scheme and problem, and their duration in buckets', () => {
  const clock = createManualClock(0);
  const metrics = new ServerMetrics(clock);
  metrics.add(entry({ scheme: 'hmac' }));
  metrics.add(entry({ scheme: 'hmac', microseconds: 3_000 }));
  metrics.add(entry({ method: 'PURGE', status: 501, problem: 'method-not-implemented', microseconds: 2e7 }));
  metrics.synced(4);
  clock.advance(1500);
  const text = metrics.text(gauges);
  const lines = new Set(text.split('\n'));
  for (const line of [
    'countersign_requests_total{method="GET",status="200",scheme="hmac",problem=""} 2',
    'countersign_requests_total{method="other",status="501",scheme="",problem="method-not-implemented"} 1',
    'countersign_request_duration_seconds_bucket{method="GET",le="0.0005"} 0',
    'countersign_request_duration_seconds_bucket{method="GET",le="0.001"} 1',
    'countersign_request_duration_seconds_bucket{method="GET",le="0.005"} 2',
    'countersign_request_duration_seconds_bucket{method="GET",le="+Inf"} 2',
    'countersign_request_duration_seconds_sum{method="GET"} 0.0037',
    'countersign_request_duration_seconds_bucket{method="other",le="10"} 0',
    'countersign_request_duration_seconds_bucket{method="other",le="+Inf"} 1',
    'countersign_response_content_bytes_total 30',
    'countersign_connections 1',
    'countersign_nonces 2',
    'countersign_journal_bytes 3',
    'countersign_journal_sync_duration_seconds_bucket{le="0.005"} 1',
    'countersign_uptime_seconds 1.5',
  ])
    assert.ok(lines.has(line), `${line} in\n${text}`);
});

test('the number of label combinations is bounded, and a client cannot choose a label', () => {
  const metrics = new ServerMetrics(createManualClock(0), 10);
  for (let status = 200; status < 300; status += 1) metrics.add(entry({ status }));
  for (let round = 0; round < 100; round += 1) metrics.add(entry({ method: `M${round}`, status: 200 }));
  const lines = metrics.text(gauges).split('\n');
  const series = lines.filter((line) => line.startsWith('countersign_requests_total{'));
  assert.equal(series.length, 11);
  assert.ok(
    series.some((line) => /method="other",status="other".* 190$/.test(line)),
    series.join('\n'),
  );
});

test('a label value is escaped', () => {
  const metrics = new ServerMetrics(createManualClock(0));
  metrics.add(entry({ scheme: 'a"b\\c\nd' }));
  assert.match(metrics.text(gauges), /scheme="a\\"b\\\\c\\nd"/);
});

test('promtool accepts the metrics of a server with and without requests', { skip: promtool }, () => {
  const metrics = new ServerMetrics(createManualClock(0));
  assert.equal(checkMetrics(metrics.text(gauges)), '');
  metrics.add(entry({ problem: 'a"b\\c\nd' }));
  metrics.synced(4);
  assert.equal(checkMetrics(metrics.text({ ...gauges, nonces: undefined, journalBytes: undefined })), '');
  assert.notEqual(checkMetrics('a_counter 1\na_counter 2\n'), '');
});

test('a server serves its metrics on the control port, and requires the token', async () => {
  const folder = temporaryDirectory();
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify({ users: { ann: { secret: 'hidden-from-all' } } }), { mode: 0o600 });
  const places = ['--data', join(folder, 'data'), '--config', config, '--port', '0', '--control-port', '0'];
  const server = await startServer([...places, '--log', 'off', '--health-path', '/health'], { environment });
  const url = `${server.url}/articles`;
  const body = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';
  const headers = {
    ...signRequest({ method: 'POST', url, user: 'ann', secret: 'hidden-from-all' }),
    'Content-Type': 'application/xml',
  };
  assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 201);
  assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 401);
  assert.equal((await fetch(`${server.url}/health`)).status, 200);
  assert.equal((await fetch(`${server.controlUrl}/health`)).status, 200);

  assert.equal((await fetch(`${server.controlUrl}/metrics`)).status, 401);
  const response = await fetch(`${server.controlUrl}/metrics`, {
    headers: {
      ...authorized.headers,
      // As Prometheus 2 sends it.
      Accept:
        'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('Content-Type'), 'text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  assert.match(
    text,
    /^countersign_requests_total\{method="POST",status="201",scheme="hmac",problem=""\} 1$/m,
  );
  assert.match(text, /^countersign_requests_total\{.*status="401".*problem="nonce-replayed"\} 1$/m);
  assert.doesNotMatch(text, /requests_total\{method="GET"/, 'successful health checks are not counted');
  assert.match(text, /^countersign_journal_bytes [1-9][0-9]*$/m);
  assert.match(text, /^countersign_journal_sync_duration_seconds_count [1-9]$/m);
  assert.match(text, /^countersign_nonces 1$/m);
  assert.match(text, /^countersign_connections [1-9]$/m);
  if (promtool === false) assert.equal(checkMetrics(text), '');
  const document = await (await fetch(`${server.controlUrl}/openapi.json`)).text();
  assert.ok(document.includes('"/metrics":{"get":'), document);
  assert.ok(document.includes('"text/plain; version=0.0.4; charset=utf-8":{"schema":'), document);
  assert.equal((await server.stop()).status, 0);
});
