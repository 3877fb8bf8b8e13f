import type { Agent, RawClient } from '../net/raw-client.ts';
import type { Attempt, OutgoingRequest, Transport } from './attempt.ts';

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
  readonly agent?: Agent;
  /** The timeout of each response in ms. Default: 10,000. */
  readonly timeout?: number;
}

/**
 * The result of an attempt. `held`: the status is an expected one. `let through`: the request was accepted but must be
 * refused. `unexpected`: another status, or no response, which proves nothing. `not tried`: the server does not have the
 * transport that the attempt requires.
 */
export type AttackVerdict = 'held' | 'let through' | 'unexpected' | 'not tried';

/** The result of one attempt. */
export interface AttackResult {
  readonly attempt: Attempt;
  readonly name: string;
  /** Undefined if there was no response to the last request. */
  readonly status: number | undefined;
  readonly verdict: AttackVerdict;
  /** The reason for a missing status, or the meaning of the status. */
  readonly note: string | undefined;
}

/** The results of all attempts. */
export interface AttackReport {
  readonly results: readonly AttackResult[];
  /** Whether the verdict of all attempts that were tried is `held`, and at least one was tried. */
  readonly held: boolean;
  readonly letThrough: readonly AttackResult[];
  readonly unexpected: readonly AttackResult[];
  readonly notTried: readonly AttackResult[];
  /** Returns the report as text, with the requests that were let through first. It contains no credentials. */
  toString(): string;
}

/**
 * Sends attempts to a server, one after the other, and compares the responses with the expected statuses. Each is sent over
 * the transport that it requires, by default that of the good request's URL if the server has it. Only path and query of
 * the URL are used. A request that the server accepts takes effect: use test data.
 * @param target the origin of the server, or its addresses; a double is such an object
 * @throws TypeError (as a rejection) if an origin is not a URL
 * @example
 * const attempts = adversary({ url: 'http://localhost:3000/articles' }, hmacSigner({ user, secret }));
 * const report = await attack('http://localhost:3000', attempts);
 * assert.ok(report.held, String(report));
 */
export async function attack(
  target: string | URL | AttackTarget,
  attempts: Iterable<Attempt>,
  options: AttackOptions = {},
): Promise<AttackReport> {
  const server = typeof target === 'string' || target instanceof URL ? serverAt(new URL(target)) : target;
  const results: AttackResult[] = [];
  for (const attempt of attempts) results.push(await perform(server, attempt, options));
  return reportOf(results);
}

function serverAt(origin: URL): AttackTarget {
  return origin.protocol === 'https:' ? { secureUrl: origin } : { url: origin };
}

async function perform(
  server: AttackTarget,
  attempt: Attempt,
  options: AttackOptions,
): Promise<AttackResult> {
  const origin = originFor(server, attempt);
  if (origin === undefined) {
    const note = `the server has no ${attempt.needs === 'tls' ? 'HTTPS' : 'plain HTTP'}`;
    return { attempt, name: attempt.name, status: undefined, verdict: 'not tried', note };
  }
  // Loaded on first use, since it requires node:https and most tests do not attack.
  const { openRawClient } = await import('../net/raw-client.ts');
  const clients: RawClient[] = [];
  const open = (): RawClient => {
    const { agent, timeout = 10_000 } = options;
    const client = openRawClient({ origin, ca: server.ca, agent, timeout });
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

/** Sends the good requests, then the last one, which determines the verdict. */
async function sendAttempt(attempt: Attempt, open: () => RawClient): Promise<AttackResult> {
  const { name, requests, request, anotherConnection } = attempt;
  let client = open();
  try {
    for (const good of requests.slice(0, -1)) {
      const status = await send(client, good);
      if (status >= 200 && status < 300) continue;
      const note = `the response to a preceding good request was ${status}`;
      return { attempt, name, status: undefined, verdict: 'unexpected', note };
    }
    if (anotherConnection) client = open();
    return resultOf(attempt, await send(client, request));
  } catch (error) {
    const note = `no response: ${error instanceof Error ? error.message : 'the connection failed'}`;
    return { attempt, name, status: undefined, verdict: 'unexpected', note };
  }
}

function send(client: RawClient, { method, url, headers, body }: OutgoingRequest): Promise<number> {
  return client.send({ method, target: url.replace(/^[a-z]+:\/\/[^/]*/, ''), headers, body });
}

function resultOf(attempt: Attempt, status: number): AttackResult {
  const { name, expected } = attempt;
  if (expected.includes(status)) return { attempt, name, status, verdict: 'held', note: undefined };
  const wasAccepted = (status >= 200 && status < 300) || status === 304;
  const verdict = wasAccepted && !expected.includes(200) ? 'let through' : 'unexpected';
  return { attempt, name, status, verdict, note: notes.get(status) };
}

/** The meaning of statuses that do not depend on the request. */
const notes: ReadonlyMap<number, string> = new Map([
  [429, 'the server limits failed authentications: raise the limit, or wait'],
  [500, 'the server failed internally'],
  [503, 'the server is not ready'],
]);

function reportOf(results: readonly AttackResult[]): AttackReport {
  const withVerdict = (verdict: AttackVerdict): AttackResult[] =>
    results.filter((each) => each.verdict === verdict);
  const [held, letThrough] = [withVerdict('held'), withVerdict('let through')];
  const [unexpected, notTried] = [withVerdict('unexpected'), withVerdict('not tried')];
  return {
    results,
    held: held.length > 0 && letThrough.length === 0 && unexpected.length === 0,
    letThrough,
    unexpected,
    notTried,
    toString: () =>
      [
        `${results.length} attempts: ${held.length} held, ${letThrough.length} let through, ${unexpected.length} unexpected, ${notTried.length} not tried.`,
        ...section('Let through, but must be refused:', letThrough),
        ...section('Unexpected responses, which prove nothing:', unexpected),
        ...section('Not tried:', notTried),
      ].join('\n'),
  };
}

function section(title: string, results: readonly AttackResult[]): string[] {
  return results.length === 0 ? [] : ['', title, ...results.map(lineOf)];
}

function lineOf({ attempt, name, status, note }: AttackResult): string {
  const { method } = attempt.request;
  const outcome = [status, note].filter((part) => part !== undefined).join(', ');
  const expected = attempt.expected.slice(0, 3).join(' or ');
  return `- ${name} (${method}): ${outcome}; expected ${expected}. ${attempt.why}`;
}
