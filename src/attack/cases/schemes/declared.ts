import { listGuards } from '../../../auth/declared/message.ts';
import { findQueryValues } from '../../../http/form.ts';
import type { Declaration } from '../../../signature/declared/declaration.ts';
import { fieldIn } from '../../../signature/declared/places.ts';
import { timestampUnits } from '../../../signature/declared/timestamp.ts';
import { type Attempt, appendLines, attempt, malformed, refused } from '../../attempt.ts';
import { type Forger, type Forgery, toAttempts } from '../../forger.ts';
import { appendParameters, contentBytes, replaceParameter } from '../../target.ts';
import { signatureListAttempts } from './signature-lists.ts';

/** Signatures of a declared scheme with other parts than declared. */
export function* listDeclaredAttempts(forger: Forger, declaration: Declaration): Generator<Attempt> {
  yield* toAttempts(forger, 'other-algorithm', otherDeclarations(forger, declaration));
  yield* toAttempts(forger, 'nonce-form', separators(forger, declaration));
  yield* toAttempts(forger, 'repeated-field', repeatFields(forger, declaration));
  yield* toAttempts(forger, 'content-spelling', otherContents(forger, declaration));
  yield* toAttempts(forger, 'repeated-field', changeQueries(forger, declaration));
  yield* signatureListAttempts(forger, declaration);
  yield* nonceOfAnother(forger, declaration);
}

function* otherDeclarations(forger: Forger, declaration: Declaration): Generator<Forgery> {
  const { hash, timestamp, format } = declaration;
  const weak = 'The scheme has one hash function.';
  for (const other of ['sha1', 'sha512'] as const) {
    if (declaration.algorithm === 'ed25519') continue;
    const request = forger.resignRequest({ declaration: { hash: other } });
    if (other !== hash) yield [`the hash function is ${other}`, weak, malformed, request];
  }
  for (const unit of timestampUnits) {
    // A whole number of seconds is a number of seconds with an optional fraction.
    const isSame = unit === timestamp?.unit || (unit === 's' && timestamp?.unit === 'fractional-s');
    if (timestamp === undefined || isSame) continue;
    const request = forger.resignRequest({ declaration: { timestamp: { ...timestamp, unit } } });
    const why = 'The timestamp has one unit. Implementations could interpret others differently.';
    yield [`the timestamp is in the unit ${unit}`, why, malformed, request, 'date-form'];
  }
  const good = forger.signGood();
  const prefix = forger.split(good)?.before ?? '';
  const version = /(?<![a-z])[a-z]+\d*([=,])$/i.exec(prefix);
  if (version === null || !format.text.includes('{signature}') || !('field' in declaration.place)) return;
  const { field } = declaration.place;
  const renamed = good.headers.map(([each, value]) =>
    each === field
      ? ([each, `${prefix.slice(0, version.index)}x0${version[1]}${value.slice(prefix.length)}`] as const)
      : ([each, value] as const),
  );
  const why = 'A signature of another version of the scheme is not verified by its rules.';
  yield ['the signature is of another version', why, malformed, { ...good, headers: renamed }];
}

/** Nonces and ids that contain the text beside them in the message, so that it can be split in two ways. */
function* separators(forger: Forger, declaration: Declaration): Generator<Forgery> {
  const why =
    'The text separates the parts of the message, so that a part which contains it makes two messages the same.';
  for (const role of ['nonce', 'id'] as const) {
    const value = forger.nonce();
    for (const guard of new Set(listGuards(declaration, role))) {
      const request = forger.resignRequest({ [role]: `${value}${guard}1` });
      yield [`the ${role} contains ${JSON.stringify(guard)}`, why, malformed, request];
    }
    if (declaration[role] === undefined) continue;
    const long = forger.resignRequest({ [role]: value.padEnd(1025, 'x') });
    yield [
      `the ${role} has 1,025 characters`,
      `The server stores the ${role}.`,
      malformed,
      long,
      'nonce-form',
    ];
  }
}

