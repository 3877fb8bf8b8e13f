import assert from 'node:assert/strict';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';

/** The redirect URI of the clients. */
export const callback = 'https://client.example/cb';

/** The secrets of the clients and consumers, and the password of johndoe. */
export const secrets = {
  app: 'the secret of app',
  rival: 'the secret of rival',
  key1: 'the secret of key1',
  key2: 'the secret of key2',
  johndoe: 'a-password',
};

/** Opens a double with two clients of OAuth 2.0 and two consumers of OAuth 1.0a. */
export function openWithOAuth(options: DoubleOptions = {}): Promise<Double> {
  return startDouble({
    users: { johndoe: { secret: 's3cret-of-john', password: secrets.johndoe }, ann: {} },
    clients: {
      app: {
        secret: secrets.app,
        redirectUris: [callback],
        scopes: ['read'],
        grants: ['authorization_code', 'refresh_token'],
      },
      rival: { secret: secrets.rival, redirectUris: [callback] },
    },
    consumers: {
      key1: { secret: secrets.key1, callbacks: ['oob', 'https://client.example/ready'] },
      key2: { secret: secrets.key2, callbacks: ['oob'] },
    },
    now: '2026-03-01T12:00:00Z',
    ...options,
  });
}

/** The first line of the latest entry. Fails if the entry contains a secret, or any of these texts. */
export function readLine(double: Double, ...hidden: readonly string[]): string {
  const text = String(double.journal.last());
  for (const each of [...Object.values(secrets), ...hidden]) assert.ok(!text.includes(each), text);
  const [line = ''] = text.split('\n', 1);
  return line;
}
