import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { IncomingRequest, Response } from '../../src/http/message.ts';
import { createRequest } from '../../src/http/message.ts';
import { Problem } from '../../src/http/problem.ts';
import { action, type Resource, type ServiceOptions } from '../../src/index.ts';
import type { ControllableService } from '../../src/service/service.ts';
import { consumers, requestToken, startSecond } from '../support/oauth/consumer.ts';
import {
  authorizeTarget,
  basicField,
  openServer,
  type Server,
  toAnswer,
  tokensFor,
} from '../support/oauth/server.ts';

const formType = 'application/x-www-form-urlencoded';
const ann = basicField('ann:ann-password');
const app = basicField('app:app-secret-0123456789');

/** A resource that takes forms from anyone, and one from known users. It replies with the number of bytes. */
const takesForms = (access: 'anyone' | 'authenticated'): Resource<unknown, string> => ({
  POST: action<unknown, string>(
    access,
    ({ body: content = '' }) => ({ type: 'text/plain', body: `${content}` }),
    {
      reads: [
        {
          type: formType,
          decoder() {
            let length = 0;
            return {
              write(bytes) {
                length += bytes.length;
              },
              end: () => `${length} bytes`,
            };
          },
        },
      ],
    },
  ),
});

const resources = {
  '/open': takesForms('anyone'),
  '/closed': takesForms('authenticated'),
  '/greeting': { GET: action('anyone', () => ({ type: 'text/plain', body: 'hello' })) },
};

function open(options: ServiceOptions = {}): Server {
  return openServer({ consumers, resources, ...options });
}

/** Content that is announced and never arrives, and whether the service asked for it. */
function withheld(request: IncomingRequest): {
  readonly request: IncomingRequest;
  readonly asked: () => boolean;
} {
  let asked = false;
  const never = (): Promise<never> => {
    asked = true;
    return new Promise(() => {});
  };
  return {
    request: { ...request, body: { present: true, consume: never, hold: never } },
    asked: () => asked,
  };
}

/** The reply to a request whose content never arrives. Fails if the service waits for it. */
async function replyWithout(service: ControllableService, request: IncomingRequest): Promise<Response> {
  const { request: sent, asked } = withheld(request);
  const reply = await Promise.race([
    service.respond(sent),
    new Promise<undefined>((resolve) => setImmediate(() => setImmediate(() => resolve(undefined)))),
  ]);
  assert.ok(reply !== undefined && !asked(), `the content of ${request.method} ${request.target} is awaited`);
  return reply;
}

function formRequest(
  target: string,
  length: number,
  authorization?: string,
  method = 'POST',
): IncomingRequest {
  const fields: [string, string][] = [
    ['Content-Type', formType],
    ['Content-Length', String(length)],
  ];
  if (authorization !== undefined) fields.push(['Authorization', authorization]);
  return createRequest({ method, target, secure: true, headers: fields });
}

const endpoints: readonly (readonly [target: string, authorization: string | undefined])[] = [
  ['/oauth2/token', app],
  ['/oauth2/revoke', app],
  ['/oauth2/introspect', app],
  ['/oauth2/authorize', ann],
  ['/oauth1/authorize', ann],
  ['/oauth1/request_token', undefined],
  ['/oauth1/access_token', undefined],
];

for (const [target, authorization] of endpoints) {
  test(`a form of more than 64 KiB at ${target} gets 413, unread if Content-Length reports the size`, async () => {
    const { service, ask } = open();
    const reply = await replyWithout(service, formRequest(target, 65_537, authorization));
    assert.equal(reply.status, 413);
    const fields = authorization === undefined ? [] : [['Authorization', authorization] as const];
    const status = async (length: number): Promise<number> =>
      (await ask('POST', target, { fields, form: `a=${'x'.repeat(length - 2)}` })).status;
    assert.equal(await status(65_537), 413);
    assert.equal(await status(65_536), 400);
  });

  test(`a form of more than 1,000 parameters at ${target} is rejected before it is decoded`, async () => {
    const { ask } = open();
    const fields = authorization === undefined ? [] : [['Authorization', authorization] as const];
    const flood = (count: number): string => `${'a=&'.repeat(count - 1)}oauth_token=%`;
    const told = async (count: number): Promise<string> => {
      const { status, text, field } = await ask('POST', target, { fields, form: flood(count) });
      assert.equal(status, 400);
      return `${text} ${field('WWW-Authenticate')}`;
    };
    const tooMany = /at most 1000 parameters|^oauth_problem=parameter_rejected /i;
    assert.match(await told(1001), tooMany);
    if (target.includes('oauth2')) assert.doesNotMatch(await told(1000), tooMany);
  });
}

