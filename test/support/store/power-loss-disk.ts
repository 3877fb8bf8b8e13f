import { basename } from 'node:path';
import type { Disk, DiskFile } from '../../../src/store/files/disk.ts';
import type { Seeded } from '../seeded.ts';

/** A medium writes a sector whole or not at all. */
const sectorSize = 512;

/** What a directory has: names and contents. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** What is done to what a file has. */
type OperationOnFile =
  | { readonly kind: 'write'; readonly file: number; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly file: number; readonly length: number }
  | { readonly kind: 'sync' | 'failed sync'; readonly file: number };

/** What is done to the names. */
type OperationOnNames =
  | { readonly kind: 'create'; readonly file: number; readonly name: string }
  | { readonly kind: 'unlink'; readonly name: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string };

type Operation =
  | OperationOnFile
  | OperationOnNames
  | { readonly kind: 'sync directory' | 'failed sync of directory' };

/** What can be made to fail. */
export type Failing = Operation['kind'] | 'open';

/** How many states are looked at, where there are too many for all: those at the edges, and so many others. */
export interface Sampling {
  readonly random: Seeded;
  /** The most states of a file, or of the names, that are all looked at. */
  readonly all: number;
  /** How many are drawn of more than that. */
  readonly drawn: number;
  /** Whether the last write may end at any byte too, and not only between sectors. */
  readonly bytes?: boolean;
}

/** A directory in memory, on a file system that holds back what nobody asked it to put on the medium. */
export class PowerLossDisk implements Disk {
  readonly #model: Model;
  readonly #first: Files;
  readonly #log: Operation[] = [];
  readonly #failures: { operation: Failing; code: string; name: string; left: number }[] = [];
  #room = Number.POSITIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;

  /** Begins with these files, all of them on the medium. */
  constructor(files: Files = new Map()) {
    this.#first = files;
    this.#model = new Model(files);
  }

