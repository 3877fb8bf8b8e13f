import {
  type Attempt,
  adding,
  attempt,
  malformed,
  type OutgoingRequest,
  refused,
  replacing,
  without,
} from '../attempt.ts';
import { credentialsOf, type Forger, type Proven, provenOf } from '../forger.ts';
import type { SigningChanges } from '../signers.ts';

/** A proof that is spoilt, and how. */
interface Spoilt {
  readonly name: string;
  readonly why: string;
  readonly expected: readonly number[];
  /** The spoilt proof; undefined where this one cannot be spoilt so. */
  readonly spoil: (proof: string) => string | undefined;
}

const anyone: readonly Spoilt[] = [
  {
    name: 'the proof has one bit flipped',
    why: 'It is not the right one.',
    expected: refused,
    spoil: flipped,
  },
  {
    name: 'the proof is cut to its first half',
    why: 'A comparison that stops at the shorter end proves half as much, or nothing.',
    expected: malformed,
    spoil: (proof) => proof.slice(0, Math.floor(proof.length / 2)),
  },
  {
    name: 'the proof is empty',
    why: 'Nothing is proven.',
    expected: malformed,
    spoil: () => '',
  },
  {
    name: 'the proof has eight more characters behind it',
    why: 'A comparison that stops at the shorter end would not see them.',
    expected: malformed,
    spoil: (proof) => `${proof}AAAAAAAA`,
  },
];

const digestsOnly: readonly Spoilt[] = [
  {
    name: 'the digest is in hexadecimal',
    why: 'A digest is written in one way, or logs and caches know one request as two.',
    expected: malformed,
    spoil: (proof) => Buffer.from(proof, 'base64').toString('hex'),
  },
  {
    name: 'the digest is in the URL-safe alphabet',
    why: 'That is another encoding (RFC 4648 §5).',
    expected: malformed,
    spoil: (proof) => (/[+/]/.test(proof) ? proof.replaceAll('+', '-').replaceAll('/', '_') : undefined),
  },
  {
    name: 'the digest is without its padding',
    why: 'Padding is a part of it (RFC 4648 §3.2).',
    expected: malformed,
    spoil: (proof) => (proof.endsWith('=') ? proof.replace(/=+$/, '') : undefined),
  },
  {
    name: 'the digest has other bits before its padding',
    why: 'They mean nothing, so a second text would stand for the same digest (RFC 4648 §3.5).',
    expected: malformed,
    spoil: (proof) =>
      proof.replace(/(.)(=+)$/, (_, last: string, padding: string) => flipped(last) + padding),
  },
  {
    name: 'the digest is all zeros',
    why: 'It is what an empty buffer that was never filled compares with.',
    expected: refused,
    spoil: (proof) => Buffer.alloc(Buffer.from(proof, 'base64').length).toString('base64'),
  },
];

/** Credentials that prove nothing: spoilt, empty, of somebody else, or far too long. */
export function* credentialAttempts(forge: Forger): Generator<Attempt> {
  yield* spoilt(forge, anyone);
  if (forge.signs) yield* spoilt(forge, digestsOnly);
  yield* nobody(forge);
  yield* hollow(forge);
  yield* somebodyElse(forge);
}

function* spoilt(forge: Forger, ways: readonly Spoilt[]): Generator<Attempt> {
  for (const { name, why, expected, spoil } of ways) {
    const request = spoiltRequest(forge, ways === digestsOnly, spoil);
    if (request !== undefined)
      yield attempt({ name, why, expected, needs: forge.needs, requests: [request] });
  }
}

/** How many nonces are tried until a digest has what is to be spoilt. */
const draws = 64;

function spoiltRequest(forge: Forger, digest: boolean, spoil: Spoilt['spoil']): OutgoingRequest | undefined {
  for (let draw = 0; draw < draws; draw += 1) {
    const request = forge.good();
    const proven = provenOf(request);
    if (proven === undefined || (digest && !isBase64(proven.proof))) return undefined;
    const proof = spoil(proven.proof);
    if (proof !== undefined && proof !== proven.proof) return replacing(request, lineWith(proven, proof));
    if (!forge.once) return undefined;
  }
  return undefined;
}

function lineWith({ name, before, after }: Proven, proof: string): readonly [string, string] {
  return [name, `${before}${proof}${after}`];
}

