import type { Entry } from './store.ts';

/** How the line of an item begins. */
const lineStart = '{"id":"';

/** The longest part of a text that the engine copies; a longer one would hold the whole text in memory. */
const longestCopied = 12;

/**
 * Items of a snapshot, kept as the text that they were read as until somebody asks for one of them: most of the time
 * that loading would take goes into values that nobody needs yet.
 */
export class KeptRun {
  readonly sequence: number;
  /** How many items it had when it was read. */
  readonly count: number;
  readonly #last: number;
  readonly #show: (entry: Entry) => void;
  #text: string | undefined;
  #entries: Entry[] = [];

  /**
   * The text is a JSON array with an item a line, at least one; `sequence` and `last` are those of its first and last
   * item. When it is read, each entry is given to `show`.
   */
  constructor(
    text: string,
    numbers: { readonly sequence: number; readonly last: number; readonly count: number },
    show: (entry: Entry) => void,
  ) {
    this.#text = text;
    this.sequence = numbers.sequence;
    this.#last = numbers.last;
    this.count = numbers.count;
    this.#show = show;
  }

  /** The text, as long as nobody asked for the entries. */
  get text(): string | undefined {
    return this.#text;
  }

  /** The highest sequence; 0 when all were taken out. */
  get last(): number {
    return this.#text === undefined ? (this.#entries.at(-1)?.sequence ?? 0) : this.#last;
  }

  /** The entries, which the holder may change. Throws SyntaxError when the text is not what a snapshot has. */
  get entries(): Entry[] {
    if (this.#text !== undefined) {
      this.#entries = parseItems(this.#text);
      this.#text = undefined;
      for (const entry of this.#entries) this.#show(entry);
    }
    return this.#entries;
  }
}

/** An item as a snapshot has it. */
export interface KeptItem extends Omit<Entry, 'modified'> {
  /** In ISO 8601. */
  readonly modified: string;
}

/** The items of a text like that of a KeptRun. Its checksum fits, so their members are what the writer wrote. */
function parseItems(text: string): Entry[] {
  const items: KeptItem[] = JSON.parse(text);
  return items.map(({ id, sequence, revision, modified, value }) => {
    const time = Date.parse(modified);
    if (Number.isNaN(time)) throw new SyntaxError('an item has no date');
    return { id, sequence, revision, modified: time, value };
  });
}

/**
 * Gives the id of each item of such a text to `each`, reading no more of it. Gives the places of the first and of the
 * last line and how many there are, or undefined when a line does not begin as that of an item does.
 */
export function scanItems(text: string, each: (id: string) => void): Scanned | undefined {
  const first = text.indexOf('\n') + 1;
  let [at, last, count] = [first, first, 0];
  while (text.startsWith(lineStart, at)) {
    const from = at + lineStart.length;
    const to = text.indexOf('"', from);
    const id = text.slice(from, to);
    each(id.length > longestCopied || id.includes('\\') ? copiedId(text, at, to) : id);
    last = at;
    count += 1;
    at = text.indexOf('\n', to) + 1;
  }
  return text.startsWith(']', at) && count > 0 ? { first, last, count } : undefined;
}

/** What a look over the lines of items found. */
export interface Scanned {
  /** Where the first line begins, and the last. */
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/** The sequence of the item whose line begins here. */
export function sequenceAt(text: string, at: number): number {
  return parseLine(text, at).sequence;
}

/** An id that has an escape in it or has to be copied; `to` is where its first quotation mark is. */
function copiedId(text: string, at: number, to: number): string {
  if (text.charAt(to - 1) === '\\') return parseLine(text, at).id;
  const id: string = JSON.parse(text.slice(at + lineStart.length - 1, to + 1));
  return id;
}

function parseLine(text: string, at: number): KeptItem {
  const item: KeptItem = JSON.parse(text.slice(at, text.indexOf('\n', at)).replace(/,$/, ''));
  return item;
}
