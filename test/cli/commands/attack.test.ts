import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { call } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const folder = temporaryDirectory();
const secret = 's3cret of ann';
const environment = { COUNTERSIGN_SECRET: secret };
const users = { ann: { secret } };

suite('countersign attack', () => {
  test('exits with 0 for a server that passes, and states what is not tested', async () => {
    await using double = await startDouble({ users, maxAuthFailures: 0, https: false });
    const { status, stdout, stderr } = await call(
      ['attack', `${double.url}/articles`, '--user', 'ann', '--open'],
      {
        environment,
      },
    );
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^\d+ attempts: \d+ passed, 0 failed, 0 inconclusive, 0 skipped\.\n/);
    assert.match(stdout, /Not tested:\n(?:- .*\n)*- timing/);
  });

  test('exits with 1 and says why the good request is refused, without the secret', async () => {
    await using double = await startDouble({ users, maxAuthFailures: 0, https: false });
    double.stub({ method: 'POST', path: '/hook' }, { status: 204 });
    const { status, stdout } = await call(
      ['attack', `${double.url}/hook`, '--user', 'bob', '--method', 'POST'],
      {
        environment,
      },
    );
    assert.equal(status, 1);
    assert.match(stdout, /the good request is accepted \(POST\): 401, the server refuses the credentials/);
    assert.doesNotMatch(stdout, /s3cret/);
  });

  test('attacks with a preset, a content and a waiver', async () => {
    const schemes = { hook: { preset: 'stripe', user: 'ann' } } as const;
    await using double = await startDouble({ users, schemes, maxAuthFailures: 0, https: false });
    double.stub({ method: 'POST', path: '/hook' }, { status: 204 });
    const content = join(folder, 'event.json');
    writeFileSync(content, '{"amount":12.5}');
    const args = [
      'attack',
      `${double.url}/hook`,
      '--scheme',
      'stripe',
      '--content',
      content,
      '--window',
      '5m',
    ];
    const { status, stdout } = await call([...args, '--waive', 'future-date=the sender is ours'], {
      environment,
    });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /Waived in vain, because no attempt failed:\n- future-date/);
  });

  test('attacks with a scheme of the configuration file', async () => {
    const schemes = { orders: { preset: 'github', user: 'ann' } } as const;
    await using double = await startDouble({ users, schemes, maxAuthFailures: 0, https: false });
    double.stub({ method: 'POST', path: '/hook' }, { status: 204 });
    const [config, content] = [join(folder, 'config.json'), join(folder, 'order.json')];
    writeFileSync(config, JSON.stringify({ schemes }));
    writeFileSync(content, '{"amount":12.5}');
    const args = [
      'attack',
      `${double.url}/hook`,
      '--scheme',
      'orders',
      '--config',
      config,
      '--content',
      content,
    ];
    const { status, stdout, stderr } = await call(args, { environment });
    assert.equal(status, 0, stdout + stderr);
  });
});
