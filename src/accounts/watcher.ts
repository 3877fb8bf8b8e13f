import { type FSWatcher, watch } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CorruptionError } from '../store/corruption-error.ts';
import type { DocumentStore } from '../store/documents.ts';
import { fileMode } from '../store/files/atomic-write.ts';
import { findHolder } from '../store/files/lock.ts';
import { isRunning } from '../store/files/process-liveness.ts';
import { clearInterval, clearTimeout, delay, setInterval, setTimeout } from '../timers.ts';
import type { AccountFile, AccountFileContent, AccountFileStorage } from './account-file.ts';
import { SecretBoxError } from './secret-box.ts';
import type { AccountPlace } from './stored-file.ts';

/** Returns the path of the file with the version of an account file that the server uses. */
function formatSeenPath({ name }: Pick<AccountFile<unknown>, 'name'>, directory: string): string {
  return join(directory, `${name}.seen`);
}

/** The options of a watcher. */
interface AccountFileWatcherOptions<T> extends AccountFileStorage {
  readonly accountFile: AccountFile<T>;
  readonly place: AccountPlace;
  /** The version of the file that is in use. */
  readonly mark: string | undefined;
  /** Replaces the entries in use. If it throws, the error is reported once, and it is called again. */
  readonly use: (entries: ReadonlyMap<string, T>) => void | Promise<void>;
  /** Called with one line if the file cannot be used, or was removed. */
  readonly onWarning: (line: string) => void;
  /** Reports possible changes. Default: the host, or the documents. */
  readonly triggers?: WatchTriggers | undefined;
}

/** Watches an account file. */
export interface AccountFileWatcher {
  /** Checks the file now. Resolves when its content is in use, or its error was reported. */
  check(): Promise<void>;
  /** Stops watching. Resolves when no check is running. */
  close(): Promise<void>;
}

/**
 * Watches an account file, and uses its content when it changes. A corrupt file changes nothing and is reported once. A
 * file that was removed has no entries. In a data directory, both are only acted upon in the second check, and the version
 * in use is written to a file beside it, such as `users.seen`.
 */
export function watchAccountFile<T>(options: AccountFileWatcherOptions<T>): AccountFileWatcher {
  const watcher = new FileWatcher(options);
  void watcher.check();
  return watcher;
}

class FileWatcher<T> implements AccountFileWatcher {
  readonly #options: AccountFileWatcherOptions<T>;
  readonly #triggers: WatchTriggers;
  /** The versions in use, last read, and last written to the `.seen` file. */
  #used: string | undefined;
  #read: string | undefined;
  #acknowledged: string | undefined;
  /** The version that was corrupt or missing in the previous check. */
  #suspect: { readonly mark: string | undefined } | undefined;
  #reported: string | undefined;
  #requested = false;
  #checking: Promise<void> | undefined;
  #closed = false;

  constructor(options: AccountFileWatcherOptions<T>) {
    this.#options = options;
    this.#used = options.mark;
    this.#read = options.mark;
    this.#triggers = options.triggers ?? selectTriggers(options.place);
    this.#watch();
  }

  check(): Promise<void> {
    this.#requested = true;
    this.#checking ??= this.#checkWhileRequested();
    return this.#checking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#triggers.stop();
    await this.#checking;
  }

  async #checkWhileRequested(): Promise<void> {
    while (this.#requested && !this.#closed) {
      this.#requested = false;
      try {
        await this.#checkOnce();
        this.#reported = undefined;
      } catch (error) {
        this.#reportOnce(error);
        if (!this.#closed) this.#triggers.retry?.();
      }
    }
    this.#checking = undefined;
  }

  async #checkOnce(): Promise<void> {
    const mark = await this.#options.accountFile.mark(this.#options.place);
    if (mark !== this.#read) await this.#use(mark);
    await this.#acknowledge();
  }

