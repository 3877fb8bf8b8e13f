import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import { hashPassword } from '../../src/accounts/passwords.ts';
import type { Response } from '../../src/http/message.ts';
import { createRequest } from '../../src/http/message.ts';
import { openService } from '../support/service/open-service.ts';

const salt = new Uint8Array(16);
const basic = (pair: string): [string, string] => [
  'Authorization',
  `Basic ${Buffer.from(pair).toString('base64')}`,
];

/** Has every scrypt of this process wait until it is told to go on. */
function holdHashes(context: TestContext) {
  const { scrypt } = crypto;
  const held: Parameters<typeof scrypt>[] = [];
  let begun = 0;
  const mocked = context.mock.method(crypto, 'scrypt', (...given: Parameters<typeof scrypt>) => {
    begun += 1;
    held.push(given);
  });
  syncBuiltinESMExports();
  context.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  return {
    begun: () => begun,
    goOn() {
      for (const given of held.splice(0)) scrypt(...given);
    },
  };
}

/** Lets everything that waits for nothing but its turn take it. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('at most two passwords of users and secrets of clients are hashed at a time, counted together', async (context) => {
  const { service } = openService({
    users: new Map([['ann', { secrets: [], password: { hash: await hashPassword('right', salt, 2) } }]]),
    clients: { app: { secret: { scrypt: await hashPassword('chosen, and long enough', salt, 2) } } },
    maxAuthFailures: 0,
  });
  const { begun, goOn } = holdHashes(context);
  const askAsUser = (password: string): Promise<Response> => {
    const fields = [basic(`ann:${password}`)];
    return service.respond(
      createRequest({ method: 'GET', target: '/users/ann/financialrecords', headers: fields, secure: true }),
    );
  };
  const askAsClient = (secret: string): Promise<Response> => {
    const form: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
    const content = 'grant_type=client_credentials&scope=read';
    const fields = [basic(`app:${secret}`), form];
    return service.respond(
      createRequest({
        method: 'POST',
        target: '/oauth2/token',
        headers: fields,
        body: content,
        secure: true,
      }),
    );
  };
  const replies = [askAsUser('wrong'), askAsUser('right'), askAsClient('wrong'), askAsClient('another')];
  await turns();
  assert.equal(begun(), 2, 'two of users');
  goOn();
  await Promise.all(replies.slice(0, 2));
  await turns();
  assert.equal(begun(), 4, 'two of clients behind them');
  const later = [askAsUser('no'), askAsUser('nor this')];
  await turns();
  assert.equal(begun(), 4, 'none of users beside them');
  for (; begun() < 6; await turns()) goOn();
  goOn();
  const statuses = (await Promise.all([...replies, ...later])).map(({ status }) => status);
  assert.deepEqual(statuses, [401, 200, 401, 401, 401, 401]);
});
