import { type FSWatcher, watch } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CorruptionError } from '../store/corruption-error.ts';
import { fileMode } from '../store/files/atomic-write.ts';
import { holderOf } from '../store/files/lock.ts';
import { isRunning } from '../store/files/process-liveness.ts';
import { clearInterval, delay, setInterval } from '../timers.ts';
import type { AccountFile, AccountFileContent, AccountFileStorage } from './account-file.ts';
import { SecretBoxError } from './secret-box.ts';

/** The file in which a server says which state of the roster it goes by. */
function seenPath({ name }: Pick<AccountFile<unknown>, 'name'>, directory: string): string {
  return join(directory, `${name}.seen`);
}

/** How often (ms) the file is looked at where nobody says that it changed. */
const interval = 250;

/** What a watch on a roster of a data directory is made of. */
export interface AccountFileWatcherOptions<T> extends AccountFileStorage {
  readonly roster: AccountFile<T>;
  readonly directory: string;
  /** The mark of what is in use already. */
  readonly mark: string | undefined;
  /** Puts these entries in the place of those in use. What it throws is told once, and it is tried again. */
  readonly use: (entries: ReadonlyMap<string, T>) => void | Promise<void>;
  /** Told in one line that the file cannot be used, or is gone. */
  readonly tell: (line: string) => void;
  /** What says when to look; the host's own by default. */
  readonly prompts?: WatchTriggers;
}

/** Says when a file may have changed: rather too often than once too seldom. */
export interface WatchTriggers {
  /** Calls `look` from now on; called again when another file has taken the place of the one that was there. */
  watch(path: string, look: () => void): void;
  stop(): void;
}

/** Takes care that changes of a roster are used. */
export interface AccountFileWatcher {
  /** Looks at the file now; resolves when what it says is in use, or was told to be unusable. */
  look(): Promise<void>;
  /** Resolves when it looks no more. */
  close(): Promise<void>;
}

/**
 * Watches a roster of a data directory, and puts what it says to use as soon as it changes. A file that cannot be used
 * changes nothing and is told once; one that is gone has no entries. Both are believed at the second look. What is in
 * use is noted beside it, for users in `users.seen`.
 */
export function watchAccountFile<T>(options: AccountFileWatcherOptions<T>): AccountFileWatcher {
  const watch = new FileWatch(options);
  void watch.look();
  return watch;
}

class FileWatch<T> implements AccountFileWatcher {
  readonly #options: AccountFileWatcherOptions<T>;
  readonly #prompts: WatchTriggers;
  /** What is in use, what was last looked at, and what is noted to be in use. */
  #used: string | undefined;
  #known: string | undefined;
  #noted: string | undefined;
  /** What was found to be damaged, or gone, at one look. */
  #doubted: { readonly mark: string | undefined } | undefined;
  #told: string | undefined;
  #due = false;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(options: AccountFileWatcherOptions<T>) {
    this.#options = options;
    this.#used = options.mark;
    this.#known = options.mark;
    this.#prompts = options.prompts ?? new HostPrompts();
    this.#watch();
  }

  look(): Promise<void> {
    this.#due = true;
    this.#looking ??= this.#lookWhileDue();
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#prompts.stop();
    await this.#looking;
  }

  async #lookWhileDue(): Promise<void> {
    while (this.#due && !this.#closed) {
      this.#due = false;
      try {
        await this.#lookOnce();
        this.#told = undefined;
      } catch (error) {
        this.#tellOnce(error);
      }
    }
    this.#looking = undefined;
  }

  async #lookOnce(): Promise<void> {
    const mark = await this.#options.roster.mark(this.#options.directory);
    if (mark !== this.#known) await this.#take(mark);
    await this.#note();
  }

  /** Puts to use what has another mark than what is known. */
  async #take(mark: string | undefined): Promise<void> {
    const { roster: accountFile, directory, use, tell } = this.#options;
    // Before it is read, so that no later change goes unseen.
    this.#watch();
    const file = await this.#read(mark);
    if (file === undefined || (file.mark === undefined && this.#doubts(undefined))) return;
    await use(file.entries);
    this.#used = this.#known = file.mark;
    this.#doubted = undefined;
    if (file.mark === undefined)
      tell(`${accountFile.path(directory)} is gone, and so are the ${accountFile.name} that were in it`);
  }

  /** Reads the file. One that is damaged is not read a third time. */
  async #read(mark: string | undefined): Promise<AccountFileContent<T> | undefined> {
    try {
      return await this.#options.roster.read(this.#options.directory, this.#options);
    } catch (error) {
      if (!(error instanceof CorruptionError || error instanceof SecretBoxError)) throw error;
      if (this.#doubts(mark)) return undefined;
      this.#known = mark;
      throw error;
    }
  }

  /** Whether it is too early to believe this. An editor may empty a file, or remove it, just before it writes it. */
  #doubts(mark: string | undefined): boolean {
    const early = this.#doubted === undefined || this.#doubted.mark !== mark;
    this.#doubted = { mark };
    return early;
  }

  /** Lets whoever changed the roster see that they are in use. It is no loss when it fails: the next look tries again. */
  async #note(): Promise<void> {
    const mark = this.#used;
    if (mark === this.#noted || mark === undefined) return;
    const { roster: accountFile, directory } = this.#options;
    await writeFile(seenPath(accountFile, directory), mark, { mode: fileMode }).then(
      () => {
        this.#noted = mark;
      },
      () => {},
    );
  }

  #watch(): void {
    const { roster: accountFile, directory } = this.#options;
    this.#prompts.watch(accountFile.path(directory), () => void this.look());
  }

  #tellOnce(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.#told) return;
    this.#told = reason;
    this.#options.tell(`${reason.replace(/\.$/, '')}. The ${this.#options.roster.name} stay as they were.`);
  }
}

/** The host tells of changes where it can, and a timer makes up for what it misses. Neither keeps the process alive. */
class HostPrompts implements WatchTriggers {
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;

  // The file, and not the directory, in which nonces are written all the time. It is another file after each change.
  watch(path: string, look: () => void): void {
    this.#timer ??= setInterval(look, interval).unref();
    this.#watcher?.close();
    try {
      this.#watcher = watch(path, { persistent: false }, look).on('error', () => {});
    } catch {
      this.#watcher = undefined; // there is no file yet, or no more room for watches
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
  }
}

/** Whether what was written to a roster is in use. */
export interface Usage {
  /** The process that has the directory; undefined when there is none. */
  readonly pid: number | undefined;
  /** Whether that process goes by it. */
  readonly seen: boolean;
}

/** How often, and how far apart (ms), it is asked whether a server goes by a change: two seconds in all. */
const attempts = 400;
const pause = 5;

/** Waits until the server that has the directory, if there is one, goes by the roster with this mark. */
export async function waitForUsage(
  accountFile: Pick<AccountFile<unknown>, 'name'>,
  directory: string,
  mark: string | undefined,
  wait: (ms: number) => Promise<unknown> = delay,
): Promise<Usage> {
  const holder = await holderOf(directory);
  if (holder === undefined) return { pid: undefined, seen: false };
  for (let attempt = 1; ; attempt += 1) {
    const seen = await readFile(seenPath(accountFile, directory), 'utf8').catch(() => undefined);
    if (seen !== undefined && seen === mark) return { pid: holder.pid, seen: true };
    if (!(await isRunning(holder))) return { pid: undefined, seen: false };
    if (attempt === attempts) return { pid: holder.pid, seen: false };
    await wait(pause);
  }
}
