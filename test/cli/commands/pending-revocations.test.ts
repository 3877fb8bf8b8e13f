import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { revocationFile } from '../../../src/accounts/revocations.ts';
import { call } from '../../support/cli/command.ts';
import { done, type LiveServer, startOn, usersFile } from '../../support/cli/oauth.ts';
import { callback, tokensFor } from '../../support/oauth/server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const scopes = ['--scope', 'read', '--scope', 'write'];

async function useToken(server: LiveServer, bearer: string): Promise<number> {
  return (await server.ask('GET', '/users/ann/financialrecords', { bearer })).status;
}

function fresh(): string {
  return join(temporaryDirectory(), 'data');
}

/** Returns a stopped data directory with a grant of ann, and its access token. */
async function withGrant(): Promise<{ data: string; token: string }> {
  const data = fresh();
  const register = ['client', 'add', 'app', '--redirect-uri', callback, ...scopes, '--data', data];
  await done([...register, '--secret-stdin'], 'app-secret-0123456789\n');
  const server = await startOn(data, usersFile());
  const { access } = await tokensFor(server);
  assert.equal(await useToken(server, access), 200);
  await server.end();
  return { data, token: access };
}

/** Stores a request to revoke everything of a user, as `grant revoke` does before a server carries it out. */
async function request(data: string, user: string): Promise<void> {
  await revocationFile.change(data, undefined, (entries) => entries.set(`of ${user}`, { user }));
}

/** Returns the users of the revocations that are requested in a directory, in order. */
async function requested(data: string): Promise<unknown[]> {
  const { entries } = await revocationFile.read(data);
  return Array.from(entries.values(), ({ user }) => user).sort();
}

/** Returns the status of a request with a token to a server that starts on a directory. */
async function statusOn(data: string, bearer: string): Promise<number> {
  const server = await startOn(data, usersFile());
  const status = await useToken(server, bearer);
  await server.end();
  return status;
}

describe('a revocation that no server has carried out yet', () => {
  const copies: readonly [what: string, copy: (from: string, to: string) => Promise<unknown>][] = [
    ['a backup', (from, to) => done(['backup', to, '--data', from])],
    ['a restored backup', (from, to) => done(['restore', from, '--data', to])],
    ['a repaired directory', (from, to) => done(['check', '--data', from, '--repair', to])],
    [
      'an import of an export with tokens',
      async (from, to) => {
        const { stdout } = await call(['export', '--with-tokens', '--with-accounts', '--data', from]);
        await done(['import', '--data', to], stdout);
      },
    ],
  ];
  const original = withGrant().then(async (made) => {
    await request(made.data, 'ann');
    return made;
  });
  for (const [what, copy] of copies)
    test(`is carried out by the server that starts on ${what}`, async () => {
      const { data, token } = await original;
      const to = fresh();
      await copy(data, to);
      assert.deepEqual(await requested(to), ['ann']);
      assert.equal(await statusOn(to, token), 401);
      assert.deepEqual(await requested(to), []);
    });

  test('stays in a directory whose data is replaced, besides those of the backup', async () => {
    const data = fresh();
    await done(['backup', data, '--data', (await original).data]);
    await request(data, 'bob');
    await done(['restore', (await original).data, '--replace', '--data', data]);
    assert.deepEqual(await requested(data), ['ann', 'bob']);
  });

  test('is not in an export without tokens', async () => {
    const { data } = await original;
    const { stdout } = await call(['export', '--with-accounts', '--data', data]);
    assert.doesNotMatch(stdout, /revocations/);
  });
});
