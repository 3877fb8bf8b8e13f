import {
  type AttackRequest,
  appendLines,
  type Case,
  group,
  type HeaderLine,
  malformed,
  type Row,
  refused,
  replaceLine,
} from '../attempt.ts';
import type { Forger } from '../forger.ts';
import type { SigningChanges } from '../signer.ts';

/** A way to corrupt a proof. The function returns undefined if this proof cannot be corrupted so. */
type Corruption = readonly [
  name: string,
  why: string,
  corrupt: (proof: string) => string | undefined,
  differs?: NonNullable<Row[2]>,
];

/** Proofs that no comparison may accept. */
const wrongProofs: readonly Corruption[] = [
  ['the proof has one bit flipped', 'The proof is wrong.', flipBit, { expected: refused }],
  [
    'the proof is cut to its first half',
    'A comparison up to the shorter length accepts a partial proof.',
    (proof) => proof.slice(0, Math.floor(proof.length / 2)),
  ],
  ['the proof is empty', 'An empty proof proves nothing.', () => ''],
  [
    'the proof is followed by eight more characters',
    'A comparison up to the shorter length ignores them.',
    (proof) => `${proof}AAAAAAAA`,
    { id: 'encoded-proof' },
  ],
];

/** Other encodings of a digest. */
const otherEncodings: readonly Corruption[] = [
  [
    'the digest is in hexadecimal',
    'A digest has one encoding, so that logs and caches do not treat one request as two.',
    (proof) => Buffer.from(proof, 'base64').toString('hex'),
  ],
  [
    'the digest is in the URL-safe alphabet',
    'The URL-safe alphabet is another encoding (RFC 4648 §5).',
    (proof) => (/[+/]/.test(proof) ? proof.replaceAll('+', '-').replaceAll('/', '_') : undefined),
  ],
];

/** Other paddings of a digest, where it is required. */
const otherPaddings: readonly Corruption[] = [
  [
    'the digest has no padding',
    'Padding is required (RFC 4648 §3.2).',
    (proof) => (proof.endsWith('=') ? proof.replace(/={1,2}$/, '') : undefined),
  ],
  [
    'the digest has other bits before its padding',
    'The bits are ignored, so that a second text encodes the same digest (RFC 4648 §3.5).',
    (proof) =>
      proof.replace(/([^=])(={1,2})$/, (_, last: string, padding: string) => flipBit(last) + padding),
  ],
];

const zeroDigest: Corruption = [
  'the digest is all zeros',
  'It equals the content of an uninitialized, zeroed buffer.',
  (proof) => Buffer.alloc(Buffer.from(proof, 'base64').length).toString('base64'),
  { id: 'wrong-proof', expected: refused },
];

/** Invalid credentials: corrupted, missing, empty, or of another user. */
export function* credentialCases(forger: Forger): Generator<Case> {
  yield* group({ id: 'wrong-proof', why: '', expected: malformed }, corruptProofs(forger, wrongProofs));
  const paddings = forger.traits?.place.isPaddingOptional === true ? [] : otherPaddings;
  const digests = forger.signs ? [...otherEncodings, ...paddings, zeroDigest] : [];
  yield* group({ id: 'encoded-proof', why: '', expected: malformed }, corruptProofs(forger, digests));
  yield* proofInOtherCase(forger);
  yield* omitCredentials(forger);
  yield* emptyCredentials(forger);
  yield* otherIdentities(forger);
  yield* forgeAddresses(forger);
}

function* corruptProofs(forger: Forger, ways: readonly Corruption[]): Generator<Row> {
  for (const [name, why, corrupt, differs] of ways)
    yield [name, corruptRequest(forger, ways !== wrongProofs, corrupt), { why, ...differs }];
}

/** The maximum number of nonces that are tried until a digest can be corrupted in the desired way. */
const maxTries = 64;

