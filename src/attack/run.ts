import type { Duration } from '../duration.ts';
import type { Agent, OpenRawClient, RawClient, RawRequest } from '../net/raw-client.ts';
import { membersOf, read } from '../shape/shape.ts';
import { type AttackRequest, type Attempt, appendLines, type HeaderLine, type Transport } from './attempt.ts';
import { explainRefusal } from './refusal.ts';
import {
  type AttackReport,
  type AttackResult,
  createReport,
  describeNoResponse,
  describeStatus,
  isAccepted,
  type Outcome,
  outcomeOfRace,
} from './report.ts';
import { readTimeout, targetOf } from './target.ts';
import { checkWaivers, type Waivers, type WeaknessId } from './weaknesses.ts';

/** The server under attack. A double is one. */
export interface AttackTarget {
  /** Its origin over plain HTTP, if there is one. */
  readonly url?: string | URL | undefined;
  /** Its origin over HTTPS, if there is one. */
  readonly secureUrl?: string | URL | undefined;
  /** Certificates in PEM to trust over HTTPS. Default: those that Node.js trusts. */
  readonly ca?: string | undefined;
}

/** The options of `attack`. */
export interface AttackOptions {
  /** Opens the connections, for example through a proxy. It then determines whether two requests share a connection. */
  readonly agent?: Agent | undefined;
  /** The timeout of each response: ms, or text such as `5s`. Default: 10 s. */
  readonly timeout?: Duration | undefined;
  /** Weaknesses that do not count, by id, each with the reason: `{ 'future-date': 'the sender is in our hands' }`. Default: none. */
  readonly waive?: Waivers | undefined;
}

/** The result of an attempt that was created before it was sent. */
type AttemptResult = AttackResult & { readonly attempt: Attempt };

/**
 * Sends attempts to a server, one after the other, and compares the responses with the expected statuses. Each is sent over
 * the transport that it requires, by default that of the good request's URL if the server has it. Only path and query of
 * the URL are used. A request that the server accepts takes effect: use test data.
 * @param target the origin of the server, or its addresses; a double is such an object
 * @throws TypeError (as a rejection) if an origin is not a URL
 * @example
 * const attempts = createAttempts({ url: 'http://localhost:3000/articles' }, createSigner({ user, secret }));
 * const report = await attack('http://localhost:3000', attempts);
 * assert.ok(report.passed, String(report));
 */
export async function attack(
  target: string | URL | AttackTarget,
  attempts: Iterable<Attempt>,
  options: AttackOptions = {},
): Promise<AttackReport<AttemptResult>> {
  const server = readTarget(target);
  if (!isIterable(attempts))
    throw new RangeError('the attempts of attack must be a list, such as the result of createAttempts');
  read(membersOf(['agent', 'timeout', 'waive']), options, { optionsOf: 'attack' });
  checkWaivers(options.waive, 'the options of attack');
  const timeout = readTimeout(options.timeout, 'the options of attack');
  // Loaded on first use, since it requires node:https and most tests do not attack.
  const { createRawClients } = await import('../net/raw-client.ts');
  const openClient = createRawClients({ agent: options.agent, timeout });
  const results: AttemptResult[] = [];
  for (const attempt of attempts) {
    if (typeof attempt !== 'object' || attempt === null)
      throw new RangeError('an attempt of attack must be an object, such as createAttempts returns');
    results.push(await perform(server, attempt, openClient));
  }
  return createReport(results, { describe, waive: options.waive, notTested: listUntested(results) });
}

/** Throws TypeError if an origin is not a URL, and RangeError if the target is of another kind. */
function readTarget(target: string | URL | AttackTarget): AttackTarget {
  if (target instanceof URL) return serverAt(target);
  if (typeof target === 'string') {
    if (!URL.canParse(target))
      throw new TypeError(`the target of attack is not a URL: ${JSON.stringify(target)}`);
    return serverAt(new URL(target));
  }
  // The members are not read here: those of a double can throw.
  if (typeof target === 'object' && target !== null && ('url' in target || 'secureUrl' in target))
    return target;
  throw new RangeError('the target of attack must be a URL, or an object with url or secureUrl');
}

function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function serverAt(origin: URL): AttackTarget {
  return origin.protocol === 'https:' ? { secureUrl: origin } : { url: origin };
}

async function perform(
  server: AttackTarget,
  attempt: Attempt,
  openClient: OpenRawClient,
): Promise<AttemptResult> {
  const origin = originFor(server, attempt);
  if (origin === undefined) {
    const note = `the server has no ${attempt.needs === 'tls' ? 'HTTPS' : 'plain HTTP'}`;
    return toResult(attempt, { status: undefined, verdict: 'skipped', note });
  }
  const clients: RawClient[] = [];
  const open = (): RawClient => {
    const client = openClient(origin, server.ca);
    clients.push(client);
    return client;
  };
  try {
    return await sendAttempt(attempt, open);
  } finally {
    for (const client of clients) client.close();
  }
}

