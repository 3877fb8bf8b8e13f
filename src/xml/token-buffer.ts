import {
  AMPERSAND,
  BANG,
  DOUBLE_QUOTE,
  GREATER_THAN,
  HASH,
  HYPHEN,
  LESS_THAN,
  NAME,
  QUESTION,
  SINGLE_QUOTE,
} from './characters.ts';
import { sequenceLength } from './utf8.ts';

// What the bytes that wait begin, which says where they may end.
const UNKNOWN = 0; //     <  <!  <!-  <![CD  ]  ]]  CR
const TAG = 1; //         <name …  </name …
const COMMENT = 2; //     <!-- …
const INSTRUCTION = 3; // <? …
const REFERENCE = 4; //   &name
const CHARACTER = 5; //   the first bytes of a character of several

const FIRST_LEAD = 0xc2;
const FIRST_SIZE = 256;

/**
 * The bytes of a token that has not come whole, kept until the rest is there. The buffer doubles, and the
 * search for the token's end goes on where it stopped: a token that comes byte by byte is scanned twice in
 * all, not once for each of its bytes.
 */
export class TokenBuffer {
  length = 0;
  private bytes = Buffer.allocUnsafe(FIRST_SIZE);
  private kind = UNKNOWN;
  private searched = 0;
  private quote = 0;

  append(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    if (bytes.length === 1) this.bytes[this.length] = bytes[0] ?? 0;
    else this.bytes.set(bytes, this.length);
    this.length = needed;
  }

  /** The bytes that wait; a view, good until the next change. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** Drops the first `count` bytes, and begins the search anew with those that stay. */
  drop(count: number): void {
    if (count < this.length) this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
    this.kind = UNKNOWN;
    this.searched = 0;
    this.quote = 0;
  }

  /** True if the token may be whole, so that reading it is worth a try. */
  mayBeWhole(): boolean {
    if (this.kind === UNKNOWN) this.kind = this.kindOf();
    if (this.kind === UNKNOWN) return true;
    if (this.kind === CHARACTER) return this.length >= sequenceLength(this.bytes[0] ?? 0);
    const { bytes, length } = this;
    while (this.searched < length) {
      const at = this.searched++;
      if (this.endsAt(bytes[at] ?? 0, at)) return true;
    }
    return false;
  }

  private kindOf(): number {
    const { bytes, length } = this;
    const first = bytes[0] ?? 0;
    if (first === AMPERSAND) return REFERENCE;
    if (first >= FIRST_LEAD) return CHARACTER;
    if (first !== LESS_THAN || length < 2) return UNKNOWN;
    if (bytes[1] === QUESTION) return INSTRUCTION;
    if (bytes[1] !== BANG) return TAG;
    return length >= 4 && bytes[2] === HYPHEN && bytes[3] === HYPHEN ? COMMENT : UNKNOWN;
  }

  private endsAt(byte: number, at: number): boolean {
    if (this.kind === TAG) return this.endsTag(byte);
    if (this.kind === REFERENCE) return at > 0 && byte < 0x80 && byte !== HASH && NAME[byte] === 0;
    if (byte !== GREATER_THAN) return false;
    if (this.kind === INSTRUCTION) return at > 2 && this.bytes[at - 1] === QUESTION;
    return at > 5 && this.bytes[at - 1] === HYPHEN && this.bytes[at - 2] === HYPHEN;
  }

  private endsTag(byte: number): boolean {
    if (this.quote !== 0) {
      if (byte === this.quote) this.quote = 0;
      return false;
    }
    if (byte === DOUBLE_QUOTE || byte === SINGLE_QUOTE) this.quote = byte;
    return byte === GREATER_THAN;
  }
}
