import { type FSWatcher, watch } from 'node:fs';
import type { DocumentStore } from '../store/documents.ts';
import { clearInterval, clearTimeout, setInterval, setTimeout } from '../timers.ts';
import type { AccountPlace } from './account-file-path.ts';

/** The polling interval of files (ms), for changes that the host does not report. */
const interval = 250;
/** The time (ms) after which documents that could not be read or used are read again. */
const retryDelay = 1000;

/** Reports possible changes of a file. It may report too many, and must not miss any. */
export interface WatchTriggers {
  /** Starts calling `onChange`. It is called again when the file was replaced by another one. */
  watch(path: string, onChange: () => void): void;
  /** Called if a check failed. `onChange` is then called again, although nothing may have changed. */
  retry?(): void;
  /** Stops all calls. */
  stop(): void;
}

/** Returns the triggers of a location. None of them keeps the process alive. */
export function triggersOf(place: AccountPlace): WatchTriggers {
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
