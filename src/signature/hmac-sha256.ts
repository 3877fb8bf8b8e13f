// HMAC (RFC 2104) with SHA-256, over messages of which each character is one octet.
// As a whole, so that it loads where there is no `hash`.
import crypto from 'node:crypto';

/** SHA-256's block and digest in bytes, and its digest in characters of base64. */
const block = 64;
const size = 32;
const written = 44;

/** So long a message has its place in the key; a longer one is copied to a place of its own. */
const room = 256;

const utf8 = new TextEncoder();

// The memory of a key: what the outer hash reads, two digests to compare, what the inner hash reads.
const innerDigestAt = block;
const expectedAt = block + size;
const givenAt = expectedAt + written;
const innerAt = givenAt + written;
const messageAt = innerAt + block;
const memorySize = messageAt + room;

/** Hashes in one call, as `hash` of node:crypto does. */
export type OneShotHash = (algorithm: 'sha256', data: Uint8Array, encoding: 'binary' | 'base64') => string;

/**
 * A secret made ready to sign with. Nothing of it is shown when the key is printed or made JSON. Both hashes of HMAC
 * begin with a block that depends on the secret alone, so these are kept, with the message and the inner digest
 * written behind them: that takes half the time of `createHmac`, which sets up both anew each time.
 */
export class SigningKey {
  readonly #secret: Uint8Array;
  readonly #hash: OneShotHash | undefined;
  readonly #memory = Buffer.alloc(memorySize);
  readonly #outer = this.#memory.subarray(0, block + size);
  /** What the inner hash read last; the next message is often as long. */
  #inner: Uint8Array = this.#memory.subarray(innerAt);
  readonly #pair = this.#memory.subarray(expectedAt, expectedAt + 2 * written);
  readonly #expected = this.#memory.subarray(expectedAt, expectedAt + written);
  readonly #given = this.#memory.subarray(givenAt, givenAt + written);

  /**
   * Takes the secret's bytes, and what to hash with. That is asked a known answer first; where it is wrong, fails or is
   * not there, the key goes by `createHmac`.
   */
  constructor(secret: Uint8Array, hash: OneShotHash | undefined) {
    this.#secret = secret;
    if (hash === undefined || !this.#isRightBy(hash)) return;
    this.#prepare(secret, hash);
    this.#hash = hash;
  }

  /** Asks for the first test case of RFC 4231 (§4.2), in the memory that the key will have. */
  #isRightBy(hash: OneShotHash): boolean {
    try {
      this.#prepare(new Uint8Array(20).fill(0x0b), hash);
      return this.#digestBy(hash, ['Hi ', 'There']) === 'sDRMYdjbOFNcqK/OrwvxK4gdwgDJgz2nJuk3bC4yz/c=';
    } catch {
      return false;
    }
  }

  /** Puts the key, which is the hash of a secret longer than a block, against both pads (RFC 2104 §2). */
  #prepare(secret: Uint8Array, hash: OneShotHash): void {
    const key = secret.length > block ? Buffer.from(hash('sha256', secret, 'binary'), 'latin1') : secret;
    for (let at = 0; at < block; at += 1) {
      const byte = key[at] ?? 0;
      this.#memory[at] = byte ^ 0x5c;
      this.#memory[innerAt + at] = byte ^ 0x36;
    }
  }

  /** The digest of a message, as base64. It is given in pieces, for to join them would take a fifth of a digest's time. */
  digest(pieces: readonly string[]): string {
    const hash = this.#hash;
    return hash === undefined
      ? crypto.createHmac('sha256', this.#secret).update(pieces.join(''), 'latin1').digest('base64')
      : this.#digestBy(hash, pieces);
  }

  #digestBy(hash: OneShotHash, pieces: readonly string[]): string {
    write(hash('sha256', this.#innerBlocks(pieces), 'binary'), this.#memory, innerDigestAt);
    return hash('sha256', this.#outer, 'base64');
  }

  #innerBlocks(pieces: readonly string[]): Uint8Array {
    const memory = this.#memory;
    let end = messageAt;
    for (const piece of pieces) {
      if (end + piece.length > memorySize) return this.#longInnerBlocks(pieces.join(''));
      end = write(piece, memory, end);
    }
    const length = end - innerAt;
    if (this.#inner.length !== length) {
      this.#inner = new Uint8Array(memory.buffer, memory.byteOffset + innerAt, length);
    }
    return this.#inner;
  }

  #longInnerBlocks(message: string): Uint8Array {
    const blocks = Buffer.alloc(block + message.length);
    this.#memory.copy(blocks, 0, innerAt, messageAt);
    blocks.write(message, block, 'latin1');
    return blocks;
  }

  /**
   * Whether a digest is that of the message, letter for letter; the time that it takes does not depend on where it
   * differs.
   */
  signs(pieces: readonly string[], digest: string): boolean {
    const pair = this.digest(pieces) + digest;
    // As UTF-8, so that a character that is no octet does not become another one; and both at once, for a call costs
    // more than the letters.
    return (
      pair.length === 2 * written &&
      utf8.encodeInto(pair, this.#pair).written === 2 * written &&
      crypto.timingSafeEqual(this.#expected, this.#given)
    );
  }

  /** Whether `compute` makes this digest of the secret's bytes: for what is no HMAC of the secret as it is. */
  makes(digest: string, compute: (secret: Buffer) => string): boolean {
    const [given, made] = [
      Buffer.from(digest, 'latin1'),
      Buffer.from(compute(Buffer.from(this.#secret)), 'latin1'),
    ];
    return given.length === made.length && crypto.timingSafeEqual(given, made);
  }
}

/** Texts are of many kinds to the engine (cut out, put together, …): to look the method up in each, letter by letter, takes thrice as long. */
const { charCodeAt } = String.prototype;

/**
 * Writes the octets of a text from there on, and gives where it ends. For some dozen of them that is faster than
 * `Buffer.write`, which leaves what is compiled here.
 */
function write(octets: string, into: Uint8Array, from: number): number {
  const { length } = octets;
  for (let at = 0; at < length; at += 1) into[from + at] = charCodeAt.call(octets, at);
  return from + length;
}

/**
 * A secret as a key: its UTF-8 bytes. Throws RangeError on an empty one. `hash` is that of node:crypto, which is there
 * from Node.js 20.12 on.
 */
export function keyOf(secret: string, hash: OneShotHash | undefined = crypto.hash): SigningKey {
  return new SigningKey(bytesOf(secret), hash);
}

function bytesOf(secret: string): Buffer {
  if (secret === '') throw new RangeError('a secret must not be empty');
  return Buffer.from(secret, 'utf8');
}

/** The signature: HMAC-SHA256 over the message, as base64. */
export function digestOf(key: SigningKey, message: string): string {
  return key.digest([message]);
}

/** The same for one message, without a key that would be worth its making. Throws RangeError on an empty secret. */
export function digestOnce(secret: string, message: string): string {
  return crypto.createHmac('sha256', bytesOf(secret)).update(message, 'latin1').digest('base64');
}
