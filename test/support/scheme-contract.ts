// The behaviour that every signature scheme of the server has, seen from outside.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { createManualClock, systemClock } from '../../src/clock.ts';
import { type Double, type DoubleOptions, startDouble } from '../../src/double/index.ts';
import { createRequest } from '../../src/http/message.ts';
import { action } from '../../src/pipeline/resource.ts';
import type { UserDeclaration } from '../../src/service/options.ts';
import { type ControllableService, createControllableService } from '../../src/service/service.ts';

import { openDurableStore } from '../../src/store/open-durable-store.ts';
import { countOperations } from './schemes/counted-crypto.ts';
import { type Answer, recordedBy, send } from './schemes/exchange.ts';
import type { Identity, Line, Mistake, PlainRequest, Sent, Sign } from './schemes/signer.ts';
import { seeded } from './seeded.ts';
import { long } from './store/thoroughness.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { keepSecret } from './transcript.ts';

/** The time at which every double stands. */
export const start = Date.UTC(2026, 10, 22, 12);

/** The secrets of ann and bob: hexadecimal, which is also base64. */
export const secrets = {
  ann: '3f9c1a7b5d2e8046c1f09b3a7d5e2846ab10cd32ef54768998badcfe10325476',
  bob: '8a6d0e2c4b1f3957d8c0b2a4968e7f150123456789abcdeffedcba9876543210',
} as const;

/** Users with these secrets, what they sign with in their own names, and what the journal says of other secrets. */
export const users = { ann: { secret: secrets.ann }, bob: { secret: secrets.bob } } as const;
export const identities = {
  ann: { user: 'ann', secret: secrets.ann },
  bob: { user: 'bob', secret: secrets.bob },
} as const;
export const knowledge = {
  other: /secret of another user, bob/,
  former: /a former secret of ann, which was replaced/,
  expired: /expired secret/,
} as const;

/** The usual request. Of the webhooks it is the one with content. */
export const usual: PlainRequest = {
  method: 'GET',
  path: '/things/a',
  query: 'limit=5',
  host: 'api.example:8443',
  secure: false,
  lines: [],
};
export const usualWithContent: PlainRequest = {
  ...usual,
  method: 'POST',
  lines: [['Content-Type', 'application/json']],
  content: '{"title": "Tea"}',
};

/** What must not change, or may, after a request is signed. */
type Part = 'method' | 'path' | 'query' | 'host' | 'content' | 'time' | 'nonce' | 'user';

/** How a part is changed after signing; or why it is not signed, so that the change has no effect; or that there is none. */
type PartRule =
  | 'signed'
  | ((sent: Sent) => Sent)
  | { readonly unsigned: string; readonly change?: (sent: Sent) => Sent }
  | { readonly absent: string };

/** The rows of the contract that a scheme can lack, with the reason. */
type Row =
  | 'second scheme'
  | 'sent twice'
  | 'replay'
  | 'restart'
  | 'window'
  | 'unknown user'
  | 'work'
  | 'rotation'
  | 'another user'
  | 'disabled user'
  | 'state'
  | 'changed content'
  | 'changed item'
  | 'oversized'
  | 'changed at random';

/** A scheme to which the contract applies. */
export interface SchemeSubject {
  /** The scheme of an accepted principal. */
  readonly scheme: string;
  /** The options of a double with the users ann and bob. */
  readonly options: DoubleOptions & { readonly users: Readonly<Record<'ann' | 'bob', UserDeclaration>> };
  /** Prepares a double, and returns the independent signer of the scheme. */
  readonly signer: (double: Double) => Sign | Promise<Sign>;
  /** What ann and bob sign with. */
  readonly identities: Readonly<Record<'ann' | 'bob', Pick<Identity, 'user' | 'secret'>>>;
  readonly request?: PlainRequest;
  /** A request that changes something, with what `state` needs. */
  readonly write?: PlainRequest;
  /** Seconds that a request may be late or early. */
  readonly window?: { readonly late: number; readonly early: number };
  /** Default of method, path, query, host and content: signed. */
  readonly parts: Readonly<Partial<Record<Part, PartRule>> & Record<'time' | 'nonce' | 'user', PartRule>>;
  /** The fields with the credentials, which are fuzzed. */
  readonly credentialFields: readonly string[];
  /** A credential of another scheme. */
  readonly second?: Line;
  /** Replaces the secret of ann with a time of grace of an hour. Returns what to sign with from then on. */
  readonly rotate?: (double: Double) => Pick<Identity, 'user' | 'secret'>;
  /**
   * What the journal says of a signature with the secret of another user, with a former one, and with one whose time of grace is
   * over. Undefined: not named yet.
   */
  readonly knowledge?: {
    readonly other?: RegExp;
    readonly former?: RegExp | 'none';
    readonly expired?: RegExp;
  };
  /** Adds so many wrong signatures in front of that of a request, if several can be sent. */
  readonly withOthers?: (sent: Sent, count: number) => Sent;
  /** Whether parts of the credentials are neither signed nor compared, so that a change of them has no effect. */
  readonly ignoresParts?: boolean;
  /** Returns what credentials mean: equal texts have the same effect. Default: letter case, spaces and quotes are ignored. */
  readonly meaning?: (credentials: string) => string;
  /** Mistakes that only this scheme knows. */
  readonly own?: Readonly<Record<string, Mistake>>;
  /** The general explanation, if no mistake is recognized. */
  readonly general: readonly RegExp[];
  /** The rows that do not apply, with the reason. */
  readonly without?: Partial<Readonly<Record<Row, string>>>;
  /** Whether the nonce is claimed before the content is read and compared. Default: after it. */
  readonly claimsBeforeContent?: boolean;
}

