// Mistakes in the key and in the computation of an HMAC. They are made with the right message.
import { createHash, createHmac } from 'node:crypto';
import { decodeEscapes } from '../../http/syntax/percent.ts';
import { decodeSecret, removePrefix, requireUnguessable } from '../decoded-secret.ts';
import type { Mac } from '../scheme.ts';

/** A mistake: a hint, and the signature that it produces. Empty if it cannot be made with this secret. */
type KeyMistake = readonly [hint: string, signature: Buffer];

const nothing = Buffer.alloc(0);

/** A reading of a secret: a hint, and the key that it results in; undefined if it does not apply to this secret. */
type Reading = readonly [hint: string, key: Buffer | undefined];

/**
 * Returns the signatures of all mistakes. Their number, and the work, do not depend on the secret.
 *
 * @param further Keys that clients of one scheme derive by mistake.
 */
export function keyMistakes(
  secret: Buffer,
  message: Buffer,
  mac: Mac,
  length: number,
  further: readonly Reading[],
): KeyMistake[] {
  const { hash } = mac;
  const prepareMisread = [...readings(secret, mac), ...further].map(([hint, read]): KeyMistake => {
    const signature = signWith(mac, read ?? secret, message);
    const isKey = hash === undefined && mac.sign === undefined;
    return [hint, read === undefined ? nothing : isKey ? signature : signature.subarray(0, length)];
  });
  if (hash === undefined) return prepareMisread;
  const key = mac.key(secret) ?? secret;
  const whole = createHmac(hash, key).update(message).digest();
  const cut = length < whole.length ? whole.subarray(0, length) : nothing;
  return [
    ['the signature was cut off', cut],
    ...prepareMisread,
    ...macMistakes(hash, secret, key, message, length),
  ];
}

/** The number of readings of a secret that are tried together with mistakes in the message. */
const maxTogether = 16;

/** Returns the likely readings of a secret, and the keys that they result in. */
export function listMisread(
  secret: Buffer,
  mac: Mac,
  further: readonly Reading[],
): (readonly [hint: string, key: Buffer])[] {
  return [...further.slice(0, maxTogether / 2), ...readings(secret, mac)]
    .flatMap(([hint, key]) => (key === undefined ? [] : [[hint, key] as const]))
    .slice(0, maxTogether);
}

/** Returns the signatures of the mistakes in the computation of an HMAC. */
function macMistakes(
  hash: string,
  secret: Buffer,
  key: Buffer,
  message: Buffer,
  length: number,
): KeyMistake[] {
  return [
    ...otherHashes(hash).map(
      (other): KeyMistake => [
        `${isLonger(other, length) ? 'truncated ' : ''}${hashName(other)} was used instead of ${hashName(hash)}`,
        createHmac(other, key).update(message).digest().subarray(0, length),
      ],
    ),
    ['secret and message were hashed without HMAC', computeHash(hash, key, message)],
    ['secret and message were hashed without HMAC', computeHash(hash, message, key)],
    ['secret and message were hashed without HMAC', computeHash(hash, secret, message)],
    ...listHashedForms(hash, message).map(
      (hashed): KeyMistake => [
        'the message was hashed before it was signed',
        createHmac(hash, key).update(hashed).digest().subarray(0, length),
      ],
    ),
    ...[nothing, Buffer.from('&key='), Buffer.from('&secret=')].map(
      (before): KeyMistake => [
        'the secret was signed too, at the end of the message; it is only the key',
        createHmac(hash, key)
          .update(Buffer.concat([message, before, secret]))
          .digest()
          .subarray(0, length),
      ],
    ),
    ['key and message were swapped', createHmac(hash, message).update(key).digest()],
  ];
}

/** Returns the signature of a message: an HMAC, what the scheme computes, or the key itself. Empty if the key does not fit. */
export function signWith({ hash, sign }: Mac, key: Buffer, message: Buffer): Buffer {
  if (hash !== undefined) return createHmac(hash, key).update(message).digest();
  if (sign === undefined) return key;
  try {
    return sign(key, message);
  } catch {
    return nothing;
  }
}

function listHashedForms(hash: string, message: Buffer): (Buffer | string)[] {
  const digest = computeHash(hash, message);
  return [digest, digest.toString('hex'), digest.toString('base64')];
}

