import { WIDE } from './characters.ts';
import { copyString } from './copy-string.ts';
import { isNamespaced } from './namespace.ts';

/** A name as written, with its properties. It is created once for each new name. */
export interface Name {
  readonly text: string;
  /** The codes of the name. */
  readonly codes: Uint8Array;
  /** Whether the name is ASCII, so that its codes identify it. */
  readonly ascii: boolean;
  readonly hash: number;
  /** Two bits chosen by the hash. Names with different bits are different. */
  readonly bloomBits: number;
  /** Whether the name has a colon or is `xmlns`. */
  readonly namespaced: boolean;
  /** The replacement text of the entity with this name, if it is one of the five predefined ones. */
  readonly entity: string | undefined;
  /**
   * The slot of the name that followed this one last, which predicts the next name. It is an index, because a
   * reference would retain every name that ever followed.
   */
  next: number;
}

const SLOTS = 256;
const MAX_LENGTH = 32;

// XML 1.0 §4.6: the predefined entities. A Map, because clients choose the key.
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['apos', "'"],
  ['quot', '"'],
]);

/**
 * A table of names, so that a name is copied from a document once and not at each occurrence. It is
 * direct-mapped: names with the same slot replace each other and then cost as much as new names. Therefore no
 * choice of names makes it slow, and it contains at most 256 names of up to 32 bytes.
 */
export class XmlNames {
  private readonly slots: (Name | undefined)[] = new Array<Name | undefined>(SLOTS).fill(undefined);
  /**
   * Precedes the first name of a document.
   * @internal
   */
  readonly empty: Name = createName(Buffer.alloc(0), '', 0);

  /**
   * Returns the name that is predicted to follow `previous`, if `codes[from]` begins with it.
   * @internal
   */
  predict(previous: Name, codes: Uint8Array, from: number): Name | undefined {
    const name = this.slots[previous.next];
    if (name === undefined) return undefined;
    const expected = name.codes;
    const length = expected.length;
    let index = 0;
    while (index < length && codes[from + index] === expected[index]) index++;
    return index === length ? name : undefined;
  }

  /**
   * Returns the name at `codes[from..to)`, which follows `previous`, and adds it to the table if it is new.
   * @param text the text of the codes
   * @param hash the hash of the name's codes
   * @internal
   */
  intern(previous: Name, codes: Uint8Array, text: string, from: number, to: number, hash: number): Name {
    const slot = (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (SLOTS - 1);
    const existing = this.slots[slot];
    if (existing !== undefined && existing.hash === hash && isAt(codes, from, to, existing.codes)) {
      previous.next = slot;
      return existing;
    }
    const name = createName(
      new Uint8Array(codes.subarray(from, to)),
      copyString(text.substring(from, to)),
      hash,
    );
    if (!name.ascii || to - from > MAX_LENGTH) return name;
    this.slots[slot] = name;
    previous.next = slot;
    return name;
  }
}

/** Returns whether `codes[from..to)` is `name`. */
function isAt(codes: Uint8Array, from: number, to: number, name: Uint8Array): boolean {
  const length = to - from;
  if (name.length !== length) return false;
  for (let index = 0; index < length; index++) {
    if (codes[from + index] !== name[index]) return false;
  }
  return true;
}

function createName(codes: Uint8Array, text: string, hash: number): Name {
  return {
    text,
    codes,
    ascii: codes.every((code) => code < WIDE),
    hash,
    bloomBits: (1 << hash) | (1 << (hash >>> 5)),
    namespaced: isNamespaced(text),
    entity: ENTITIES.get(text),
    next: 0,
  };
}