const orders = {
  element: 'orders',
  item: 'order',
  fields: { title: { type: 'text' } },
  access: { read: 'anyone', write: 'authenticated' },
  createWithPut: true,
} as const;

const paths = [
  '/things',
  '/things/{a}',
  '/things/{a}/{b}',
  '/things/{a}/{b}/{c}',
  '/things/{a}/{b}/{c}/{d}',
  // A parameter matches no dot segment; a mistake has them.
  '/things/./{a}/../{b}',
] as const;

/** The resources in code at any path below /things. Returns how often a user was admitted there. */
function createResources() {
  let admissions = 0;
  const act = action('authenticated', () => {
    admissions += 1;
    return { status: 204 };
  });
  const read = action('anyone', ({ principal }) => {
    if (principal !== undefined) admissions += 1;
    return { type: 'application/json', body: '{}' };
  });
  const thing = { GET: read, PUT: act, POST: act, DELETE: act };
  const resources = Object.fromEntries(paths.map((path) => [path, thing]));
  return { resources, admissions: () => admissions };
}

/** Adds stubs at any path below /things. Returns how often something was changed there. */
function addStubs(double: Double): () => number {
  const changes = paths.map((path) => {
    double.stub({ method: 'GET', path }, { body: {} }, { access: 'anyone' });
    return double.stub({ method: ['PUT', 'POST', 'DELETE'], path }, { status: 204 });
  });
  return () => changes.reduce((sum, { count }) => sum + count, 0);
}

/** A double for a scheme, and what the rows do with it. */
export interface Opened {
  readonly double: Double;
  readonly sign: Sign;
  readonly acts: () => number;
  /** Signs as ann, with a new nonce. */
  signed(mistake?: Mistake, request?: PlainRequest, identity?: Partial<Identity>): Sent;
  send(sent: Sent): Promise<Answer>;
}

/** Opens a double for a scheme. */
export async function openSubject(subject: SchemeSubject): Promise<Opened> {
  const { options, identities } = subject;
  const double = await startDouble({
    now: start,
    randomSeed: 'contract',
    https: false,
    strictQuery: false,
    maxAuthFailures: 0,
    aliases: ['api.example', 'api.example:8443', '127.0.0.1:8080'].flatMap((host) => [
      `http://${host}`,
      `https://${host}`,
    ]),
    ...options,
    collections: { '/orders': orders },
  });
  const acts = addStubs(double);
  const sign = await subject.signer(double);
  let drawn = 0;
  return {
    double,
    sign,
    acts,
    signed(mistake = {}, request = subject.request ?? usual, identity = {}) {
      drawn += 1;
      const now = mistake.now?.(double.clock.now()) ?? double.clock.now();
      return sign(
        { ...request, ...mistake.request },
        { ...identities.ann, now, nonce: `n-${drawn}`, ...identity },
        mistake,
      );
    },
    send: (sent) => send(double, sent),
  };
}

/** Runs a check with a double that shows each explanation to its client, which takes long. */
async function withExplanations(
  subject: SchemeSubject,
  check: (opened: Opened) => Promise<void>,
): Promise<void> {
  const opened = await openSubject({ ...subject, options: { ...subject.options, explain: true } });
  try {
    await check(opened);
  } finally {
    await opened.double.close();
  }
}

const base64Digest = `${Buffer.alloc(32, 7).toString('base64')}`;

/** Registers the tests of the contract for the schemes, by name. */
export function schemeContracts(subjects: Readonly<Record<string, SchemeSubject>>): void {
  for (const [name, subject] of Object.entries(subjects)) schemeContract(name, subject);
}

/** Registers those of half of the schemes in the short form, because each takes seconds. The seed decides. */
export function sampledContracts(subjects: Readonly<Record<string, SchemeSubject>>): void {
  const random = seeded();
  schemeContracts(Object.fromEntries(Object.entries(subjects).filter(() => long || random.below(2) === 0)));
}

function schemeContract(name: string, subject: SchemeSubject): void {
  describe(name, () => {
    let opened: Opened;
    let begun: ReturnType<Double['snapshot']>;
    before(async () => {
      for (const { secret } of Object.values(subject.identities)) keepSecret(secret);
      opened = await openSubject(subject);
      begun = opened.double.snapshot();
    });
    beforeEach(() => opened.double.restore(begun));
    after(() => opened.double.close());

    const row = (sentence: string, check: (opened: Opened) => Promise<void>, kind?: Row): void => {
      if (kind === undefined || subject.without?.[kind] === undefined) test(sentence, () => check(opened));
    };
    credentialRows(subject, row);
    replayRows(subject, row);
    timeRows(subject, row);
    userRows(subject, row);
    partRows(subject, row);
    targetRows(subject, row);
    refusalRows(subject, row);
    hostileRows(subject, row);
  });
}

