import assert from 'node:assert/strict';
import test from 'node:test';
import { createAccounts } from '../../src/accounts/accounts.ts';
import type { AccountRecord } from '../../src/accounts/user-declaration.ts';

const users = (entries: Record<string, AccountRecord>): Map<string, AccountRecord> =>
  new Map(Object.entries(entries));
const ann = { secrets: [{ secret: 'a', until: 5 }], password: { hash: 'h1' } };
const bob = { secrets: [{ secret: 'b' }] };

test('an account is found by its name, unless it is disabled', async () => {
  const accounts = createAccounts(users({ ann, bob: { ...bob, disabled: true } }));
  const found = await accounts.find('ann');
  assert.equal(found?.name, 'ann');
  assert.deepEqual(found?.password, { hash: 'h1' });
  assert.equal(found?.secrets[0]?.until, 5);
  for (const name of ['bob', 'Ann', '', '__proto__', 'constructor']) {
    assert.equal(await accounts.find(name), undefined, name);
  }
});

test('the hashes are those of the enabled accounts', () => {
  const password = { hash: 'h2' };
  const accounts = createAccounts(users({ ann, bob, eve: { ...bob, password, disabled: true } }));
  assert.deepEqual(accounts.hashes, ['h1']);
  assert.equal(accounts.hashes, accounts.hashes);
  accounts.replace(users({ bob: { ...bob, password: { plain: 'p' } }, eve: { ...bob, password } }));
  assert.deepEqual(accounts.hashes, ['h2']);
});

test('an unchanged user has the same account after a replacement, and a changed user has a new one', async () => {
  const accounts = createAccounts(users({ ann, bob }));
  const before = await accounts.find('ann');
  accounts.replace(users({ ann: structuredClone(ann) }));
  assert.equal(await accounts.find('ann'), before);
  assert.equal(await accounts.find('bob'), undefined);
  const changes: Partial<AccountRecord>[] = [
    { secrets: [{ secret: 'a', until: 6 }] },
    { secrets: [{ secret: 'a' }] },
    { secrets: [] },
    { password: undefined },
    { password: { plain: 'h1' } },
  ];
  for (const change of changes) {
    const last = await accounts.find('ann');
    accounts.replace(users({ ann: { ...ann, ...change } }));
    assert.notEqual(await accounts.find('ann'), last, JSON.stringify(change));
  }
});

test('a declaration that is changed in place takes effect when it is declared again', async () => {
  const declared = { secrets: [{ secret: 'a' }], password: { plain: 'one' } };
  const accounts = createAccounts(users({ ann: declared }));
  declared.password.plain = 'two';
  assert.deepEqual((await accounts.find('ann'))?.password, { plain: 'one' });
  accounts.replace(users({ ann: declared }));
  assert.deepEqual((await accounts.find('ann'))?.password, { plain: 'two' });
});

test('an empty secret is rejected, and all accounts are unchanged', async () => {
  assert.throws(() => createAccounts(users({ ann: { secrets: [{ secret: '' }] } })), RangeError);
  const accounts = createAccounts(users({ ann }));
  assert.throws(() => accounts.replace(users({ bob, eve: { secrets: [{ secret: '' }] } })), RangeError);
  assert.equal((await accounts.find('ann'))?.name, 'ann');
  assert.equal(await accounts.find('bob'), undefined);
});

test('an invalid name is rejected, and all accounts are unchanged', async () => {
  const accounts = createAccounts(users({ ann }));
  for (const name of ['', 'a:b', 'a\n', '\u0085', '\ud800', 'x'.repeat(129), 'é'.repeat(65)]) {
    assert.throws(() => createAccounts(users({ [name]: bob })), RangeError, JSON.stringify(name));
    assert.throws(() => accounts.replace(users({ bob, [name]: bob })), RangeError, JSON.stringify(name));
    assert.equal((await accounts.find('ann'))?.name, 'ann');
    assert.equal(await accounts.find('bob'), undefined);
  }
  for (const name of ['x', ' ', 'é'.repeat(64)]) createAccounts(users({ [name]: bob }));
});

test('a plain password that Basic refuses at login is rejected at registration, without any change', async () => {
  const marks = '\u0316\u0301'.repeat(15);
  const withPassword = (plain: string): AccountRecord => ({ ...bob, password: { plain } });
  const refusals: readonly [plain: string, rule: RegExp][] = [
    [`p${marks}\u0301`, /more than 30 (combining|consecutive)/],
    ['\u0301'.repeat(31), /more than 30 (combining|consecutive)/],
    ['p\u0007', /control characters/],
    ['p\ud800', /lone surrogate/],
  ];
  const accounts = createAccounts(users({ ann }));
  for (const [plain, rule] of refusals) {
    const error = { name: 'RangeError', message: rule };
    assert.throws(() => createAccounts(users({ eve: withPassword(plain) })), error);
    const disabled = { ...withPassword(plain), disabled: true };
    assert.throws(() => accounts.replace(users({ bob, eve: disabled })), error);
    assert.equal(accounts.find('bob'), undefined);
  }
  for (const plain of [`p${marks}`, `${marks}b${marks}`, 'a:b', 'pässwörd ', '\u{1f600}'])
    createAccounts(users({ eve: withPassword(plain) }));
});
