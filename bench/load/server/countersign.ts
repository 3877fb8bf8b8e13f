import { mkdirSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { request as sendSecurely } from 'node:https';
import { join } from 'node:path';
import { article, articles } from '../../data/articles.ts';
import type { Stage } from '../../measure/benchmark.ts';
import { type Running, startServer } from '../client/load.ts';
import { password, type Requests, secret, user } from '../client/requests.ts';
import type { BareReply } from './server.ts';

/** The path of the requested article. */
export const target = '/articles/1';

/** Options of the server. */
export interface OursOptions {
  /** The durability of a store on disk. Default: a store in memory. */
  readonly durability?: 'fsync' | 'os';
  /** The path of a module with the store. */
  readonly module?: string;
  readonly secure?: boolean;
  /** The number of initial articles. Default: 1. */
  readonly count?: number;
  /** Further keys of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Starts the command with one user and some articles. */
export async function startOurs(stage: Stage, name: string, options: OursOptions = {}): Promise<Running> {
  const { durability, module, secure = false, count = 1, config = {} } = options;
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
  const where = module === undefined ? storedIn(data, durability) : ['--module', module];
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

function storedIn(data: string, durability: OursOptions['durability']): readonly string[] {
  return durability === undefined ? ['--memory'] : ['--data', data, '--durability', durability];
}

/** The name of a server of `startBare`. */
export const sameBytes = 'bare node:http, the same bytes';

/** The name of a server of `startBare` that verifies signatures. */
export const byHand = 'bare node:http, verified by hand';

/**
 * Starts a bare node:http server that sends the response of a server to one of these requests, except for the fields
 * that node:http adds itself. With `secret`, it verifies the signature before.
 */
export async function startBare(
  stage: Stage,
  { port }: Running,
  requests: Requests,
  more: Pick<BareReply, 'tls' | 'secret'> = {},
): Promise<Running> {
  const [request = '', second = ''] = requests.make(2, Date.now());
  const secure = more.tls !== undefined;
  const reply = await ask(port, request, secure);
  const running = await startGiven(stage, { ...reply, ...more });
  const same = await ask(running.port, requests.once ? second : request, secure);
  if (textOf(same) !== textOf(reply)) throw new Error(`not the same bytes: ${textOf(same)}`);
  return running;
}

/** Removes the fields that node:http adds itself. */
function textOf({ status, fields, content }: BareReply): string {
  return [status, ...fields, content].join('\n');
}

/** Starts a bare node:http server with this response. */
export async function startGiven(stage: Stage, reply: BareReply): Promise<Running> {
  const running = await startServer(stage, 'bare', JSON.stringify(reply));
  if (typeof running === 'string') throw new Error(running);
  return running;
}

// Without a length, node:http would use chunked coding, which is slower and has other bytes.
const byNode = ['date', 'connection', 'keep-alive'];

/** Sends a request given as bytes and returns the response. */
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
