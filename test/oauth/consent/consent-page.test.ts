import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { showQuestion } from '../../../src/oauth/consent/consent-page.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { consumers, requestToken } from '../../support/oauth/consumer.ts';
import { authorizeTarget, openServer } from '../../support/oauth/server.ts';
import { seeded } from '../../support/seeded.ts';

const ann = 'ann:ann-password';

test('the page has headers against storage, framing and referrers, and a strict content security policy', async () => {
  const { ask } = openServer();
  const page = await ask('GET', authorizeTarget(), {
    basic: ann,
    fields: [['Accept', 'text/html,*/*;q=0.8']],
  });
  assert.equal(page.status, 200);
  assert.equal(page.field('Content-Type'), 'text/html; charset=utf-8');
  assert.equal(page.field('Cache-Control'), 'no-store');
  assert.equal(page.field('X-Frame-Options'), 'DENY');
  assert.equal(page.field('Referrer-Policy'), 'no-referrer');
  assert.equal(page.field('X-Content-Type-Options'), 'nosniff');
  const style = /<style>([^<]*)<\/style>/.exec(page.text)?.[1] ?? '';
  const digest = createHash('sha256').update(style).digest('base64');
  assert.equal(
    page.field('Content-Security-Policy'),
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; frame-ancestors 'none'`,
  );
});

test('the page has a new ticket each time, and shows the origin that the decision is sent to', async () => {
  const { ask } = openServer();
  const tickets = new Set<string>();
  for (let time = 0; time < 3; time += 1) {
    const { text } = await ask('GET', authorizeTarget(), { basic: ann });
    assert.match(text, /Your answer is sent to <bdi>https:\/\/app\.example<\/bdi>/);
    tickets.add(/name="consent_ticket" value="([A-Za-z0-9_-]{43})"/.exec(text)?.[1] ?? '');
  }
  assert.equal(tickets.size, 3);
});

for (const type of ['text/html', 'application/json']) {
  test(`HEAD returns the header fields of the consent page in ${type}, and stores nothing`, async () => {
    const store = createMemoryStore({ storeId: 'a' });
    const server = openServer({ consumers, store });
    const { token } = await requestToken(server);
    const sending = { basic: ann, fields: [['Accept', type]] } as const;
    for (const target of [authorizeTarget(), `/oauth1/authorize?oauth_token=${token}`]) {
      const kept = JSON.stringify(store.snapshot());
      const head = await server.ask('HEAD', target, sending);
      assert.equal(head.status, 200);
      assert.equal(JSON.stringify(store.snapshot()), kept, target);
      const page = await server.ask('GET', target, sending);
      assert.notEqual(JSON.stringify(store.snapshot()), kept);
      assert.equal(head.text.length, page.text.length, 'which is the Content-Length');
      for (const name of ['Content-Type', 'Cache-Control', 'Content-Security-Policy', 'Vary'])
        assert.equal(head.field(name), page.field(name));
    }
  });
}

test('a client that accepts neither HTML nor JSON gets 406', async () => {
  const { ask } = openServer();
  const fields = [['Accept', 'image/png']] as const;
  assert.equal((await ask('GET', authorizeTarget(), { basic: ann, fields })).status, 406);
});

const elements = [
  ...['a', 'bdi', 'body', 'button', 'form', 'h1', 'head', 'html', 'input', 'li', 'main', 'meta', 'p'],
  ...['strong', 'title', 'ul'],
];

test('names of clients and users, and addresses, are always escaped as text on the page', () => {
  const random = seeded();
  for (let run = 0; run < 1000; run += 1) {
    const name = (): string => random.text('<>&"\'/ =aé\u202e\0\u0007\n\r\t\ud800😀', 30);
    const { representation } = showQuestion({
      client: name(),
      user: name(),
      destination: name(),
      action: name(),
      grants: name(),
      ticket: 'ticket',
      scopes: ['read'],
      lifetime: 90_000,
      variant: undefined,
    });
    const text = String(representation?.body).replace(/<style>[^<]*<\/style>/, '');
    const bare = text.replace(/&(amp|lt|gt|quot|#\d+);/g, '');
    const seen = `seed ${random.seed}: ${text}`;
    const tags = new Set(
      Array.from(bare.matchAll(/<\/?([a-z0-9]*)/g), ([, tag = '']) => tag).filter(Boolean),
    );
    assert.deepEqual([...tags].sort(), elements, seen);
    // Every quote is one of those that the page itself has.
    assert.equal(bare.split('"').length - 1, 30, seen);
    assert.doesNotMatch(bare, /[\0-\x08\x0b\x0c\x0e-\x1f&]/, seen);
  }
});
