import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { generateOther, type MessageKey, signatureAlgorithms } from '../../../algorithms.ts';
import { serializeItem } from '../../../http/structured-fields/serialize.ts';
import type { BareItem } from '../../../http/structured-fields/value.ts';
import { coversContentDigest, parseIdentifier } from '../../../schemes/rfc9421/identifiers.ts';
import type { MessageSignaturesOptions } from '../../../schemes/rfc9421/options.ts';
import { toMessageKey } from '../../../schemes/rfc9421/sign.ts';
import {
  type AttackRequest,
  type Case,
  changeLine,
  findLine,
  group,
  malformed,
  type Row,
  refused,
} from '../../attempt.ts';
import type { Forger } from '../../forger.ts';
import { alterContent, contentBytes } from '../../target.ts';
import { labelCases } from './signature-labels.ts';

/** HTTP Message Signatures that are valid, but do not meet the requirements, or that can be read in two ways. */
export function* messageSignatureCases(forger: Forger): Generator<Case> {
  const scheme = forger.signing?.scheme;
  if (scheme?.kind !== 'message-signatures') return;
  const { options } = scheme;
  yield* removeComponents(forger, options);
  yield* coverInvalidComponents(forger);
  yield* otherAlgorithms(forger);
  yield* otherTimes(forger);
  yield* group({ id: 'nonce-form', why: '', expected: refused }, otherParameters(forger, options));
  yield* changeInputs(forger);
  yield* labelCases(forger);
  yield* changeDigests(forger);
}

function* removeComponents(
  { plain, resignRequest }: Forger,
  { components }: MessageSignaturesOptions,
): Generator<Case> {
  const isDigest = (component: string): boolean => coversContentDigest(parseIdentifier(component));
  const isAdded = plain.body !== undefined && !components.some(isDigest);
  const all = isAdded ? [...components, 'content-digest'] : components;
  const why = 'The signature is valid, but anyone can change what it does not cover (RFC 9421 §7.2.1).';
  const rows = all.map((component): Row => {
    const name = serializeItem(parseIdentifier(component));
    const removed = resignRequest({ covered: all.filter((each) => each !== component) });
    return [
      `the signature does not cover ${name}`,
      removed,
      isDigest(component) ? { expected: malformed } : {},
    ];
  });
  const none: Row = ['the signature covers nothing', resignRequest({ covered: [] })];
  yield* group({ id: 'uncovered-component', why, expected: refused }, [...rows, none]);
}

