/**
 * Sends prepared requests from a file over keep-alive connections and counts the responses. Orders: `full PORT SECURE
 * CONNECTIONS MS STATUS ONCE FILE` sends the next request when a response is complete; `paced … FILE RATE` sends RATE
 * requests per second at constant intervals, and measures each response time from the moment at which the request was
 * due, so that a pause of the server affects all delayed requests, except those of a first phase that is not measured;
 * `hold PORT SECURE CONNECTIONS …` opens connections until there are CONNECTIONS, sends one request on each, and keeps
 * them open. PORT can be several, separated by commas, over which the connections are spread.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { Sample } from '../../measure/benchmark.ts';
import type { Answer } from '../../measure/parts/part.ts';
import { quantile } from '../../measure/results/statistics.ts';

/**
 * The number of connections that `hold` opens at a time, so that the measured memory is not that of requests in
 * progress.
 */
const together = 50;

/**
 * Returns the rate, latency quantiles (ns), the number of unexpected responses, and the CPU utilization of this
 * process.
 */
export function part(): Answer {
  const held: Held = { port: '', sockets: [] };
  return async (
    kind = '',
    port = '',
    secure = '',
    connections = '',
    ms = '',
    status = '',
    again = '',
    file = '',
    rate = '',
  ) => {
    if (kind !== 'hold' || port !== held.port) letGo(held);
    if (kind === 'hold') {
      held.port = port;
      await hold(held, Number(connections), secure === 'secure', readRequests(file)[0]);
      return {};
    }
    const load = new Load(readRequests(file), Number(status), again === 'once');
    const sockets = await openedAll(Number(connections), port, secure === 'secure');
    const cpu = process.cpuUsage();
    const begun = performance.now();
    await (kind === 'paced' ? load.paced(sockets, Number(ms), Number(rate)) : load.full(sockets, Number(ms)));
    const elapsed = performance.now() - begun;
    const { user, system } = process.cpuUsage(cpu);
    for (const socket of sockets) socket.destroy();
    return { ...load.sample(elapsed), busy: (user + system) / 1000 / elapsed };
  };
}

/** The keep-alive connections to one server. */
interface Held {
  port: string;
  readonly sockets: Socket[];
}

function letGo({ sockets }: Held): void {
  for (const socket of sockets.splice(0)) socket.destroy();
}

async function hold(
  { port, sockets }: Held,
  count: number,
  secure: boolean,
  request?: Buffer,
): Promise<void> {
  while (sockets.length < count) {
    const some = await openedAll(Math.min(together, count - sockets.length), port, secure);
    await Promise.all(some.map((socket) => answered(socket, request)));
    sockets.push(...some);
  }
}

/** Parses the file: for each request a line with its length, then its bytes. */
function readRequests(file: string): Buffer[] {
  const all = readFileSync(file);
  const requests: Buffer[] = [];
  for (let at = 0; at < all.length; ) {
    const end = all.indexOf(10, at);
    const size = Number(all.toString('latin1', at, end));
    requests.push(all.subarray(end + 1, end + 1 + size));
    at = end + 1 + size;
  }
  return requests;
}

/**
 * Opens a few connections at a time: if the backlog of the server overflows, a SYN is lost and repeated only after a
 * second.
 */
async function openedAll(count: number, port: string, secure: boolean): Promise<readonly Socket[]> {
  const ports = port.split(',').map(Number);
  const portAt = (index: number): number => ports[index % ports.length] ?? 0;
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Math.min(200, count - sockets.length);
    sockets.push(
      ...(await Promise.all(Array.from({ length: some }, (_, index) => opened(portAt(index), secure)))),
    );
  }
  return sockets;
}

async function opened(port: number, secure: boolean): Promise<Socket> {
  const socket = secure
    ? connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : connect({ port, host: '127.0.0.1' });
  socket.setNoDelay(true);
  await once(socket, secure ? 'secureConnect' : 'connect');
  return socket;
}

async function answered(socket: Socket, request: Uint8Array = Buffer.alloc(0)): Promise<void> {
  socket.write(request);
  await once(socket, 'data');
}

/** The duration (ms) of the first phase of `paced`, which is not measured because the connections are new. */
const leadIn = 250;

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

