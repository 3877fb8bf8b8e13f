import type { Agent, RawClient } from '../net/raw-client.ts';
import type { Attempt, OutgoingRequest, Transport } from './attempt.ts';

/** The server that attempts are sent to; a double is one. */
export interface AttackTarget {
  /** Its origin over plain HTTP, if it has one. */
  readonly url?: string | URL | undefined;
  /** Its origin over HTTPS, if it has one. */
  readonly secureUrl?: string | URL | undefined;
  /** Certificates in PEM to trust over HTTPS; the usual ones when left out. */
  readonly ca?: string | undefined;
}

/** How attempts are sent. */
export interface AttackOptions {
  /**
   * Opens the connections in the place of the client, to go through a proxy, say: whether two requests share a
   * connection is then its affair.
   */
  readonly agent?: Agent;
  /** Milliseconds in which each reply must have come; 10,000 when left out. */
  readonly timeout?: number;
}

/**
 * How an attempt came out. `held`: it was answered as it must be. `let through`: it was taken and must not be.
 * `unexpected`: it was answered in some other way, or not at all, which proves nothing. `not tried`: the server does
 * not have the transport that it needs.
 */
export type AttackVerdict = 'held' | 'let through' | 'unexpected' | 'not tried';

/** What came of one attempt. */
export interface AttackResult {
  readonly attempt: Attempt;
  readonly name: string;
  /** Undefined where there was no reply to the last request. */
  readonly status: number | undefined;
  readonly verdict: AttackVerdict;
  /** Why there is no status, or what it means. */
  readonly note: string | undefined;
}

/** What came of all of them. */
export interface AttackReport {
  readonly results: readonly AttackResult[];
  /** Whether every attempt that could be tried was answered as it must be, and one could. */
  readonly held: boolean;
  readonly letThrough: readonly AttackResult[];
  readonly unexpected: readonly AttackResult[];
  readonly notTried: readonly AttackResult[];
  /** What got through comes first; no credentials are in it. */
  toString(): string;
}

/**
 * Sends attempts to a server, one after the other, and judges what it answers. They are sent over the transport that
 * they need, else over that of the good request's URL, else over the one that there is; of the URL only path and query
 * count. Nothing is spared: what a wrong server lets through, it also does. Rejects with TypeError for an origin that is no URL.
 * @example assert.ok((report = await attack('http://localhost:3000', attempts)).held, String(report));
 */
export async function attack(
  target: string | URL | AttackTarget,
  attempts: Iterable<Attempt>,
  options: AttackOptions = {},
): Promise<AttackReport> {
  const server = typeof target === 'string' || target instanceof URL ? serverAt(new URL(target)) : target;
  const results: AttackResult[] = [];
  for (const attempt of attempts) results.push(await tryOut(server, attempt, options));
  return reportOf(results);
}

function serverAt(origin: URL): AttackTarget {
  return origin.protocol === 'https:' ? { secureUrl: origin } : { url: origin };
}

async function tryOut(server: AttackTarget, attempt: Attempt, options: AttackOptions): Promise<AttackResult> {
  const origin = originFor(server, attempt);
  if (origin === undefined) {
    const note = `the server has no ${attempt.needs === 'tls' ? 'HTTPS' : 'plain HTTP'}`;
    return { attempt, name: attempt.name, status: undefined, verdict: 'not tried', note };
  }
  // Loaded here: most tests attack nothing, and it needs node:https.
  const { openRawClient } = await import('../net/raw-client.ts');
  const clients: RawClient[] = [];
  const open = (): RawClient => {
    const { agent, timeout = 10_000 } = options;
    const client = openRawClient({ origin, ca: server.ca, agent, timeout });
    clients.push(client);
    return client;
  };
  try {
    return await play(attempt, open);
  } finally {
    for (const client of clients) client.close();
  }
}

function originFor({ url, secureUrl }: AttackTarget, { needs, request }: Attempt): string | URL | undefined {
  const wanted: Transport = needs ?? (request.url.startsWith('https:') ? 'tls' : 'plain');
  const [first, second] = wanted === 'tls' ? [secureUrl, url] : [url, secureUrl];
  return first ?? (needs === undefined ? second : undefined);
}

/** Sends the good requests, then the one that is judged. */
async function play(attempt: Attempt, open: () => RawClient): Promise<AttackResult> {
  const { name, requests, request, anotherConnection } = attempt;
  let client = open();
  try {
    for (const good of requests.slice(0, -1)) {
      const status = await send(client, good);
      if (status >= 200 && status < 300) continue;
      const note = `the good request before it was answered ${status}`;
      return { attempt, name, status: undefined, verdict: 'unexpected', note };
    }
    if (anotherConnection) client = open();
    return judged(attempt, await send(client, request));
  } catch (error) {
    const note = `no answer: ${error instanceof Error ? error.message : 'the connection failed'}`;
    return { attempt, name, status: undefined, verdict: 'unexpected', note };
  }
}

function send(client: RawClient, { method, url, headers, body }: OutgoingRequest): Promise<number> {
  return client.send({ method, target: url.replace(/^[a-z]+:\/\/[^/]*/, ''), headers, body });
}

function judged(attempt: Attempt, status: number): AttackResult {
  const { name, expected } = attempt;
  if (expected.includes(status)) return { attempt, name, status, verdict: 'held', note: undefined };
  const wasTaken = (status >= 200 && status < 300) || status === 304;
  const verdict = wasTaken && !expected.includes(200) ? 'let through' : 'unexpected';
  return { attempt, name, status, verdict, note: notes.get(status) };
}

/** Statuses that say nothing of what was sent. */
const notes: ReadonlyMap<number, string> = new Map([
  [429, 'the server counts failures: let it take more of them, or wait'],
  [500, 'the server failed on it'],
  [503, 'the server is not ready'],
]);

function reportOf(results: readonly AttackResult[]): AttackReport {
  const those = (wanted: AttackVerdict): AttackResult[] =>
    results.filter(({ verdict }) => verdict === wanted);
  const [held, letThrough] = [those('held'), those('let through')];
  const [unexpected, notTried] = [those('unexpected'), those('not tried')];
  return {
    results,
    held: held.length > 0 && letThrough.length === 0 && unexpected.length === 0,
    letThrough,
    unexpected,
    notTried,
    toString: () =>
      [
        `${results.length} attempts: ${held.length} held, ${letThrough.length} let through, ${unexpected.length} unexpected, ${notTried.length} not tried.`,
        ...section('Let through, and must not be:', letThrough),
        ...section('Answered in another way than expected, which proves nothing:', unexpected),
        ...section('Not tried:', notTried),
      ].join('\n'),
  };
}

function section(title: string, results: readonly AttackResult[]): string[] {
  return results.length === 0 ? [] : ['', title, ...results.map(lineOf)];
}

function lineOf({ attempt, name, status, note }: AttackResult): string {
  const { method } = attempt.request;
  const said = [status, note].filter((part) => part !== undefined).join(', ');
  const wanted = attempt.expected.slice(0, 3).join(' or ');
  return `- ${name} (${method}): ${said}; expected ${wanted}. ${attempt.why}`;
}
