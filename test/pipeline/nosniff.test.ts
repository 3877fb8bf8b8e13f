import assert from 'node:assert/strict';
import test from 'node:test';
import { startDouble } from '../../src/double/index.ts';

test('every response with content has X-Content-Type-Options: nosniff', async () => {
  await using double = await startDouble({ users: { ann: {} }, clients: {} });
  const client = double.as('ann', { scheme: 'hmac' });
  const page = `${double.url}/articles`;
  const content = '{"title":"x","price":{"value":"1.00","currency":"EUR"}}';
  const headers = { 'Content-Type': 'application/json' };
  const responses = [
    await client.fetch('/articles'),
    await fetch(page, { method: 'HEAD' }),
    await fetch(page, { method: 'OPTIONS' }),
    await fetch(page, { method: 'DELETE' }),
    await fetch(`${double.url}/nothing`),
    await fetch(page, { method: 'PUT', headers: { Authorization: 'hmac ann:x:y' } }),
    await client.fetch('/articles', { method: 'POST', body: content, headers }),
  ];
  for (const response of responses) {
    const { status } = response;
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff', String(status));
  }
  const { url, token } = await double.openControl();
  const control = await fetch(`${url}/users`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(control.headers.get('x-content-type-options'), 'nosniff', 'once on the control port');
});
