import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { RedisClient } from '../../../src/redis/index.ts';
import { requireInstalled, unlessInstalled } from '../schemes/clients/declared.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const program = '/usr/bin/redis-server';

/** The client libraries. */
export const libraries = ['redis', 'ioredis'] as const;
type Library = (typeof libraries)[number];

/** The reason why the tests with Redis cannot run; false if they can. */
export function redisMissing(): string | false {
  if (!existsSync(program)) return `${program} is not installed`;
  return libraries.map((name) => unlessInstalled(name).skip).find((reason) => reason !== false) ?? false;
}

interface NodeRedis extends SendsCommands {
  connect(): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): this;
  destroy(): void;
}

interface SendsCommands {
  sendCommand(parameters: string[]): Promise<unknown>;
}

interface IoRedis {
  call(command: string, ...parameters: string[]): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): this;
  disconnect(): void;
}

/** Creates a client for a URL or the path of a socket. It is closed after the test. */
export async function connect(context: TestContext, library: Library, to: string): Promise<RedisClient> {
  if (library === 'ioredis') {
    const { Redis }: { Redis: new (to: string) => IoRedis } = requireInstalled('ioredis');
    const client = new Redis(to).on('error', () => {});
    context.after(() => client.disconnect());
    return client;
  }
  const { createClient }: { createClient: (options: object) => NodeRedis } = requireInstalled('redis');
  const address = to.startsWith('/') ? { socket: { path: to } } : { url: to };
  const client = createClient(address).on('error', () => {});
  const connected = client.connect();
  context.after(async () => {
    client.destroy();
    await connected.catch(() => {});
  });
  if (to.startsWith('/')) await connected;
  else connected.catch(() => {});
  return client;
}

/** A Redis that listens on a socket in a temporary directory. */
export class RedisServer {
  /** The path of its socket. */
  readonly path: string;
  readonly #directory: string;
  #process: ChildProcess | undefined;

  constructor(directory: string) {
    this.#directory = directory;
    this.path = join(directory, 'redis.sock');
  }

  /** Starts the server, and resolves when it accepts connections. The options are those of redis.conf. */
  async start(...options: string[]): Promise<void> {
    const place = ['--port', '0', '--unixsocket', this.path, '--dir', this.#directory, '--save', ''];
    const started = spawn(program, [...place, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = started;
    for await (const line of createInterface(started.stdout)) if (line.includes('eady to accept')) break;
    started.stdout.resume();
  }

  /** Ends the server: at once, without writing anything. */
  async kill(): Promise<void> {
    const ending = this.#process;
    this.#process = undefined;
    if (ending === undefined || ending.exitCode !== null) return;
    const exited = once(ending, 'exit');
    ending.kill('SIGKILL');
    await exited;
  }

  /** Stops the process without ending it, or lets it continue. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name);
  }
}

/** Starts a Redis that ends after the test. */
export async function startRedis(context: TestContext, ...options: string[]): Promise<RedisServer> {
  let server: RedisServer | undefined;
  // The server ends before its directory is removed: hooks run in the order in which they were added.
  context.after(async () => server?.kill());
  server = new RedisServer(temporaryDirectory(context));
  await server.start(...options);
  return server;
}

/** Sends a command with any client. */
export async function command(client: RedisClient, name: string, ...parameters: string[]): Promise<unknown> {
  return 'call' in client ? client.call(name, ...parameters) : client.sendCommand([name, ...parameters]);
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (typeof address !== 'object' || address === null) throw new Error('the port is unknown');
  return address.port;
}
