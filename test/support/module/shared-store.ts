import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentStore } from '../../../src/store/documents.ts';
import { State } from '../../../src/store/state/state.ts';
import type { Store, TransferPart } from '../../../src/store/store.ts';
import { clearInterval, delay, setInterval } from '../../../src/timers.ts';

/** A store for tests of modules. Processes share its documents; its items are loaded when it is opened and written when it is closed. */
interface SharedStore extends Store {
  exportState(): AsyncIterable<TransferPart>;
  importState(parts: AsyncIterable<TransferPart>, noncesUntil: number): Promise<boolean>;
  readonly documents: DocumentStore;
}

/** The number of times that `importState` was called, and its last `noncesUntil`. */
export const imports: number[] = [];

/** Opens a store in a directory, which is created. */
export function openSharedStore(directory: string): SharedStore {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'parts.json');
  const saved: TransferPart[] = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
  let { state, storeId } = buildState(saved);
  let changed = false;
  return {
    get storeId() {
      return storeId;
    },
    documents: fileDocuments(directory),
    read: (collection, id) => state.read(collection, id),
    list: (collection, after, limit) => state.list(collection, after, limit),
    async apply(change) {
      const prepared = state.prepare(change);
      if ('applied' in prepared) return prepared;
      state.commit(prepared);
      changed = true;
      return { applied: true, entry: prepared.entry };
    },
    async *exportState() {
      yield* state.records(storeId);
    },
    async importState(parts, noncesUntil) {
      if ([...state.collections()].length > 0) return false;
      const taken: TransferPart[] = [];
      for await (const part of parts) taken.push(part);
      ({ state, storeId } = buildState(taken));
      imports.push(noncesUntil);
      changed = true;
      return true;
    },
    async close() {
      if (changed) writeFileSync(path, JSON.stringify([...state.records(storeId)]));
      writeFileSync(join(directory, 'closed'), '');
    },
  };
}

function buildState(parts: readonly TransferPart[]): { state: State; storeId: string } {
  const [store] = parts;
  const state = new State();
  for (const part of parts) state.take(part);
  return { state, storeId: (store?.kind === 'store' ? store.storeId : undefined) ?? 'shared' };
}

/** Documents in files, which processes share. A directory is the lock. */
export function fileDocuments(directory: string): DocumentStore {
  const formatPath = (name: string): string => join(directory, `document-${name}`);
  const read = (name: string) => {
    if (!existsSync(formatPath(name))) return undefined;
    const [version = '', ...lines] = readFileSync(formatPath(name), 'utf8').split('\n');
    return { content: Buffer.from(lines.join('\n')), version };
  };
  return {
    location: 'the shared store',
    read: async (name) => read(name),
    async replace(name, content, expected) {
      const lock = join(directory, 'lock');
      await locked(lock);
      try {
        const stored = read(name);
        if (stored?.version !== expected) return undefined;
        const version = String(Number(stored?.version ?? 0) + 1);
        writeFileSync(`${formatPath(name)}.new`, `${version}\n${Buffer.from(content).toString()}`);
        renameSync(`${formatPath(name)}.new`, formatPath(name));
        return version;
      } finally {
        rmdirSync(lock);
      }
    },
    watch(onChange) {
      const timer = setInterval(onChange, 20).unref();
      return () => clearInterval(timer);
    },
  };
}

async function locked(path: string): Promise<void> {
  for (;;) {
    try {
      mkdirSync(path);
      return;
    } catch {
      await delay(1);
    }
  }
}
