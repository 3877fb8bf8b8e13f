import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRequest } from '../../src/http/message.ts';
import { createOrigins } from '../../src/pipeline/origin.ts';

test('a loopback name is accepted only with the port that the server listens on', () => {
  const origins = createOrigins(undefined);
  const named = (host: string): string[] => {
    const parts = { method: 'GET', target: '/', secure: true, peer: '127.0.0.1' };
    const request = createRequest({ ...parts, headers: [['Host', host]] });
    return [origins.forLinks(request), origins.asAddressed(request)];
  };
  const own = 'https://127.0.0.1:8443';
  origins.listening(own);
  for (const host of [
    'localhost',
    'localhost:443',
    '127.0.0.1',
    '[::1]',
    'localhost:8080',
    'evil.example:8443',
  ])
    assert.deepEqual(named(host), [own, own], host);
  for (const host of ['localhost:8443', '[::1]:8443'])
    assert.deepEqual(named(host), [`https://${host}`, `https://${host}`]);
  origins.listening('https://127.0.0.1:443');
  assert.deepEqual(named('localhost'), ['https://localhost', 'https://localhost']);
});
