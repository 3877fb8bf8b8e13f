import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { createRequest } from '../../src/http/message.ts';
import { action, Problem, type Resource, text } from '../../src/index.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { type ControllableService, createControllableService } from '../../src/service/service.ts';
import { exchange, type WireReply } from '../support/net/wire.ts';

/** A request in the making; each step that it is to fail changes something in it. */
interface Draft {
  method: string;
  path: string;
  fields: [string, string][];
  content: string;
  /** Who signs; undefined is nobody, and then `credentials` are sent if there are some. */
  signer: string | undefined;
  credentials: string | undefined;
  toFullServer: boolean;
}

/** One row of the table: how to fail that step alone, and what is answered then. */
interface Step {
  readonly number: number;
  readonly question: string;
  fail(draft: Draft, steps: ReadonlySet<number>): void;
  readonly status: number;
  /** The problem type; undefined where the answer is no refusal. */
  readonly type: string | undefined;
}

const table: readonly (readonly [question: string, fail: Step['fail'], status: number, type?: string])[] = [
  ['could it be parsed?', (draft) => draft.fields.push(['Content-Length', 'many']), 400, 'malformed-request'],
  ['is the server full?', (draft) => Object.assign(draft, { toFullServer: true }), 503, 'full'],
  ['exactly one Host?', (draft) => draft.fields.push(['Host', 'other.example']), 400, 'malformed-host'],
  [
    'is the method one of the six?',
    (draft) => Object.assign(draft, { method: 'PATCH' }),
    501,
    'method-not-implemented',
  ],
  [
    'is the target sane?',
    (draft) => Object.assign(draft, { path: `${draft.path}%zz` }),
    400,
    'malformed-target',
  ],
  [
    'is the expectation one we know?',
    (draft) => draft.fields.push(['Expect', '200-ok']),
    417,
    'expectation-failed',
  ],
  [
    'is there a resource here?',
    (draft) => Object.assign(draft, { path: `/nowhere${draft.path}` }),
    404,
    'not-found',
  ],
  [
    'are the credentials good?',
    (draft) => Object.assign(draft, { signer: undefined, credentials: 'hmac ann:not-a-digest' }),
    400,
    'malformed-credentials',
  ],
  ['OPTIONS?', (draft) => Object.assign(draft, { method: 'OPTIONS' }), 200],
  [
    'does the resource implement the method?',
    (draft) => Object.assign(draft, { path: draft.path.replace('/vault/', '/useless/') }),
    405,
    'method-not-allowed',
  ],
  [
    'may this principal?',
    (draft) => Object.assign(draft, { signer: undefined }),
    401,
    'authentication-required',
  ],
  [
    'can what is sent be read?',
    (draft) => draft.fields.push(['Content-Length', '2000000']),
    413,
    'content-too-large',
  ],
  [
    'does it exist?',
    (draft) => Object.assign(draft, { path: draft.path.replace('/here', '/missing') }),
    404,
    'not-found',
  ],
  [
    'can what is asked for be written?',
    (draft, failing) => {
      if (!failing.has(3) && !failing.has(8)) draft.method = 'GET';
      draft.fields.push(['Accept', 'image/png']);
    },
    406,
    'not-acceptable',
  ],
  [
    'do the preconditions hold?',
    (draft) => draft.fields.push(['If-Match', '"another-state"']),
    412,
    'precondition-failed',
  ],
  [
    'is the content right?',
    (draft) => draft.fields.push(['Content-MD5', 'AAAAAAAAAAAAAAAAAAAAAA==']),
    400,
    'digest-mismatch',
  ],
];
const steps = table.map(
  ([question, fail, status, type], number): Step => ({ number, question, fail, status, type }),
);

/** One draft is one request: these two steps both ask for a method of their own. */
const impossible: readonly (readonly [number, number])[] = [[3, 8]];

const document = '<article><title>Tea</title><price currency="EUR">3.50</price></article>';

function draftFailing(failing: ReadonlySet<number>): Draft {
  const draft: Draft = {
    method: 'POST',
    path: '/vault/here',
    fields: [],
    content: '',
    signer: 'ann',
    credentials: undefined,
    toFullServer: false,
  };
  for (const step of steps) if (failing.has(step.number)) step.fail(draft, failing);
  const has = (name: string): boolean => draft.fields.some(([known]) => known === name);
  if (draft.method === 'POST') {
    draft.fields.push(['Content-Type', 'application/xml']);
    if (!has('Content-Length')) draft.content = document;
  }
  if (draft.content !== '') draft.fields.push(['Content-Length', String(draft.content.length)]);
  return draft;
}

let nonces = 0;