  /** The same after so many operations, for the process that comes next: this one ended, and the power stayed. */
  after(operations: number): PowerLossDisk {
    const disk = new PowerLossDisk(this.#first);
    for (const operation of this.#log.slice(0, operations)) disk.#record(operation);
    return disk;
  }

  /** How many operations have changed something. */
  get operations(): number {
    return this.#log.length;
  }

  /** The operations so far, a few words each. */
  get operationTexts(): readonly string[] {
    const names = new Map([...this.#first.keys()].map((name, file) => [file, name]));
    return this.#log.map((operation) => {
      if (operation.kind === 'create') names.set(operation.file, operation.name);
      if (operation.kind === 'write')
        return `write ${operation.bytes.length} at ${operation.at} of ${names.get(operation.file)}`;
      const { kind, ...rest } = operation;
      return `${kind} ${'file' in rest ? names.get(rest.file) : Object.values(rest).join(' → ')}`;
    });
  }

  /** Makes such an operation on a file whose name begins so fail with this code: the next one, or one after `left` others. */
  failNext(operation: Failing, code: string, name = '', left = 0): void {
    this.#failures.push({ operation, code, name, left });
  }

  /** Lets no file grow beyond this length. */
  room(length: number): void {
    this.#room = length;
  }

  /** The most bytes that one write takes. */
  shortWrites(most: number): void {
    this.#most = most;
  }

  /** What would be found if the process ended now, and the power stayed. */
  files(): Files {
    return this.#model.current();
  }

  /** What would be found if the power went now, and nothing that was held back had come to the medium. */
  leastFiles(): Files {
    return this.#model.least();
  }

  /** The states that could be found if the power went after so many operations, for each number of operations. */
  *losses(
    sampling: Sampling,
    from = 0,
    to = this.operations,
  ): Generator<{ readonly operations: number; readonly states: Iterable<Files> }> {
    const model = new Model(this.#first);
    for (let operations = 0; operations <= to; operations += 1) {
      if (operations >= from) yield { operations, states: model.losses(sampling) };
      const operation = this.#log[operations];
      if (operation !== undefined) model.apply(operation);
    }
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    await turn();
    return this.#model.content(basename(path))?.slice();
  }

  async openToRead(path: string): ReturnType<Disk['openToRead']> {
    await turn();
    const content = this.#model.content(basename(path))?.slice();
    if (content === undefined) return undefined;
    return {
      size: content.length,
      async read(into, position) {
        const part = content.subarray(position, position + into.length);
        into.set(part);
        return part.length;
      },
      async close() {},
    };
  }

  async create(path: string): Promise<DiskFile> {
    const name = basename(path);
    if (this.#model.findFile(name) !== undefined) throw failed('EEXIST');
    const file = this.#model.nextFile;
    await this.#do({ kind: 'create', file, name }, name);
    return this.#open(name, file);
  }

  async openToWrite(path: string): Promise<DiskFile> {
    const name = basename(path);
    await turn();
    this.#fail('open', name);
    return this.#open(name, this.#findFile(name));
  }

  async rename(from: string, to: string): Promise<void> {
    this.#findFile(basename(from));
    await this.#do({ kind: 'rename', from: basename(from), to: basename(to) }, basename(to));
  }

  async truncate(path: string, length: number): Promise<void> {
    const file = await this.openToWrite(path);
    await file.truncate(length);
    await file.sync();
  }

  async unlink(path: string): Promise<void> {
    this.#findFile(basename(path));
    await this.#do({ kind: 'unlink', name: basename(path) }, basename(path));
  }

  async list(): Promise<readonly string[]> {
    await turn();
    return [...this.#model.current().keys()];
  }

  async syncDirectory(): Promise<void> {
    await this.#sync({ kind: 'sync directory' }, { kind: 'failed sync of directory' }, '');
  }

  #open(name: string, file: number): DiskFile {
    let end = 0;
    const write = (bytes: Uint8Array, at: number): number => {
      this.#fail('write', name);
      const free = Math.min(this.#most, this.#room - at);
      if (free <= 0) throw failed('ENOSPC');
      // A copy: the caller goes on using the bytes.
      const part = Uint8Array.from(bytes.subarray(0, free));
      this.#record({ kind: 'write', file, at, bytes: part });
      return part.length;
    };
    const sync = (): Promise<void> => this.#sync({ kind: 'sync', file }, { kind: 'failed sync', file }, name);
    return {
      async write(bytes) {
        const written = write(bytes, end);
        end += written;
        await turn();
        return written;
      },
      writeAt: write,
      truncate: (length) => this.#do({ kind: 'truncate', file, length }, name),
      sync,
      syncData: sync,
      close: turn,
    };
  }

  /** A sync that fails may have put on the medium any part of what was held back. */
  async #sync(operation: Operation, failure: Operation, name: string): Promise<void> {
    await turn();
    try {
      this.#fail(operation.kind, name);
    } catch (error) {
      this.#record(failure);
      throw error;
    }
    this.#record(operation);
    await turn();
  }

  async #do(operation: Operation, name: string): Promise<void> {
    this.#fail(operation.kind, name);
    this.#record(operation);
    await turn();
  }

  #record(operation: Operation): void {
    this.#log.push(operation);
    this.#model.apply(operation);
  }

  #fail(operation: Failing, name: string): void {
    const failure = this.#failures.find(
      (each) => each.operation === operation && name.startsWith(each.name) && each.left >= 0,
    );
    if (failure === undefined) return;
    failure.left -= 1;
    if (failure.left < 0) throw failed(failure.code);
  }

  #findFile(name: string): number {
    const file = this.#model.findFile(name);
    if (file === undefined) throw failed('ENOENT');
    return file;
  }
}

/** What the system holds, and what may be on the medium of it. */
class Model {
  readonly #contents: Content[] = [];
  readonly #names = new Map<string, number>();
  /** The names that are on the medium, and what was done to names since. */
  #synced = new Map<string, number>();
  #changes: NameChange[] = [];
  /** After a failed sync of the directory none makes anything certain any more. */
  #doubted = false;