function corruptRequest(forger: Forger, digest: boolean, corrupt: Corruption[2]): AttackRequest | undefined {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const request = forger.signGood();
    const credentials = forger.split(request);
    if (credentials === undefined || (digest && !isBase64(credentials.proof))) return undefined;
    const proof = corrupt(credentials.proof);
    if (proof !== undefined && proof !== credentials.proof) return credentials.replaceProof(proof);
    if (!forger.once) return undefined;
  }
  return undefined;
}

/** Returns whether a text is canonical base64, and not a digest in hexadecimal. */
function isBase64(text: string): boolean {
  return !isHexadecimal(text) && Buffer.from(text, 'base64').toString('base64') === text;
}

function isHexadecimal(text: string): boolean {
  return /^(?:[0-9a-f]{2}){16,}$/i.test(text);
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Flips the lowest bit of the last base64 character in the first half of a proof. */
function flipBit(proof: string): string {
  for (let at = Math.floor(proof.length / 2); at >= 0; at -= 1) {
    const value = base64.indexOf(proof.charAt(at));
    if (proof.charAt(at) !== '' && value >= 0)
      return `${proof.slice(0, at)}${base64.charAt(value ^ 1)}${proof.slice(at + 1)}`;
  }
  return `${proof}A`;
}

/** A proof whose letters have the other case. In hexadecimal, the case of a digest does not matter. */
function* proofInOtherCase(forger: Forger): Generator<Case> {
  const credentials = forger.split(forger.signGood());
  if (credentials === undefined) return;
  const { before, proof } = credentials;
  if (forger.signs && isHexadecimal(proof)) return;
  const changed = /^Basic $/i.test(before) ? passwordInOtherCase(proof) : swapCase(proof);
  const corrupted = changed === proof ? undefined : credentials.replaceProof(changed);
  const why = 'A comparison that ignores case accepts a proof that is wrong.';
  yield* group({ id: 'wrong-proof', why, expected: refused }, [
    ['the letters of the proof have the other case', corrupted],
  ]);
}

function passwordInOtherCase(base64: string): string {
  const [user = '', ...password] = Buffer.from(base64, 'base64').toString('utf8').split(':');
  return Buffer.from(`${user}:${swapCase(password.join(':'))}`, 'utf8').toString('base64');
}

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

/** Requests without credentials, unless they are permitted. */
function* omitCredentials(forger: Forger): Generator<Case> {
  const bare = forger.bare(forger.signGood());
  if (bare === undefined || forger.open) return;
  const named = appendLines(bare, ...namingFields.map((field) => [field, forger.user ?? 'root'] as const));
  const trusted = 'Fields that a proxy sets count only if they come from a trusted proxy.';
  const why = 'The resource requires authentication.';
  yield* group({ id: 'no-credentials', why, expected: refused }, [
    ['there are no credentials', bare],
    ['the user is named only in fields that a proxy sets', named, { id: 'proxy-fields', why: trusted }],
  ]);
}

const namingFields = ['X-Forwarded-User', 'X-Remote-User', 'Remote-User'] as const;

/** Credentials that are empty, or of an unknown scheme. */
function* emptyCredentials(forger: Forger): Generator<Case> {
  const [field, value] = forger.credentials(forger.signGood()) ?? ['', ''];
  if (field === '') return;
  // The field of an API key contains no scheme, but a secret may contain a space.
  const isOwn = forger.traits !== undefined && field.toLowerCase() !== 'authorization';
  const scheme = isOwn ? '' : (/^\S+ /.exec(value)?.[0] ?? '');
  const replaced = (text: string): AttackRequest => replaceLine(forger.signGood(), [field, text]);
  const rows: readonly Row[] = [
    ['the credentials are an empty field', replaced(''), { why: 'The field contains no credentials.' }],
    ['the credentials are only the name of the scheme', replaced(scheme.trimEnd())],
    [
      'the credentials are of a scheme that does not exist',
      replaced(`x${value}`),
      { why: 'No server can verify them.', expected: refused },
    ],
  ];
  const why = 'No credentials follow the name.';
  // A field that belongs to one scheme does not contain the scheme's name.
  yield* group({ id: 'no-credentials', why, expected: malformed }, scheme === '' ? rows.slice(0, 1) : rows);
}

const lookUp = 'There is no such user, but a look-up in a plain object finds an inherited property.';
const missing = 'The substitute for a missing secret must not be accepted.';

function* otherIdentities(forger: Forger): Generator<Case> {
  const { user, otherUser } = forger;
  const stranger = `nobody-${forger.nonce()}`;
  const as = (changes: SigningChanges) => forger.signRequest(changes);
  const named = (name: string | undefined) => (name === undefined ? undefined : as({ user: name }));
  yield* group({ id: 'unknown-user', why: 'There is no such user.', expected: refused }, [
    ['the user does not exist', as({ user: stranger })],
    [
      'the user does not exist, and the secret is empty',
      as({ user: stranger, secret: '' }),
      { why: missing },
    ],
    [
      'the user does not exist, and the secret is "undefined"',
      as({ user: stranger, secret: 'undefined' }),
      { why: missing },
    ],
    ['the user is __proto__', as({ user: '__proto__' }), { why: lookUp }],
    [
      'the user is __proto__, and the secret is an object as text',
      as({ user: '__proto__', secret: '[object Object]' }),
      { why: lookUp },
    ],
    ['the user is constructor', as({ user: 'constructor' }), { why: lookUp }],
  ]);
  yield* group({ id: 'wrong-secret', why: 'The secret is wrong.', expected: refused }, [
    ['the secret is another one', as({ secret: `not-${forger.nonce()}` })],
    ['the secret is empty', as({ secret: '' })],
  ]);
  yield* group({ id: 'user-spelling', why: 'Names are compared exactly.', expected: refused }, [
    ['the user is in another case', named(user && swapUserCase(user))],
    ['the user is followed by a space', named(user && `${user} `)],
  ]);
  const why = 'A secret authenticates one user only.';
  yield* group({ id: 'wrong-secret', why, expected: refused }, [
    ["the user is another one, with this one's secret", named(otherUser)],
  ]);
}

function swapUserCase(user: string): string {
  const upper = user.toUpperCase();
  return upper === user ? user.toLowerCase() : upper;
}

/** Fields with which a proxy reports the client's address. They count only from a trusted proxy. */
const addressFields: readonly HeaderLine[] = [
  ['X-Forwarded-For', '127.0.0.1'],
  ['Forwarded', 'for=127.0.0.1'],
  ['X-Real-IP', '127.0.0.1'],
];

/** Requests with missing or wrong credentials that claim to come from the server's own host. */
function* forgeAddresses(forger: Forger): Generator<Case> {
  const bare = forger.bare(forger.signGood());
  if (bare === undefined) return;
  const wrong = replaceProof(forger);
  const claim = 'and forged fields claim the address 127.0.0.1';
  const why = 'The fields count only from a trusted proxy, and an address is no proof of identity.';
  yield* group({ id: 'proxy-fields', why, expected: refused }, [
    [`there are no credentials, ${claim}`, forger.open ? undefined : appendLines(bare, ...addressFields)],
    [`the proof is another one, ${claim}`, wrong && appendLines(wrong, ...addressFields)],
  ]);
}

/** Returns the good request with the same letter for each character of its proof. */
function replaceProof(forger: Forger): AttackRequest | undefined {
  const credentials = forger.split(forger.signGood());
  if (credentials === undefined) return undefined;
  const { proof } = credentials;
  // The padding and the case of hexadecimal digits remain, so that a digest is well-formed.
  const letter = /^[0-9a-f]+$/.test(proof) ? 'a' : 'A';
  return credentials.replaceProof(proof.replace(/(?:%[0-9a-f]{2}|[^=])/gi, letter));
}