type Rows = (sentence: string, check: (opened: Opened) => Promise<void>, kind?: Row) => void;

/** Fails unless a request was accepted as ann by the scheme. */
function assertAccepted(opened: Opened, { scheme }: SchemeSubject, answer: Answer, what = ''): void {
  if (answer.status >= 300) failWith(opened, answer, what);
  assert.deepEqual(opened.double.journal.last()?.principal, { name: 'ann', scheme }, what);
}

/** Fails unless a request was refused because of its credentials. */
function assertRefused(opened: Opened, answer: Answer, what = ''): void {
  if (answer.status !== 401 && answer.status !== 400) failWith(opened, answer, what);
  const { principal, problem } = opened.double.journal.last() ?? {};
  // A signature covers the digest of the content, which is read and compared after the credentials.
  const isOfContent = /^(digest-mismatch|malformed-field)$/.test(problem?.type ?? '');
  if (!isOfContent && principal !== undefined) failWith(opened, answer, what);
}

/** Fails with what was answered, and with the explanation of the journal, which takes long. */
function failWith({ double }: Opened, { status, text }: Answer, what: string): never {
  assert.fail(`${what} ${status} ${text}\n${double.journal.last()}`);
}

function credentialRows(subject: SchemeSubject, row: Rows): void {
  row('a correctly signed request is accepted as its user', async (opened) => {
    assertAccepted(opened, subject, await opened.send(opened.signed()));
    opened.double.clock.advance('1s');
    assertAccepted(opened, subject, await opened.send(opened.signed({}, subject.write ?? usualWithContent)));
  });

  row('a request without credentials is anonymous', async ({ double, send: sending }) => {
    const { secure } = subject.request ?? usual;
    const lines: Line[] = [['Host', usual.host]];
    const answer = await sending({ method: 'GET', target: '/orders', secure, lines, content: undefined });
    assert.equal(answer.status, 200);
    assert.equal(double.journal.last()?.principal, undefined);
    const write = await sending({ method: 'DELETE', target: '/things/a', secure, lines, content: undefined });
    assert.equal(write.status, 401);
  });

  row(
    'credentials of a second scheme in the same request are refused with 400',
    async (opened) => {
      const { lines, ...sent } = opened.signed({}, { ...(subject.request ?? usual), secure: true });
      const second = subject.second ?? ['Authentication', `hmac ann:${base64Digest}`];
      const answer = await opened.send({ ...sent, lines: [...lines, second] });
      assert.equal(answer.status, 400, answer.text);
      assert.equal(opened.double.journal.last()?.problem?.type, 'several-credentials');
    },
    'second scheme',
  );

  row('other credentials are left alone where the route accepts the scheme only', async (opened) => {
    const { double } = opened;
    for (const path of paths)
      double.stub({ method: ['GET', 'POST'], path }, { status: 204 }, { schemes: [subject.scheme] });
    const isInAuthorization = opened.signed().lines.some(([name]) => name.toLowerCase() === 'authorization');
    const others: Line[] = isInAuthorization
      ? [['Authentication', `hmac ann:${base64Digest}`]]
      : ['Bearer tok_1', 'GNAP tok_1', `Basic ${btoa('ann:wrong')}`, 'unknown', 'a:b'].map((value) => [
          'Authorization',
          value,
        ]);
    if (isInAuthorization && subject.scheme === 'hmac') others.pop();
    for (const other of others) {
      double.clock.advance('1s');
      const { lines, ...sent } = opened.signed();
      const answer = await opened.send({ ...sent, lines: [...lines, other] });
      assertAccepted(opened, subject, answer, other.join(': '));
    }
  });

  row(
    'after wrong signatures from a peer a right one is refused with 429 for a minute',
    async () => {
      const limited = await openSubject({
        ...subject,
        options: { ...subject.options, maxAuthFailures: 3 },
      });
      try {
        const { double } = limited;
        // The time stands, so that no minute ends between them.
        const wrong = { secret: subject.identities.bob.secret };
        for (let sent = 0; sent < 3; sent += 1) {
          const { status } = await limited.send(limited.signed({}, undefined, wrong));
          if (![400, 401, 429].includes(status)) assert.fail(String(double.journal.last()));
          // An attempt in progress counts as a failure, and ends in a later turn.
          await new Promise((resolve) => setImmediate(resolve));
        }
        assert.equal((await limited.send(limited.signed())).status, 429);
        assert.equal(double.journal.last()?.problem?.type, 'too-many-failures');
        double.clock.advance('60s');
        assertAccepted(limited, subject, await limited.send(limited.signed()));
      } finally {
        await limited.double.close();
      }
    },
    'another user',
  );

  row(
    'credentials that are sent twice are refused',
    async (opened) => {
      for (const name of subject.credentialFields) {
        const { lines, ...sent } = opened.signed();
        const line = lines.find(([each]) => each.toLowerCase() === name.toLowerCase());
        assert.ok(line !== undefined, name);
        assertRefused(opened, await opened.send({ ...sent, lines: [...lines, line] }), name);
      }
    },
    'sent twice',
  );
}

