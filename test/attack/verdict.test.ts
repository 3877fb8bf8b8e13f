import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { suite, type TestContext, test } from 'node:test';
import { type Attempt, attack, createAttempts, createSigner } from '../../src/attack/index.ts';
import { listen } from '../support/net/listen.ts';
import { importPackage, missingPackage } from '../support/packages.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const body = '{"amount":12.5}';

/** Starts a server that answers with what `handle` returns: a status and, if any, a text. */
async function start(
  context: TestContext,
  handle: (request: IncomingMessage, content: string) => readonly [status: number, text?: string],
): Promise<string> {
  const server = createServer(async (request, response) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of request) pieces.push(piece);
    const [status, text] = handle(request, Buffer.concat(pieces).toString());
    response.writeHead(status).end(text);
  });
  return `${await listen(context, server)}/hook`;
}

/** Answers as a route for POST does in usual frameworks: 404 for another method. */
function postOnly(verify: (request: IncomingMessage, content: string) => unknown) {
  return (request: IncomingMessage, content: string): readonly [number, string?] => {
    if (request.method !== 'POST') return [404];
    try {
      verify(request, content);
      return [204];
    } catch {
      return [400];
    }
  };
}

function createHookAttempts(url: string, preset: 'stripe' | 'standard-webhooks'): Attempt[] {
  const signer = createSigner({ scheme: { preset, user: 'shop' }, user: 'shop', secret });
  return createAttempts(
    { method: 'POST', url, headers: { 'Content-Type': 'application/json' }, body },
    signer,
    {
      window: '5m',
    },
  );
}

/** A verifier that accepts everything that has the field. */
const careless = postOnly((request) => assert.ok(request.headers['stripe-signature']));

suite('the verdict of an attack', () => {
  test('a receiver that verifies with the package of Stripe passes', async (context) => {
    const missing = missingPackage('stripe');
    if (missing !== false) return context.skip(missing);
    const { default: Stripe } = await importPackage('stripe');
    const { webhooks } = new Stripe('sk_test_1');
    const url = await start(
      context,
      postOnly((request, content) =>
        webhooks.constructEvent(content, request.headers['stripe-signature'], secret),
      ),
    );
    const report = await attack(url, createHookAttempts(url, 'stripe'));
    assert.ok(report.passed, String(report));
  });

  test('each result has a weakness with what it proves and what to do; those of low severity do not count', async (context) => {
    const url = await start(context, () => [204]);
    const [good] = createHookAttempts(url, 'stripe');
    const future = createHookAttempts(url, 'stripe').filter(({ id }) => id === 'future-date');
    assert.ok(good !== undefined);
    const report = await attack(url, [good, ...future]);
    assert.deepEqual([report.passed, report.failed.length], [true, 3]);
    for (const { id, severity, proves, remedy } of report.failed) {
      assert.deepEqual([id, severity], ['future-date', 'low']);
      assert.match(proves, /stays valid for longer/);
      assert.match(remedy, /refuse it beyond the window/);
    }
    assert.match(String(report), /Accepted, with low severity, which does not count:\nfuture-date \(low\): /);
  });

  test('a waived weakness does not count, and the report has the reason', async (context) => {
    const url = await start(context, careless);
    const attempts = createHookAttempts(url, 'stripe').filter(({ id }) =>
      ['good-request', 'stale-date'].includes(id),
    );
    const strict = await attack(url, attempts);
    assert.equal(strict.passed, false);
    assert.match(String(strict), /stale-date \(medium\): .* Compare the signed date with your clock/);
    const waive = { 'stale-date': 'until version 2', replay: 'never tried' } as const;
    const report = await attack(url, attempts, { waive });
    assert.deepEqual([report.passed, report.failed, report.waived.length], [true, [], 3]);
    assert.match(String(report), /Waived:\n- the date is a minute older .*204, until version 2/);
    assert.match(String(report), /Waived in vain, because no attempt failed:\n- replay/);
  });

  test('a waiver of what does not exist, or without a reason, is rejected', async () => {
    const waive = (waivers: object) => attack('http://127.0.0.1:1', [], { waive: waivers });
    await assert.rejects(
      waive({ 'future-dates': 'why' }),
      /there is no weakness "future-dates"; did you mean/,
    );
    await assert.rejects(
      waive({ 'future-date': ' ' }),
      /the options of attack\.waive\.future-date must be the reason as text$/,
    );
    await assert.rejects(waive([]), /waive must be an object such as/);
  });

  test('another method that has no route is refused, and what is not tested is stated', async (context) => {
    const url = await start(context, careless);
    const attempts = createHookAttempts(url, 'stripe').filter(
      ({ id, name }) => id === 'good-request' || name.includes('is sent with the signature'),
    );
    const report = await attack(url, attempts);
    assert.ok(report.passed, String(report));
    assert.ok(report.results.some(({ status }) => status === 404));
    assert.ok(report.notTested.includes('old requests, because the signature has no date'));
    assert.match(String(report), /Not tested:\n(?:- .*\n)*- timing: whether signatures are compared/);
  });

  test('the refusal of the good request is explained', async (context) => {
    const explain = async (status: number, text?: string): Promise<string> => {
      const url = await start(context, () => (text === undefined ? [status] : [status, text]));
      const [good] = createHookAttempts(url, 'stripe');
      assert.ok(good !== undefined);
      return String(await attack(url, [good]));
    };
    const echo = '{"error":{"code":1},"message":"bad signature"}';
    assert.match(
      await explain(401, echo),
      /401, the server refuses the credentials: compare the secret.*; the server answers "bad signature"; expected/,
    );
    assert.match(await explain(404), /404, the server has nothing at \/hook; expected/);
    assert.match(await explain(405), /the server does not have the method POST here/);
    assert.match(
      await explain(500, '<h1>Oops</h1>'),
      /the server failed internally; the server answers "Oops"/,
    );
  });
});
