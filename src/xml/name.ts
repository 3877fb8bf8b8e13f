import { COLON, WIDE_NAME_START } from './characters.ts';

/** A name with a prefix; in {@link Name.kind}. */
export const PREFIXED = 1;
/** `xmlns` or `xmlns:…`, which as an attribute declares a namespace. */
export const DECLARING = 2;
/** A name that is no qualified name (Namespaces in XML 1.0 §4). */
export const UNQUALIFIED = 4;

/** A name as it was written, with what there is to know of it; made once for each name that is new. */
export interface Name {
  readonly text: string;
  /** The codes it was read from. */
  readonly codes: Uint8Array;
  /** True if the codes alone tell it from any other name: it is ASCII. */
  readonly exact: boolean;
  readonly hash: number;
  /** Bits of {@link PREFIXED}, {@link DECLARING} and {@link UNQUALIFIED}; 0 for a plain name. */
  readonly kind: number;
  readonly prefix: string;
  readonly local: string;
}

const SLOTS = 256;
const LONGEST = 32;

/**
 * Names already seen, so that a name is cut from a document once and not at each of its occurrences. A
 * direct-mapped table: names that fall into one slot push each other out and cost what a new name costs,
 * so no choice of names makes it slow, and it never holds more than 256 names of up to 32 bytes.
 */
export class XmlNames {
  private readonly slots: (Name | undefined)[] = new Array<Name | undefined>(SLOTS).fill(undefined);

  /** The name at `codes[from..to)`, which is `text` there; `hash` is that of its codes. */
  take(codes: Uint8Array, text: string, from: number, to: number, hash: number): Name {
    const slot = (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (SLOTS - 1);
    const known = this.slots[slot];
    if (known !== undefined && known.hash === hash && isAt(codes, from, to, known.codes)) return known;
    const name = newName(codes.slice(from, to), owned(text, from, to), hash);
    if (name.exact && to - from <= LONGEST) this.slots[slot] = name;
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

/** A copy: a string of 13 characters or more that is cut from a larger one would keep all of it. */
function owned(text: string, from: number, to: number): string {
  return Buffer.from(text.substring(from, to)).toString();
}

function newName(codes: Uint8Array, text: string, hash: number): Name {
  const colon = codes.indexOf(COLON);
  const exact = codes.every((code) => code < WIDE_NAME_START);
  const prefix = colon < 0 ? '' : text.slice(0, colon);
  const local = colon < 0 ? text : text.slice(colon + 1);
  return { text, codes, exact, hash, kind: kindOf(text, codes, colon), prefix, local };
}

function kindOf(text: string, codes: Uint8Array, colon: number): number {
  if (text === 'xmlns') return DECLARING;
  if (colon < 0) return 0;
  if (colon === 0 || colon === codes.length - 1 || !beginsName(codes, colon + 1)) return UNQUALIFIED;
  if (codes.indexOf(COLON, colon + 1) >= 0) return UNQUALIFIED;
  return text.startsWith('xmlns:') ? DECLARING | PREFIXED : PREFIXED;
}

function beginsName(codes: Uint8Array, at: number): boolean {
  const code = codes[at] ?? 0;
  return code === 0x5f || code === WIDE_NAME_START || ((code | 0x20) - 0x61) >>> 0 < 26;
}
