import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import test from 'node:test';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { type Double, type RuleHandle, startDouble } from '../../../src/double/index.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** The status of a GET over a new connection, or the code of the error. */
function over(double: Double, agent: Agent | false = false): Promise<unknown> {
  return new Promise((resolve) => {
    const asked = request(`${double.secureUrl}/`, { ca: double.ca, agent }, (reply) => {
      reply.resume();
      reply.on('end', () => resolve(reply.statusCode));
    });
    asked.on('error', (error) => resolve(Reflect.get(error, 'code')));
    asked.end();
  });
}

test('a staleCertificate fault sends an expired certificate to the given number of new connections', async () => {
  await using double = await startDouble();
  assert.equal(await over(double), 200);
  double.faults.times(2, {}, { staleCertificate: true });
  const seen = [await over(double), await over(double), await over(double)];
  assert.deepEqual(seen, ['CERT_HAS_EXPIRED', 'CERT_HAS_EXPIRED', 200]);
});

test('the only error of a stale certificate is its expiry', async () => {
  await using double = await startDouble();
  double.faults.next({}, { staleCertificate: true });
  const port = Number(new URL(double.secureUrl).port);
  const socket = connect({
    port,
    host: '127.0.0.1',
    ca: double.ca,
    servername: 'localhost',
    rejectUnauthorized: false,
  });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  assert.equal(String(socket.authorizationError), 'CERT_HAS_EXPIRED');
  assert.ok(Date.parse(socket.getPeerCertificate().valid_to) < Date.now());
  socket.destroy();
});

test('a staleCertificate fault does not affect an open connection', async () => {
  await using double = await startDouble();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  assert.equal(await over(double, agent), 200);
  double.faults.next({}, { staleCertificate: true });
  assert.equal(await over(double, agent), 200);
  assert.equal(await over(double), 'CERT_HAS_EXPIRED');
  agent.destroy();
});

test('remove, clear, restore and reset end a staleCertificate fault', async () => {
  await using double = await startDouble();
  const snapshot = double.snapshot();
  const undo = [
    (planned: RuleHandle) => planned.remove(),
    () => double.faults.clear(),
    () => double.restore(snapshot),
    () => double.reset(),
  ];
  for (const back of undo) {
    const planned = double.faults.always({}, { staleCertificate: true });
    assert.equal(await over(double), 'CERT_HAS_EXPIRED');
    back(planned);
    assert.equal(await over(double), 200);
  }
});

test('an in-process request over TLS fails as fetch of the platform does, and one over HTTP succeeds', async () => {
  await using double = await startDouble();
  double.faults.times(2, {}, { staleCertificate: true });
  assert.equal((await double.fetch('/')).status, 200);
  const within: unknown = await double.fetch('/', { secure: true }).catch((error) => error);
  const folder = temporaryDirectory();
  const authority = join(folder, 'ca.pem');
  writeFileSync(authority, double.ca);
  const script = `fetch('${double.secureUrl}/').catch((error) => console.log(error.name, error.message, error.cause.code, error.cause.message))`;
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authority };
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env });
  assert.ok(within instanceof TypeError && within.cause instanceof Error);
  const { name, message, cause } = within;
  assert.equal(stdout, `${name} ${message} ${Reflect.get(cause, 'code')} ${cause.message}\n`);
  assert.equal((await double.fetch('/', { secure: true })).status, 200);
});