function* coverInvalidComponents({ resignRequest }: Forger): Generator<Case> {
  const signed = resignRequest({});
  if (signed === undefined) return;
  const cover = (component: string) =>
    changeLine(signed, 'Signature-Input', (input) => input.replace(')', ` ${component})`));
  const invalid = ['"@status"', '"@unknown"', '"@method";req', '"X-Upper"', 'token', '"host";sf;bs'];
  const why = 'The signature base cannot be created for such a component (RFC 9421 §2.5).';
  const rows = invalid.map((component): Row => {
    return [`the signature covers the invalid component ${component}`, cover(component)];
  });
  const twice = /\(("[^"]*")/.exec(findLine(signed.headers, 'Signature-Input')?.[1] ?? '')?.[1];
  const repeated = twice === undefined ? undefined : cover(twice);
  const once = 'A component is covered once (RFC 9421 §2).';
  yield* group({ id: 'invalid-component', why, expected: malformed }, [
    ...rows,
    ['a component is covered twice', repeated, { why: once }],
  ]);
}

/** The algorithms that the parameter `alg` can name. */
const algorithms: readonly string[] = ['hmac-sha256', ...signatureAlgorithms, 'none'];

function* otherAlgorithms({ signing, resignRequest }: Forger): Generator<Case> {
  if (signing === undefined) return;
  const key = toMessageKey(signing.identity);
  const named = algorithms.map((algorithm): Row => {
    const request = resignRequest({ parameters: { alg: text(algorithm) } });
    return [`the parameter alg is ${algorithm}`, algorithm === key.algorithm ? undefined : request];
  });
  const why = 'The key determines the algorithm, so alg must name the same one (RFC 9421 §3.2).';
  yield* group({ id: 'other-algorithm', why, expected: refused }, named);
  if (key.algorithm === 'hmac-sha256') return;
  const forms = listPublicForms(key.privateKey).flatMap(([form, secret]): Row[] => {
    const own: MessageKey = { id: key.id, algorithm: 'hmac-sha256', secret };
    const name = `the public key ${form} is the secret of an HMAC`;
    return [
      [name, resignRequest({ key: own, parameters: { alg: text('hmac-sha256') } })],
      [`${name}, without alg`, resignRequest({ key: own, parameters: { alg: undefined } })],
    ];
  });
  const known = 'The public key is known to all, so it must not be used as a secret (RFC 9421 §7.3.6).';
  yield* group({ id: 'other-algorithm', why: known, expected: refused }, forms);
  const other = generateOther(key.privateKey);
  yield* group({ id: 'wrong-secret', why: 'The key is wrong.', expected: refused }, [
    ['the private key is another one', other && resignRequest({ key: { ...key, privateKey: other } })],
  ]);
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

function* otherTimes({ now, resignRequest }: Forger): Generator<Case> {
  const second = Math.floor(now / 1000);
  // Signed a minute earlier, so that a signature can have expired.
  const sign = (changes: Readonly<Record<string, BareItem | undefined>>) =>
    resignRequest({ parameters: { created: integer(second - 60), ...changes } });
  const why = 'created and expires are integers (RFC 9421 §2.3).';
  const recorded = {
    id: 'stale-date',
    why: 'A recorded request could be replayed later.',
    expected: refused,
  } as const;
  yield* group({ id: 'date-form', why, expected: malformed }, [
    ['the signature has no created', sign({ created: undefined }), recorded],
    ['created is a string', sign({ created: text(String(second)) })],
    ['created is a decimal', sign({ created: { type: 'decimal', value: second } })],
    ['created is a date', sign({ created: { type: 'date', value: second } })],
    ['created is negative', sign({ created: integer(-1) })],
    ['created is in milliseconds', sign({ created: integer(now) }), recorded],
    [
      'expires is a second ago',
      sign({ expires: integer(second - 1) }),
      { ...recorded, why: 'The signature has expired.' },
    ],
    ['expires is a string', sign({ expires: text(String(second + 60)) })],
  ]);
}

function* otherParameters({ resignRequest }: Forger, options: MessageSignaturesOptions): Generator<Row> {
  const sign = (name: string, value: BareItem | undefined) =>
    resignRequest({ parameters: { [name]: value } });
  const keyless = { id: 'unknown-user', why: 'The signature names no key.' } as const;
  yield ['the signature has no keyid', sign('keyid', undefined), keyless];
  const named = { ...keyless, why: 'keyid is a string (RFC 9421 §2.3).', expected: malformed };
  yield ['keyid is a token', sign('keyid', { type: 'token', value: 'a' }), named];
  if (options.nonce !== 'off') {
    const unique = { why: 'An empty nonce is not unique.', expected: malformed };
    yield ['the nonce is empty', sign('nonce', text('')), unique];
    const stored = { why: 'The server stores it.', expected: malformed };
    yield ['the nonce has 1,025 characters', sign('nonce', text('x'.repeat(1025))), stored];
  }
  if (options.nonce === 'required') {
    const why = 'Without a nonce the request can be sent again.';
    yield ['there is no nonce', sign('nonce', undefined), { id: 'replay', why }];
  }
  if (options.tag === undefined) return;
  const why = 'The signature was for another application (RFC 9421 §7.2.7).';
  const other = { id: 'other-scope', why } as const;
  yield ['the tag is another one', sign('tag', text(`not-${options.tag}`)), other];
  yield ['there is no tag', sign('tag', undefined), other];
}

/** Signature-Input, changed after signing. */
function* changeInputs({ now, signGood }: Forger): Generator<Case> {
  const expiry = Math.floor(now / 1000) + 3600;
  const change = (pattern: RegExp, replacement: string): AttackRequest | undefined => {
    const good = signGood();
    const changed = changeLine(good, 'Signature-Input', (input) => input.replace(pattern, replacement));
    return isDeepStrictEqual(changed, good) ? undefined : changed;
  };
  const why = 'Signature-Input is covered by the signature itself (RFC 9421 §2.3).';
  yield* group({ id: 'changed-parameters', why, expected: refused }, [
    [
      'created is a second later than signed',
      change(/;created=\d+/, `;created=${Math.floor(now / 1000) + 1}`),
    ],
    ['created was removed after signing', change(/;created=\d+/, '')],
    ['expires was added after signing', change(/$/, `;expires=${expiry}`)],
    ['the nonce was removed after signing', change(/;nonce="[^"]*"/, '')],
    ['alg was added after signing', change(/^(?!.*;alg=).*$/, '$&;alg="hmac-sha256"')],
    ['a component was removed after signing', change(/\("[^"]*" /, '(')],
    ['the components are in another order', change(/\(("[^"]*") ("[^"]*")/, '($2 $1')],
    ['all components were removed after signing', change(/\([^()]*\)/, '()')],
  ]);
}

function integer(value: number): BareItem {
  return { type: 'integer', value };
}

function text(value: string): BareItem {
  return { type: 'string', value };
}

/** Signed digests that are no proof of the content, which was changed. */
function* changeDigests({ plain, resignRequest }: Forger): Generator<Case> {
  if (plain.body === undefined) return;
  const [content, altered] = [contentBytes(plain.body), alterContent(plain.body)];
  const sign = (value: string, body: Uint8Array = altered): AttackRequest | undefined =>
    resignRequest({}, { ...plain, headers: [...plain.headers, ['Content-Digest', value]], body });
  const right = digest('sha-256', 'sha256', content);
  const weak = 'Insecure algorithms must not be used (RFC 9530 §5), so the content is unsigned.';
  yield* group({ id: 'weak-digest', why: weak, expected: malformed }, [
    ['Content-Digest is of MD5', sign(digest('md5', 'md5', content), content)],
    ['Content-Digest is of SHA-1', sign(digest('sha', 'sha1', content), content)],
  ]);
  const unknown = 'A digest that cannot be compared proves nothing.';
  yield* group({ id: 'other-content', why: unknown, expected: malformed }, [
    ['Content-Digest is of an unknown algorithm', sign('x-none=:AAAA:')],
    ['Content-Digest is empty', sign('')],
  ]);
  const both = `${right}, ${digest('sha-512', 'sha512', altered)}`;
  const differs = 'The content differs from the signed digest.';
  yield* group({ id: 'other-content', why: differs, expected: malformed }, [
    ['Content-Digest is of other content, and signed', sign(right)],
    ['one of two digests is of other content', sign(both)],
  ]);
}

function digest(name: string, algorithm: string, content: Uint8Array): string {
  return `${name}=:${createHash(algorithm).update(content).digest('base64')}:`;
}
