import { formatMembers } from './item-members.ts';
import {
  type LaidLines,
  lineEnd,
  mostLaid,
  parseHead,
  parseLine,
  spareBehind,
  withRoom,
} from './kept-lines.ts';
import type { RecentEntries } from './recent-entries.ts';
import type { EntryHead, Piece, Run } from './run.ts';
import type { Entry } from './store.ts';

/** The most bytes of a character (UTF-16) in UTF-8. */
const mostPerCharacter = 3;

/** Bytes that lie in a row, and where they are to lie. */
interface Move {
  from: number;
  to: number;
  readonly at: number;
}

/**
 * Items as the lines that a snapshot has of them: as objects they would take twice the memory, and the collector of
 * garbage would have to look at each. An item that somebody asks for is read by itself, which takes a few microseconds.
 * A line that is changed is written in its place if it is as long as before, and else behind the others; when there is
 * no room left, they are laid in order again.
 */
export class KeptRun implements Run {
  readonly sequence: number;
  readonly #recent: RecentEntries;
  /** That of each line; undefined where they are in a row. */
  readonly #sequences: Float64Array | undefined;
  /** Where each line begins and ends; one that was taken out has no bytes. */
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  #bytes: Buffer;
  /** Up to where the lines lie in order, and up to where there are any. */
  #ordered: number;
  #used: number;
  /** Whether there are bytes of no line, or lines not in order. */
  #isLoose = false;
  #count: number;

  /** Takes the lines over, at least one, with the room behind them. `recent` is that of the collection. */
  constructor({ bytes, starts, sequences }: LaidLines, recent: RecentEntries) {
    this.#recent = recent;
    this.#bytes = bytes;
    this.#starts = starts.slice(0, -1);
    this.#ends = starts.slice(1);
    this.#count = sequences.length;
    this.#ordered = starts.at(-1) ?? 0;
    this.#used = this.#ordered;
    this.sequence = sequences[0] ?? 0;
    const inRow = (sequences.at(-1) ?? 0) - this.sequence + 1 === sequences.length;
    this.#sequences = inRow ? undefined : Float64Array.from(sequences);
  }

  get count(): number {
    return this.#count;
  }