function replayRows(subject: SchemeSubject, row: Rows): void {
  const writing = subject.write ?? usualWithContent;

  row(
    'the same request is refused a second time, and a new one is not',
    async (opened) => {
      for (const request of [subject.request ?? usual, writing]) {
        const sent = opened.signed({}, request);
        assertAccepted(opened, subject, await opened.send(sent));
        assert.equal((await opened.send(sent)).status, 401);
        assert.match(opened.double.journal.last()?.problem?.type ?? '', /replayed|nonce-used|nonce_used/);
        opened.double.clock.advance('1s');
        assertAccepted(opened, subject, await opened.send(opened.signed({}, request)));
        opened.double.clock.advance('1s');
      }
    },
    'replay',
  );

  row(
    'a restored double refuses what it had accepted when the snapshot was taken, and nothing else',
    async (opened) => {
      const { double } = opened;
      const earlier = opened.signed();
      assertAccepted(opened, subject, await opened.send(earlier));
      const snapshot = double.snapshot();
      double.clock.advance('1s');
      const later = opened.signed();
      assertAccepted(opened, subject, await opened.send(later));
      double.restore(snapshot);
      assert.equal((await opened.send(earlier)).status, 401);
      double.clock.advance('1s');
      assertAccepted(opened, subject, await opened.send(later));
    },
    'replay',
  );

  row(
    'one of a hundred equal requests at once is accepted',
    async (opened) => {
      for (const request of [subject.request ?? usual, writing]) {
        const sent = opened.signed({}, request);
        const answers = await Promise.all(Array.from({ length: 100 }, () => opened.send(sent)));
        const statuses = answers.map(({ status }) => status);
        assert.equal(statuses.filter((status) => status < 300).length, 1, statuses.join());
        assert.ok(statuses.every((status) => status < 300 || status === 401));
        opened.double.clock.advance('1s');
      }
    },
    'replay',
  );

  row(
    'a service with a data directory refuses a replay after a restart',
    async (opened) => {
      const directory = join(temporaryDirectory(), 'data');
      const sent = [opened.signed(), opened.signed({ now: (now) => now + 1000 }, writing)];
      for (const expected of ['accepted', 'refused', 'restarted', 'refused']) {
        if (expected === 'restarted') continue;
        const store = await openDurableStore(directory, { window: 3600 });
        const service = openService(subject, { store });
        for (const each of sent) {
          const status = await requestStatus(service, each);
          assert.equal(status < 300 ? 'accepted' : 'refused', expected, `${status} ${each.method}`);
        }
        await service.close({ grace: 0 });
        await store.close();
      }
    },
    'restart',
  );
}

/** Opens a service without explanations, in which the time stands still. */
function openService({ options }: SchemeSubject, more: object = {}): ControllableService {
  const { schemes, consumers } = options;
  const { ann, bob } = options.users;
  return createControllableService({
    users: { ann, bob },
    ...(schemes === undefined ? {} : { schemes }),
    ...(consumers === undefined ? {} : { consumers }),
    ...(options.hmacSimple === undefined ? {} : { hmacSimple: options.hmacSimple }),
    clock: createManualClock(start),
    maxAuthFailures: 0,
    collections: { '/orders': orders },
    resources: createResources().resources,
    ...more,
  });
}

async function requestStatus(
  service: ControllableService,
  { method, target, secure, lines, content }: Sent,
): Promise<number> {
  const fields = lines.map(([name, value]): [string, string] => [name, value]);
  const request = createRequest({
    method,
    target,
    secure,
    headers: fields,
    ...(content === undefined ? {} : { body: content }),
  });
  const { status } = await service.respond(request);
  return status;
}

