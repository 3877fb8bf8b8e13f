import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type Grant,
  readGrant,
  readToken,
  type Token,
  toGrantRecord,
  toTokenRecord,
} from '../../src/oauth/records.ts';
import type { StoredItem, StoredRecord } from '../../src/store/store.ts';

const grant: Grant = {
  id: 'g',
  mechanism: 'oauth2',
  client: 'app',
  user: 'ann',
  scopes: ['read'],
  issued: 1,
  ends: 2,
  revoked: false,
};

const token: Token = {
  digest: 'd',
  mechanism: 'oauth1',
  kind: 'request',
  client: 'printer',
  user: 'ann',
  grant: 'g',
  scopes: ['read', 'write'],
  issued: 1,
  expires: 2,
  used: false,
  details: { callback: 'oob' },
};

function buildEntry(id: string, value: StoredRecord): StoredItem {
  return { id, value, sequence: 1, revision: 1, modified: 0 };
}

function without(value: StoredRecord, name: string): StoredRecord {
  return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));
}

test('a grant is read back unchanged, with and without a user', () => {
  for (const each of [grant, { ...grant, user: undefined }])
    assert.deepEqual(readGrant(buildEntry('g', toGrantRecord(each))), each);
});

test('a token is read back unchanged, with and without a user and a grant', () => {
  for (const each of [token, { ...token, user: undefined, grant: undefined }])
    assert.deepEqual(readToken(buildEntry('d', toTokenRecord(each))), each);
});

for (const name of ['mechanism', 'client', 'issued', 'ends', 'revoked']) {
  test(`a record without ${name}, or with another type of it, is not a grant`, () => {
    const value = toGrantRecord(grant);
    assert.equal(readGrant(buildEntry('g', without(value, name))), undefined);
    assert.equal(readGrant(buildEntry('g', { ...value, [name]: ['other'] })), undefined);
  });
}

for (const name of ['mechanism', 'kind', 'client', 'issued', 'expires', 'used']) {
  test(`a record without ${name}, or with another type of it, is not a token`, () => {
    const value = toTokenRecord(token);
    assert.equal(readToken(buildEntry('d', without(value, name))), undefined);
    assert.equal(readToken(buildEntry('d', { ...value, [name]: ['other'] })), undefined);
  });
}

for (const name of ['user', 'grant']) {
  test(`a record with a ${name} that is not a string is not a token`, () => {
    assert.equal(readToken(buildEntry('d', { ...toTokenRecord(token), [name]: 7 })), undefined);
  });
}

test('a scope that is not a string is ignored', () => {
  const kept = { ...toTokenRecord(token), scopes: [7, 'read'] };
  assert.deepEqual(readToken(buildEntry('d', kept))?.scopes, ['read']);
});