  constructor(files: Files) {
    for (const [name, content] of files) {
      this.#names.set(name, this.#contents.length);
      this.#contents.push(new Content(content));
    }
    this.#synced = new Map(this.#names);
  }

  get nextFile(): number {
    return this.#contents.length;
  }

  findFile(name: string): number | undefined {
    return this.#names.get(name);
  }

  content(name: string): Uint8Array | undefined {
    const file = this.#names.get(name);
    return file === undefined ? undefined : this.#content(file).current;
  }

  current(): Files {
    return new Map([...this.#names].map(([name, file]) => [name, this.#content(file).current]));
  }

  least(): Files {
    return new Map([...this.#synced].map(([name, file]) => [name, this.#content(file).least]));
  }

  apply(operation: Operation): void {
    if (operation.kind === 'create') this.#contents.push(new Content(new Uint8Array()));
    if ('name' in operation || 'from' in operation) this.#change(this.#toChange(operation));
    else if ('file' in operation) this.#content(operation.file).apply(operation);
    else if (operation.kind === 'failed sync of directory') this.#doubted = true;
    else if (!this.#doubted) {
      this.#synced = new Map(this.#names);
      this.#changes = [];
    }
  }

  /** Every state of the names with some of the contents, and every state of the contents with some of the names. */
  *losses(sampling: Sampling): Generator<Files> {
    const names = [...this.#lossesOfNames(sampling)];
    const contents = this.#contents.map((content) => [...content.losses(sampling)]);
    for (const state of names) {
      const several = [...state.values()].filter((file) => (contents[file]?.length ?? 0) > 1);
      const product = several.reduce((count, file) => count * (contents[file]?.length ?? 1), 1);
      const most = product * names.length <= sampling.all ? product : undefined;
      const picks =
        most === undefined ? this.#drawn(several, contents, sampling) : allPicks(several, contents);
      for (const pick of picks) yield buildFiles(state, contents, pick);
    }
  }

  /** For each file each of its states, with others drawn for the rest. */
  *#drawn(
    several: readonly number[],
    contents: readonly (readonly Uint8Array[])[],
    { random }: Sampling,
  ): Generator<ReadonlyMap<number, number>> {
    const count = (file: number): number => contents[file]?.length ?? 1;
    yield new Map();
    yield new Map(several.map((file) => [file, count(file) - 1]));
    for (const file of several) {
      for (let index = 0; index < count(file); index += 1) {
        const pick = new Map(several.map((each) => [each, random.below(count(each))]));
        yield pick.set(file, index);
      }
    }
  }

  /** Any of the changes of names may be on the medium: POSIX gives them no order. */
  *#lossesOfNames({ random, all, drawn }: Sampling): Generator<ReadonlyMap<string, number>> {
    const count = this.#changes.length;
    const few = 2 ** count <= all;
    const chosen = few
      ? Array.from({ length: 2 ** count }, (_, bits) => this.#changes.map((_, n) => (bits & (1 << n)) !== 0))
      : [
          ...Array.from({ length: count + 1 }, (_, end) => this.#changes.map((_, n) => n < end)),
          ...Array.from({ length: drawn }, () => this.#changes.map(() => random.below(2) === 1)),
        ];
    for (const kept of chosen) {
      const names = new Map(this.#synced);
      this.#changes.forEach((change, index) => {
        if (kept[index] === true) changeName(names, change);
      });
      yield names;
    }
  }

  #toChange(operation: OperationOnNames): NameChange {
    if (operation.kind === 'create') return { set: operation.name, file: operation.file };
    if (operation.kind === 'unlink') return { remove: operation.name };
    const { from, to } = operation;
    return { set: to, remove: from, file: this.#names.get(from) };
  }

  #change(change: NameChange): void {
    changeName(this.#names, change);
    this.#changes.push(change);
  }

  #content(file: number): Content {
    const content = this.#contents[file];
    if (content === undefined) throw new RangeError(`there is no file ${file}`);
    return content;
  }
}

interface NameChange {
  readonly set?: string;
  readonly file?: number | undefined;
  readonly remove?: string;
}

function changeName(names: Map<string, number>, { set, file, remove }: NameChange): void {
  if (remove !== undefined) names.delete(remove);
  if (set !== undefined && file !== undefined) names.set(set, file);
}

function* allPicks(
  several: readonly number[],
  contents: readonly (readonly Uint8Array[])[],
): Generator<ReadonlyMap<number, number>> {
  const [file, ...others] = several;
  if (file === undefined) return yield new Map();
  for (const rest of allPicks(others, contents)) {
    for (let index = 0; index < (contents[file]?.length ?? 1); index += 1)
      yield new Map(rest).set(file, index);
  }
}

function buildFiles(
  names: ReadonlyMap<string, number>,
  contents: readonly (readonly Uint8Array[])[],
  pick: ReadonlyMap<number, number>,
): Files {
  return new Map(
    [...names].map(([name, file]) => [name, contents[file]?.[pick.get(file) ?? 0] ?? new Uint8Array()]),
  );
}

/** What a file has, and what of it may be on the medium. */
class Content {
  /** What is on the medium: one, or several that it may be since a sync failed. */
  #synced: readonly Uint8Array[];
  /** What was held back, as the file was after each operation since. */
  #since: Uint8Array[] = [];
  /** What the file had when a sync failed: the system takes that for written, and never writes it again. */
  #doubted: Uint8Array | undefined;
  current: Uint8Array;

  constructor(content: Uint8Array) {
    this.current = content;
    this.#synced = [content];
  }

  /** What is on the medium when nothing is that was held back. */
  get least(): Uint8Array {
    return this.#synced[0] ?? this.current;
  }

  apply(operation: OperationOnFile): void {
    if (operation.kind === 'write') this.#write(operation.bytes, operation.at);
    else if (operation.kind === 'truncate') this.#truncate(operation.length);
    else if (operation.kind === 'sync') this.#sync();
    else this.#doubt();
  }

  /** The states that may be found; the first one is that without all that was held back, the last one that with it. */
  *losses(sampling: Sampling): Generator<Uint8Array> {
    if (this.#synced.length + this.#since.length === 1) return yield this.current;
    const seen = new Set<string>();
    for (const state of this.#states(sampling)) {
      const key = Buffer.from(state).toString('latin1');
      if (!seen.has(key)) yield state;
      seen.add(key);
    }
    yield this.current;
  }

  *#states(sampling: Sampling): Generator<Uint8Array> {
    const versions = [...this.#synced, ...this.#since];
    yield this.least;
    yield* sectorStates(versions, sampling);
    const [before, after] = versions.slice(-2);
    if (sampling.bytes === true && before !== undefined && after !== undefined)
      yield* prefixStates(before, after, sampling);
  }

  #write(bytes: Uint8Array, at: number): void {
    const content = new Uint8Array(Math.max(this.current.length, at + bytes.length));
    content.set(this.current);
    content.set(bytes, at);
    this.#become(content);
  }

  #truncate(length: number): void {
    const content = new Uint8Array(length);
    content.set(this.current.subarray(0, length));
    this.#become(content);
  }

  #sync(): void {
    const { current } = this;
    const doubted = this.#doubted;
    this.#synced =
      doubted === undefined ? [current] : this.#synced.map((each) => written(each, doubted, current));
    if (doubted !== undefined) this.#doubted = current;
    this.#since = [];
  }

  #doubt(): void {
    this.#synced = [...this.#synced, ...this.#since];
    this.#since = [];
    this.#doubted = this.current;
  }

  #become(content: Uint8Array): void {
    this.current = content;
    this.#since.push(content);
  }
}