function timeRows(subject: SchemeSubject, row: Rows): void {
  const { late, early } = subject.window ?? { late: 0, early: 0 };
  const dated = (opened: Opened, off: number): Promise<Answer> =>
    opened.send(opened.signed({ now: (now) => now + off * 1000 }));

  row(
    'a request at either edge of the window is accepted, and one a second beyond is refused',
    async (opened) => {
      for (const off of [-late, early]) assertAccepted(opened, subject, await dated(opened, off), `${off} s`);
      for (const off of [-late - 1, early + 1]) {
        assertRefused(opened, await dated(opened, off), `${off} s`);
        assert.match(opened.double.journal.last()?.auth?.failedAt ?? '', /^(date|timestamp)$/);
      }
    },
    'window',
  );

  row(
    'an accepted request is refused later than the window, with the Date of the server',
    async (opened) => {
      const sent = opened.signed();
      opened.double.clock.advance((late + 1) * 1000);
      const answer = await opened.send(sent);
      assert.equal(answer.status, 401);
      assert.equal(answer.fields.get('date'), new Date(start + (late + 1) * 1000).toUTCString());
    },
    'window',
  );

  row(
    'a client that uses the time of the host learns that the clock of the double was moved',
    async (opened) => {
      await opened.send(opened.signed({ now: () => systemClock.now() }));
      const { auth } = opened.double.journal.last() ?? {};
      assert.match(
        auth?.hint ?? '',
        /the clock of this service was moved, and is \d+ s (?:ahead of|behind) it/,
      );
    },
    'window',
  );

  // Others read the content, and judge the time before that.
  if (/^(?:aws4|draft-cavage|hmac|message-signatures|oauth)$/.test(subject.scheme))
    row(
      'the date of a request without a valid signature is not judged',
      async (opened) => {
        const wrong = { now: (now: number) => now - (late + 1) * 1000 };
        await opened.send(opened.signed(wrong, undefined, { secret: subject.identities.bob.secret }));
        assert.match(
          opened.double.journal.last()?.problem?.type ?? '',
          /^(?:credentials-refused|oauth1-signature-invalid)$/,
        );
      },
      'window',
    );
}

/** What an answer shows to its client, without what differs between any two answers. */
function shownBy({ status, fields, text }: Answer): unknown {
  const lines = [...fields].filter(([name]) => !/^(x-request-id|request-id)$/.test(name));
  return { status, lines, text };
}

function userRows(subject: SchemeSubject, row: Rows): void {
  const { ann, bob } = subject.identities;
  // As long as the name of ann.
  const stranger = ann.user.replace('ann', 'eve').replace('key-a', 'key-e');

  row(
    'an unknown user is answered like a wrong secret',
    () =>
      withExplanations(subject, async (opened) => {
        const nonce = 'n-same';
        const wrong = await opened.send(opened.signed({}, undefined, { secret: bob.secret, nonce }));
        const unknown = await opened.send(
          opened.signed({}, undefined, { user: stranger, secret: bob.secret, nonce }),
        );
        assert.equal(wrong.status, 401);
        // The message, which is shown, contains the name or its hash.
        const shown = (answer: Answer): string =>
          JSON.stringify(shownBy(answer))
            .replaceAll(stranger, ann.user)
            .replace(/[0-9a-f]{64}/g, 'a hash');
        assert.deepEqual(shown(unknown), shown(wrong));
        const named = /there is no (?:user|consumer)|no user has a key with this id/;
        assert.match(recordedBy(opened.double), named, 'the journal names it');
      }),
    'unknown user',
  );

  row(
    'an unknown user costs as many cryptographic operations as a wrong secret',
    async (opened) => {
      const service = openService(subject);
      const cost = async (identity: Partial<Identity>): Promise<number> => {
        const refused = (): Sent =>
          opened.signed({}, undefined, { nonce: 'n-cost', secret: bob.secret, ...identity });
        assert.equal(await requestStatus(service, refused()), 401);
        const sent = refused();
        return countOperations(() => requestStatus(service, sent));
      };
      const wrong = await cost({});
      assert.ok(wrong > 0);
      assert.equal(await cost({ user: stranger }), wrong);
      await service.close({ grace: 0 });
    },
    'work',
  );

  row(
    'both secrets are valid during a rotation, and the former one is refused afterwards',
    async (opened) => {
      const { double } = opened;
      const renewed = subject.rotate?.(double) ?? rotated(double, ann.user);
      assertAccepted(opened, subject, await opened.send(opened.signed()), 'the former secret');
      double.clock.advance('1s');
      assertAccepted(
        opened,
        subject,
        await opened.send(opened.signed({}, undefined, renewed)),
        'the new secret',
      );
      double.clock.advance('61m');
      assertRefused(opened, await opened.send(opened.signed()), 'the former secret');
      assertNamed(recordedBy(double), subject.knowledge?.expired, subject, 'an expired secret');
      assertAccepted(
        opened,
        subject,
        await opened.send(opened.signed({}, undefined, renewed)),
        'the new secret',
      );
    },
    'rotation',
  );

  row(
    'a removed or disabled user is refused',
    async (opened) => {
      const { double } = opened;
      const declared = subject.options.users.ann;
      assertAccepted(opened, subject, await opened.send(opened.signed()));
      double.auth.setUser('ann', { ...declared, disabled: true });
      double.clock.advance('1s');
      assertRefused(opened, await opened.send(opened.signed()), 'disabled');
      double.auth.setUser('ann', { ...declared });
      double.auth.removeUser('ann');
      assertRefused(opened, await opened.send(opened.signed()), 'removed');
    },
    'disabled user',
  );

  row(
    'a signature by another user is refused, and a former secret too; the journal names whose it is',
    () =>
      withExplanations(subject, async (opened) => {
        const { double } = opened;
        const { other, former } = subject.knowledge ?? {};
        const answer = await opened.send(
          opened.signed({}, undefined, { nonce: hiddenNonce, secret: bob.secret }),
        );
        assertRefused(opened, answer);
        assertNamed(recordedBy(double), other, subject);
        assertHidden(opened, subject, answer);
        if (former === 'none') return;
        double.auth.rotateSecret('ann');
        assertRefused(opened, await opened.send(opened.signed()));
        assertNamed(recordedBy(double), former, subject);
      }),
    'another user',
  );
}

