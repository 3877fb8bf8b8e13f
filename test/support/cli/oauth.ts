import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { systemClock } from '../../../src/clock.ts';
import { callback as consumerCallback } from '../oauth/consumer.ts';
import type { Answer, Asked, Sending } from '../oauth/server.ts';
import { buildMessage, callback, toAnswer } from '../oauth/server.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { call, type Given, type Running, startProcess, startServer } from './command.ts';

/** A server that runs on a directory, as tests of OAuth ask it. */
export interface LiveServer extends Asked {
  readonly running: Running;
  /** Ends it in order. Resolves when it is gone. */
  end(): Promise<void>;
}

/** Such a server in a process of its own. */
interface ServerProcess extends LiveServer {
  /** Ends it by SIGKILL, which leaves it no time. Resolves when it is gone. */
  kill(): Promise<void>;
}

/** A configuration file with the users of the tests. */
export function usersFile(): string {
  const path = join(temporaryDirectory(), 'config.json');
  const user = (name: string) => ({ secret: `${name}-secret`, password: `${name}-password` });
  writeFileSync(path, JSON.stringify({ users: { ann: user('ann'), bob: user('bob') } }), { mode: 0o600 });
  return path;
}

/** Runs a command that must do what it is asked; gives its standard output. */
export async function done(args: readonly string[], input = ''): Promise<string> {
  const { status, stdout, stderr } = await call(args, { input });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** What the output of a command has on a line after a word: `secret    …`. Fails without such a line. */
export function printedIn(output: string, what: string): string {
  const text = new RegExp(`^${what} +(\\S.*)$`, 'm').exec(output)?.[1];
  if (text === undefined) throw new Error(`no ${what} in ${output}`);
  return text;
}

/** Registers the client `app` and the consumer `printer` of the tests of OAuth in a place, such as `--data DIR`. */
export async function register(...place: readonly string[]): Promise<void> {
  const more = ['--scope', 'read', '--scope', 'write', '--secret-stdin', ...place];
  await done(['client', 'add', 'app', '--redirect-uri', callback, ...more], 'app-secret-0123456789\n');
  const printer = ['consumer', 'add', 'printer', '--callback', consumerCallback, ...more];
  await done(printer, 'printer-secret-0123456789\n');
}

/** Starts a server on a directory, in this process. It is known to others as https://localhost. */
export function startOn(data: string, config: string, ...args: string[]): Promise<LiveServer> {
  return startWith(startServer, data, config, args);
}

/** Starts such a server in a process of its own, so that it can be killed. */
export async function startProcessOn(
  data: string,
  config: string,
  ...args: string[]
): Promise<ServerProcess> {
  const server = await startWith(startProcess, data, config, args);
  return {
    ...server,
    async kill() {
      process.kill(server.running.pid, 'SIGKILL');
      await server.running.ended;
    },
  };
}

async function startWith(
  start: (args: readonly string[], given?: Given) => Promise<Running>,
  data: string,
  config: string,
  args: readonly string[],
): Promise<LiveServer> {
  const always = ['--port', '0', '--tls-port', '0', '--max-auth-failures', '0', '--log', 'off'];
  const place = ['--data', data, '--config', config, '--public-url', 'https://localhost'];
  const running = await start([...always, ...place, ...args]);
  const ca = readFileSync(join(data, 'tls', 'certificate.pem'));
  const { port } = new URL(running.secureUrl);
  return {
    running,
    clock: systemClock,
    ask: (method, target, sending) => ask({ port, ca }, method, target, sending),
    async end() {
      await running.stop();
    },
  };
}

function ask(
  { port, ca }: { port: string; ca: Buffer },
  method: string,
  path: string,
  sending: Sending = {},
): Promise<Answer> {
  const { fields, content } = buildMessage(sending);
  const headers = { ...Object.fromEntries(fields), Host: 'localhost' };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, ca, method, path, headers, agent: false }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => {
        const raw = reply.rawHeaders;
        const pairs = raw.flatMap((name, at): [string, string][] =>
          at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : [],
        );
        resolve(toAnswer({ status: reply.statusCode ?? 0, headers: pairs, body: Buffer.concat(chunks) }));
      });
    });
    sent.on('error', reject);
    sent.end(content);
  });
}
