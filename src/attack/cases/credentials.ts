import {
  type AttackRequest,
  type Attempt,
  appendLines,
  attempt,
  malformed,
  refused,
  replaceLine,
} from '../attempt.ts';
import type { Forger } from '../forger.ts';
import type { SigningChanges } from '../signer.ts';
import type { WeaknessId } from '../weaknesses.ts';

/** A way to corrupt a proof. */
interface Corruption {
  readonly id: WeaknessId;
  readonly name: string;
  readonly why: string;
  readonly expected: readonly number[];
  /** Returns the corrupted proof. Undefined if this proof cannot be corrupted in this way. */
  readonly corrupt: (proof: string) => string | undefined;
  /** Whether only the padding of base64 is corrupted. */
  readonly isPadding?: boolean;
}

const anyProof: readonly Corruption[] = [
  {
    id: 'wrong-proof',
    name: 'the proof has one bit flipped',
    why: 'The proof is wrong.',
    expected: refused,
    corrupt: flipBit,
  },
  {
    id: 'wrong-proof',
    name: 'the proof is cut to its first half',
    why: 'A comparison up to the shorter length accepts a partial proof.',
    expected: malformed,
    corrupt: (proof) => proof.slice(0, Math.floor(proof.length / 2)),
  },
  {
    id: 'wrong-proof',
    name: 'the proof is empty',
    why: 'An empty proof proves nothing.',
    expected: malformed,
    corrupt: () => '',
  },
  {
    id: 'encoded-proof',
    name: 'the proof is followed by eight more characters',
    why: 'A comparison up to the shorter length ignores them.',
    expected: malformed,
    corrupt: (proof) => `${proof}AAAAAAAA`,
  },
];

const digestsOnly: readonly Corruption[] = [
  {
    id: 'encoded-proof',
    name: 'the digest is in hexadecimal',
    why: 'A digest has one encoding, so that logs and caches do not treat one request as two.',
    expected: malformed,
    corrupt: (proof) => Buffer.from(proof, 'base64').toString('hex'),
  },
  {
    id: 'encoded-proof',
    name: 'the digest is in the URL-safe alphabet',
    why: 'The URL-safe alphabet is another encoding (RFC 4648 §5).',
    expected: malformed,
    corrupt: (proof) => (/[+/]/.test(proof) ? proof.replaceAll('+', '-').replaceAll('/', '_') : undefined),
  },
  {
    isPadding: true,
    id: 'encoded-proof',
    name: 'the digest has no padding',
    why: 'Padding is required (RFC 4648 §3.2).',
    expected: malformed,
    corrupt: (proof) => (proof.endsWith('=') ? proof.replace(/={1,2}$/, '') : undefined),
  },
  {
    isPadding: true,
    id: 'encoded-proof',
    name: 'the digest has other bits before its padding',
    why: 'The bits are ignored, so that a second text encodes the same digest (RFC 4648 §3.5).',
    expected: malformed,
    corrupt: (proof) =>
      proof.replace(/([^=])(={1,2})$/, (_, last: string, padding: string) => flipBit(last) + padding),
  },
  {
    id: 'wrong-proof',
    name: 'the digest is all zeros',
    why: 'It equals the content of an uninitialized, zeroed buffer.',
    expected: refused,
    corrupt: (proof) => Buffer.alloc(Buffer.from(proof, 'base64').length).toString('base64'),
  },
];

/** Invalid credentials: corrupted, missing, empty, or of another user. */
export function* credentialAttempts(forger: Forger): Generator<Attempt> {
  yield* corruptProofs(forger, anyProof);
  if (forger.signs) yield* corruptProofs(forger, digestsOnly);
  yield* proofInOtherCase(forger);
  yield* omitCredentials(forger);
  yield* emptyCredentials(forger);
  yield* otherIdentities(forger);
}

function* corruptProofs(forger: Forger, ways: readonly Corruption[]): Generator<Attempt> {
  const isPaddingOptional = forger.traits?.place.isPaddingOptional === true;
  for (const { id, name, why, expected, corrupt, isPadding = false } of ways) {
    if (isPadding && isPaddingOptional) continue;
    const request = corruptRequest(forger, ways === digestsOnly, corrupt);
    if (request !== undefined)
      yield attempt({ id, name, why, expected, needs: forger.needs, requests: [request] });
  }
}

/** The maximum number of nonces that are tried until a digest can be corrupted in the desired way. */
const maxTries = 64;