  get last(): number {
    let line = this.#lines - 1;
    while (line > 0 && !this.#isThere(line)) line -= 1;
    return this.#sequenceOf(line);
  }

  /** Whether it has become so long that it takes long to lay in order, or to copy. */
  get isTooLong(): boolean {
    return this.#used > 2 * mostLaid && this.#count > 1;
  }

  find(sequence: number): Entry | undefined {
    const line = this.#lineOf(sequence);
    return line < 0 ? undefined : this.#entryAt(line);
  }

  head(sequence: number): EntryHead | undefined {
    const line = this.#lineOf(sequence);
    if (line < 0) return undefined;
    return parseHead(this.#bytes, this.#start(line), this.#end(line) - 1);
  }

  replace(entry: Entry, members = formatMembers(entry, JSON.stringify(entry.value))): boolean {
    const line = this.#lineOf(entry.sequence);
    if (line < 0) return false;
    const text = `{${members}}${lineEnd}`;
    if (!this.#hasRoomFor(text)) {
      this.#free(line);
      this.#makeRoom(Buffer.byteLength(text));
    }
    const [start, end] = [this.#used, this.#used + this.#bytes.write(text, this.#used)];
    // A line as long as the one before, as most are, takes its place.
    if (end - start === this.#lengthOf(line)) this.#bytes.copyWithin(this.#start(line), start, end);
    else this.#place(line, start, end);
    return true;
  }

  #hasRoomFor(text: string): boolean {
    return this.#used + text.length * mostPerCharacter <= this.#bytes.length;
  }

  /** Has a line begin and end behind the others. */
  #place(line: number, start: number, end: number): void {
    this.#starts[line] = start;
    this.#ends[line] = end;
    this.#used = end;
    this.#isLoose = true;
  }

  remove(sequence: number): boolean {
    const line = this.#lineOf(sequence);
    if (line < 0) return false;
    this.#free(line);
    this.#isLoose = true;
    this.#count -= 1;
    return true;
  }

  after(sequence: number, limit: number): Entry[] {
    const entries: Entry[] = [];
    this.readAfter(sequence, limit, Number.POSITIVE_INFINITY, entries);
    return entries;
  }

  /**
   * Adds up to `limit` entries with a greater sequence to `entries`, until so many bytes of lines were read. Returns how
   * many were.
   */
  readAfter(sequence: number, limit: number, bytes: number, entries: Entry[]): number {
    let [line, left, read] = [this.#linesUpTo(sequence), limit, 0];
    for (; line < this.#lines && left > 0 && read < bytes; line += 1) {
      if (!this.#isThere(line)) continue;
      entries.push(this.#entryAt(line));
      read += this.#lengthOf(line);
      left -= 1;
    }
    return read;
  }

  /** All entries with a greater sequence, as lines. */
  pieces(sequence: number): Piece[] {
    if (this.#isLoose) this.#makeRoom(0);
    const from = this.#linesUpTo(sequence);
    const lines = this.#linesThere().filter((line) => line >= from);
    const [first, last] = [lines[0], lines.at(-1)];
    if (first === undefined || last === undefined) return [];
    const bytes = this.#bytes.subarray(this.#starts[first], this.#ends[last]);
    return [{ bytes, count: lines.length, sequence: this.#sequenceOf(last) }];
  }

  /** The same in two runs, each with at least one item. */
  halves(): readonly [KeptRun, KeptRun] {
    const lines = this.#linesThere();
    const middle = lines.length >>> 1;
    return [this.#part(lines.slice(0, middle)), this.#part(lines.slice(middle))];
  }

  /** A run of some of the lines. */
  #part(lines: readonly number[]): KeptRun {
    const starts = [0];
    let length = 0;
    for (const line of lines) {
      length += this.#lengthOf(line);
      starts.push(length);
    }
    const bytes = withRoom(length);
    for (const [index, line] of lines.entries())
      this.#bytes.copy(bytes, starts[index], this.#starts[line], this.#ends[line]);
    const sequences = lines.map((line) => this.#sequenceOf(line));
    return new KeptRun({ bytes, starts: Uint32Array.from(starts), sequences }, this.#recent);
  }

  /** Lays the lines in order, so that there is room for so many bytes behind them. */
  #makeRoom(room: number): void {
    let length = 0;
    for (let line = 0; line < this.#lines; line += 1) length += this.#lengthOf(line);
    const needed = length + room;
    // In its place where that fits and some room is left: to give back what was held for long leaves holes in the memory.
    const [least, most] = [needed + spareBehind(needed) / 2, 2 * (needed + spareBehind(needed))];
    const fits = least <= this.#bytes.length && this.#bytes.length <= most;
    this.#layInOrder(fits ? this.#bytes : withRoom(needed));
  }

  /** Lays the lines in order from the start of these bytes on, which may be its own. */
  #layInOrder(into: Buffer): void {
    const later = Buffer.from(this.#bytes.subarray(this.#ordered, this.#used));
    const moves: Move[] = [];
    const placed: Move[] = [];
    let length = 0;
    for (let line = 0; line < this.#lines; line += 1) {
      const [from, to, at] = [this.#start(line), this.#end(line), length];
      if (from === to) continue;
      length += to - from;
      const before = moves.at(-1);
      if (from >= this.#ordered) placed.push({ from: from - this.#ordered, to: to - this.#ordered, at });
      else if (before !== undefined && before.to === from && before.at + from - before.from === at)
        before.to = to;
      else moves.push({ from, to, at });
      this.#starts[line] = at;
      this.#ends[line] = length;
    }
    // Within the same bytes those that come nearer to the start are moved first, so that none is overwritten.
    const move = ({ from, to, at }: Move): unknown => this.#bytes.copy(into, at, from, to);
    for (const each of moves) if (each.at <= each.from) move(each);
    for (const each of moves.reverse()) if (each.at > each.from) move(each);
    for (const { from, to, at } of placed) later.copy(into, at, from, to);
    this.#bytes = into;
    this.#ordered = length;
    this.#used = length;
    this.#isLoose = false;
  }

  #linesThere(): number[] {
    return Array.from(this.#ends.keys()).filter((line) => this.#isThere(line));
  }

  #free(line: number): void {
    this.#starts[line] = 0;
    this.#ends[line] = 0;
  }

  #isThere(line: number): boolean {
    return this.#ends[line] !== 0;
  }

  #lengthOf(line: number): number {
    return this.#end(line) - this.#start(line);
  }

  #start(line: number): number {
    return this.#starts[line] ?? 0;
  }

  #end(line: number): number {
    return this.#ends[line] ?? 0;
  }

  get #lines(): number {
    return this.#starts.length;
  }

  #entryAt(line: number): Entry {
    const read = (): Entry => parseLine(this.#bytes, this.#start(line), this.#end(line) - 1);
    return this.#recent.get(this.#sequenceOf(line), this.#lengthOf(line), read);
  }

  /** The line with this sequence; -1 when there is none. */
  #lineOf(sequence: number): number {
    const line = this.#linesUpTo(sequence) - 1;
    return line >= 0 && this.#sequenceOf(line) === sequence && this.#isThere(line) ? line : -1;
  }

  #sequenceOf(line: number): number {
    return this.#sequences === undefined ? this.sequence + line : (this.#sequences[line] ?? 0);
  }

  /** How many lines have at most this sequence. */
  #linesUpTo(sequence: number): number {
    let [low, high] = [0, this.#lines];
    if (this.#sequences === undefined) return Math.min(high, Math.max(0, sequence - this.sequence + 1));
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sequenceOf(middle) <= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
