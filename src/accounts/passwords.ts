import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** The block size and the parallelization (RFC 7914 §2) of new hashes. */
const blockSize = 8;
const parallelization = 1;

/** The length of a new hash in bytes. */
const hashLength = 32;

/** The maximum memory of a hash in bytes, also for hashes in a file. */
const memoryLimit = 256 * 1024 * 1024;

interface PasswordHash {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/**
 * Hashes a password with scrypt (RFC 7914) in another thread. Returns `scrypt$N$r$p$SALT$HASH` with salt and hash in
 * base64.
 * @param cost N, a power of two above 1. Throws RangeError for any other value, or if the hash needs over 256 MiB.
 */
export async function hashPassword(password: string, salt: Uint8Array, cost: number): Promise<string> {
  if (!isCost(cost, blockSize, parallelization))
    throw new RangeError('the cost of a password is out of range');
  const hash = await derive(password, {
    cost,
    blockSize,
    parallelization,
    salt,
    hash: Buffer.alloc(hashLength),
  });
  return format({ cost, blockSize, parallelization, salt, hash });
}

/**
 * Returns whether a password matches a hash. The comparison takes constant time. Throws TypeError if `stored` is not a
 * hash that hashPassword returned.
 */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const expected = requireHash(stored);
  return timingSafeEqual(await derive(password, expected), expected.hash);
}

/** Returns a hash that no password matches, with the same cost of verification as a hash of this `cost`. */
export function decoyFor(cost: number): string {
  return format({
    cost,
    blockSize,
    parallelization,
    salt: new Uint8Array(16),
    hash: new Uint8Array(hashLength),
  });
}

/**
 * Returns a hash that no password matches, with the same cost of verification as `stored`. Hashes of equal cost have the
 * same decoy. Throws TypeError if `stored` is not a hash that hashPassword returned.
 */
export function buildDecoy(stored: string): string {
  const { salt, hash, ...parameters } = requireHash(stored);
  return format({ ...parameters, salt: new Uint8Array(salt.length), hash: new Uint8Array(hash.length) });
}

/** Returns whether a text is in the format of hashPassword. */
export function isPasswordHash(stored: string): boolean {
  return parse(stored) !== undefined;
}

function format({ cost, blockSize, parallelization, salt, hash }: PasswordHash): string {
  return ['scrypt', cost, blockSize, parallelization, encodeBase64(salt), encodeBase64(hash)].join('$');
}

function requireHash(stored: string): PasswordHash {
  const hash = parse(stored);
  if (hash === undefined) throw new TypeError('the stored password is not a scrypt hash');
  return hash;
}

function parse(stored: string): PasswordHash | undefined {
  const [name, n, r, p, saltText, hashText, ...rest] = stored.split('$');
  if (name !== 'scrypt' || saltText === undefined || hashText === undefined || rest.length > 0)
    return undefined;
  const parameters = [n, r, p].map((text) => (/^[1-9][0-9]{0,9}$/.test(text ?? '') ? Number(text) : 0));
  const [cost = 0, size = 0, parallel = 0] = parameters;
  const salt = decodeBase64(saltText);
  const hash = decodeBase64(hashText);
  if (!isCost(cost, size, parallel) || salt === undefined || hash === undefined || hash.length < 16) {
    return undefined;
  }
  return { cost, blockSize: size, parallelization: parallel, salt, hash };
}

function isCost(cost: number, size: number, parallel: number): boolean {
  const power = Number.isSafeInteger(cost) && cost > 1 && Number.isInteger(Math.log2(cost));
  return power && size > 0 && parallel > 0 && parallel <= 16 && 128 * cost * size <= memoryLimit;
}

function derive(password: string, { hash, salt, ...parameters }: PasswordHash): Promise<Buffer> {
  // Working memory is needed in addition to the 128 N r bytes (RFC 7914 §5).
  const options: ScryptOptions = { ...parameters, maxmem: 2 * memoryLimit };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, hash.length, options, (error, derived) => {
      if (error === null) resolve(derived);
      else reject(error);
    });
  });
}

function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** Decodes canonical base64 (RFC 4648 §3.5). Returns undefined for any other text. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return encodeBase64(bytes) === text ? bytes : undefined;
}
