import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRequestToken, openTestService, startSecond } from '../../support/oauth/consumer.ts';

test('a stored nonce contains only digests, and is stored until its timestamp has expired', async () => {
  const claimed: { user: string; nonce: string; until: number }[] = [];
  const server = openTestService({
    nonces: {
      claim(user, nonce, until) {
        claimed.push({ user, nonce, until });
        return 'fresh';
      },
      size: 0,
    },
  });
  await askRequestToken(server, {
    protocol: { oauth_nonce: '"\n\u0000 odd', oauth_timestamp: `${startSecond + 7}` },
  });
  assert.equal(claimed.length, 1);
  const [{ user = '', nonce = '', until = 0 } = {}] = claimed;
  assert.match(user, /^oauth1:[A-Za-z0-9_-]{43}$/);
  assert.match(nonce, /^[A-Za-z0-9_-]{43}$/);
  assert.ok(until >= (startSecond + 7 + 300) * 1000 + 999);
});
