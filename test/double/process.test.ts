import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { modulePath, reading } from '../support/program.ts';

/** The time (ms) after which a child process counts as one that does not exit, also on a busy machine. */
const patience = 180_000;

/** Runs a script that may use `startDouble`; `seen` is called with each line that it prints. */
async function run(
  t: TestContext,
  script: string,
  seen: (line: string) => void = () => undefined,
): Promise<{ status: number | null; stderr: string; printed: string[] }> {
  const library = JSON.stringify(modulePath('src/double/index.ts'));
  const code = `import { startDouble } from ${library};\n${script}`;
  const child = spawn(process.execPath, [...reading, '--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: patience,
    killSignal: 'SIGKILL',
  });
  t.after(() => child.kill('SIGKILL'));
  const printed: string[] = [];
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  createInterface(child.stdout).on('line', (line) => {
    printed.push(line);
    seen(line);
  });
  const [status] = await once(child, 'close');
  return { status, stderr, printed };
}

const left = {
  'after requests in process, over HTTP and over HTTPS with the connection kept open, with its control interface open': `
    import { Agent, request } from 'node:https';
    const double = await startDouble({ users: ['ann'] });
    await double.as('ann').fetch('/articles');
    await (await fetch(double.url + '/articles')).text();
    const agent = new Agent({ keepAlive: true, ca: double.ca });
    await new Promise((resolve) =>
      request(double.secureUrl + '/articles', { agent }, (reply) => reply.resume().on('end', resolve)).end());
    const { url } = await double.openControl();
    await (await fetch(url + '/health')).text();`,
  'with a delayed response that its client no longer waits for': `
    import { once } from 'node:events';
    import { connect } from 'node:net';
    const double = await startDouble();
    double.faults.next({ path: '/articles/1' }, { delay: 600_000 });
    const socket = connect(Number(new URL(double.url).port), '127.0.0.1');
    // The server reads both requests at once, so it has the second one when it answers the first.
    const asFor = (path) => 'GET ' + path + ' HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n';
    socket.write(asFor('/articles') + asFor('/articles/1'));
    await once(socket, 'data');
    socket.destroy();`,
};

for (const [how, script] of Object.entries(left)) {
  test(`a double that is not closed lets its process exit ${how}`, async (t) => {
    const { status, stderr } = await run(t, script);
    assert.equal(status, 0, stderr);
  });
}

test('a double that is not closed lets its process exit while another process keeps connections open', async (t) => {
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const opened = (line: string): void => {
    const asked = request(`${line}/articles`, { agent }, (reply) => reply.resume());
    asked.on('error', () => undefined).end();
  };
  const script = `
    const double = await startDouble();
    console.log(double.url);
    await double.journal.waitFor({ path: '/articles' }, { timeout: 120_000 });`;
  const { status, stderr } = await run(t, script, opened);
  assert.equal(status, 0, stderr);
});

const printing: Readonly<Record<string, readonly [script: string, printed: readonly string[]]>> = {
  'a delayed response in process arrives although nothing else keeps the process alive': [
    `
    const double = await startDouble();
    double.faults.times(2, {}, { delay: 100 });
    double.faults.next({}, { dribble: 2000 });
    console.log((await double.fetch('/articles')).status);
    console.log((await double.fetch('/articles', { signal: AbortSignal.timeout(120_000) })).status);
    console.log((await (await double.fetch('/articles')).text()).length > 0);`,
    ['200', '200', 'true'],
  ],
  'an aborted call in process no longer keeps the process alive': [
    `
    const double = await startDouble();
    double.faults.next({}, { delay: 600_000 });
    await double.fetch('/articles', { signal: AbortSignal.timeout(50) }).catch((error) => console.log(error.name));`,
    ['TimeoutError'],
  ],
  'waitFor rejects with timeout although nothing else keeps the process alive, and unhandled does not end it':
    [
      `
    const double = await startDouble();
    await double.journal.waitFor({ path: '/never' }, { timeout: 100 }).catch((error) => console.log(error.code));
    double.journal.waitFor({ path: '/never' });
    await double.close();
    double.journal.waitFor({ path: '/never' });
    await new Promise((resolve) => setImmediate(resolve));
    console.log('alive');`,
      ['timeout', 'alive'],
    ],
  'close waits for requests in flight although nothing else keeps the process alive': [
    `
    import { once } from 'node:events';
    import { connect } from 'node:net';
    const double = await startDouble();
    const socket = connect(Number(new URL(double.url).port), '127.0.0.1').on('error', () => undefined);
    const started = 'GET /articles HTTP/1.1\\r\\nHost: localhost\\r\\n';
    // The server reads the beginning of the second request together with the first.
    socket.write(started + '\\r\\n' + started);
    await once(socket, 'data');
    socket.unref();
    await double.close({ grace: 100 });
    console.log('closed');`,
    ['closed'],
  ],
};

for (const [what, [script, expected]] of Object.entries(printing))
  test(what, async (t) => {
    const { status, stderr, printed } = await run(t, script);
    assert.equal(status, 0, stderr);
    assert.deepEqual(printed, expected);
  });

for (const https of [true, false]) {
  test(`with unref: false a double ${https ? '' : 'without HTTPS '}keeps its process alive until it is closed`, async (t) => {
    // Nothing else keeps it alive: a handler of signals does not.
    const script = `
      const double = await startDouble({ unref: false, https: ${https} });
      process.once('SIGTERM', async () => { await double.close(); console.log('closed'); });
      process.once('exit', () => console.log('exit'));
      console.log(process.pid + ' ' + double.url);`;
    const { status, stderr, printed } = await run(t, script, (line) => {
      const [pid, url] = line.split(' ');
      if (url === undefined) return;
      fetch(`${url}/articles`)
        .then((reply) => reply.text())
        .then(() => process.kill(Number(pid), 'SIGTERM'));
    });
    assert.equal(status, 0, stderr);
    assert.deepEqual(printed.slice(1), ['closed', 'exit']);
  });
}
