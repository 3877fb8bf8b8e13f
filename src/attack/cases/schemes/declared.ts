import { findQueryValues } from '../../../http/form.ts';
import type { Declaration } from '../../../schemes/declared/declaration.ts';
import { listGuards } from '../../../schemes/declared/message-source.ts';
import { fieldIn } from '../../../schemes/declared/place.ts';
import { timestampUnits } from '../../../schemes/declared/timestamp.ts';
import {
  type AttackRequest,
  appendLines,
  type Case,
  changeLine,
  group,
  malformed,
  type Row,
  refused,
} from '../../attempt.ts';
import type { Forger } from '../../forger.ts';
import { appendParameters, contentBytes, replaceParameter } from '../../target.ts';
import { signatureListCases } from './signature-lists.ts';

/** Signatures of a declared scheme with other parts than declared. */
export function* declaredCases(forger: Forger): Generator<Case> {
  const scheme = forger.signing?.scheme;
  if (scheme?.kind !== 'declared') return;
  const { options: declaration } = scheme;
  yield* otherDeclarations(forger, declaration);
  yield* separators(forger, declaration);
  yield* repeatFields(forger, declaration);
  yield* otherContents(forger, declaration);
  const why = 'It is ambiguous which of two signatures counts.';
  yield* group({ id: 'repeated-field', why, expected: malformed }, changeQueries(forger, declaration));
  yield* signatureListCases(forger, declaration);
  if (declaration.nonce !== undefined && forger.hasNonce) yield* nonceOfAnother(forger);
}

function* otherDeclarations(forger: Forger, declaration: Declaration): Generator<Case> {
  const { hash, timestamp, algorithm } = declaration;
  const resign = (changes: Partial<Declaration>) => forger.resignRequest({ declaration: changes });
  const others = algorithm === 'ed25519' ? [] : (['sha1', 'sha512'] as const).filter((each) => each !== hash);
  const hashes = others.map((other): Row => [`the hash function is ${other}`, resign({ hash: other })]);
  const weak = 'The scheme has one hash function.';
  yield* group({ id: 'other-algorithm', why: weak, expected: malformed }, hashes);
  const units = timestampUnits.flatMap((unit): Row[] => {
    // A whole number of seconds is a number of seconds with an optional fraction.
    const isSame = unit === timestamp?.unit || (unit === 's' && timestamp?.unit === 'fractional-s');
    if (timestamp === undefined || isSame) return [];
    return [[`the timestamp is in the unit ${unit}`, resign({ timestamp: { ...timestamp, unit } })]];
  });
  const why = 'The timestamp has one unit. Implementations could interpret others differently.';
  yield* group({ id: 'date-form', why, expected: malformed }, units);
  const rules = 'A signature of another version of the scheme is not verified by its rules.';
  yield* group({ id: 'other-algorithm', why: rules, expected: malformed }, [
    ['the signature is of another version', renameVersion(forger, declaration)],
  ]);
}

/** Returns the good request with another name before the signature; undefined if there is none. */
function renameVersion(forger: Forger, { format, place }: Declaration): AttackRequest | undefined {
  const good = forger.signGood();
  const prefix = forger.split(good)?.before ?? '';
  const version = /(?<![a-z])[a-z]+\d*([=,])$/i.exec(prefix);
  if (version === null || !format.text.includes('{signature}') || !('field' in place)) return undefined;
  const renamed = `${prefix.slice(0, version.index)}x0${version[1]}`;
  return changeLine(good, place.field, (value) => renamed + value.slice(prefix.length));
}

/** Nonces and ids that contain the text beside them in the message, so that it can be split in two ways. */
function* separators({ nonce, resignRequest }: Forger, declaration: Declaration): Generator<Case> {
  const why =
    'The text separates the parts of the message, so that a part which contains it makes two messages the same.';
  for (const role of ['nonce', 'id'] as const) {
    const value = nonce();
    const split = [...new Set(listGuards(declaration, role))].map((guard): Row => {
      const request = resignRequest({ [role]: `${value}${guard}1` });
      return [`the ${role} contains ${JSON.stringify(guard)}`, request];
    });
    yield* group({ id: 'nonce-form', why, expected: malformed }, split);
    if (declaration[role] === undefined) continue;
    const long = resignRequest({ [role]: value.padEnd(1025, 'x') });
    const stored = `The server stores the ${role}.`;
    yield* group({ id: 'nonce-form', why: stored, expected: malformed }, [
      [`the ${role} has 1,025 characters`, long],
    ]);
  }
}