test('a form that decompresses to more than 64 KiB gets 413', async () => {
  const { service } = open();
  const content = gzipSync(`a=${'x'.repeat(65_535)}`);
  const fields: [string, string][] = [
    ['Content-Type', formType],
    ['Content-Encoding', 'gzip'],
  ];
  const parts = { method: 'POST', target: '/oauth2/token', secure: true, headers: fields, body: content };
  assert.equal((await service.respond(createRequest(parts))).status, 413);
});

test('a query of more than 1,000 parameters is rejected before it is decoded', async () => {
  const { ask } = open({ limits: { target: 100_000 } });
  const many = '&a='.repeat(1000);
  const shown = await ask('GET', `${authorizeTarget()}${many}`, { basic: 'ann:ann-password' });
  assert.equal(shown.status, 400);
  assert.match(shown.text, /at most 1000 parameters/);
  assert.equal((await ask('GET', authorizeTarget(), { basic: 'ann:ann-password' })).status, 200);
  assert.equal(
    (await ask('POST', `/oauth2/token?a=${many}`, { form: '' })).member('error'),
    'invalid_request',
  );
  assert.equal((await ask('GET', `/greeting?a=%20${many}`)).status, 200);
  const signed = await ask('GET', `/greeting?oauth_token=a${many}`);
  assert.match(signed.field('WWW-Authenticate'), /parameter_rejected/);
});

test('a form at a resource is parsed for OAuth 1.0a only if it names a parameter of it', async () => {
  const { ask } = open();
  const told = async (form: string): Promise<string> => (await ask('POST', '/open', { form })).text;
  assert.equal(await told('a=%&b=oauth_token'), '17 bytes');
  assert.equal(await told('a=&'.repeat(2000)), '6000 bytes');
  for (const name of ['oauth_token', 'oauth%5Ftoken', 'oauth%5ftoken'])
    for (const form of [`${name}=%`, `a=&${name}=a`])
      assert.match(await told(form), /oauth1-parameter/, form);
});

test('a form at a resource is not awaited for its credentials where it cannot have any', async () => {
  const { service } = open();
  const status = async (request: IncomingRequest): Promise<number> =>
    (await replyWithout(service, request)).status;
  assert.equal(await status(formRequest('/closed', 65_537)), 401);
  assert.equal(await status(formRequest('/greeting', 10, undefined, 'GET')), 200);
  // What the Authorization field shows is judged first.
  assert.equal(await status(formRequest('/closed', 65_537, 'OAuth oauth_token="a"')), 400);
  const sent = (seconds: number): string =>
    `OAuth oauth_consumer_key="c", oauth_token="a", oauth_signature_method="HMAC-SHA1", oauth_signature="s", oauth_timestamp="${seconds}", oauth_nonce="n"`;
  assert.equal(await status(formRequest('/closed', 65_537, sent(startSecond - 301))), 401);
  assert.equal(await status(formRequest('/closed', 65_537, sent(startSecond))), 413);
});

test('a form of up to the limit of the server still reaches the resource', async () => {
  const { service } = open();
  const request = formRequest('/open', 100_000);
  const { body } = createRequest({ method: 'POST', target: '/', body: 'x'.repeat(100_000) });
  const reply = await service.respond({ ...request, body });
  assert.equal(String(reply.body), '100000 bytes');
});

test('content of an anonymous request is not awaited for its digest where nothing uses it', async () => {
  const { service, ask } = open();
  const digest = `sha-256=:${Buffer.alloc(32).toString('base64')}:`;
  const asked = (value: string): IncomingRequest =>
    createRequest({ method: 'GET', target: '/greeting', secure: true, headers: [['Content-Digest', value]] });
  assert.equal((await replyWithout(service, asked(digest))).status, 200);
  assert.equal((await replyWithout(service, asked('sha-256=x'))).status, 400);
  const known = {
    basic: 'ann:ann-password',
    fields: [['Content-Digest', digest] as const],
    content: 'other',
  };
  const refused = await ask('GET', '/greeting', known);
  assert.match(`${refused.status} ${refused.text}`, /^400 .*digest-mismatch/s);
});

test('malformed attempts at the endpoints of clients count towards the limit on failures', async () => {
  const attempts = [
    { form: 'grant_type=%' },
    { form: 'a=&'.repeat(1001) },
    { form: 'client_id=app&client_id=app' },
    { form: 'grant_type=refresh_token' },
    { form: 'client_secret=x', fields: [['Authorization', 'Basic eDp5'] as const] },
    { form: 'a=b', fields: [['Authorization', 'Basic x'] as const] },
  ];
  for (const attempt of attempts) {
    const { ask } = open({ maxAuthFailures: 1 });
    assert.match(String((await ask('POST', '/oauth2/token', attempt)).status), /^40[01]$/, attempt.form);
    assert.equal((await ask('POST', '/oauth2/token', attempt)).status, 429, attempt.form);
    const elsewhere = await ask('POST', '/oauth2/token', { ...attempt, peer: '192.0.2.9' });
    assert.match(String(elsewhere.status), /^40[01]$/);
  }
});

