/**
 * Sends requests that stand ready in a file over connections that are kept open, and counts the replies. Orders:
 * `full PORT SECURE CONNECTIONS MS STATUS ONCE FILE` sends the next one as soon as a reply is there;
 * `paced … FILE RATE` sends so many a second at even distances, whether or not replies come, and counts the time of each from
 * when it was due, so that a server that stands still is not spared; the first are sent before that, and their times not counted;
 * `hold PORT SECURE CONNECTIONS …` opens what is missing of so many connections, asks once on each, and keeps them all.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { Sample } from '../../measure/benchmark.ts';
import type { Answer } from '../../measure/parts/part.ts';
import { quantile } from '../../measure/results/statistics.ts';

/** So many connections are opened and asked on at a time where they are held: what is under way at once is not what is kept. */
const together = 50;

/** Gives rate, latency quantiles (ns), how many replies were others than expected, and how busy this process was. */
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
    const sockets = await openedAll(Number(connections), Number(port), secure === 'secure');
    const cpu = process.cpuUsage();
    const begun = performance.now();
    await (kind === 'paced' ? load.paced(sockets, Number(ms), Number(rate)) : load.full(sockets, Number(ms)));
    const elapsed = performance.now() - begun;
    const { user, system } = process.cpuUsage(cpu);
    for (const socket of sockets) socket.destroy();
    return { ...load.told(elapsed), busy: (user + system) / 1000 / elapsed };
  };
}

/** Connections to one server that are kept open. */
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
    const some = await openedAll(Math.min(together, count - sockets.length), Number(port), secure);
    await Promise.all(some.map((socket) => answered(socket, request)));
    sockets.push(...some);
  }
}

/** A line with the number of bytes, and the bytes. */
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

/** Some at a time: of those that a server's queue has no room for the first packet is lost, and sent again a second later. */
async function openedAll(count: number, port: number, secure: boolean): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Math.min(200, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: some }, () => opened(port, secure)))));
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

/** For so long (ms) a server is asked at an even pace before times are counted: it has just taken the connections. */
const leadIn = 250;

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

class Load {
  readonly #requests: readonly Buffer[];
  readonly #status: string;
  readonly #once: boolean;
  #next = 0;
  #latencies: number[] = [];
  /** How many of them come before those that count. */
  #leading = 0;
  #others = 0;
  #lost = 0;

  constructor(requests: readonly Buffer[], status: number, once: boolean) {
    this.#requests = requests;
    this.#status = String(status);
    this.#once = once;
  }

  told(elapsed: number): Sample {
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

  /** Until the time is over, or nothing is left that may be sent. */
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

  /** So many a second; what is due while all connections are busy waits for one. */
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
        // A server that does not come back is not waited for.
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

  /** Calls when a reply is whole. Replies are framed by their length or end in a last chunk. */
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

/** The bytes that follow a head; undefined when they come in chunks. */
function sizeOf(reply: Buffer, end: number): number | undefined {
  const head = reply.toString('latin1', 9, end);
  if (head.startsWith('304') || head.startsWith('204')) return 0;
  const at = /\r\ncontent-length: *(\d+)/i.exec(head);
  return at === null ? undefined : Number(at[1]);
}
