import type { TestContext } from 'node:test';
import type { FieldLine } from '../../../src/http/fields.ts';
import type { IncomingRequest, Response } from '../../../src/http/message.ts';
import { Problem } from '../../../src/http/problem.ts';
import { type ListenerLimits, listen, type ServerSocket } from '../../../src/net/listener.ts';
import { transport } from './transport.ts';

export const date = 'Tue, 15 Nov 1994 08:12:31 GMT';

const roomy: ListenerLimits = {
  headers: 16384,
  target: 8192,
  connections: 100,
  headerTimeout: 30_000,
  requestTimeout: 30_000,
};

/** A listener with a small service behind it, and what the service has seen. */
export interface Served {
  readonly listener: ServerSocket;
  readonly port: number;
  readonly requests: IncomingRequest[];
  /** Problems that the listener itself had made a reply of. */
  readonly refused: Problem[];
  /** How `/consume` came out: the bytes received, or what it was rejected with. */
  readonly consumed: (number | Problem)[];
  /** Resolves when a request has come to `/wait`, which is answered when `release` is called. */
  readonly waiting: Promise<void>;
  release(): void;
}

function plain(status: number, content: string, fields: FieldLine[] = [], close = false): Response {
  return {
    status,
    headers: [['Date', date], ['Content-Type', 'text/plain; charset=utf-8'], ...fields],
    body: content,
    close,
  };
}

/** What a problem looks like here: its type in one line. */
export function replyTo(problem: Problem): Response {
  return plain(problem.status, problem.type, [...problem.headers], problem.close);
}

/** Starts a listener on a free port, over what the test's file has for a transport, that closes with the test. */
export async function serve(context: TestContext, limits: Partial<ListenerLimits> = {}): Promise<Served> {
  const requests: IncomingRequest[] = [];
  const refused: Problem[] = [];
  const consumed: (number | Problem)[] = [];
  const arrival = deferred();
  const gate = deferred();
  const handle = async (request: IncomingRequest): Promise<Response> => {
    requests.push(request);
    return answer(request, consumed, async () => {
      arrival.resolve();
      await gate.promise;
    });
  };
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: transport.tls,
    limits: { ...roomy, ...limits },
    respond: handle,
    refuse(problem) {
      refused.push(problem);
      return replyTo(problem);
    },
  });
  context.after(() => listener.close(0));
  return {
    listener,
    port: listener.port,
    requests,
    refused,
    consumed,
    waiting: arrival.promise,
    release: gate.resolve,
  };
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/** A promise that is resolved from outside. */
export function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

async function answer(
  request: IncomingRequest,
  consumed: (number | Problem)[],
  wait: () => Promise<void>,
): Promise<Response> {
  switch (request.target) {
    case '/consume':
      return consume(request, consumed, Number.POSITIVE_INFINITY);
    case '/consume-10':
      return consume(request, consumed, 10);
    case '/consume-10-and-go-on':
      return consume(request, consumed, 10, false);
    case '/wait-and-consume':
      await wait();
      return consume(request, consumed, Number.POSITIVE_INFINITY);
    case '/wait':
      await wait();
      return plain(200, 'waited');
    case '/empty':
      return { status: 204, headers: [['Date', date]], body: undefined };
    case '/unchanged':
      return { status: 304, headers: [['Date', date]], body: 'never sent' };
    case '/nothing':
      return { status: 200, headers: [['Date', date]], body: undefined };
    case '/bytes':
      return { status: 200, headers: [['Date', date]], body: Uint8Array.of(0, 255, 10) };
    case '/large':
      return plain(200, 'x'.repeat(16 * 1024 * 1024));
    case '/umlaut':
      return { ...plain(200, 'größer'), headOnly: request.method === 'HEAD' };
    case '/close':
      return plain(200, 'bye', [], true);
    case '/fault':
      throw new Error('a handler that fails');
    case '/bad-field':
      return plain(200, '', [['X-Bad', 'a\r\nb']]);
    case '/good-field':
      return plain(200, 'good', [['ETag', '"a"']]);
    case '/good-field-gone-bad':
      return plain(200, '', [['ETag', '"a"\r\nb']]);
    default:
      return plain(200, `${request.method} ${request.target}`);
  }
}

async function consume(
  request: IncomingRequest,
  consumed: (number | Problem)[],
  most: number,
  close = true,
): Promise<Response> {
  let length = 0;
  try {
    await request.body.consume((chunk) => {
      length += chunk.length;
      if (length > most) throw new Problem('content-too-large', `more than ${most} bytes`, { close });
    });
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    consumed.push(cause);
    return replyTo(cause);
  }
  consumed.push(length);
  return plain(200, `${length} bytes`);
}