function* repeatFields({ signGood }: Forger, { user, nonce, id }: Declaration): Generator<Case> {
  const twice = 'It is ambiguous which of two lines counts (RFC 9110 §5.3).';
  for (const [role, place] of Object.entries({ user, nonce, id })) {
    const field = fieldIn(place);
    if (field === undefined) continue;
    const differs = `The ${role} is another one than was signed.`;
    yield* group({ id: 'repeated-field', why: twice, expected: malformed }, [
      [`there is a second ${role}`, appendLines(signGood(), [field, 'another'])],
      [
        `the ${role} was changed after signing`,
        changeLine(signGood(), field, (value) => `${value}x`),
        { id: 'changed-parameters', why: differs, expected: refused },
      ],
    ]);
  }
}

/** Content with the same meaning in other octets, and its digest in the query. */
function* otherContents(forger: Forger, { digestParameter }: Declaration): Generator<Case> {
  const { plain, sendAs, signGood, resignRequest } = forger;
  if (plain.body === undefined) return;
  const text = contentBytes(plain.body).toString('utf8');
  const json = reserialize(text);
  const serialized = json === undefined ? undefined : sendAs({ ...plain, body: json });
  const why =
    'The octets of the content are signed. A server that parses it first accepts other content too.';
  yield* group({ id: 'content-spelling', why, expected: malformed }, [
    ['the content is serialized again', serialized],
    ['a line break follows the content', sendAs({ ...plain, body: `${text}\n` })],
  ]);
  const digest = digestParameter && findQueryValues(signGood().url, digestParameter)[0];
  if (digest === undefined) return;
  const query = `${digestParameter}=${digest}&${digestParameter}=${'0'.repeat(64)}`;
  const twice = resignRequest({}, { ...plain, url: appendParameters(plain.url, query) });
  const ambiguous = 'It is ambiguous which digest counts.';
  yield* group({ id: 'repeated-field', why: ambiguous, expected: malformed }, [
    [`${digestParameter} occurs twice`, twice],
  ]);
}

/** Returns JSON with other white space. Undefined if the content is not JSON. */
function reserialize(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const compact = JSON.stringify(value);
    return compact === text ? JSON.stringify(value, undefined, 2) : compact;
  } catch {
    return undefined;
  }
}

/** The number of requests that are signed until a signature contains a certain character. */
const maxTries = 64;

function* changeQueries({ signGood }: Forger, { place, encoding }: Declaration): Generator<Row> {
  if (!('query' in place)) return;
  const { query: name } = place;
  const valueIn = (request: AttackRequest): string => findQueryValues(request.url, name)[0] ?? '';
  const append = ({ url, ...others }: AttackRequest, value: string) => {
    return { ...others, url: appendParameters(url, `${name}=${value}`) };
  };
  const replaced = ({ url, ...others }: AttackRequest, value: string) => {
    return { ...others, url: replaceParameter(url, name, value) };
  };
  const twice = signGood();
  yield [`${name} occurs twice`, append(twice, valueIn(twice))];
  yield [`a wrong ${name} follows`, append(signGood(), 'AAAA')];
  const nothing = 'Nothing is proved.';
  yield [`${name} is empty`, replaced(signGood(), ''), { id: 'no-credentials', why: nothing }];
  for (let tries = 0; encoding === 'base64' && tries < maxTries; tries += 1) {
    const good = signGood();
    const raw = valueIn(good).replaceAll('%2B', '+');
    if (raw === valueIn(good)) continue;
    const space = 'A plus sign in a query is a space, so that the signature has another value.';
    const differs = { id: 'encoded-proof', why: space } as const;
    yield [`a plus sign of ${name} is not encoded`, replaced(good, raw), differs];
    return;
  }
}

/** The nonce of an accepted request, in another spelling that a look-up may treat as new. */
function nonceOfAnother({ nonce: createNonce, now, plain, resignRequest }: Forger): Generator<Case> {
  const nonce = createNonce();
  const first = resignRequest({ nonce });
  const second = resignRequest({ nonce }, plain, { date: now - 1000 });
  const why = 'A nonce is valid once. Otherwise a client that can set the date can reuse it.';
  return group({ id: 'nonce-reuse', why, expected: refused }, [
    ['the nonce is sent again under an earlier date', first && second && [first, second]],
  ]);
}