test('malformed attempts at the endpoints of consumers count towards the limit on failures', async () => {
  const attempts = [
    { fields: [['Authorization', 'OAuth nonsense'] as const] },
    { fields: [['Authorization', 'Basic eDp5'] as const] },
    { form: 'oauth_token=%' },
    { form: 'oauth_consumer_key=printer' },
  ];
  for (const attempt of attempts) {
    const server = open({ maxAuthFailures: 1 });
    const status = async (peer: string): Promise<number> =>
      (await server.ask('POST', '/oauth1/request_token', { ...attempt, peer })).status;
    assert.deepEqual([await status('192.0.2.1'), await status('192.0.2.1')], [400, 429]);
    assert.notEqual((await requestToken(server, { sending: { peer: '192.0.2.2' } })).token, '');
  }
});

test('malformed attempts at a resource count towards the limit on failures, in every place', async () => {
  const attempts = [
    ['GET', '/greeting', { fields: [['Authorization', 'OAuth nonsense'] as const] }],
    ['GET', '/greeting', { fields: [['Authorization', 'Bearer two tokens'] as const] }],
    ['GET', '/greeting?oauth_token=a', {}],
    ['GET', '/greeting?oauth_token=a', { basic: 'ann:ann-password' }],
    ['POST', '/open', { form: 'oauth_token=%' }],
  ] as const;
  for (const [method, target, attempt] of attempts) {
    const { ask } = open({ maxAuthFailures: 1 });
    assert.equal((await ask(method, target, attempt)).status, 400);
    assert.equal((await ask(method, target, attempt)).status, 429);
    assert.equal((await ask('GET', '/greeting')).status, 200);
  }
});

test('incomplete content does not count as a malformed attempt', async () => {
  const { service, ask } = open({ maxAuthFailures: 1 });
  const broken = (): Promise<never> =>
    Promise.reject(new Problem('content-incomplete', 'The connection ended.', { close: true }));
  const body = { present: true, consume: broken, hold: broken };
  for (let time = 0; time < 2; time += 1)
    assert.equal((await service.respond({ ...formRequest('/open', 10), body })).status, 400);
  assert.equal((await ask('GET', '/greeting', { basic: 'ann:ann-password' })).status, 200);
});

test('a bearer token together with an access_token in query or form gets 400 (RFC 6750 §2)', async () => {
  const server = open({ maxAuthFailures: 0 });
  const { access: bearer } = await tokensFor(server);
  const refused = [
    ['GET', '/greeting?access_token=other', {}],
    ['GET', `/greeting?a=b&access%5Ftoken=${bearer}`, {}],
    ['POST', '/closed', { form: 'a=b&access_token=other' }],
    ['POST', '/closed?access_token', { form: 'a=b' }],
  ] as const;
  for (const [method, target, sending] of refused) {
    const answer = await server.ask(method, target, { bearer, ...sending });
    assert.match(`${answer.status} ${answer.text}`, /^400 .*several-credentials/s, target);
    assert.equal(answer.field('WWW-Authenticate'), 'Bearer realm="Countersign", error="invalid_request"');
  }
  const accepted = [
    ['GET', '/greeting?my_access_token=other', {}],
    ['POST', '/closed', { form: 'a=access_token' }],
    ['POST', '/closed', { form: 'a=%' }],
  ] as const;
  for (const [method, target, sending] of accepted)
    assert.equal((await server.ask(method, target, { bearer, ...sending })).status, 200, target);
  // Without a token in the field there is none.
  assert.equal((await server.ask('GET', '/greeting?access_token=other')).status, 200);
});

test('only a form next to a valid token is read for an access_token, up to 64 KiB', async () => {
  const server = open();
  const { access } = await tokensFor(server);
  const wrong = await replyWithout(server.service, formRequest('/closed', 10, 'Bearer wrong'));
  assert.equal(wrong.status, 401);
  const { body } = createRequest({
    method: 'POST',
    target: '/',
    body: `access_token=a&b=${'x'.repeat(90_000)}`,
  });
  const long = await server.service.respond({ ...formRequest('/closed', 90_017, `Bearer ${access}`), body });
  assert.equal(toAnswer(long).text, '90017 bytes');
  const undeclared = await server.ask('POST', '/closed', { bearer: access, form: 'x'.repeat(90_000) });
  assert.equal(undeclared.text, '90000 bytes');
});
