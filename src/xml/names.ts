import { WIDE } from './characters.ts';
import { detached } from './copy-string.ts';
import { isNamespaced } from './namespace.ts';

/** A name as it was written, with what there is to know of it; made once for each name that is new. */
export interface Name {
  readonly text: string;
  /** The codes it was read from. */
  readonly codes: Uint8Array;
  /** True if the codes alone tell it from any other name: it is ASCII. */
  readonly exact: boolean;
  readonly hash: number;
  /** Two bits chosen by the hash: names whose bits differ are not the same. */
  readonly mark: number;
  /** True if namespaces have to do with it. */
  readonly namespaced: boolean;
  /** What `&name;` stands for, if it is one of the five. */
  readonly meaning: string | undefined;
  /**
   * The slot of the name that came after it last time: documents repeat themselves, so it is worth a guess. A slot
   * and not the name, which would keep that, and through it all names that ever came after.
   */
  next: number;
}

const SLOTS = 256;
const LONGEST = 32;

// XML 1.0 §4.6: the entities that need no declaration. A Map, because a client chooses what is looked up.
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['apos', "'"],
  ['quot', '"'],
]);

/**
 * Names already seen, so that a name is cut from a document once and not at each of its occurrences. A
 * direct-mapped table: names that fall into one slot push each other out and cost what a new name costs,
 * so no choice of names makes it slow, and it never holds more than 256 names of up to 32 bytes.
 */
export class XmlNames {
  private readonly slots: (Name | undefined)[] = new Array<Name | undefined>(SLOTS).fill(undefined);
  /**
   * Stands before the first name of a document.
   * @internal
   */
  readonly none: Name = newName(Buffer.alloc(0), '', 0);

  /**
   * The name that is guessed to come after `before`, if it is what stands at `codes[from]`.
   * @internal
   */
  guess(before: Name, codes: Uint8Array, from: number): Name | undefined {
    const name = this.slots[before.next];
    if (name === undefined) return undefined;
    const due = name.codes;
    const length = due.length;
    let index = 0;
    while (index < length && codes[from + index] === due[index]) index++;
    return index === length ? name : undefined;
  }

  /**
   * The name at `codes[from..to)`, which is `text` there, and comes after `before`; `hash` is that of its codes.
   * @internal
   */
  take(before: Name, codes: Uint8Array, text: string, from: number, to: number, hash: number): Name {
    const slot = (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (SLOTS - 1);
    const known = this.slots[slot];
    if (known !== undefined && known.hash === hash && isAt(codes, from, to, known.codes)) {
      before.next = slot;
      return known;
    }
    const name = newName(new Uint8Array(codes.subarray(from, to)), detached(text.substring(from, to)), hash);
    if (!name.exact || to - from > LONGEST) return name;
    this.slots[slot] = name;
    before.next = slot;
    return name;
  }
}

/** True if `codes[from..to)` is `name`. */
function isAt(codes: Uint8Array, from: number, to: number, name: Uint8Array): boolean {
  const length = to - from;
  if (name.length !== length) return false;
  for (let index = 0; index < length; index++) {
    if (codes[from + index] !== name[index]) return false;
  }
  return true;
}

function newName(codes: Uint8Array, text: string, hash: number): Name {
  return {
    text,
    codes,
    exact: codes.every((code) => code < WIDE),
    hash,
    mark: (1 << hash) | (1 << (hash >>> 5)),
    namespaced: isNamespaced(text),
    meaning: ENTITIES.get(text),
    next: 0,
  };
}
