import { StoreError } from '../store/errors.ts';
import { clearTimeout, setTimeout } from '../timers.ts';

/** A client with the method of node-redis. */
interface SendCommandClient {
  /** Sends a command with its parameters, and resolves to the reply. */
  sendCommand(parameters: string[]): PromiseLike<unknown>;
}

/** A client with the method of ioredis. */
interface CallClient {
  /** Sends a command with its parameters, and resolves to the reply. */
  call(command: string, ...parameters: string[]): PromiseLike<unknown>;
}

/** A connected client of Redis: of node-redis, ioredis, or any other one with one of their methods. */
export type RedisClient = SendCommandClient | CallClient;

/** Sends a command and resolves to the reply. Rejects with StoreError if there is none. */
export type SendCommand = (...command: [string, ...string[]]) => Promise<unknown>;

/** The maximum number of commands without a reply. While Redis cannot be reached, a client may keep all of them. */
const maxPending = 10_000;

/**
 * Returns a function that sends commands. It rejects with StoreError if the client fails, if there is no reply within
 * `timeout` ms, or if too many commands wait for one. The error does not contain the client's error, which may contain
 * the password.
 */
export function createSender(client: RedisClient, timeout: number): SendCommand {
  const send = bindSender(client);
  let pending = 0;
  return async (...command) => {
    if (pending >= maxPending) throw failed('too many commands wait for a reply');
    pending += 1;
    const reply = (async () => send(command))().finally(() => {
      pending -= 1;
    });
    return withTimeout(reply, timeout);
  };
}

/** Returns a StoreError for a failure of Redis. */
export function failed(reason: string): StoreError {
  return new StoreError('failed', `Redis failed: ${reason}`, { reported: true });
}

function bindSender(client: RedisClient): (command: [string, ...string[]]) => PromiseLike<unknown> {
  // A client of ioredis has a method `sendCommand`, too, with other parameters.
  if ('call' in client && typeof client.call === 'function') return (command) => client.call(...command);
  if ('sendCommand' in client && typeof client.sendCommand === 'function')
    return (command) => client.sendCommand(command);
  throw new TypeError('the client of Redis has neither sendCommand nor call');
}

function withTimeout(reply: Promise<unknown>, timeout: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(failed(`no reply within ${timeout} ms`)), timeout);
    reply.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(failed(describeReason(error)));
      },
    );
  });
}

/** Returns the code of an error: `ECONNREFUSED`, `READONLY`, or the name of its class. Never its message. */
function describeReason(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown error';
  if ('code' in error && typeof error.code === 'string' && /^[A-Z_]{2,40}$/.test(error.code))
    return error.code;
  const message = 'message' in error && typeof error.message === 'string' ? error.message : '';
  const [code] = /^[A-Z]{2,20}(?= )/.exec(message) ?? [];
  if (code === 'ERR') return 'ERR; Redis 6.2 or later is required';
  if (code !== undefined) return code;
  const name = error instanceof Error ? error.constructor.name : '';
  return /^\w{1,60}$/.test(name) ? name : 'unknown error';
}
