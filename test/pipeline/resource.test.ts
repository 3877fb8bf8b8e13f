import assert from 'node:assert/strict';
import test from 'node:test';
import { type Access, action, allow, permits, type Resource, xml } from '../../src/pipeline/resource.ts';
import type { Principal } from '../../src/principal.ts';

const ann = { name: 'ann', scheme: 'hmac' };
const bob = { name: 'bob', scheme: 'hmac' };
const doing = (access: Access) => action(access, async () => xml('<done/>'));

test('each access permits exactly the principals that it specifies', () => {
  const table: [access: Access | undefined, nobody: boolean, ann: boolean, bob: boolean][] = [
    ['anyone', true, true, true],
    ['authenticated', false, true, true],
    ['owner:user', false, true, false],
    ['owner:other', false, false, false],
    [['bob', 'carol'], false, false, true],
    [['owner:user', 'bob'], false, true, true],
    [['owner:other', 'carol'], false, false, false],
    [[], false, false, false],
    ['nobody', false, false, false],
    [undefined, false, false, false],
  ];
  for (const [access, ...expected] of table) {
    const actual = [undefined, ann, bob].map((principal) => permits(access, principal, { user: 'ann' }));
    assert.deepEqual(actual, expected, String(access));
  }
});

test('Allow lists the implemented methods that the principal may use', () => {
  const resource: Resource = { GET: doing('anyone'), PUT: doing('authenticated'), DELETE: doing(['bob']) };
  assert.deepEqual(allow(resource, undefined), ['HEAD', 'GET', 'OPTIONS']);
  assert.deepEqual(allow(resource, ann), ['HEAD', 'GET', 'PUT', 'OPTIONS']);
  assert.deepEqual(allow(resource, bob), ['HEAD', 'GET', 'PUT', 'DELETE', 'OPTIONS']);
});

test('HEAD has the access of GET unless headAccess is set', () => {
  assert.deepEqual(allow({ GET: doing('nobody') }, ann), ['OPTIONS']);
  assert.deepEqual(allow({ GET: doing('nobody'), headAccess: 'anyone' }, ann), ['HEAD', 'OPTIONS']);
  assert.deepEqual(allow({ headAccess: 'anyone' }, ann), ['OPTIONS']);
});

test('a resource without methods allows only OPTIONS', () => {
  assert.deepEqual(allow({}, undefined), ['OPTIONS']);
});

test('a client without a user has authenticated access if it may access any user, and matches no user name', () => {
  const client = (users: '*' | readonly string[]): Principal => ({
    name: 'ann',
    scheme: 'bearer',
    lent: { client: 'ann', scopes: ['read', 'write'], users },
  });
  const own = { username: 'ann' };
  assert.equal(permits('anyone', client([]), own), true);
  assert.equal(permits('authenticated', client([]), own), false);
  assert.equal(permits('authenticated', client(['bob']), own), true);
  assert.equal(permits('authenticated', client('*'), own), true);
  assert.equal(permits('owner:username', client([]), own), false);
  assert.equal(permits('owner:username', client(['bob']), own), false);
  assert.equal(permits('owner:username', client(['ann']), own), true);
  assert.equal(permits(['ann'], client('*'), own), false);
  assert.equal(permits(['ann', 'owner:username'], client(['ann']), own), true);
  assert.equal(permits(['ann', 'owner:username'], client(['bob']), own), false);
});