function* repeatFields(forger: Forger, declaration: Declaration): Generator<Forgery> {
  const { user, nonce, id } = declaration;
  const roles = { user, nonce, id };
  const why = 'It is ambiguous which of two lines counts (RFC 9110 §5.3).';
  for (const [role, place] of Object.entries(roles)) {
    const field = fieldIn(place);
    if (field === undefined) continue;
    const added = appendLines(forger.signGood(), [field, 'another']);
    yield [`there is a second ${role}`, why, malformed, added];
    const changed = forger
      .signGood()
      .headers.map(([name, value]) =>
        name === field ? ([name, `${value}x`] as const) : ([name, value] as const),
      );
    const differs = `The ${role} is another one than was signed.`;
    yield [
      `the ${role} was changed after signing`,
      differs,
      refused,
      { ...forger.signGood(), headers: changed },
      'changed-parameters',
    ];
  }
}

/** Content with the same meaning in other octets, and its digest in the query. */
function* otherContents(forger: Forger, declaration: Declaration): Generator<Forgery> {
  const { plain } = forger;
  const { digestParameter } = declaration;
  if (plain.body === undefined) return;
  const why =
    'The octets of the content are signed. A server that parses it first accepts other content too.';
  const text = contentBytes(plain.body).toString('utf8');
  const serialized = reserialize(text);
  const changed = serialized === undefined ? undefined : forger.sendAs({ ...plain, body: serialized });
  yield ['the content is serialized again', why, malformed, changed];
  const followed = forger.sendAs({ ...plain, body: `${text}\n` });
  yield ['a line break follows the content', why, malformed, followed];
  if (digestParameter === undefined) return;
  const own = forger.signGood();
  const digest = findQueryValues(own.url, digestParameter)[0];
  if (digest === undefined) return;
  const query = `${digestParameter}=${digest}&${digestParameter}=${'0'.repeat(64)}`;
  const twice = forger.resignRequest({}, { ...plain, url: appendParameters(plain.url, query) });
  yield [
    `${digestParameter} occurs twice`,
    'It is ambiguous which digest counts.',
    malformed,
    twice,
    'repeated-field',
  ];
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

function* changeQueries(forger: Forger, declaration: Declaration): Generator<Forgery> {
  const { place, encoding } = declaration;
  if (!('query' in place)) return;
  const { query: name } = place;
  const twice = { ...forger.signGood() };
  const value = findQueryValues(twice.url, name)[0] ?? '';
  const why = 'It is ambiguous which of two signatures counts.';
  yield [`${name} occurs twice`, why, malformed, { ...twice, url: `${twice.url}&${name}=${value}` }];
  const wrong = { ...forger.signGood() };
  yield [`a wrong ${name} follows`, why, malformed, { ...wrong, url: `${wrong.url}&${name}=AAAA` }];
  const empty = forger.signGood();
  yield [
    `${name} is empty`,
    'Nothing is proved.',
    malformed,
    { ...empty, url: replaceParameter(empty.url, name, '') },
    'no-credentials',
  ];
  if (encoding !== 'base64') return;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const good = forger.signGood();
    const encoded = findQueryValues(good.url, name)[0] ?? '';
    const raw = encoded.replaceAll('%2B', '+');
    if (raw === encoded) continue;
    const space = 'A plus sign in a query is a space, so that the signature has another value.';
    const url = replaceParameter(good.url, name, raw);
    yield [`a plus sign of ${name} is not encoded`, space, malformed, { ...good, url }, 'encoded-proof'];
    return;
  }
}

/** The nonce of an accepted request, in another spelling that a look-up may treat as new. */
function* nonceOfAnother(forger: Forger, declaration: Declaration): Generator<Attempt> {
  const { nonce: place } = declaration;
  if (place === undefined || !forger.hasNonce) return;
  const nonce = forger.nonce();
  const [first, second] = [
    forger.resignRequest({ nonce }),
    forger.resignRequest({ nonce }, forger.plain, { date: forger.now - 1000 }),
  ];
  if (first === undefined || second === undefined) return;
  yield attempt({
    id: 'nonce-reuse',
    name: 'the nonce is sent again under an earlier date',
    why: 'A nonce is valid once. Otherwise a client that can set the date can reuse it.',
    expected: refused,
    needs: forger.needs,
    requests: [first, second],
  });
}