function rotated(double: Double, user: string): Pick<Identity, 'user' | 'secret'> {
  return {
    user,
    secret: double.auth.rotateSecret('ann', { grace: '1h', secret: secrets.ann.replace('3f', 'd1') }),
  };
}

/** Fails unless a text contains the hint; or, without one, if the text is more than the general explanation. */
function assertNamed(text: string, hint: RegExp | undefined, { general }: SchemeSubject, what = ''): void {
  if (hint !== undefined) assert.match(text, hint, what);
  else
    assert.ok(
      general.some((each) => each.test(text)),
      `${what} is named now, so it must leave the list of those that are not: ${text}`,
    );
}

const changes: Readonly<Record<'method' | 'path' | 'query' | 'host' | 'content', (sent: Sent) => Sent>> = {
  method: (sent) => ({ ...sent, method: sent.method === 'GET' ? 'DELETE' : 'PUT' }),
  path: (sent) => ({ ...sent, target: sent.target.replace('/things/a', '/things/b') }),
  query: (sent) => ({ ...sent, target: sent.target.replace('limit=5', 'limit=6') }),
  host: (sent) => ({
    ...sent,
    lines: sent.lines.map(
      ([name, value]): Line => (name === 'Host' ? [name, 'other.example'] : [name, value]),
    ),
  }),
  content: (sent) => ({ ...sent, content: `${sent.content}`.replace('Tea', 'Ten') }),
};

function partRows(subject: SchemeSubject, row: Rows): void {
  for (const part of ['method', 'path', 'query', 'host', 'content', 'time', 'nonce', 'user'] as const) {
    const rule = subject.parts[part] ?? 'signed';
    if (typeof rule === 'object' && 'absent' in rule) continue;
    const isUnsigned = typeof rule === 'object';
    const given = typeof rule === 'function' ? rule : isUnsigned ? rule.change : undefined;
    const change = given ?? Object.entries(changes).find(([name]) => name === part)?.[1];
    assert.ok(change !== undefined, `${subject.scheme}: no change of the ${part}`);
    const request = part === 'content' ? (subject.write ?? usualWithContent) : (subject.request ?? usual);
    const sentence = isUnsigned
      ? `the ${part} is not signed: ${rule.unsigned}`
      : `a request is refused if its ${part} was changed after signing`;
    row(sentence, async (opened) => {
      const sent = opened.signed({}, request);
      const changed = change(sent);
      assert.notDeepEqual(changed, sent);
      const answer = await opened.send(changed);
      if (isUnsigned) assertAccepted(opened, subject, answer);
      else assertRefused(opened, answer);
    });
  }
}

/** Targets of other resources that some rule of canonical forms makes equal to the target that is signed. */
const equivalents: readonly (readonly [signed: string, sent: string])[] = [
  ['/things/a?limit=5', '/things/b/../a?limit=5'],
  ['/things/a?limit=5', '/b/../things/a?limit=5'],
  ['/things/a?limit=5', '/things/a/b/..?limit=5'],
  ['/things/a?limit=5', '/things/b/%2e%2e/a?limit=5'],
  ['/things/a?limit=5', '/things/./a?limit=5'],
  ['/things/a?limit=5', '/things/%2E/a?limit=5'],
  ['/things/a?limit=5', '/things//a?limit=5'],
  ['/things/a?limit=5', '//things/a?limit=5'],
  ['/things/a?limit=5', '/things/a/?limit=5'],
  ['/things/a?limit=5', '/things/a%3Flimit=5'],
  ['/things/a?limit=5', '/things/a%3flimit=5'],
  ['/things/a?limit=5', '/things/a%00?limit=5'],
  ['/things/a?limit=5', '/things/A?limit=5'],
  ['/things/a/b?limit=5', '/things/a%2Fb?limit=5'],
  ['/things/a%2Fb?limit=5', '/things/a/b?limit=5'],
  ['/things/a%20b?limit=5', '/things/a%2520b?limit=5'],
  ['/things/a%2520b?limit=5', '/things/a%20b?limit=5'],
  ['/things/a%20b?limit=5', '/things/a+b?limit=5'],
  ['/things/a+b?limit=5', '/things/a%20b?limit=5'],
  ['/things/..%2Fa?limit=5', '/things/../a?limit=5'],
];

/** Signs a request for one target, and returns it with another. Parameters that the scheme adds to the query stay. */
function signedForOther(opened: Opened, subject: SchemeSubject, signed: string, other: string): Sent {
  const [path = '', query] = signed.split('?');
  const sent = opened.signed({ request: { path, query } }, subject.write ?? usualWithContent);
  const added = sent.target.slice(signed.length);
  const separated = other.includes('?') ? added : added.replace('&', '?');
  return { ...sent, target: other + separated };
}