  /** Reads and uses a version that was not read before. */
  async #use(mark: string | undefined): Promise<void> {
    const { accountFile, place, use, onWarning } = this.#options;
    // Before the file is read, so that no later change is missed.
    this.#watch();
    const file = await this.#readFile(mark);
    if (file === undefined || (file.mark === undefined && this.#isFirstSight(undefined))) return;
    await use(file.entries);
    this.#used = this.#read = file.mark;
    this.#suspect = undefined;
    if (file.mark === undefined)
      onWarning(`${accountFile.path(place)} was removed, and with it its ${accountFile.name}`);
  }

  /** Reads the file. A corrupt version is not read a third time. */
  async #readFile(mark: string | undefined): Promise<AccountFileContent<T> | undefined> {
    try {
      return await this.#options.accountFile.read(this.#options.place, this.#options);
    } catch (error) {
      if (!(error instanceof CorruptionError || error instanceof SecretBoxError)) throw error;
      if (this.#isFirstSight(mark)) return undefined;
      this.#read = mark;
      throw error;
    }
  }

  /**
   * Returns whether a version is corrupt or missing for the first time: an editor may empty or remove a file before it writes
   * it. A document is replaced as a whole.
   */
  #isFirstSight(mark: string | undefined): boolean {
    if (typeof this.#options.place !== 'string') return false;
    const isFirst = this.#suspect === undefined || this.#suspect.mark !== mark;
    this.#suspect = { mark };
    return isFirst;
  }

  /** Writes the version in use, for the command that changed the file. If that fails, the next check tries again. */
  async #acknowledge(): Promise<void> {
    const mark = this.#used;
    if (mark === this.#acknowledged || mark === undefined) return;
    const { accountFile, place } = this.#options;
    if (typeof place !== 'string') return;
    await writeFile(formatSeenPath(accountFile, place), mark, { mode: fileMode }).then(
      () => {
        this.#acknowledged = mark;
      },
      () => {},
    );
  }

  #watch(): void {
    const { accountFile, place } = this.#options;
    this.#triggers.watch(accountFile.path(place), () => void this.check());
  }

  #reportOnce(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.#reported) return;
    this.#reported = reason;
    this.#options.onWarning(
      `${reason.replace(/\.$/, '')}. The ${this.#options.accountFile.name} stay as they were.`,
    );
  }
}

/** Whether a server uses a version of an account file. */
interface Usage {
  /** The server that uses the directory; undefined if there is none. */
  readonly pid: number | undefined;
  /** Whether that server uses the version. */
  readonly seen: boolean;
}

/** The number of attempts, and the time between them (ms): two seconds in total. */
const attempts = 400;
const pause = 5;

/** Waits until the server that uses the directory, if any, uses the account file with this version. */
export async function waitForUsage(
  accountFile: Pick<AccountFile<unknown>, 'name'>,
  directory: string,
  mark: string | undefined,
  wait: (ms: number) => Promise<unknown> = delay,
): Promise<Usage> {
  const holder = await findHolder(directory);
  if (holder === undefined) return { pid: undefined, seen: false };
  for (let attempt = 1; ; attempt += 1) {
    const seen = await readFile(formatSeenPath(accountFile, directory), 'utf8').catch(() => undefined);
    if (seen !== undefined && seen === mark) return { pid: holder.pid, seen: true };
    if (!(await isRunning(holder))) return { pid: undefined, seen: false };
    if (attempt === attempts) return { pid: holder.pid, seen: false };
    await wait(pause);
  }
}

/** The polling interval of files (ms), for changes that the host does not report. */
const interval = 250;
/** The time (ms) after which documents that could not be read or used are read again. */
const retryDelay = 1000;

/** Reports possible changes of a file. It may report too many, and must not miss any. */
interface WatchTriggers {
  /** Starts calling `onChange`. It is called again when the file was replaced by another one. */
  watch(path: string, onChange: () => void): void;
  /** Called if a check failed. `onChange` is then called again, although nothing may have changed. */
  retry?(): void;
  /** Stops all calls. */
  stop(): void;
}

/** Returns the triggers of a location. None of them keeps the process alive. */
function selectTriggers(place: AccountPlace): WatchTriggers {
  return typeof place === 'string' ? new HostTriggers() : new DocumentTriggers(place);
}

/** Reports changes by the host, and by a timer for those that the host misses. */
class HostTriggers implements WatchTriggers {
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;

  // The file is watched, not the directory, which changes with every nonce. Each change creates another file.
  watch(path: string, onChange: () => void): void {
    this.#timer ??= setInterval(onChange, interval).unref();
    this.#watcher?.close();
    try {
      this.#watcher = watch(path, { persistent: false }, onChange).on('error', () => {});
    } catch {
      this.#watcher = undefined; // there is no file yet, or too many watches
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
  }
}

/** Reports changes of documents. A failed check is repeated by a timer, because nothing else would repeat it. */
class DocumentTriggers implements WatchTriggers {
  readonly #documents: DocumentStore;
  #onChange: (() => void) | undefined;
  #stop: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  watch(_path: string, onChange: () => void): void {
    this.#onChange = onChange;
    this.#stop ??= this.#documents.watch(() => this.#onChange?.());
  }

  retry(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onChange?.(), retryDelay).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop?.();
  }
}
