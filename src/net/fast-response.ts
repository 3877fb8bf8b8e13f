import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';

/*
 * The fast path: the bytes of a response go to the socket directly, and Node.js learns of it by the response's own 'finish'.
 * A caller uses it only for a request that has arrived whole, on a connection with nothing buffered and no other request
 * waiting, and only if `allows` returned true. Everything else takes `writeHead` and `end`.
 *
 * What it relies on, in every release line of `verified`: node:http advances to the next request in its listener of 'finish'.
 * test/net/fast-response.test.ts fails where that changes.
 */

/** Release lines whose `node:http` passed the tests of the fast path. */
const verified: ReadonlySet<string> = new Set(['20', '22', '24', '26']);

/** Responses of a listener before it looks whether the fast path may be used: a short-lived test double never does. */
const warmUp = 16;

const { emit } = EventEmitter.prototype;
const { end, writeHead } = ServerResponse.prototype;
const channels = [
  channel('http.server.request.start'),
  channel('http.server.response.created'),
  channel('http.server.response.finish'),
];

/** Decides for each response of a server whether it may bypass `ServerResponse`, and writes those that may. */
export class FastResponses {
  readonly #server: Server;
  readonly #isVerified: boolean;
  #seen = 0;
  /** The property that Node.js adds to a response while a PerformanceObserver watches `http`. */
  #statistics: symbol | undefined;

  /** `version` is that of Node.js. */
  constructor(server: Server, version = process.versions.node) {
    this.#server = server;
    this.#isVerified = verified.has(version.slice(0, version.indexOf('.')));
  }

  /** Returns whether nothing observes this response, so that nobody can see it bypass `ServerResponse`. */
  allows(response: ServerResponse): boolean {
    if (this.#seen <= warmUp) this.#warm();
    return (
      this.#statistics !== undefined &&
      !(this.#statistics in response) &&
      this.#server.emit === emit &&
      response.emit === emit &&
      response.end === end &&
      response.writeHead === writeHead &&
      !isSubscribed()
    );
  }

  #warm(): void {
    this.#seen += 1;
    if (this.#seen > warmUp && this.#isVerified) this.#statistics = statisticsSymbol();
  }
}

/** Writes a whole response, and calls `flushed` as soon as the system has taken it: at once, as a rule. */
export function writeFast(
  response: ServerResponse,
  socket: Socket,
  message: string | Uint8Array,
  flushed: () => void,
): void {
  const settle = (): void => {
    response.emit('finish');
    flushed();
  };
  if (typeof message === 'string') socket.write(message, 'latin1');
  else socket.write(message);
  if (socket.writableLength === 0) settle();
  else socket.write('', settle);
}

function isSubscribed(): boolean {
  for (const { hasSubscribers } of channels) if (hasSubscribers) return true;
  return false;
}

/** Finds the symbol under which Node.js keeps what a PerformanceObserver will report; undefined if there is none. */
function statisticsSymbol(): symbol | undefined {
  const observer = new PerformanceObserver(() => undefined);
  observer.observe({ entryTypes: ['http'] });
  const symbols = Object.getOwnPropertySymbols(new ServerResponse(new IncomingMessage(new Socket())));
  observer.disconnect();
  return symbols.find(({ description }) => description === 'ServerResponseStatistics');
}
