import { createHash } from 'node:crypto';
import { createManualClock, type ManualClock } from '../../../src/clock.ts';
import { createRequest } from '../../../src/http/message.ts';
import type { ServiceOptions } from '../../../src/index.ts';
import { type ControllableService, createControllableService } from '../../../src/service/service.ts';
import { seeded } from '../seeded.ts';

/** The service's time at the start of every test. */
export const start = Date.UTC(2024, 1, 29, 12, 0, 0);

/** Where the client `app` is sent back to. */
export const callback = 'https://app.example/cb?from=here';

/** The worked example of RFC 7636 Appendix B. */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** The clients of every test: one with a secret, another one, one without, and one for machines. */
export const clients = {
  app: {
    secret: 'app-secret-0123456789',
    redirectUris: [callback, 'https://app.example/other'],
    scopes: ['read', 'write'],
  },
  rival: {
    secret: 'rival-client-secret-0123456789',
    redirectUris: ['https://rival.example/'],
    scopes: ['read'],
  },
  phone: { redirectUris: ['app.phone:/cb'], scopes: ['read', 'write'], grants: ['authorization_code'] },
  robot: {
    secret: { sha256: createHash('sha256').update('robot-secret-0123456789').digest('base64url') },
    grants: ['client_credentials'],
    scopes: ['read', 'write'],
    users: ['ann'],
  },
} satisfies ServiceOptions['clients'];

/** A reply as tests look at it. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The field's value, several lines joined by ` | `; '' when it is absent. */
  field(name: string): string;
  /** A member of the JSON sent; '' when it is absent. */
  member(name: string): string;
  /** A parameter of the Location; '' when it is absent. */
  returned(name: string): string;
}

/** What is sent. */
export interface Sending {
  /** `USER:PASSWORD`, for Basic. */
  readonly basic?: string | undefined;
  readonly bearer?: string | undefined;
  readonly fields?: readonly (readonly [string, string])[];
  readonly form?: Readonly<Record<string, string>> | string;
  readonly content?: string;
  readonly secure?: boolean;
  readonly peer?: string;
}

/** Whom tests ask, over TLS or as if: a service or a server. */
export interface Asked {
  readonly clock: Pick<ManualClock, 'now'>;
  ask(method: string, target: string, sending?: Sending): Promise<Answer>;
}

/** A service without a socket, addressed over TLS. */
export interface Server extends Asked {
  readonly service: ControllableService;
  readonly clock: ManualClock;
}

/** Opens a service with the users ann and bob (passwords `ann-password`, `bob-password`) on a clock that stands. */
export function openServer(options: ServiceOptions = {}): Server {
  const clock = createManualClock(start);
  const random = seeded(1);
  const service = createControllableService({
    clock,
    random: (size) => Uint8Array.from({ length: size }, () => random.below(256)),
    users: users(),
    clients,
    maxAuthFailures: 0,
    ...options,
  });
  return { service, clock, ask: (method, target, sending) => ask(service, method, target, sending) };
}

/** The users of every test. */
export function users(): Record<string, { secret: string; password: string; disabled?: boolean }> {
  return {
    ann: { secret: 'ann-secret', password: 'ann-password' },
    bob: { secret: 'bob-secret', password: 'bob-password' },
  };
}

async function ask(
  service: ControllableService,
  method: string,
  target: string,
  sending: Sending = {},
): Promise<Answer> {
  const { secure = true, peer = '127.0.0.1' } = sending;
  const { fields, content } = buildMessage(sending);
  const parts = { method, target, headers: fields, secure, peer };
  const reply = await service.respond(
    createRequest(content === undefined ? parts : { ...parts, body: content }),
  );
  return toAnswer(reply);
}

/** The fields and the content of what is sent. */
export function buildMessage(sending: Sending): { fields: [string, string][]; content: string | undefined } {
  const { basic, bearer, form } = sending;
  const fields: [string, string][] = (sending.fields ?? []).map(([name, value]) => [name, value]);
  if (basic !== undefined) fields.push(['Authorization', basicField(basic)]);
  if (bearer !== undefined) fields.push(['Authorization', `Bearer ${bearer}`]);
  if (form !== undefined) fields.push(['Content-Type', 'application/x-www-form-urlencoded']);
  const content = form === undefined ? sending.content : new URLSearchParams(form).toString();
  return { fields, content: typeof form === 'string' ? form : content };
}

