import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import { createManualClock } from '../../src/clock.ts';
import { defaultDeclarations } from '../../src/collections/declaration.ts';
import { createRequest, type Response as Reply, type RequestParts } from '../../src/http/message.ts';
import { action } from '../../src/pipeline/resource.ts';
import type { SchemeDeclarations } from '../../src/schemes/scheme-declarations.ts';
import type { ServiceOptions } from '../../src/service/options.ts';
import { createControllableService } from '../../src/service/service.ts';

const now = Date.UTC(2026, 10, 22, 12);
const partner = {
  message: '{timestamp}.{method}.{target}.{body}',
  signature: { field: 'X-Signature', format: 'v1={signature}' },
  user: { field: 'X-Api-Key' },
  timestamp: { field: 'X-Timestamp', window: 300 },
} as const;
const schemes: SchemeDeclarations = {
  partner,
  aws4: { region: 'eu-central-1', service: 'execute-api' },
  'message-signatures': { window: 300 },
};
const users = { ann: { secret: 'secret of ann' } };

function service(options: Partial<ServiceOptions> = {}) {
  return createControllableService({ clock: createManualClock(now), users, schemes, ...options });
}

async function answer(options: Partial<ServiceOptions>, parts: Partial<RequestParts>): Promise<Reply> {
  const served = service(options);
  const response = await served.respond(createRequest({ method: 'POST', target: '/articles', ...parts }));
  await served.close();
  return response;
}

function field(response: Reply, name: string): string | undefined {
  return response.headers.find(([each]) => each === name)?.[1];
}

const article = '{"title":"Tea","price":{"value":"3.50","currency":"EUR"}}';

/** Fields signed with the partner's scheme, by node:crypto alone. */
function signed(target = '/articles', content = article): readonly [string, string][] {
  const timestamp = String(now / 1000);
  const mac = createHmac('sha256', 'secret of ann').update(`${timestamp}.POST.${target}.${content}`);
  return [
    ['Content-Type', 'application/json'],
    ['X-Api-Key', 'ann'],
    ['X-Timestamp', timestamp],
    ['X-Signature', `v1=${mac.digest('hex')}`],
  ];
}

describe('a configured scheme', () => {
  test('has a challenge in every 401, and its fields in Vary', async () => {
    const response = await answer({}, { body: article, headers: [['Content-Type', 'application/json']] });
    assert.equal(response.status, 401);
    const challenges = field(response, 'WWW-Authenticate') ?? '';
    for (const name of ['hmac', 'partner', 'AWS4-HMAC-SHA256'])
      assert.match(challenges, new RegExp(`(^|, )${name} realm=`));
    assert.match(field(response, 'Accept-Signature') ?? '', /"@method"/);
    const vary = (field(response, 'Vary') ?? '').split(', ');
    for (const name of ['Authorization', 'x-signature', 'signature-input'])
      assert.ok(vary.includes(name), name);
  });

  test('is the only scheme accepted by a collection or resource that names it', async () => {
    const { element, item, fields } = defaultDeclarations['/articles'] ?? assert.fail();
    const collections = { '/articles': { element, item, fields, schemes: ['aws4'] } };
    const resources = {
      '/hooks': { POST: action('authenticated', () => ({ status: 204 })), schemes: ['partner'] },
    };
    const refused = await answer({ collections }, { headers: signed(), body: article });
    assert.equal(refused.status, 401);
    assert.match(
      field(refused, 'WWW-Authenticate') ?? '',
      /^AWS4-HMAC-SHA256 realm="[^"]*", region="eu-central-1"/,
    );
    const taken = await answer({ resources }, { target: '/hooks', headers: signed('/hooks'), body: article });
    assert.equal(taken.status, 204);
  });
});

describe('an invalid configuration of schemes is rejected at start', () => {
  const cases: [name: string, options: Partial<ServiceOptions>, message: RegExp][] = [
    [
      'the name of a built-in scheme',
      { schemes: { hmac: partner } },
      /^schemes\.hmac: this scheme is built in/,
    ],
    ['a name that is no token', { schemes: { 'a b': partner } }, /^schemes\.a b: the name of a scheme/],
    [
      'a collection with an unknown scheme',
      { collections: { '/x': { element: 'xs', item: 'x', fields: {}, schemes: ['partnr'] } } },
      /^collections\.\/x\.schemes: there is no scheme "partnr"; did you mean "partner"/,
    ],
    [
      'a resource with an unknown scheme',
      { resources: { '/x': { GET: action('anyone', () => ({ status: 204 })), schemes: ['aws'] } } },
      /^schemes of the resource at \/x: there is no scheme "aws"; did you mean "aws4"/,
    ],
  ];
  for (const [name, options, message] of cases)
    test(name, () => {
      assert.throws(
        () => service(options),
        (error) => error instanceof Error && message.test(error.message),
      );
    });
});

test('over a socket, a signature covers the content bytes as sent, with Content-Length and in chunks', async (context) => {
  const served = createControllableService({
    clock: createManualClock(now),
    users,
    schemes: { hub: { preset: 'github', user: 'ann' } },
    resources: { '/hooks': { POST: action('authenticated', () => ({ status: 204 })) } },
  });
  const { url } = await served.listen({});
  context.after(() => served.close());
  const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x0d, 0x0a, 0x7d]);
  const mac = createHmac('sha256', users.ann.secret).update(bytes);
  const headers = { 'X-Hub-Signature-256': `sha256=${mac.digest('hex')}` };
  const post = async (body: Uint8Array<ArrayBuffer> | ReadableStream): Promise<Response> =>
    fetch(`${url}/hooks`, { method: 'POST', headers, body, duplex: 'half' });
  const chunks = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, 3));
      controller.enqueue(bytes.subarray(3));
      controller.close();
    },
  });
  assert.equal((await post(bytes)).status, 204);
  assert.equal((await post(chunks)).status, 204);
  const changed = await post(bytes.subarray(1));
  assert.equal(changed.status, 401);
  assert.match(changed.headers.get('WWW-Authenticate') ?? '', /hub realm=/);
});
