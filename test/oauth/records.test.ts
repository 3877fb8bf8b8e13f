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

test('records are read back unchanged, and with a field of another type not at all', () => {
  const grantRecord = toGrantRecord(grant);
  const tokenRecord = toTokenRecord(token);
  assert.deepEqual(readGrant(buildEntry('g', grantRecord)), grant);
  assert.deepEqual(readToken(buildEntry('d', tokenRecord)), token);
  const other = ['other'];
  for (const name of ['mechanism', 'client', 'issued', 'ends', 'revoked'])
    assert.equal(readGrant(buildEntry('g', { ...grantRecord, [name]: other })), undefined, name);
  for (const name of ['mechanism', 'kind', 'client', 'issued', 'expires', 'used'])
    assert.equal(readToken(buildEntry('d', { ...tokenRecord, [name]: other })), undefined, name);
  for (const name of ['user', 'grant'])
    assert.equal(readToken(buildEntry('d', { ...tokenRecord, [name]: 7 })), undefined, name);
  const scopes = { ...tokenRecord, scopes: [7, 'read'] };
  assert.deepEqual(readToken(buildEntry('d', scopes))?.scopes, ['read']);
});
