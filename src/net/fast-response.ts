import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/*
 * The fast path: the bytes of a response are written directly to the socket, and the response's 'finish' event then informs
 * node:http. It is used only for a request that has arrived completely, on a connection with nothing buffered and no other request
 * queued, and only if `allows` returned true. All other responses use `writeHead` and `end`.
 *
 * It relies on two properties of every release line in `verified`: the listener of 'finish' that node:http adds to a response
 * advances to the next request, and of the request it uses only `resume`, to read content to its end, and `readableEnded`.
 * test/net/fast-response.test.ts fails if that changes.
 */

/** Release lines whose `node:http` passed the tests of the fast path. */
const verified: ReadonlySet<string> = new Set(['20', '22', '24', '26']);

/** The number of responses before the fast path is considered, so that a short-lived test double does not pay for the check. */
const warmUp = 16;

const { emit } = EventEmitter.prototype;
const { end, writeHead } = ServerResponse.prototype;
const { resume } = IncomingMessage.prototype;
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
  /** The property that Node.js adds to a response while a PerformanceObserver observes `http`. */
  #statistics: symbol | undefined;

  /** `version` is the version of Node.js. */
  constructor(server: Server, version = process.versions.node) {
    this.#server = server;
    this.#isVerified = verified.has(version.slice(0, version.indexOf('.')));
  }

  /** Returns whether nothing observes the response, so that bypassing `ServerResponse` has no visible effect. */
  allows(response: ServerResponse): boolean {
    if (this.#seen <= warmUp) this.#warm();
    return (
      this.#statistics !== undefined &&
      !(this.#statistics in response) &&
      this.#server.emit === emit &&
      response.emit === emit &&
      response.end === end &&
      response.writeHead === writeHead &&
      response.req.resume === resume &&
      !isSubscribed()
    );
  }

  #warm(): void {
    this.#seen += 1;
    if (this.#seen > warmUp && this.#isVerified) this.#statistics = statisticsSymbol();
  }
}

/** Writes a whole response. Calls `flushed` when the system has accepted it, usually at once. */
export function writeFast(
  response: ServerResponse,
  socket: Socket,
  message: string | Uint8Array,
  flushed: () => void,
): void {
  const settle = (): void => {
    if (response.req.complete && response.req.readableLength === 0) skipEnd(response.req);
    response.emit('finish');
    flushed();
  };
  if (typeof message === 'string') socket.write(message, 'latin1', settle);
  else socket.write(message, settle);
}

/** Makes node:http take the end of a request for read, because its events take a tenth of the time of a small request. */
function skipEnd(request: IncomingMessage): void {
  request.resume = () => request;
  Object.defineProperty(request, 'readableEnded', ended);
}

const ended: PropertyDescriptor = { value: true };

function isSubscribed(): boolean {
  for (const { hasSubscribers } of channels) if (hasSubscribers) return true;
  return false;
}

/** Finds the symbol under which Node.js stores statistics for a PerformanceObserver; undefined if there is none. */
function statisticsSymbol(): symbol | undefined {
  // Not imported: node:perf_hooks loads eight modules, which a short-lived server does not need.
  const { PerformanceObserver } = process.getBuiltinModule('node:perf_hooks');
  const observer = new PerformanceObserver(() => undefined);
  observer.observe({ entryTypes: ['http'] });
  const symbols = Object.getOwnPropertySymbols(new ServerResponse(new IncomingMessage(new Socket())));
  observer.disconnect();
  return symbols.find(({ description }) => description === 'ServerResponseStatistics');
}