function corruptRequest(
  forger: Forger,
  digest: boolean,
  corrupt: Corruption['corrupt'],
): AttackRequest | undefined {
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
function* proofInOtherCase(forger: Forger): Generator<Attempt> {
  const credentials = forger.split(forger.signGood());
  if (credentials === undefined) return;
  const { before, proof } = credentials;
  if (forger.signs && isHexadecimal(proof)) return;
  const changed = /^Basic $/i.test(before) ? passwordInOtherCase(proof) : swapCase(proof);
  if (changed === proof) return;
  const corrupted = credentials.replaceProof(changed);
  const name = 'the letters of the proof have the other case';
  const why = 'A comparison that ignores case accepts a proof that is wrong.';
  const shared = { expected: refused, needs: forger.needs, requests: [corrupted] };
  yield attempt({ id: 'wrong-proof', name, why, ...shared });
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
function* omitCredentials(forger: Forger): Generator<Attempt> {
  const bare = forger.bare(forger.signGood());
  if (bare === undefined || forger.open) return;
  const one = (id: WeaknessId, name: string, why: string, request: AttackRequest): Attempt =>
    attempt({ id, name, why, expected: refused, needs: forger.needs, requests: [request] });
  yield one('no-credentials', 'there are no credentials', 'The resource requires authentication.', bare);
  const named = appendLines(bare, ...namingFields.map((field) => [field, forger.user ?? 'root'] as const));
  const why = 'Fields that a proxy sets count only if they come from a trusted proxy.';
  yield one('proxy-fields', 'the user is named only in fields that a proxy sets', why, named);
}

/** Credentials that are empty, or of an unknown scheme. */
function* emptyCredentials(forger: Forger): Generator<Attempt> {
  const [field, value] = forger.credentials(forger.signGood()) ?? ['', ''];
  if (field === '') return;
  const one = (name: string, why: string, expected: readonly number[], text: string): Attempt =>
    attempt({
      id: 'no-credentials',
      name,
      why,
      expected,
      needs: forger.needs,
      requests: [replaceLine(forger.signGood(), [field, text])],
    });

  yield one('the credentials are an empty field', 'The field contains no credentials.', malformed, '');
  // The field of an API key contains no scheme, but a secret may contain a space.
  const isOwn = forger.traits !== undefined && field.toLowerCase() !== 'authorization';
  const scheme = isOwn ? '' : (/^\S+ /.exec(value)?.[0] ?? '');
  // A field that belongs to one scheme does not contain the scheme's name.
  if (scheme === '') return;
  const alone = 'the credentials are only the name of the scheme';
  yield one(alone, 'No credentials follow the name.', malformed, scheme.trimEnd());
  const unknown = 'the credentials are of a scheme that does not exist';
  yield one(unknown, 'No server can verify them.', refused, `x${value}`);
}

const namingFields = ['X-Forwarded-User', 'X-Remote-User', 'Remote-User'] as const;

/** A wrong name or secret, and why it is tried. */
type Claim = readonly [id: WeaknessId, name: string, why: string, changes: SigningChanges];

const lookUp = 'There is no such user, but a look-up in a plain object finds an inherited property.';
const exactNames = 'Names are compared exactly.';
const missing = 'The substitute for a missing secret must not be accepted.';

function* otherIdentities(forger: Forger): Generator<Attempt> {
  const { user, otherUser } = forger;
  const stranger = `nobody-${forger.nonce()}`;
  const claims: Claim[] = [
    ['unknown-user', 'the user does not exist', 'There is no such user.', { user: stranger }],
    [
      'unknown-user',
      'the user does not exist, and the secret is empty',
      missing,
      { user: stranger, secret: '' },
    ],
    [
      'unknown-user',
      'the user does not exist, and the secret is "undefined"',
      missing,
      { user: stranger, secret: 'undefined' },
    ],
    ['unknown-user', 'the user is __proto__', lookUp, { user: '__proto__' }],
    [
      'unknown-user',
      'the user is __proto__, and the secret is an object as text',
      lookUp,
      { user: '__proto__', secret: '[object Object]' },
    ],
    ['unknown-user', 'the user is constructor', lookUp, { user: 'constructor' }],
    [
      'wrong-secret',
      'the secret is another one',
      'The secret is wrong.',
      { secret: `not-${forger.nonce()}` },
    ],
    ['wrong-secret', 'the secret is empty', 'The secret is wrong.', { secret: '' }],
  ];
  if (user !== undefined) {
    claims.push(['user-spelling', 'the user is in another case', exactNames, { user: swapUserCase(user) }]);
    claims.push(['user-spelling', 'the user is followed by a space', exactNames, { user: `${user} ` }]);
  }
  if (otherUser !== undefined) {
    const why = 'A secret authenticates one user only.';
    claims.push([
      'wrong-secret',
      "the user is another one, with this one's secret",
      why,
      { user: otherUser },
    ]);
  }
  for (const [id, name, why, changes] of claims) {
    const request = forger.signRequest(changes);
    if (request !== undefined)
      yield attempt({ id, name, why, expected: refused, needs: forger.needs, requests: [request] });
  }
}

function swapUserCase(user: string): string {
  const upper = user.toUpperCase();
  return upper === user ? user.toLowerCase() : upper;
}