function targetRows(subject: SchemeSubject, row: Rows): void {
  const { path = 'signed', host = 'signed' } = subject.parts;
  if (path === 'signed' || typeof path === 'function')
    row('a request that is signed for one resource is not accepted at another', async (opened) => {
      const before = opened.acts();
      for (const [signed, other] of equivalents) {
        const { status, text } = await opened.send(signedForOther(opened, subject, signed, other));
        assert.ok(status >= 400 && status < 500, `${signed} at ${other}: ${status} ${text}`);
        assert.equal(opened.acts(), before, `${signed} at ${other}`);
        opened.double.clock.advance('1s');
      }
    });
  if (host === 'signed' || typeof host === 'function')
    row('of an absolute form the authority of the target counts, not Host', async (opened) => {
      const sent = opened.signed({}, subject.request ?? usual);
      const origin = `${sent.secure ? 'https' : 'http'}://other.example`;
      assertRefused(opened, await opened.send({ ...sent, target: origin + sent.target }));
    });
}

function refusalRows(subject: SchemeSubject, row: Rows): void {
  const { bob } = subject.identities;

  row(
    'a refused request changes nothing and claims no nonce',
    async (opened) => {
      const write = subject.write ?? usualWithContent;
      const listed = async (): Promise<unknown> => [
        opened.acts(),
        await (await opened.double.fetch('/orders')).text(),
      ];
      const before = await listed();
      const honest = opened.signed({}, write, { nonce: 'n-honest' });
      const forged = opened.signed({}, write, { nonce: 'n-honest', secret: bob.secret });
      assertRefused(opened, await opened.send(forged));
      assert.deepEqual(await listed(), before);
      assertAccepted(opened, subject, await opened.send(honest));
      assert.notDeepEqual(await listed(), before);
    },
    'state',
  );

  row('a refusal reveals no secret and no correct signature', () =>
    withExplanations(subject, async (opened) => {
      const wrong: Mistake[] = [
        { values: (values) => ({ ...values, method: 'TRACE', content: 'x', host: 'x' }) },
        { encode: () => 'AAAA' },
        { now: (now) => now - 500_000_000 },
      ];
      for (const mistake of wrong)
        assertHidden(
          opened,
          subject,
          await opened.send(opened.signed(mistake, undefined, { nonce: hiddenNonce })),
        );
    }),
  );

  if ((subject.parts.content ?? 'signed') !== 'signed') return;
  const claims = subject.claimsBeforeContent === true;
  const nonce = claims ? 'its nonce is claimed' : 'no nonce is claimed';
  row(
    `a request whose content was changed after signing changes nothing, and ${nonce}`,
    async (opened) => {
      const honest = opened.signed({}, subject.write ?? usualWithContent);
      const before = opened.acts();
      assertRefused(opened, await opened.send(changes.content(honest)));
      assert.equal(opened.acts(), before);
      const answer = await opened.send(honest);
      if (claims) assertRefused(opened, answer);
      else assertAccepted(opened, subject, answer);
    },
    'changed content',
  );

  row(
    `an item whose content was changed after signing is not stored, and ${nonce}`,
    async (opened) => {
      const put = { ...(subject.write ?? usualWithContent), method: 'PUT', path: '/orders/tea' };
      const honest = opened.signed({}, put);
      assertRefused(opened, await opened.send(changes.content(honest)));
      assert.equal((await opened.double.fetch('/orders/tea')).status, 404);
      const answer = await opened.send(honest);
      if (claims) return assertRefused(opened, answer);
      assertAccepted(opened, subject, answer);
      assert.equal(answer.status, 201);
    },
    'changed item',
  );
}

/** The nonce of a request whose refusal must not reveal its correct signature. */
const hiddenNonce = 'n-hidden';

/** Fails if a refusal, or its entry in the journal, reveals a secret or the correct signature of a request with that nonce. */
function assertHidden(opened: Opened, { identities }: SchemeSubject, { text, fields }: Answer): void {
  const signed = (mistake: Mistake): Sent => opened.signed(mistake, undefined, { nonce: hiddenNonce });
  const entry = opened.double.journal.last();
  const shown = `${text}${inspect([...fields])}${entry}${JSON.stringify(entry)}${inspect(entry)}`;
  const signatures = signaturesIn(signed({}), signed({ encode: () => '' }));
  for (const each of [identities.ann.secret, identities.bob.secret, ...signatures])
    assert.ok(!shown.includes(each), `${each} is in ${shown}`);
}

/** The texts of 20 characters or more that a request has and one with an empty signature does not. */
function signaturesIn(right: Sent, empty: Sent): string[] {
  const text = JSON.stringify([right.target, right.lines]);
  const other = JSON.stringify([empty.target, empty.lines]);
  return (text.match(/[A-Za-z0-9+/_-]{20,}/g) ?? []).filter((each) => !other.includes(each));
}

/** How often the credentials are changed at random: for a service, and for a double, which explains each refusal. */
const fuzzed = { service: 80, double: 4 };