function isBase64(text: string): boolean {
  return Buffer.from(text, 'base64').toString('base64') === text;
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The proof with the lowest bit flipped of its base64 character nearest before the middle. */
function flipped(proof: string): string {
  for (let at = Math.floor(proof.length / 2); at >= 0; at -= 1) {
    const value = base64.indexOf(proof.charAt(at));
    if (proof.charAt(at) !== '' && value >= 0)
      return `${proof.slice(0, at)}${base64.charAt(value ^ 1)}${proof.slice(at + 1)}`;
  }
  return `${proof}A`;
}

/** Requests without credentials, unless strangers may send them. */
function* nobody(forge: Forger): Generator<Attempt> {
  const good = forge.good();
  const line = credentialsOf(good);
  if (line === undefined || forge.open) return;
  const one = (name: string, why: string, request: OutgoingRequest): Attempt =>
    attempt({ name, why, expected: refused, needs: forge.needs, requests: [request] });
  const bare = { ...good, headers: without(good.headers, line[0]) };
  yield one('there are no credentials', 'Nobody is asking, and the resource is not for everybody.', bare);
  const named = adding(bare, ...namingFields.map((field) => [field, forge.user ?? 'root'] as const));
  const why = 'Fields that a proxy sets count only from a proxy that is trusted.';
  yield one('the user is only named, in fields that a proxy sets', why, named);
}

/** Credentials that are empty, of an unknown scheme, or far too long. */
function* hollow(forge: Forger): Generator<Attempt> {
  const [field, value] = credentialsOf(forge.good()) ?? ['', ''];
  if (field === '') return;
  const one = (name: string, why: string, expected: readonly number[], text: string): Attempt =>
    attempt({ name, why, expected, needs: forge.needs, requests: [replacing(forge.good(), [field, text])] });

  yield one('the credentials are an empty field', 'Nothing is in it.', malformed, '');
  const scheme = /^\S+ /.exec(value)?.[0] ?? '';
  const long = `${scheme}${'A'.repeat(8192)}`;
  yield one('the credentials have 8 KiB', 'No scheme has such.', [400, 401, 403, 413, 431], long);
  // A field of a scheme's own has no name of a scheme in it.
  if (scheme === '') return;
  const alone = 'the credentials are the name of the scheme alone';
  yield one(alone, 'Nothing stands behind it.', malformed, scheme.trimEnd());
  const foreign = 'the credentials are of a scheme that does not exist';
  yield one(foreign, 'Nobody can judge them.', refused, `x${value}`);
}

const namingFields = ['X-Forwarded-User', 'X-Remote-User', 'Remote-User'] as const;

/** A name that is not the user's, or another secret, and why it is tried. */
type Claim = readonly [name: string, why: string, changes: SigningChanges];

const lookUp = 'It is no user: a look-up in a plain object finds something all the same.';
const letterForLetter = 'Names are compared letter for letter.';
const missing = 'What stands where a secret is missing must not be one.';

function* somebodyElse(forge: Forger): Generator<Attempt> {
  const { user, otherUser } = forge;
  const stranger = `nobody-${forge.nonce()}`;
  const claims: Claim[] = [
    ['the user does not exist', 'Nobody has this name.', { user: stranger }],
    ['the user does not exist, and the secret is empty', missing, { user: stranger, secret: '' }],
    [
      'the user does not exist, and the secret is "undefined"',
      missing,
      { user: stranger, secret: 'undefined' },
    ],
    ['the user is __proto__', lookUp, { user: '__proto__' }],
    [
      'the user is __proto__, and the secret is an object as text',
      lookUp,
      { user: '__proto__', secret: '[object Object]' },
    ],
    ['the user is constructor', lookUp, { user: 'constructor' }],
    [
      'the secret is another one',
      'The sender does not know the right one.',
      { secret: `not-${forge.nonce()}` },
    ],
    ['the secret is empty', 'The sender does not know the right one.', { secret: '' }],
  ];
  if (user !== undefined) {
    claims.push(['the user is in another case', letterForLetter, { user: inOtherCase(user) }]);
    claims.push(['the user has a space behind it', letterForLetter, { user: `${user} ` }]);
  }
  if (otherUser !== undefined) {
    const why = 'A secret proves one user.';
    claims.push(["the user is another one, with this one's secret", why, { user: otherUser }]);
  }
  for (const [name, why, changes] of claims) {
    const request = forge.signed(changes);
    if (request !== undefined)
      yield attempt({ name, why, expected: refused, needs: forge.needs, requests: [request] });
  }
}

function inOtherCase(user: string): string {
  const upper = user.toUpperCase();
  return upper === user ? user.toLowerCase() : upper;
}
