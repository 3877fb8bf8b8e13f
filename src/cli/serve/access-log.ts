import { write } from 'node:fs';
import { systemClock } from '../../clock.ts';
import { escapeInvisible } from '../../http/syntax/control-character.ts';
import type { AccessLogEntry } from '../../service/options.ts';
import { clearTimeout, delay, setTimeout } from '../../timers.ts';

/** A log with one line per request. */
export interface AccessLog {
  readonly add: (entry: AccessLogEntry) => void;
  /** Writes all lines. Resolves when they are written, or after one second. */
  flush(): Promise<void>;
}

/** The maximum size of the buffer, in characters. Further entries are dropped and counted. */
const maxBuffered = 4 * 1024 * 1024;
/** The time for which lines are collected before they are written, in milliseconds. */
const batchDelay = 50;
/** The time limit of `flush`, in milliseconds. */
const flushTimeout = 1000;

/**
 * Creates a log that writes to the open file `descriptor`. Lines are written in batches and off the main thread, so that
 * a slow terminal or pipe never delays a response.
 */
export function createAccessLog(form: 'pretty' | 'json', descriptor: number): AccessLog {
  const formatLine = form === 'pretty' ? prettyLine : jsonLine;
  let buffered = '';
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  const take = (): Buffer => {
    const suffix = dropped === 0 ? '' : formatDroppedLine(form, dropped);
    const taken = Buffer.from(buffered + suffix);
    buffered = '';
    dropped = 0;
    return taken;
  };
  const drain = async (): Promise<void> => {
    while (buffered !== '') await writeWhole(descriptor, take());
    writing = undefined;
  };
  const start = (): void => {
    timer = undefined;
    writing ??= drain();
  };

  return {
    add(entry) {
      if (buffered.length > maxBuffered) dropped++;
      else buffered += formatLine(entry);
      if (writing === undefined) timer ??= setTimeout(start, batchDelay).unref();
    },
    async flush() {
      clearTimeout(timer);
      start();
      await Promise.race([writing, delay(flushTimeout)]);
    },
  };
}

function formatDroppedLine(form: 'pretty' | 'json', dropped: number): string {
  const message = `${dropped} requests were dropped from this log`;
  if (form === 'pretty') return `${message}\n`;
  return `${JSON.stringify({ time: new Date(systemClock.now()).toISOString(), level: 'warn', message })}\n`;
}

async function writeWhole(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const written = await writeSome(descriptor, bytes.subarray(at));
    if (written === undefined) return;
    if (written === 0) await delay(batchDelay);
    at += written;
  }
}

/** Returns the number of bytes written: 0 if the pipe is full, undefined if it is closed. */
function writeSome(descriptor: number, bytes: Uint8Array): Promise<number | undefined> {
  return new Promise((resolve) => {
    write(descriptor, bytes, (error, count) => {
      if (error === null) resolve(count);
      else resolve(error.code === 'EAGAIN' ? 0 : undefined);
    });
  });
}

function prettyLine(entry: AccessLogEntry): string {
  const { time, method, path, status, principal, scheme, microseconds, problem } = entry;
  const user = principal === undefined ? '-' : `${escapeInvisible(principal)} (${scheme ?? '-'})`;
  const suffix = problem === undefined ? '' : ` ${problem}`;
  return `${new Date(time).toISOString()} ${status} ${escapeInvisible(method)} ${escapeInvisible(path)} ${user} ${microseconds}µs${suffix}\n`;
}

function jsonLine({ time, ...entry }: AccessLogEntry): string {
  return `${escapeInvisible(JSON.stringify({ time: new Date(time).toISOString(), ...entry }))}\n`;
}
