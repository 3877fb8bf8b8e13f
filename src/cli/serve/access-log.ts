import { write } from 'node:fs';
import type { AccessEntry } from '../../service/options.ts';
import { clearTimeout, delay, setTimeout } from '../../timers.ts';

/** Where the requests are told, a line each. */
export interface AccessLog {
  readonly add: (entry: AccessEntry) => void;
  /** Resolves when everything is written, or when a second passed and nobody reads. */
  flush(): Promise<void>;
}

/** Characters kept while the reader of the log is slow. What comes beyond is left out and counted. */
const mostKept = 4 * 1024 * 1024;
/** Milliseconds that a line may wait for company. */
const gathering = 50;
/** Milliseconds that the end waits for the reader. */
const patience = 1000;

/**
 * Makes a log that writes to the open file `descriptor`. Lines are gathered and written off the main thread, so
 * that a slow terminal or pipe never holds up a reply.
 */
export function createAccessLog(form: 'pretty' | 'json', descriptor: number): AccessLog {
  const lineOf = form === 'pretty' ? prettyLine : jsonLine;
  let kept = '';
  let left = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  const take = (): Buffer => {
    const taken = Buffer.from(left === 0 ? kept : `${kept}${left} more requests are not in this log\n`);
    kept = '';
    left = 0;
    return taken;
  };
  const drain = async (): Promise<void> => {
    while (kept !== '') await writeWhole(descriptor, take());
    writing = undefined;
  };
  const start = (): void => {
    timer = undefined;
    writing ??= drain();
  };

  return {
    add(entry) {
      if (kept.length > mostKept) left++;
      else kept += lineOf(entry);
      if (writing === undefined) timer ??= setTimeout(start, gathering).unref();
    },
    async flush() {
      clearTimeout(timer);
      start();
      await Promise.race([writing, delay(patience)]);
    },
  };
}

async function writeWhole(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const written = await writeSome(descriptor, bytes.subarray(at));
    if (written === undefined) return;
    if (written === 0) await delay(gathering);
    at += written;
  }
}

/** How many bytes were taken: 0 when there is no room just now, undefined when nobody reads any more. */
function writeSome(descriptor: number, bytes: Uint8Array): Promise<number | undefined> {
  return new Promise((resolve) => {
    write(descriptor, bytes, (error, count) => {
      if (error === null) resolve(count);
      else resolve(error.code === 'EAGAIN' ? 0 : undefined);
    });
  });
}

function prettyLine(entry: AccessEntry): string {
  const { time, method, path, status, principal, scheme, microseconds, problem } = entry;
  const who = principal === undefined ? '-' : `${clean(principal)} (${scheme ?? '-'})`;
  const why = problem === undefined ? '' : ` ${problem}`;
  return `${new Date(time).toISOString()} ${status} ${clean(method)} ${clean(path)} ${who} ${microseconds}µs${why}\n`;
}

function jsonLine(entry: AccessEntry): string {
  const { time, method, path, status, principal, scheme, microseconds, problem } = entry;
  const line = {
    time: new Date(time).toISOString(),
    method,
    path,
    status,
    principal,
    scheme,
    microseconds,
    problem,
  };
  return `${clean(JSON.stringify(line))}\n`;
}

// Controls, the line separators and what turns the direction of writing: nothing that a client sends may begin a line,
// move a cursor or make a line read as another.
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function clean(text: string): string {
  return text.replace(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