/** The value of Authorization for `USER:PASSWORD`. */
export function basicField(pair: string): string {
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/** A reply as tests look at it. */
export function toAnswer(
  reply: Pick<Awaited<ReturnType<ControllableService['respond']>>, 'status' | 'headers' | 'body'>,
): Answer {
  const text = Buffer.from(reply.body ?? '').toString();
  const field = (name: string): string =>
    reply.headers
      .filter(([known]) => known.toLowerCase() === name.toLowerCase())
      .map(([, value]) => value)
      .join(' | ');
  return {
    status: reply.status,
    text,
    field,
    member: (name) => (text.startsWith('{') ? String(JSON.parse(text)[name] ?? '') : ''),
    returned: (name) =>
      field('Location') === '' ? '' : (new URL(field('Location')).searchParams.get(name) ?? ''),
  };
}

/** The target of a request for approval, as it should be, with what is to be different; undefined leaves a parameter out. */
export function authorizeTarget(changes: Readonly<Record<string, string | undefined>> = {}): string {
  const wanted = {
    response_type: 'code',
    client_id: 'app',
    redirect_uri: callback,
    scope: 'read write',
    state: 'a state & more',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...changes,
  };
  const sent = Object.entries(wanted).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `/oauth2/authorize?${new URLSearchParams(sent)}`;
}

/** Asks for approval as a user, without a browser; gives the ticket. */
export async function ticketFor(
  { ask }: Asked,
  changes: Readonly<Record<string, string | undefined>> = {},
  user = 'ann',
): Promise<string> {
  const basic = `${user}:${user}-password`;
  const fields = [['Accept', 'application/json']] as const;
  const shown = await ask('GET', authorizeTarget(changes), { basic, fields });
  return secret(shown.member('consent_ticket'), shown);
}

/** Answers a question; gives the redirect. */
export function decide({ ask }: Asked, ticket: string, decision = 'allow', user = 'ann'): Promise<Answer> {
  const form = { consent_ticket: ticket, decision };
  return ask('POST', '/oauth2/authorize', { basic: `${user}:${user}-password`, form });
}

/** Gets a code approved. */
export async function codeFor(
  server: Asked,
  changes: Readonly<Record<string, string | undefined>> = {},
  user = 'ann',
): Promise<string> {
  const redirected = await decide(server, await ticketFor(server, changes, user), 'allow', user);
  return secret(redirected.returned('code'), redirected);
}

/** Exchanges a code as the client `app` should, with what is to be different. */
export function exchange(
  { ask }: Asked,
  code: string,
  changes: Readonly<Record<string, string>> = {},
  basic: string | undefined = 'app:app-secret-0123456789',
): Promise<Answer> {
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: callback,
    code_verifier: verifier,
    ...changes,
  };
  return ask('POST', '/oauth2/token', { form, ...(basic === '' ? {} : { basic }) });
}

/** Refreshes as the client `app` should, with what is to be different. */
export function refresh(
  { ask }: Asked,
  token: string,
  changes: Readonly<Record<string, string>> = {},
  basic = 'app:app-secret-0123456789',
): Promise<Answer> {
  return ask('POST', '/oauth2/token', {
    form: { grant_type: 'refresh_token', refresh_token: token, ...changes },
    basic,
  });
}

/** The tokens of a user, from the question to the exchange. */
export async function tokensFor(
  server: Asked,
  changes: Readonly<Record<string, string | undefined>> = {},
  user = 'ann',
): Promise<{ access: string; refresh: string }> {
  const reply = await exchange(server, await codeFor(server, changes, user));
  return { access: secret(reply.member('access_token'), reply), refresh: reply.member('refresh_token') };
}

/** What is there must be there, and nobody may say it later. */
function secret(value: string, from: Answer): string {
  if (value === '')
    throw new Error(`nothing was given: ${from.status} ${from.text} ${from.field('Location')}`);
  return value;
}

/** Status and error: of the redirect, the JSON, the challenge, the problem document, or a page. */
export function oauth2Outcome(answer: Answer): string {
  const challenged = /error="([a-z_]+)"/.exec(answer.field('WWW-Authenticate'))?.[1];
  const problem = /\/problems\/([a-z-]+)/.exec(answer.text)?.[1];
  const page = answer.field('Content-Type').startsWith('text/html') ? 'page' : undefined;
  const said =
    answer.returned('error') || answer.member('error') || page || challenged || problem || 'nothing';
  return `${answer.status} ${said}`;
}