function originFor({ url, secureUrl }: AttackTarget, { needs, request }: Attempt): string | URL | undefined {
  const preferred: Transport = needs ?? (request.url.startsWith('https:') ? 'tls' : 'plain');
  const [first, second] = preferred === 'tls' ? [secureUrl, url] : [url, secureUrl];
  return first ?? (needs === undefined ? second : undefined);
}

async function sendAttempt(attempt: Attempt, open: () => RawClient): Promise<AttemptResult> {
  try {
    return toResult(
      attempt,
      attempt.together ? await sendTogether(attempt, open()) : await sendInTurn(attempt, open),
    );
  } catch (error) {
    return toResult(attempt, describeNoResponse(error));
  }
}

/** Sends the good requests, then the last one, which determines the verdict. */
async function sendInTurn(attempt: Attempt, open: () => RawClient): Promise<Outcome> {
  const { requests, request, anotherConnection } = attempt;
  let client = open();
  for (const good of requests.slice(0, -1)) {
    const { status } = await client.send(toRawRequest(good));
    if (status >= 200 && status < 300) continue;
    const note = `the response to a preceding good request was ${status}`;
    return { verdict: 'inconclusive', status: undefined, note };
  }
  if (anotherConnection) client = open();
  const response = await client.send(toRawRequest(request));
  const outcome = judgeStatus(attempt, response.status);
  if (attempt.id !== 'good-request' || outcome.verdict === 'passed') return outcome;
  return { ...outcome, note: explainRefusal(request, response) };
}

function toResult(attempt: Attempt, outcome: Outcome): AttemptResult {
  const { id, severity, proves, remedy, name, why } = attempt;
  return { attempt, id, severity, proves, remedy, name, why, ...outcome };
}

async function sendTogether(attempt: Attempt, client: RawClient): Promise<Outcome> {
  const { requests, expected, entityTagFrom } = attempt;
  const tag = entityTagFrom && (await client.send(toRawRequest(entityTagFrom))).field('ETag');
  // A weak entity tag never matches (RFC 9110 §13.1.1).
  if (entityTagFrom !== undefined && tag?.startsWith('"') !== true)
    return { verdict: 'skipped', status: undefined, note: 'the representation has no strong entity tag' };
  const lines: HeaderLine[] = tag === undefined ? [] : [['If-Match', tag]];
  const responses = await client.sendTogether(
    requests.map((each) => toRawRequest(appendLines(each, ...lines))),
  );
  return outcomeOfRace(
    responses.map((response) => response?.status),
    expected,
  );
}

function toRawRequest({ method, url, headers, body }: AttackRequest): RawRequest {
  return { method, target: targetOf(url), headers, body };
}

function judgeStatus({ expected }: Attempt, status: number): Outcome {
  if (expected.includes(status)) return { verdict: 'passed', status, note: undefined };
  const verdict = isAccepted(status) && !expected.includes(200) ? 'failed' : 'inconclusive';
  return { verdict, status, note: describeStatus(status) };
}

function describe({ attempt, name, status, note }: AttemptResult): string {
  const { method } = attempt.request;
  const outcome = [status, note].filter((part) => part !== undefined).join(', ');
  const expected = attempt.expected.slice(0, 3).join(' or ');
  const wanted = attempt.together ? `expected one 2xx, and otherwise ${expected}` : `expected ${expected}`;
  return `${name} (${method}): ${outcome}; ${wanted}. ${attempt.why}`;
}

/** What is not tried if no attempt shows the weakness, because the good request or its signature does not have it. */
const untested: Readonly<Partial<Record<WeaknessId, string>>> = {
  replay: 'replays, because no request is valid only once',
  'stale-date': 'old requests, because the signature has no date',
  'other-method': 'other methods, because the signature does not depend on the method',
  'other-path': 'other paths, because the signature does not depend on the path',
  'other-query': 'other queries, because the signature does not depend on the query',
  'other-content':
    'changed content, because the good request has none, or the signature does not depend on it',
  'lost-update':
    'changes at the same time, because the good request is no PUT or PATCH with a digit in its content',
};

/** Returns what the attempts do not show, and what no attempt can show. */
function listUntested(results: readonly AttemptResult[]): string[] {
  const tried = new Set<string>(results.map(({ id }) => id));
  const absent = Object.entries(untested).filter(([id]) => !tried.has(id));
  return [
    ...absent.map(([, text]) => text),
    'timing: whether signatures are compared in constant time',
    'the secrets themselves: whether they are random, and who can read them',
  ];
}