class Load {
  readonly #requests: readonly Buffer[];
  readonly #status: string;
  readonly #once: boolean;
  #next = 0;
  #latencies: number[] = [];
  /** The number of requests that are not measured. */
  #leading = 0;
  #others = 0;
  #lost = 0;

  constructor(requests: readonly Buffer[], status: number, once: boolean) {
    this.#requests = requests;
    this.#status = String(status);
    this.#once = once;
  }

  sample(elapsed: number): Sample {
    const count = this.#latencies.length;
    const counted = this.#latencies.slice(this.#leading);
    const at = (part: number): number => quantile(counted, part) * 1e6;
    const quantiles = { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
    return { count, rate: (count / elapsed) * 1000, ...quantiles, others: this.#others + this.#lost };
  }

  #take(): Buffer | undefined {
    if (this.#next >= this.#requests.length) {
      if (this.#once) return undefined;
      this.#next = 0;
    }
    this.#next += 1;
    return this.#requests[this.#next - 1];
  }

  /** Sends requests until the time is over or none is left. */
  full(sockets: readonly Socket[], ms: number): Promise<void> {
    const until = performance.now() + ms;
    return new Promise((resolve) => {
      let open = sockets.length;
      for (const socket of sockets) {
        let sent = 0;
        const send = (): void => {
          const now = performance.now();
          const request = now < until ? this.#take() : undefined;
          if (request === undefined) {
            open -= 1;
            if (open === 0) resolve();
            return;
          }
          sent = now;
          socket.write(request);
        };
        this.#listen(socket, () => {
          this.#latencies.push(performance.now() - sent);
          send();
        });
        send();
      }
    });
  }

  /** Sends RATE requests per second. A request that is due while all connections are busy waits for one. */
  paced(sockets: readonly Socket[], ms: number, rate: number): Promise<void> {
    const begun = performance.now();
    const leading = Math.floor((leadIn / 1000) * rate);
    const total = leading + Math.floor((ms / 1000) * rate);
    const idle: { send(due: number): void }[] = [];
    let due = 0;
    let answered = 0;
    return new Promise((resolve) => {
      const settle = (): void => {
        answered += 1;
        if (answered === total) resolve();
      };
      for (const socket of sockets) {
        let since = 0;
        const sender = {
          send: (time: number): void => {
            since = time;
            const request = this.#take();
            if (request === undefined) settle();
            else socket.write(request);
          },
        };
        this.#listen(socket, () => {
          this.#latencies.push(performance.now() - since);
          if (since < begun + leadIn) this.#leading = this.#latencies.length;
          idle.push(sender);
          settle();
        });
        idle.push(sender);
      }
      const turn = (): void => {
        const passed = performance.now() - begun;
        // Does not wait for a server that has stopped responding.
        if (passed > (leadIn + ms) * 2 + 2000) {
          this.#lost = total - answered;
          resolve();
          return;
        }
        while (due < total && due <= (passed / 1000) * rate) {
          const sender = idle.shift();
          if (sender === undefined) break;
          sender.send(begun + (due / rate) * 1000);
          due += 1;
        }
        if (answered < total) setImmediate(turn);
      };
      turn();
    });
  }

  /** Calls the callback for each complete response, framed by its length or by its last chunk. */
  #listen(socket: Socket, whole: () => void): void {
    let left = -1;
    let kept: Buffer = Buffer.alloc(0);
    socket.on('error', () => {
      this.#lost += 1;
    });
    socket.on('data', (chunk: Buffer) => {
      if (left > 0) {
        left -= chunk.length;
      } else {
        kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
        const end = kept.indexOf(headEnd);
        if (end < 0) return;
        const size = sizeOf(kept, end);
        if (size === undefined) {
          if (!kept.subarray(-lastChunk.length).equals(lastChunk)) return;
          left = 0;
        } else {
          left = size - (kept.length - end - headEnd.length);
        }
        if (kept.toString('latin1', 9, 12) !== this.#status) this.#others += 1;
        kept = Buffer.alloc(0);
      }
      if (left > 0) return;
      left = -1;
      whole();
    });
  }
}

/** Returns the content length of a head; undefined for chunked content. */
function sizeOf(reply: Buffer, end: number): number | undefined {
  const head = reply.toString('latin1', 9, end);
  if (head.startsWith('304') || head.startsWith('204')) return 0;
  const at = /\r\ncontent-length: *(\d+)/i.exec(head);
  return at === null ? undefined : Number(at[1]);
}