/** What is on the medium when all that was changed after `doubted` is written on it. */
function written(medium: Uint8Array, doubted: Uint8Array, current: Uint8Array): Uint8Array {
  const content = new Uint8Array(current.length);
  content.set(medium.subarray(0, current.length));
  for (let at = 0; at < current.length; at += sectorSize) {
    const sector = current.subarray(at, at + sectorSize);
    if (Buffer.compare(sector, sliceSector(doubted, at).subarray(0, sector.length)) !== 0)
      content.set(sector, at);
  }
  return content;
}

/** Each sector as it was after any operation, and the length too. */
function* sectorStates(versions: readonly Uint8Array[], sampling: Sampling): Generator<Uint8Array> {
  const { random, all, drawn } = sampling;
  const lengths = [...new Set(versions.map(({ length }) => length))];
  const longest = Math.max(...lengths);
  const changed: { readonly at: number; readonly sectors: readonly Uint8Array[] }[] = [];
  for (let at = 0; at < longest; at += sectorSize) {
    const sectors = distinct(versions.map((version) => sliceSector(version, at)));
    if (sectors.length > 1) changed.push({ at, sectors });
  }
  const made = (length: number, choose: (sectors: readonly Uint8Array[], index: number) => number) => {
    const content = new Uint8Array(Math.ceil(longest / sectorSize) * sectorSize);
    for (const version of versions.slice(0, 1)) content.set(version);
    changed.forEach(({ at, sectors }, index) => {
      content.set(sectors[choose(sectors, index)] ?? [], at);
    });
    return content.slice(0, length);
  };
  const count = changed.reduce((product, { sectors }) => product * sectors.length, lengths.length);
  if (count <= all) {
    for (const length of lengths) {
      for (let number = 0; number < count / lengths.length; number += 1) {
        let rest = number;
        yield made(length, (sectors) => {
          const pick = rest % sectors.length;
          rest = Math.floor(rest / sectors.length);
          return pick;
        });
      }
    }
    return;
  }
  for (const length of lengths) {
    yield made(length, () => 0);
    yield made(length, (sectors) => sectors.length - 1);
    for (let only = 0; only < Math.min(changed.length, drawn); only += 1) {
      yield made(length, (sectors, index) => (index === only ? sectors.length - 1 : 0));
      yield made(length, (sectors, index) => (index === only ? 0 : sectors.length - 1));
      yield made(length, (sectors, index) => (index <= only ? sectors.length - 1 : 0));
    }
  }
  for (let number = 0; number < drawn; number += 1)
    yield made(random.pick(lengths), (sectors) => random.below(sectors.length));
}