function hostileRows(subject: SchemeSubject, row: Rows): void {
  const isAnswered = ({ status }: Answer, what: string): void =>
    assert.ok([400, 401, 431, 414].includes(status), `${what}: ${status}`);

  row(
    'a user, a nonce and a signature that are too long are refused, not a failure of the server',
    async (opened) => {
      for (const [what, mistake] of [
        ['a user of 5,000 characters', { user: () => 'u'.repeat(5000) }],
        ['a nonce of 5,000 characters', { nonce: () => 'n'.repeat(5000) }],
        ['a signature of 12,000 characters', { encode: () => 'a'.repeat(12_000) }],
        ['a signature beyond all limits', { encode: () => 'a'.repeat(100_000) }],
      ] as const) {
        const [long, short] = [opened.signed(mistake), opened.signed()];
        if (JSON.stringify(long).length > JSON.stringify(short).length + 1000)
          isAnswered(await opened.send(long), what);
      }
    },
    'oversized',
  );

  const { withOthers } = subject;
  if (withOthers !== undefined)
    row('of several signatures, sixteen are looked at', async (opened) => {
      assertRefused(opened, await opened.send(withOthers(opened.signed(), 16)));
      assertRefused(opened, await opened.send(withOthers(opened.signed(), 200)));
      assertAccepted(opened, subject, await opened.send(withOthers(opened.signed(), 15)));
    });

  const checkRefusals = async (opened: Opened): Promise<void> => {
    const random = seeded();
    const { resources, admissions } = createResources();
    const service = openService(subject, { resources });
    for (let run = 0; run < fuzzed.service; run += 1) {
      const changed = signedWithChange(opened, subject, random, run);
      if (changed === undefined) continue;
      const before = admissions();
      const status = await requestStatus(service, changed.sent);
      const shown = `seed ${random.seed}: ${status} for ${JSON.stringify(changed.sent)}`;
      assert.ok(status < 500, shown);
      if (!changed.mayPass) assert.equal(admissions(), before, shown);
    }
    const before = admissions();
    await requestStatus(service, opened.signed({ now: (now) => now - 1000 }));
    assert.equal(admissions(), before + 1, 'a request that is not changed is admitted');
    await service.close({ grace: 0 });
  };
  row(
    'credentials changed at random are refused, and never a failure of the server',
    checkRefusals,
    'changed at random',
  );

  row('credentials changed at random are explained without a failure of the server', () =>
    withExplanations(subject, async (opened) => {
      const random = seeded();
      const isOnlyFuzz = subject.without?.['changed at random'] !== undefined;
      const runs = long || isOnlyFuzz ? fuzzed.service : fuzzed.double;
      for (let run = 0; run < runs; run += 1) {
        const changed = signedWithChange(opened, subject, random, run);
        if (changed === undefined) continue;
        const { status } = await opened.send(changed.sent);
        const shown = `seed ${random.seed}: ${status} for ${JSON.stringify(changed.sent)}`;
        assert.ok(status < 500, shown);
        if (!changed.mayPass) assert.equal(opened.double.journal.last()?.principal, undefined, shown);
      }
    }),
  );
}

/**
 * Signs a request and changes its credentials at random. Returns undefined if the change has no effect, and whether only parts that
 * are neither signed nor compared may have changed.
 */
function signedWithChange(
  opened: Opened,
  subject: SchemeSubject,
  random: ReturnType<typeof seeded>,
  run: number,
): { readonly sent: Sent; readonly mayPass: boolean } | undefined {
  const { meaning = (text: string) => text.toLowerCase().replace(/[\s"\\]/g, '') } = subject;
  const sent = opened.signed();
  const name = subject.credentialFields[run % Math.max(1, subject.credentialFields.length)];
  const mutate = (text: string): string => mutated(text, random);
  const changed: Sent =
    name === undefined
      ? {
          ...sent,
          target: sent.target.replace(/\?.*/, (query) => encodeURI(mutate(query)).replace(/#/g, '%23')),
        }
      : {
          ...sent,
          lines: sent.lines.map(
            ([own, text]): Line =>
              own.toLowerCase() === name.toLowerCase() ? [own, mutate(text).trim()] : [own, text],
          ),
        };
  const [before, now] = [JSON.stringify(sent), JSON.stringify(changed)];
  if (meaning(before) === meaning(now)) return undefined;
  const credentials = signaturesIn(sent, opened.signed({ encode: () => '' }));
  const mayPass = subject.ignoresParts === true && credentials.every((each) => now.includes(each));
  return { sent: changed, mayPass };
}

const characters = ['a', 'Z', '0', ':', ';', ',', '=', '"', '%', ' ', '+', '/', '(', ')', '&', '\u00e9', '~'];

/** Returns a text with one place removed, replaced, repeated or inserted. */
function mutated(text: string, random: ReturnType<typeof seeded>): string {
  const at = random.below(text.length);
  const length = 1 + random.below(6);
  const other = Array.from({ length: 1 + random.below(3) }, () => random.pick(characters)).join('');
  const [left, cut, right] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)];
  return random.pick([
    left + right,
    left + other + right,
    left + cut + cut + right,
    left + other + cut + right,
  ]);
}
