import { isCompressed, linesInTurn } from '../../http/field-lines.ts';
import type { FieldLine } from '../../http/fields.ts';
import type { Response as HttpResponse } from '../../http/message.ts';
import type { WireBreak } from '../../http/wire-fault.ts';
import { computeDribble } from '../../net/fault-injection.ts';
import { contentSent, fieldsSent } from '../../net/response-encoder.ts';
import type { PresentedResponse } from '../../service/fetch/fetch.ts';
import { clearTimeout, setTimeout } from '../../timers.ts';

/** Returns the error that the platform's fetch throws if a server's certificate has expired. */
export function certificateError(): TypeError {
  return fetchFailed(createCodedError('certificate has expired', 'CERT_HAS_EXPIRED'));
}

/**
 * Returns what the platform's fetch would present of a response with a fault. Its content fails where the connection would break.
 * @param head whether the request was HEAD
 * @throws the TypeError of the platform's fetch if no response arrives
 */
export function presentFault(response: HttpResponse, head: boolean): PresentedResponse {
  const { break: broken, dribble } = response.fault ?? {};
  if (broken?.kind === 'reset' && broken.after === undefined)
    throw fetchFailed(createCodedError('read ECONNRESET', 'ECONNRESET'));
  if (broken?.kind === 'close') throw fetchFailed(createCodedError('other side closed', 'UND_ERR_SOCKET'));
  const intact = linesInTurn(fieldsSent(response));
  const sent = contentSent(response, head);
  if (sent === undefined) return { fields: intact, body: null };
  const content = typeof sent === 'string' ? Buffer.from(sent) : sent;
  const arriving = content.subarray(0, computeArrivingLength(content.length, broken));
  const body = createStream(arriving, dribble, bodyError(broken));
  const fields =
    broken === undefined ? intact : intact.flatMap((line) => breakLine(line, content.length, broken));
  return { fields, body: isCompressed(response) ? body.pipeThrough(new DecompressionStream('gzip')) : body };
}

function breakLine(line: FieldLine, length: number, broken: WireBreak): FieldLine[] {
  if (line[0] !== 'Content-Length') return [line];
  if (broken.kind === 'badChunk') return [['Transfer-Encoding', 'chunked']];
  return broken.kind === 'wrongLength'
    ? [['Content-Length', String(Math.max(0, length + broken.by))]]
    : [line];
}

/** Returns how many bytes of the content arrive. */
function computeArrivingLength(length: number, broken: WireBreak | undefined): number {
  switch (broken?.kind) {
    case 'truncate':
      return broken.after;
    case 'reset':
      return broken.after ?? 0;
    case 'badChunk':
      return Math.ceil(length / 2);
    case 'wrongLength':
      return Math.min(length, Math.max(0, length + broken.by));
    case 'close':
    case undefined:
      return length;
  }
}

/** Returns the error of the body, with the code that `fetch` of Node.js has for such a break. */
function bodyError(broken: WireBreak | undefined): TypeError | undefined {
  switch (broken?.kind) {
    case 'reset':
      return terminated('other side closed', 'UND_ERR_SOCKET');
    case 'badChunk':
      return terminated('Invalid character in chunk size', 'HPE_INVALID_CHUNK_SIZE');
    case 'truncate':
      return lengthMismatch();
    case 'wrongLength':
      return broken.by > 0 ? lengthMismatch() : undefined;
    case 'close':
    case undefined:
      return undefined;
  }
}

function lengthMismatch(): TypeError {
  return terminated(
    'Response body length does not match content-length header',
    'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  );
}

function terminated(message: string, code: string): TypeError {
  return new TypeError('terminated', { cause: createCodedError(message, code) });
}

function fetchFailed(cause: Error): TypeError {
  return new TypeError('fetch failed', { cause });
}

function createCodedError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

/** Returns a stream of the content, at `rate` bytes per second if present, that finally fails with `error` if present. */
function createStream(
  content: Uint8Array,
  rate: number | undefined,
  error: TypeError | undefined,
): ReadableStream<Uint8Array> {
  const delays = new Delays();
  const { interval, size } =
    rate === undefined ? { interval: 0, size: content.length } : computeDribble(rate);
  let at = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at < content.length) {
        if (interval > 0) await delays.awaited(delays.wait(interval));
        controller.enqueue(content.slice(at, at + size));
        at += size;
      } else if (error === undefined) controller.close();
      else controller.error(error);
    },
    cancel: () => delays.end(),
  });
}

interface Delay {
  readonly timer: NodeJS.Timeout;
  readonly end: () => void;
}

/**
 * Delays in the host's time, which can all be ended early. They keep the process alive only while a caller in this process
 * waits for a response (`awaited`): a client on a socket keeps its own process alive.
 */
export class Delays {
  readonly #delays = new Set<Delay>();
  #callers = 0;

  /** Resolves after `ms`, or when all delays are ended. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(delay.timer);
        this.#delays.delete(delay);
        resolve();
      };
      const delay = { timer: setTimeout(end, ms), end };
      if (this.#callers === 0) delay.timer.unref();
      this.#delays.add(delay);
    });
  }

  /** Keeps the process alive for the delays until `response` is settled. Returns `response`. */
  async awaited<T>(response: Promise<T>): Promise<T> {
    this.#callers += 1;
    if (this.#callers === 1) for (const { timer } of this.#delays) timer.ref();
    try {
      return await response;
    } finally {
      this.#callers -= 1;
      if (this.#callers === 0) for (const { timer } of this.#delays) timer.unref();
    }
  }

  /** Ends all delays now. */
  end(): void {
    for (const { end } of [...this.#delays]) end();
  }
}
