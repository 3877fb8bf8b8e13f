import assert from 'node:assert/strict';
import { chownSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { call } from '../support/cli/command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Returns a data directory of another user in which a file or directory is a link to one of root. */
function planted(name: string, target: string): string {
  const data = temporaryDirectory();
  symlinkSync(target, join(data, name));
  chownSync(data, 1234, 1235);
  return data;
}

describe('root follows no symbolic link in the data directory of another user', {
  skip: process.getuid?.() === 0 ? false : 'only root can create files of another user',
}, () => {
  test('serve creates no certificate behind the link tls', async () => {
    const outside = temporaryDirectory();
    const data = planted('tls', outside);
    const { status, stderr } = await call(['--data', data, '--port', '0']);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /tls is a symbolic link in a data directory of another user, which root does not follow/,
    );
    assert.deepEqual(readdirSync(outside), []);
  });

  for (const name of ['users.json', 'oauth.key', 'journal-1.jsonl', 'tls'])
    test(`check and backup do not read ${name} behind a link`, async () => {
      const file = join(temporaryDirectory(), 'secret');
      writeFileSync(file, 'secret of root', { mode: 0o600 });
      const data = planted(name, file);
      const copy = join(temporaryDirectory(), 'copy');
      for (const args of [['check'], ['backup', copy]]) {
        const { status, stderr } = await call([...args, '--data', data]);
        assert.equal(status, 1);
        assert.match(stderr, new RegExp(`${name} is a symbolic link`));
      }
      assert.equal(readFileSync(file, 'utf8'), 'secret of root');
    });
});
