import { mkdirSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { request as sendSecurely } from 'node:https';
import { join } from 'node:path';
import { article, articles } from '../../data/articles.ts';
import type { Stage } from '../../measure/benchmark.ts';
import { type Running, startServer } from '../client/load.ts';
import { password, type Requests, secret, user } from '../client/requests.ts';
import type { BareReply } from './server.ts';

/** The address of the article that is asked for. */
export const target = '/articles/1';

/** How ours is started. */
export interface OursOptions {
  /** In memory when left out. */
  readonly durability?: 'fsync' | 'os';
  readonly secure?: boolean;
  /** Articles to begin with; 1 when left out. */
  readonly count?: number;
  /** Further members of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Starts the command with one user and some articles, as somebody would by hand. */
export async function startOurs(stage: Stage, name: string, options: OursOptions = {}): Promise<Running> {
  const { durability, secure = false, count = 1, config = {} } = options;
  const data = join(stage.scratch, name);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const file = join(stage.scratch, `${name}.json`);
  const seed = Array.from({ length: count }, (_, number) => article(number + 1));
  const all = {
    users: { [user]: { secret, password } },
    seed: { [articles]: seed },
    ...config,
  };
  writeFileSync(file, JSON.stringify(all), { mode: 0o600 });
  const where = durability === undefined ? ['--memory'] : ['--data', data, '--durability', durability];
  const ports = secure ? ['--no-http', '--tls-port', 'PORT'] : ['--no-tls', '--port', 'PORT'];
  const rest = [
    '--config',
    file,
    '--log',
    'off',
    '--max-auth-failures',
    '0',
    '--max-nonces-per-user',
    '10000000',
  ];
  const running = await startServer(stage, 'countersign', ...rest, ...ports, ...where);
  if (typeof running === 'string') throw new Error(running);
  return running;
}

/** What a server of `startBare` is called. */
export const sameBytes = 'bare node:http, the same bytes';

/**
 * Starts a bare node:http server with the very reply that a server gives to one of these requests, but for what node:http
 * writes itself.
 */
export async function startBare(
  stage: Stage,
  { port }: Running,
  requests: Requests,
  tls?: NonNullable<BareReply['tls']>,
): Promise<Running> {
  const [request = ''] = requests.make(1, Date.now());
  const reply = await ask(port, request, tls !== undefined);
  const running = await startGiven(stage, tls === undefined ? reply : { ...reply, tls });
  const same = await ask(running.port, request, tls !== undefined);
  if (textOf(same) !== textOf(reply)) throw new Error(`not the same bytes: ${textOf(same)}`);
  return running;
}

/** All but what node:http writes itself. */
function textOf({ status, fields, content }: BareReply): string {
  return [status, ...fields, content].join('\n');
}

/** Starts a bare node:http server with this reply. */
export async function startGiven(stage: Stage, reply: BareReply): Promise<Running> {
  const running = await startServer(stage, 'bare', JSON.stringify(reply));
  if (typeof running === 'string') throw new Error(running);
  return running;
}

// Without a length node:http would send chunks, which are other bytes and dearer.
const byNode = ['date', 'connection', 'keep-alive'];

/** Sends a request as it stands on the wire, and gives the reply. */
async function ask(port: number, request: string, secure: boolean): Promise<BareReply> {
  const [head = '', content = ''] = request.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.replace(/^[^:]*: */, '')]),
  );
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', method, path, headers, rejectUnauthorized: false };
    const sent = (secure ? sendSecurely : send)({ ...options, agent: false }, (response) => {
      const chunks: string[] = [];
      response.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status = 0, rawHeaders } = response;
        const fields = rawHeaders.filter(
          (_, at) => !byNode.includes((rawHeaders[at - (at % 2)] ?? '').toLowerCase()),
        );
        resolve({ status, fields, content: chunks.join('') });
      });
    });
    sent.on('error', reject);
    sent.end(content);
  });
}

/** The entity tag that the article has now. */
export async function entityTagOf({ port }: Running): Promise<string> {
  const { fields } = await ask(port, `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, false);
  return fields[fields.findIndex((name) => name.toLowerCase() === 'etag') + 1] ?? '';
}
