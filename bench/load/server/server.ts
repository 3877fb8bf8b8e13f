/**
 * Runs a server under load in its own process. Orders: `port` returns its port, `cost` its CPU time and memory, `kept` its
 * memory after garbage collection. The
 * servers of other packages do what is usual with them: find the article and write it as JSON; read JSON, store it and
 * answer 201.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getHeapSpaceStatistics } from 'node:v8';
import type { Sample } from '../../measure/benchmark.ts';
import type { Answer } from '../../measure/parts/part.ts';
import { fastifyApp, hawkApp, honoListener } from './peers.ts';

/** The response of a bare server. */
export interface BareReply {
  readonly status: number;
  /** Names and values, alternating. */
  readonly fields: readonly string[];
  readonly content: string;
  /** The certificate and key; with them, the server uses TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The secret of the only user, whose signatures are verified. Default: nothing is verified. */
  readonly secret?: string;
}

/** Starts the server with this name. Its arguments are those of the command, or one JSON document. */
export async function part(name: string, ...given: string[]): Promise<Answer> {
  const port = await start(name, given);
  return async (order) => {
    if (order === 'kept') return kept();
    return order === 'port' ? { port } : cost();
  };
}

/** Returns the CPU time (ns) and memory (bytes) of this process. */
function cost(): Readonly<Record<string, number>> {
  const { user, system } = process.cpuUsage();
  return { cpu: (user + system) * 1000, resident: process.memoryUsage.rss() };
}

/** Returns resident memory, the young generation of the heap, and the heap, after garbage collection (bytes). */
function kept(): Sample {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const young = getHeapSpaceStatistics()
    .filter((space) => space.space_name.startsWith('new_'))
    .reduce((sum, space) => sum + space.physical_space_size, 0);
  return { resident: rss, young, heap: heapUsed };
}

async function start(name: string, given: readonly string[]): Promise<number> {
  const [json = '{}'] = given;
  switch (name) {
    case 'bare':
      return listening(bare(JSON.parse(json)));
    case 'countersign':
      return command(given);
    case 'fastify':
      return fastifyApp();
    case 'fastify with hawk':
      return hawkApp(JSON.parse(json));
    case 'hono':
      return listening(createServer(honoListener()));
    default:
      throw new RangeError(`there is no server called ${name}`);
  }
}

function bare({ status, fields, content, tls, secret }: BareReply): Server {
  const accepts = secret === undefined ? () => true : handWritten(secret);
  const answer: RequestListener = (request, response) => {
    const end = (): void => {
      const code = accepts(request) ? status : 401;
      response.writeHead(code, [...fields]);
      response.end(content);
    };
    if (request.method === 'GET') end();
    else request.resume().on('end', end);
  };
  return tls === undefined ? createServer(answer) : createSecureServer(tls, answer);
}

/**
 * Verifies the full form of `hmac` as an application would by hand, with what nobody can leave out: the time, one HMAC, a
 * comparison in constant time, and nonces that are kept for as long as the time is accepted.
 */
function handWritten(secret: string): (request: IncomingMessage) => boolean {
  let [current, previous] = [new Set<string>(), new Set<string>()];
  let since = Date.now();
  const window = 600_000;
  return ({ method, url, headers }) => {
    const { date = '', authentication = '' } = headers;
    const [, user, nonce, digest = ''] = /^hmac ([^:]+):([^:]+):(.+)$/.exec(String(authentication)) ?? [];
    const now = Date.now();
    if (nonce === undefined || !(Math.abs(Date.parse(date) - now) <= window)) return false;
    const message = `${method}+${url}+${date.replaceAll(' ', '')}+${nonce}`;
    const expected = createHmac('sha256', secret).update(message).digest();
    const given = Buffer.from(digest, 'base64');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
    if (now - since > 2 * window) [previous, current, since] = [current, new Set(), now];
    const key = `${user}:${nonce}`;
    if (current.has(key) || previous.has(key)) return false;
    current.add(key);
    return true;
  };
}

/** Starts the command with a free port in place of the word PORT. */
async function command(words: readonly string[]): Promise<number> {
  const port = await freePort();
  const args = words.map((word) => (word === 'PORT' ? String(port) : word));
  const root = join(import.meta.dirname, '../../..');
  const { main }: typeof import('../../../src/cli/main.ts') = await import('../../../src/cli/main.ts');
  const status = await main(args, pathToFileURL(`${root}/`));
  if (status !== undefined) throw new Error(`the command ended with ${status}`);
  return port;
}

async function freePort(): Promise<number> {
  const server = createNetServer();
  const port = await listening(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** Listens on a free port and returns it. */
async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server.address());
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return address.port;
}
