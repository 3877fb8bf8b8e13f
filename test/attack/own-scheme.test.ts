import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { type TestContext, test } from 'node:test';
import { attack, createAttempts, type Signer } from '../../src/attack/index.ts';
import { createManualClock } from '../../src/clock.ts';
import { listen } from '../support/net/listen.ts';

// A scheme that is not ours, and a server that has it right: nothing may be held against it.
const clock = createManualClock(Date.UTC(2026, 1, 9));
const secret = 'shared';

function computeDigest(key: string, parts: readonly string[]): string {
  return createHmac('sha256', key).update(parts.join('\n')).digest('base64');
}

const signer: Signer = {
  sign({ method, url }, changes) {
    const { date = clock.now(), nonce = '', secret: key = secret } = changes;
    const time = String(date);
    const signature = computeDigest(key, [method, new URL(url).pathname, time, nonce]);
    return { headers: { 'X-Timestamp': time, 'X-Nonce': nonce, 'X-Signature': signature } };
  },
};

function createJudge(isOnce: boolean): (request: IncomingMessage) => boolean {
  const nonces = new Set<string>();
  return ({ method = '', url = '', headersDistinct }) => {
    const [times = [], values = [], signatures = []] = ['x-timestamp', 'x-nonce', 'x-signature'].map(
      (name) => headersDistinct[name],
    );
    if (times.length !== 1 || values.length !== 1 || signatures.length !== 1) return false;
    const [[time = ''], [nonce = '']] = [times, values];
    if (signatures[0] !== computeDigest(secret, [method, url.split('?')[0] ?? '', time, nonce])) return false;
    if (!/^[0-9]+$/.test(time) || Math.abs(Number(time) - clock.now()) > 600_000) return false;
    if (isOnce && nonces.has(nonce)) return false;
    nonces.add(nonce);
    return true;
  };
}

async function serve(context: TestContext, isOnce: boolean): Promise<string> {
  const isGood = createJudge(isOnce);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(isGood(request) ? 200 : 401).end();
  });
  return listen(context, server);
}

const attempts = () => createAttempts({ url: 'http://api.example/things/7?b=1' }, signer, { clock });

test('a server that verifies a scheme of its own correctly passes', async (context) => {
  const report = await attack(await serve(context, true), attempts());
  assert.ok(report.passed, String(report));
  assert.ok(report.results.length > 45, String(report.results.length));
});

test('a server that does not store nonces fails only attempts with replays', async (context) => {
  const report = await attack(await serve(context, false), attempts());
  assert.deepEqual(
    report.failed.map(({ name }) => name),
    [
      'the request is sent again on the same connection',
      'the request is sent again on another connection',
      'the request is sent again after another one',
      'the nonce is sent again under a new date',
      'the request is sent 8 times at once',
    ],
  );
});

test('the query that a signer returns replaces parameters of the same name', () => {
  const inQuery: Signer = {
    sign: ({ method }, { nonce = '' }) => ({ query: { sig: `${method} ${nonce}`, 'a&b': 'ö' } }),
  };
  const [good] = createAttempts({ url: 'https://api.example/x?sig=old&c=1' }, inQuery, { clock });
  assert.match(good?.request.url ?? '', /^https:\/\/api\.example\/x\?c=1&sig=GET%20[\w-]+&a%26b=%C3%B6$/);
});

test('a signer can be an instance of a class', () => {
  class Own {
    readonly #secret = secret;
    sign({ method }: { readonly method: string }) {
      return { headers: { 'X-Signature': computeDigest(this.#secret, [method]) } };
    }
  }
  const names = createAttempts({ url: 'https://api.example/x' }, new Own(), { clock }).map(
    ({ name }) => name,
  );
  assert.ok(names.includes('PUT is sent with the signature of GET'));
});

test('the window can be a number of seconds or text such as 5m', () => {
  const dates = (window: number | string) =>
    createAttempts({ url: 'http://api.example/' }, signer, {
      clock,
      window,
      random: (size) => new Uint8Array(size),
    });
  assert.deepEqual(dates('5m'), dates(300));
  assert.throws(() => dates('5 min'), /window must be a number of seconds or text such as "5m"$/);
});