/** The last operation ends at some byte; the file is then as long as that, or as it was to become. */
function* prefixStates(
  before: Uint8Array,
  after: Uint8Array,
  { all, drawn, random }: Sampling,
): Generator<Uint8Array> {
  const longest = Math.max(before.length, after.length);
  const differs = (at: number): boolean => before[at] !== after[at];
  let [first, last] = [0, longest];
  while (first < longest && !differs(first)) first += 1;
  while (last > first && !differs(last - 1)) last -= 1;
  const few = last - first <= all;
  for (let n = 0; n < (few ? last - first : drawn); n += 1) {
    const end = few ? first + n : first + random.below(last - first);
    const whole = new Uint8Array(longest);
    whole.set(before);
    whole.set(after.subarray(0, end));
    yield whole.slice(0, after.length);
    if (after.length > before.length) yield whole.slice(0, Math.max(before.length, end));
  }
}

function sliceSector(content: Uint8Array, at: number): Uint8Array {
  const sector = new Uint8Array(sectorSize);
  sector.set(content.subarray(at, at + sectorSize));
  return sector;
}

function distinct(sectors: readonly Uint8Array[]): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const sector of sectors) {
    if (!found.some((each) => Buffer.compare(each, sector) === 0)) found.push(sector);
  }
  return found;
}

/** Lets others have their turn, as a medium does that takes its time. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function failed(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail`), { code });
}
