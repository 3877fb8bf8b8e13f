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

// The kind of the incomplete token, which determines where it may end.
const UNKNOWN = 0; //     <  <!  <!-  <![CD  ]  ]]  CR
const TAG = 1; //         <name …  </name …
const COMMENT = 2; //     <!-- …
const INSTRUCTION = 3; // <? …
const REFERENCE = 4; //   &name
const CHARACTER = 5; // the beginning of a multi-byte sequence

const FIRST_LEAD = 0xc2;
const FIRST_SIZE = 256;

/**
 * Buffers an incomplete token. The capacity doubles, and the search for the end of the token resumes where it
 * stopped. A token that arrives byte by byte is therefore scanned twice in total, not once per byte.
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

  /** Returns a view of the buffered bytes, valid until the next change. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** Drops the first `count` bytes and restarts the search with the rest. */
  drop(count: number): void {
    if (count < this.length) this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
    this.kind = UNKNOWN;
    this.searched = 0;
    this.quote = 0;
  }

  /** Returns whether the token may be complete. */
  mayBeWhole(): boolean {
    if (this.kind === UNKNOWN) this.kind = this.readKind();
    if (this.kind === UNKNOWN) return true;
    if (this.kind === CHARACTER) return this.length >= sequenceLength(this.bytes[0] ?? 0);
    const { bytes, length } = this;
    while (this.searched < length) {
      const at = this.searched++;
      if (this.endsAt(bytes[at] ?? 0, at)) return true;
    }
    return false;
  }

  private readKind(): number {
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
