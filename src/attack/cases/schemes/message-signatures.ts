import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { MessageSignaturesOptions } from '../../../auth/message-signatures/options.ts';
import { serializeItem } from '../../../http/structured-fields/serialize.ts';
import type { BareItem } from '../../../http/structured-fields/value.ts';
import { signatureAlgorithms } from '../../../signature/algorithms.ts';
import type { MessageKey } from '../../../signature/message-signatures/algorithms.ts';
import { coversContentDigest, parseIdentifier } from '../../../signature/message-signatures/identifiers.ts';
import { toMessageKey } from '../../../signature/message-signatures/sign.ts';
import { type AttackRequest, type Attempt, type HeaderLine, malformed, refused } from '../../attempt.ts';
import { type Forger, type Forgery, toAttempts } from '../../forger.ts';
import { alterContent, contentBytes } from '../../target.ts';
import { labelAttempts } from './signature-labels.ts';

/** HTTP Message Signatures that are valid, but do not meet the requirements, or that can be read in two ways. */
export function* messageSignatureAttempts(
  forger: Forger,
  options: MessageSignaturesOptions,
): Generator<Attempt> {
  yield* toAttempts(forger, 'uncovered-component', removeComponents(forger, options));
  yield* toAttempts(forger, 'invalid-component', coverInvalidComponents(forger));
  yield* toAttempts(forger, 'other-algorithm', otherAlgorithms(forger));
  yield* toAttempts(forger, 'date-form', otherTimes(forger));
  yield* toAttempts(forger, 'nonce-form', otherParameters(forger, options));
  yield* toAttempts(forger, 'changed-parameters', changeInputs(forger));
  yield* labelAttempts(forger);
  yield* contentDigestAttempts(forger);
}

function* removeComponents(
  { plain, resignRequest }: Forger,
  { components }: MessageSignaturesOptions,
): Generator<Forgery> {
  const isDigest = (component: string): boolean => coversContentDigest(parseIdentifier(component));
  const isAdded = plain.body !== undefined && !components.some(isDigest);
  const all = isAdded ? [...components, 'content-digest'] : components;
  const why = 'The signature is valid, but anyone can change what it does not cover (RFC 9421 §7.2.1).';
  for (const component of all) {
    const name = serializeItem(parseIdentifier(component));
    const removed = resignRequest({ covered: all.filter((each) => each !== component) });
    yield [`the signature does not cover ${name}`, why, isDigest(component) ? malformed : refused, removed];
  }
  yield ['the signature covers nothing', why, refused, resignRequest({ covered: [] })];
}