/** Returns the keys that a client may have read from the secret by mistake. */
function readings(secret: Buffer, mac: Mac): Reading[] {
  const { prefix = '', encoding } = mac;
  const text = secret.toString('utf8');
  const own = mac.key(secret);
  const bare = prefix !== '' && text.startsWith(prefix) ? text.slice(prefix.length) : text;
  const rest = prefix === '' ? removePrefix(text) : undefined;
  // Through the scheme, so that a scheme that derives a key derives it from the secret as misread.
  const misread = (changed: string | Buffer): Buffer | undefined =>
    encoding === 'utf8' ? mac.key(Buffer.from(changed)) : Buffer.from(changed);
  // As programs decode that ignore other characters (RFC 4648 §3.3).
  const decodeAny = (from: string): Buffer | undefined => {
    const bytes = requireUnguessable(Buffer.from(from, 'base64'));
    return bytes && misread(bytes);
  };
  const prepareDecoded = (from: string, form: 'hex' | 'base64' | 'latin1'): Buffer | undefined => {
    const bytes = decodeSecret(from, form);
    return bytes && misread(bytes);
  };
  const digest = createHash('sha256')
    .update(own ?? secret)
    .digest();
  const encoded = own && (encoding === 'utf8' ? secret : own);
  const guarded = (text: string): Buffer | undefined => requireUnguessable(Buffer.from(text));
  const decoded: readonly Reading[] = [
    [
      `the key was not decoded from ${encoding === 'hex' ? 'hexadecimal' : encoding}`,
      encoding === 'utf8' ? undefined : Buffer.from(bare),
    ],
    [`the prefix ${prefix} was not removed from the secret`, prefix === '' ? undefined : secret],
    [
      'the secret was decoded from base64; use its characters as the key',
      encoding === 'base64' ? undefined : decodeAny(bare),
    ],
    [
      'the secret was decoded from hexadecimal; use its characters as the key',
      encoding === 'hex' ? undefined : prepareDecoded(bare, 'hex'),
    ],
    [
      'the prefix of the secret was removed, and the rest decoded from base64',
      rest === undefined ? undefined : prepareDecoded(rest, 'base64'),
    ],
    [
      `the secret was decoded from base64 with its prefix ${prefix}`,
      prefix === '' || encoding !== 'base64' ? undefined : requireUnguessable(Buffer.from(text, 'base64')),
    ],
    [
      `"v1," was decoded from base64 with the secret; remove it with ${prefix}`,
      prefix === '' || encoding !== 'base64' ? undefined : decodeAny(`v1,${text}`),
    ],
    ['the secret was encoded in Latin-1 instead of UTF-8', prepareDecoded(bare, 'latin1')],
  ];
  const changed: readonly (readonly [hint: string, text: string | Buffer | undefined])[] = [
    ['the prefix of the secret was removed; the whole secret is the key', rest],
    ['the secret was used with a trailing line feed', `${bare}\n`],
    ['the secret was used with a trailing line ending (CR LF)', `${bare}\r\n`],
    ['the secret was used with quotes around it', `"${bare}"`],
    ['the secret was used with quotes around it', `'${bare}'`],
    ['the secret was used with a leading or trailing space', ` ${bare}`],
    ['the secret was used with a leading or trailing space', `${bare} `],
    ['the white space around the secret was removed', guarded(bare.trim())],
    ['the secret was percent-encoded', encodeURIComponent(bare)],
    ['the secret was percent-decoded', guarded(decodeEscapes(bare))],
    ['"+" in the secret was read as a space', guarded(decodeEscapes(bare.replaceAll('+', ' ')))],
    ['the secret was encoded in base64', encoded?.toString('base64')],
    ['the secret was encoded in hexadecimal', encoded?.toString('hex')],
    ['the secret was hashed before it was used as the key', digest],
    ['the secret was hashed before it was used as the key', digest.toString('hex')],
    ['the secret was encoded in UTF-16 instead of UTF-8', Buffer.from(bare, 'utf16le')],
    ['the secret was used with a byte order mark', `\ufeff${bare}`],
    ['the secret was encoded in UTF-16 instead of UTF-8', Buffer.from(`\ufeff${bare}`, 'utf16le')],
    ['the secret was used in another letter case', guarded(bare.toLowerCase())],
    ['the secret was used in another letter case', guarded(bare.toUpperCase())],
    ['the secret was encoded in base64 with a line feed (echo without -n?)', encodeBase64(`${bare}\n`)],
    ['the secret was escaped for HTML', escapeHtml(bare)],
    ['the secret was escaped for JSON', JSON.stringify(bare).slice(1, -1).replaceAll('/', '\\/')],
    ['the padding "=" of the secret was lost', guarded(bare.replace(/(?<!=)=+$/, ''))],
    ['the key was the secret with "&" at its end, as in OAuth 1.0a', `${bare}&`],
  ];
  return [
    ...decoded,
    ...changed.map(([hint, text]): Reading => [hint, text === undefined ? undefined : misread(text)]),
  ];
}

function encodeBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Escapes a text as HTML requires. */
export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

/** What clients sign with in place of a secret. These are no secrets, so everybody may learn that one was used. */
const emptySecrets: readonly (readonly [hint: string, secret: string])[] = [
  ['the secret was empty: a variable that is not set?', ''],
  ...['undefined', 'null', 'None', 'nil', 'false', 'NaN'].map(
    (word) => [`the text "${word}" was used as the secret: a variable that is not set?`, word] as const,
  ),
  ...['secret', '$SECRET', '\u0024{SECRET}', '{{secret}}', 'your-secret', 'changeme', 'password'].map(
    (word) =>
      [`the text "${word}" was used as the secret: a placeholder that was not replaced?`, word] as const,
  ),
  ...[
    '****',
    '********',
    '\u2022\u2022\u2022\u2022\u2022\u2022\u2022\u2022',
    'sk_live_****',
    'sk_test_****',
  ].map(
    (word) => [`the text "${word}" was used as the secret: a key that a page shows masked?`, word] as const,
  ),
];

/** The masks of pages and logs. That of another length is as long as what it hides. */
const masks: readonly string[] = [
  ...[3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32].map((length) => '*'.repeat(length)),
  ...['...', '....', '\u2026', '[...]', '<redacted>'],
  ...[4, 6, 8, 12, 16].flatMap((length) => ['\u2022'.repeat(length), 'x'.repeat(length), 'X'.repeat(length)]),
];

/** Returns a secret as pages and logs show it: a few characters at its ends, and a mask between them. */
export function listMasked(secret: string): string[] {
  const prefix = /^(?:[A-Za-z0-9]+[_-])+/.exec(secret)?.[0] ?? '';
  const starts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, ...[0, 2, 3, 4].map((more) => prefix.length + more)];
  return [...new Set(starts)].flatMap((start) =>
    [0, 2, 3, 4, 5, 6, 8].flatMap((end) => {
      const hidden = secret.length - start - end;
      if (hidden <= 0) return [];
      const whole = ['*', '\u2022', 'x'].map((character) => character.repeat(hidden));
      return [...masks, ...whole].map(
        (mask) => secret.slice(0, start) + mask + secret.slice(secret.length - end),
      );
    }),
  );
}

/** Returns what was signed with in place of a secret, of which everybody may learn; undefined if it was none of these. */
export function findEmptySecretMistake(
  user: string,
  isMadeWith: (secret: string) => boolean,
): string | undefined {
  const named = ['the name of the user, or the id of the key, was used as the secret', user] as const;
  return [...emptySecrets, named].find(([, secret]) => isMadeWith(secret))?.[0];
}

/** Other hash functions. Longer digests are truncated to the length of the signature. */
function otherHashes(hash: string): readonly string[] {
  return ['sha256', 'sha512', 'sha512-256', 'sha384', 'sha3-256', 'sha1', 'ripemd160', 'sha3-512'].filter(
    (other) => other !== hash,
  );
}

const hashNames: Readonly<Record<string, string>> = {
  md5: 'MD5',
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
  'sha512-256': 'SHA-512/256',
  'sha3-256': 'SHA3-256',
  'sha3-512': 'SHA3-512',
  ripemd160: 'RIPEMD-160',
};

/** Returns the name of a hash function in sentences. */
function hashName(hash: string): string {
  return hashNames[hash] ?? hash;
}

function isLonger(hash: string, length: number): boolean {
  return createHash(hash).digest().length > length;
}

/** Returns the hash of octets, such as that of a message alone, which needs no secret. */
export function computeHash(hash: string, ...parts: readonly Buffer[]): Buffer {
  return createHash(hash).update(Buffer.concat(parts)).digest();
}