function write(draft: Draft): string {
  const fields = [['Host', 'localhost'], ...draft.fields];
  const { signer, credentials } = draft;
  if (signer !== undefined) fields.push(...signature(draft, signer));
  if (credentials !== undefined) fields.push(['Authentication', credentials]);
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${draft.method} ${draft.path} HTTP/1.1\r\n${lines.join('')}\r\n${draft.content}`;
}

/** Signed here by hand, so that nothing of the server's own signing is taken for granted. */
function signature({ method, path, fields }: Draft, user: string): [string, string][] {
  nonces += 1;
  const md5 = fields.find(([name]) => name === 'Content-MD5')?.[1];
  const date = new Date(Date.now()).toUTCString();
  const message = [method, path, date.replaceAll(' ', ''), `n${nonces}`, ...(md5 === undefined ? [] : [md5])];
  const digest = createHmac('sha256', 'ann-secret').update(message.join('+')).digest('base64');
  return [
    ['Date', date],
    ['Authentication', `hmac ${user}:n${nonces}:${digest}`],
  ];
}

function resources(): Record<string, Resource> {
  return {
    '/useless/{id}': { find: async () => undefined },
    '/hello': { GET: action('anyone', async () => text('hello')) },
  };
}

async function start(connections: number): Promise<{ service: ControllableService; port: number }> {
  const service = createControllableService({
    users: { ann: { secret: 'ann-secret' } },
    collections: {
      '/vault': {
        element: 'articles',
        item: 'article',
        fields: {
          title: { type: 'text', required: true },
          price: { type: 'decimal', fractionDigits: 2, attributes: { currency: { type: 'currency' } } },
        },
        access: { read: 'authenticated', write: 'authenticated' },
      },
    },
    resources: resources(),
    maxAuthFailures: 0,
    limits: { connections },
  });
  const { port } = await service.listen({});
  return { service, port };
}

const open = await start(100);
const full = await start(0);
const [createdReply] = await exchange(open.port, write({ ...draftFailing(new Set()), method: 'PUT' }));
assert.equal(createdReply?.status, 201);

after(async () => {
  await Promise.all([open.service.close({ grace: 0 }), full.service.close({ grace: 0 })]);
});

async function answerTo(failing: readonly number[]): Promise<WireReply> {
  const draft = draftFailing(new Set(failing));
  const [reply] = await exchange((draft.toFullServer ? full : open).port, write(draft));
  assert.ok(reply !== undefined, 'there is no reply');
  return reply;
}

function assertAnswers(reply: WireReply, step: Step): void {
  const type = /<type>\/problems\/([a-z-]+)<\/type>/.exec(reply.text)?.[1];
  const json = /"type":"\/problems\/([a-z-]+)"/.exec(reply.text)?.[1];
  assert.equal(`${reply.status} ${type ?? json}`, `${step.status} ${step.type}`, reply.text);
  assert.ok(reply.field('Date') !== undefined, 'there is no Date');
}

test('a request that fails no step returns 200', async () => {
  assert.equal((await answerTo([])).status, 200);
});

for (const step of steps) {
  test(`a request that fails only step ${step.number} (${step.question}) returns ${step.status}`, async () => {
    assertAnswers(await answerTo([step.number]), step);
  });
}

for (const earlier of steps) {
  for (const later of steps.filter(({ number }) => number > earlier.number)) {
    if (impossible.some(([one, other]) => one === earlier.number && other === later.number)) continue;
    test(`a request that fails steps ${earlier.number} and ${later.number} returns the problem of step ${earlier.number}`, async () => {
      assertAnswers(await answerTo([earlier.number, later.number]), earlier);
    });
  }
}

test('a request that fails every step returns the problem of the first step that is not yet corrected', async () => {
  const all = steps.map(({ number }) => number).filter((number) => number !== 3);
  for (let at = 0; at < all.length; at += 1) {
    const step = steps.find(({ number }) => number === all[at]);
    assert.ok(step !== undefined);
    assertAnswers(await answerTo(all.slice(at)), step);
  }
});

const elsewhere: <T>(make: () => T) => PromiseLike<T> = runInNewContext(
  '(make) => new Promise((resolve) => resolve(make()))',
);

/** How what a resource gives may come. */
const ways: readonly { name: string; give: <T>(make: () => T) => MaybePromise<T> }[] = [
  { name: 'at once', give: (make) => make() },
  { name: 'by a promise', give: async (make) => make() },
  { name: 'by a promise of another realm', give: elsewhere },
  {
    name: 'by any object with a method then',
    give: (make) => {
      const settled = Promise.resolve().then(make);
      // biome-ignore lint/suspicious/noThenProperty: this is what has one
      return { then: (made, failed) => settled.then(made, failed) };
    },
  },
];

for (const { name, give } of ways) {
  test(`a resource can return its results ${name}`, async () => {
    const faults: unknown[] = [];
    const broken = new Error('broken');
    const full = new Problem('store-full', 'There is no room.');
    const thing = { tag: 'a', modified: 0, value: undefined };
    const refuse = (error: Error) => (): never => {
      throw error;
    };
    const read = action('anyone', () => give(() => text('here')));
    const found = () => give(() => thing);
    const service = createControllableService({
      resources: {
        '/there': { GET: read, find: found },
        '/gone': { GET: read, find: () => give(() => undefined) },
        '/broken': { GET: read, find: () => give(refuse(broken)) },
        '/full': { GET: action('anyone', () => give(refuse(full))), find: found },
      },
      onError: (error) => faults.push(error),
    });
    const answers: Record<string, number> = {};
    for (const target of ['/there', '/gone', '/broken', '/full']) {
      const { status } = await service.respond(createRequest({ method: 'GET', target }));
      answers[target] = status;
    }
    assert.deepEqual(answers, { '/there': 200, '/gone': 404, '/broken': 500, '/full': full.status });
    assert.deepEqual(faults, [broken]);
    const etag = ['If-None-Match', '"a"'] as const;
    const { status } = await service.respond(
      createRequest({ method: 'GET', target: '/there', headers: [[...etag]] }),
    );
    assert.equal(status, 304);
    await service.close({ grace: 0 });
  });
}