function* coverInvalidComponents({ resignRequest }: Forger): Generator<Forgery> {
  const signed = resignRequest({});
  const [name, input] = signed?.headers.find(([field]) => field === 'Signature-Input') ?? ['', ''];
  if (signed === undefined) return;
  const coverComponent = (component: string): AttackRequest => ({
    ...signed,
    headers: signed.headers.map((line) =>
      line[0] === name ? [name, input.replace(')', ` ${component})`)] : line,
    ),
  });
  const why = 'The signature base cannot be created for such a component (RFC 9421 §2.5).';
  const invalid = ['"@status"', '"@unknown"', '"@method";req', '"X-Upper"', 'token', '"host";sf;bs'];
  for (const component of invalid)
    yield [
      `the signature covers the invalid component ${component}`,
      why,
      malformed,
      coverComponent(component),
    ];
  const twice = /\(("[^"]*")/.exec(input)?.[1];
  const once = 'A component is covered once (RFC 9421 §2).';
  if (twice !== undefined) yield ['a component is covered twice', once, malformed, coverComponent(twice)];
}

/** The algorithms that the parameter `alg` can name. */
const algorithms: readonly string[] = ['hmac-sha256', ...signatureAlgorithms, 'none'];

function* otherAlgorithms({ signing, resignRequest }: Forger): Generator<Forgery> {
  if (signing === undefined) return;
  const key = toMessageKey(signing.identity);
  const why = 'The key determines the algorithm, so alg must name the same one (RFC 9421 §3.2).';
  for (const algorithm of algorithms) {
    const request = resignRequest({ parameters: { alg: text(algorithm) } });
    if (algorithm !== key.algorithm) yield [`the parameter alg is ${algorithm}`, why, refused, request];
  }
  if (key.algorithm === 'hmac-sha256') return;
  const known = 'The public key is known to all, so it must not be used as a secret (RFC 9421 §7.3.6).';
  for (const [form, secret] of listPublicForms(key.privateKey)) {
    const own: MessageKey = { id: key.id, algorithm: 'hmac-sha256', secret };
    const named = resignRequest({ key: own, parameters: { alg: text('hmac-sha256') } });
    yield [`the public key ${form} is the secret of an HMAC`, known, refused, named];
    const unnamed = resignRequest({ key: own, parameters: { alg: undefined } });
    yield [`the public key ${form} is the secret of an HMAC, without alg`, known, refused, unnamed];
  }
  const other = generateOtherKey(key.privateKey);
  if (other === undefined) return;
  const strange = resignRequest({ key: { ...key, privateKey: other } });
  yield ['the private key is another one', 'The key is wrong.', refused, strange, 'wrong-secret'];
}

function listPublicForms(privateKey: KeyObject): (readonly [form: string, secret: string | Uint8Array])[] {
  const key = createPublicKey(privateKey);
  const pem = key.export({ type: 'spki', format: 'pem' }).toString();
  return [
    ['in PEM', pem],
    ['in PEM without its last line break', pem.trimEnd()],
    ['in DER', key.export({ type: 'spki', format: 'der' })],
  ];
}

/** Returns another private key of the same type. */
function generateOtherKey({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): KeyObject | undefined {
  const { namedCurve = '', modulusLength = 2048 } = asymmetricKeyDetails ?? {};
  switch (asymmetricKeyType) {
    case 'ed25519':
      return generateKeyPairSync('ed25519').privateKey;
    case 'ec':
      return generateKeyPairSync('ec', { namedCurve }).privateKey;
    case 'rsa':
      return generateKeyPairSync('rsa', { modulusLength }).privateKey;
    default:
      return undefined;
  }
}

function* otherTimes({ now, resignRequest }: Forger): Generator<Forgery> {
  const second = Math.floor(now / 1000);
  const recorded = 'A recorded request could be replayed later.';
  const type = 'created and expires are integers (RFC 9421 §2.3).';
  const moments: readonly (readonly [string, string, readonly number[], string, BareItem | undefined])[] = [
    ['the signature has no created', recorded, refused, 'created', undefined],
    ['created is a string', type, malformed, 'created', text(String(second))],
    ['created is a decimal', type, malformed, 'created', { type: 'decimal', value: second }],
    ['created is a date', type, malformed, 'created', { type: 'date', value: second }],
    ['created is negative', type, malformed, 'created', integer(-1)],
    ['created is in milliseconds', recorded, refused, 'created', integer(now)],
    ['expires is a second ago', 'The signature has expired.', refused, 'expires', integer(second - 1)],
    ['expires is a string', type, malformed, 'expires', text(String(second + 60))],
  ];
  // Signed a minute earlier, so that a signature can have expired.
  const earlier = { created: integer(second - 60) };
  for (const [name, why, expected, parameter, value] of moments)
    yield [
      name,
      why,
      expected,
      resignRequest({ parameters: { ...earlier, [parameter]: value } }),
      expected === refused ? 'stale-date' : 'date-form',
    ];
}

function* otherParameters({ resignRequest }: Forger, options: MessageSignaturesOptions): Generator<Forgery> {
  const signParameter = (name: string, value: BareItem | undefined) =>
    resignRequest({ parameters: { [name]: value } });
  yield [
    'the signature has no keyid',
    'The signature names no key.',
    refused,
    signParameter('keyid', undefined),
    'unknown-user',
  ];
  const token = signParameter('keyid', { type: 'token', value: 'a' });
  yield ['keyid is a token', 'keyid is a string (RFC 9421 §2.3).', malformed, token, 'unknown-user'];
  if (options.nonce !== 'off') {
    yield [
      'the nonce is empty',
      'An empty nonce is not unique.',
      malformed,
      signParameter('nonce', text('')),
    ];
    const long = signParameter('nonce', text('x'.repeat(1025)));
    yield ['the nonce has 1,025 characters', 'The server stores it.', malformed, long];
  }
  if (options.nonce === 'required') {
    const without = signParameter('nonce', undefined);
    yield ['there is no nonce', 'Without a nonce the request can be sent again.', refused, without, 'replay'];
  }
  if (options.tag === undefined) return;
  const why = 'The signature was for another application (RFC 9421 §7.2.7).';
  const other = signParameter('tag', text(`not-${options.tag}`));
  yield ['the tag is another one', why, refused, other, 'other-scope'];
  yield ['there is no tag', why, refused, signParameter('tag', undefined), 'other-scope'];
}

/** Signature-Input, changed after signing. */
function* changeInputs(forger: Forger): Generator<Forgery> {
  const why = 'Signature-Input is covered by the signature itself (RFC 9421 §2.3).';
  const second = Math.floor(forger.now / 1000);
  const changes: readonly (readonly [name: string, change: (input: string) => string])[] = [
    [
      'created is a second later than signed',
      (input) => input.replace(/;created=(\d+)/, (_, at) => `;created=${Number(at) + 1}`),
    ],
    ['created was removed after signing', (input) => input.replace(/;created=\d+/, '')],
    ['expires was added after signing', (input) => `${input};expires=${second + 3600}`],
    ['the nonce was removed after signing', (input) => input.replace(/;nonce="[^"]*"/, '')],
    [
      'alg was added after signing',
      (input) => (input.includes(';alg=') ? input : `${input};alg="hmac-sha256"`),
    ],
    ['a component was removed after signing', (input) => input.replace(/\("[^"]*" /, '(')],
    ['the components are in another order', (input) => input.replace(/\(("[^"]*") ("[^"]*")/, '($2 $1')],
    ['all components were removed after signing', (input) => input.replace(/\([^()]*\)/, '()')],
  ];
  for (const [name, change] of changes) {
    const good = forger.signGood();
    const headers = good.headers.map(([field, value]) =>
      field === 'Signature-Input' ? ([field, change(value)] as const) : ([field, value] as const),
    );
    const isChanged = headers.some(([, value], at) => value !== good.headers[at]?.[1]);
    yield [name, why, refused, isChanged ? { ...good, headers } : undefined];
  }
}

function integer(value: number): BareItem {
  return { type: 'integer', value };
}

function text(value: string): BareItem {
  return { type: 'string', value };
}

/** Signed digests that are no proof of the content, which was changed. */
function* contentDigestAttempts(forger: Forger): Generator<Attempt> {
  yield* toAttempts(forger, 'other-content', digestForgeries(forger));
}

function* digestForgeries({ plain, resignRequest }: Forger): Generator<Forgery> {
  if (plain.body === undefined) return;
  const [content, altered] = [contentBytes(plain.body), alterContent(plain.body)];
  const signWith = (value: string, body: AttackRequest['body'] = altered): AttackRequest | undefined => {
    const line: HeaderLine = ['Content-Digest', value];
    return resignRequest({}, { ...plain, headers: [...plain.headers, line], body: body ?? altered });
  };
  const right = digest('sha-256', 'sha256', content);
  const weak = 'Insecure algorithms must not be used (RFC 9530 §5), so the content is unsigned.';
  yield [
    'Content-Digest is of MD5',
    weak,
    malformed,
    signWith(digest('md5', 'md5', content), content),
    'weak-digest',
  ];
  yield [
    'Content-Digest is of SHA-1',
    weak,
    malformed,
    signWith(digest('sha', 'sha1', content), content),
    'weak-digest',
  ];
  const unknown = 'A digest that cannot be compared proves nothing.';
  yield ['Content-Digest is of an unknown algorithm', unknown, malformed, signWith('x-none=:AAAA:')];
  yield ['Content-Digest is empty', unknown, malformed, signWith('')];
  const differs = 'The content differs from the signed digest.';
  yield ['Content-Digest is of other content, and signed', differs, malformed, signWith(right)];
  const both = `${right}, ${digest('sha-512', 'sha512', altered)}`;
  yield ['one of two digests is of other content', differs, malformed, signWith(both)];
}

function digest(name: string, algorithm: string, content: Uint8Array): string {
  return `${name}=:${createHash(algorithm).update(content).digest('base64')}:`;
}
