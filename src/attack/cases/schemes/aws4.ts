import type { Aws4Options } from '../../../auth/aws4/options.ts';
import { findQueryValues } from '../../../http/form.ts';
import { emptyHash } from '../../../signature/aws4/canonical-request.ts';
import type { Scope } from '../../../signature/aws4/signing-key.ts';
import {
  type AttackRequest,
  type Attempt,
  appendLines,
  findLine,
  malformed,
  refused,
  replaceLine,
} from '../../attempt.ts';
import { type Forger, type Forgery, toAttempts } from '../../forger.ts';
import { alterContent, appendParameters, replaceParameter } from '../../target.ts';

/** Signatures of AWS for other content, headers or scopes, and in two places. */
export function* aws4Attempts(forger: Forger, options: Aws4Options): Generator<Attempt> {
  yield* toAttempts(forger, 'repeated-field', twoPlaces(forger));
  if (forger.signing?.choices.presign !== undefined) {
    yield* listPresignedAttempts(forger, options);
    return;
  }
  yield* toAttempts(forger, 'other-content', changePayloads(forger, options));
  yield* toAttempts(forger, 'uncovered-component', addHeaders(forger));
  yield* toAttempts(forger, 'uncovered-component', changeSignedHeaders(forger));
  yield* toAttempts(forger, 'other-scope', scopes(forger, options));
}

/** The lifetime of presigned URLs of a signer that signs header fields. */
const defaultExpires = 300;

function* twoPlaces({ plain, signing, resignRequest }: Forger): Generator<Forgery> {
  const presign = signing?.choices.presign ?? defaultExpires;
  const inner = resignRequest({ presign });
  if (inner === undefined) return;
  const why = 'It is ambiguous which signature counts.';
  const inFields = { presign: undefined };
  const both = resignRequest(inFields);
  yield [
    'there is a signature in Authorization and in the query',
    why,
    malformed,
    both && { ...both, url: inner.url },
  ];
  const covered = resignRequest(inFields, { ...plain, url: inner.url });
  yield ['the signature in Authorization covers one in the query', why, malformed, covered];
}

/** What X-Amz-Content-Sha256 can contain in place of a digest of the whole content. */
const streaming = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';

function* changePayloads(
  { plain, signGood, resignRequest }: Forger,
  options: Aws4Options,
): Generator<Forgery> {
  if (plain.body === undefined) return;
  const substituted = replaceLine(signGood(), ['X-Amz-Content-Sha256', 'UNSIGNED-PAYLOAD']);
  const altered = { ...substituted, body: alterContent(plain.body) };
  const why = 'The digest is signed, so that it cannot be replaced.';
  yield ['UNSIGNED-PAYLOAD replaces the digest of the content', why, refused, altered];
  const digested = 'The digest must be that of the received content.';
  const signDigest = (payloadHash: string) => resignRequest({ aws4: { payloadHash } });
  const streamed = signDigest(streaming);
  yield [`the digest of the content is ${streaming}`, digested, [400, 401, 403, 411, 501], streamed];
  yield ['the digest of the content is empty', digested, malformed, signDigest('')];
  yield ['the digest of the content is that of no content', digested, malformed, signDigest(emptyHash)];
  if (options.unsignedPayload) return;
  const policy = 'Anyone on the path can change content that is not signed.';
  yield ['the content is not signed', policy, refused, resignRequest({ aws4: { unsignedPayload: true } })];
}

function* addHeaders(forger: Forger): Generator<Forgery> {
  const why = 'All X-Amz fields that are sent must be signed, because a service may act on them.';
  for (const [name, value] of [
    ['X-Amz-Acl', 'public-read'],
    ['X-Amz-Target', 'Admin.DeleteAll'],
  ] as const)
    yield [`${name} was added after signing`, why, refused, appendLines(forger.signGood(), [name, value])];
}

function* changeSignedHeaders({ signGood, resignRequest }: Forger): Generator<Forgery> {
  const authorization = findLine(signGood().headers, 'Authorization')?.[1] ?? '';
  const names = /SignedHeaders=([^,]*)/.exec(authorization)?.[1]?.split(';') ?? [];
  const signHeaders = (signed: readonly string[]) => resignRequest({ aws4: { signedHeaders: signed } });
  const why = 'Anyone can change a field that is not signed.';
  for (const name of names) {
    const others = names.filter((each) => each !== name);
    // Content-Type need not be signed.
    if (name === 'host' || name.startsWith('x-amz-'))
      yield [`the signature does not cover ${name}`, why, refused, signHeaders(others)];
    const changed = rewriteAuthorization(signGood(), (value) =>
      value.replace(/SignedHeaders=[^,]*/, `SignedHeaders=${others.join(';')}`),
    );
    yield [`${name} was removed from SignedHeaders after signing`, why, refused, changed];
  }
  const ambiguous = 'Whether a field is absent or empty must not be ambiguous.';
  const absent = signHeaders([...names, 'x-zzz']);
  yield ['the signature covers a field that is absent', ambiguous, refused, absent, 'invalid-component'];
}

function rewriteAuthorization(request: AttackRequest, change: (value: string) => string): AttackRequest {
  const headers = request.headers.map(([name, value]) =>
    name === 'Authorization' ? ([name, change(value)] as const) : ([name, value] as const),
  );
  return { ...request, headers };
}

const dayBefore = 86_400_000;

function* scopes({ now, resignRequest }: Forger, options: Aws4Options): Generator<Forgery> {
  const why = 'A signing key is valid for one day, region and service, so that a stolen one is worth little.';
  for (const [name, scope] of otherScopes(now, options)) {
    yield [`the scope is that of ${name}`, why, refused, resignRequest({ aws4: { scope } })];
    yield [`the signing key is that of ${name}`, why, refused, resignRequest({ aws4: { keyScope: scope } })];
    const hidden = resignRequest({ aws4: { scope, keyScope: {} } });
    yield [`the scope is that of ${name}, but the signing key is not`, why, refused, hidden];
  }
  const end = resignRequest({ aws4: { scope: { end: 'aws5_request' } } });
  yield ['the scope ends differently', 'The scope ends with aws4_request.', malformed, end];
}

/** Returns the scopes of another day, region and service. */
function otherScopes(
  now: number,
  { region, service }: Aws4Options,
): readonly (readonly [name: string, scope: Partial<Scope>])[] {
  return [
    ['the day before', { date: new Date(now - dayBefore).toISOString().slice(0, 10).replaceAll('-', '') }],
    ['another region', { region: `not-${region}` }],
    ['another service', { service: `not-${service}` }],
  ];
}

/** Presigned URLs of AWS with another lifetime, scope, date or signature than permitted. */
function* listPresignedAttempts(forger: Forger, options: Aws4Options): Generator<Attempt> {
  yield* toAttempts(forger, 'stale-date', lifetimes(forger));
  yield* toAttempts(forger, 'other-scope', otherParameters(forger, options));
  yield* toAttempts(forger, 'repeated-field', repeatParameters(forger));
  const why = 'All X-Amz fields that are sent must be signed, because a service may act on them.';
  const added = appendLines(forger.signGood(), ['X-Amz-Acl', 'public-read']);
  yield* toAttempts(forger, 'uncovered-component', [
    ['X-Amz-Acl was added after signing', why, refused, added],
  ]);
}

function* lifetimes(forger: Forger): Generator<Forgery> {
  const expires = 'X-Amz-Expires';
  const stretched = 'The lifetime is signed.';
  const expired = forger.signRequest({ date: forger.now - forger.lifetime - 60_000 });
  const longer = expired && { ...expired, url: replaceParameter(expired.url, expires, '604800') };
  yield ['the lifetime of an expired URL was stretched', stretched, refused, longer, 'changed-parameters'];
  const limited = 'A lifetime is a number of seconds from 1 to 604,800, a week.';
  for (const value of ['0', '604801']) {
    const changed = forger.resignRequest({ aws4: { expires: value } });
    yield [`the lifetime is ${value}`, limited, malformed, changed];
  }
}

function* otherParameters(
  { now, plain, signGood, resignRequest }: Forger,
  options: Aws4Options,
): Generator<Forgery> {
  const why = 'A signing key is valid for one day, region and service, so that a stolen one is worth little.';
  for (const [name, scope] of otherScopes(now, options))
    yield [`the scope is that of ${name}`, why, refused, resignRequest({ aws4: { scope } })];
  const strong = 'The algorithm is AWS4-HMAC-SHA256.';
  const weak = resignRequest({ aws4: { algorithm: 'AWS4-HMAC-SHA1' } });
  yield ['the algorithm is AWS4-HMAC-SHA1', strong, malformed, weak, 'other-algorithm'];
  const names = decodeURIComponent(findQueryValues(signGood().url, 'X-Amz-SignedHeaders')[0] ?? '').split(
    ';',
  );
  const others = names.filter((name) => name !== 'host');
  const host = 'The operator of another server could send its requests here.';
  const hostless = resignRequest({ aws4: { signedHeaders: others } });
  if (others.length > 0) yield ['the signature does not cover host', host, refused, hostless, 'other-host'];
  if (plain.body === undefined || options.service === 's3' || options.unsignedPayload) return;
  const policy = 'Anyone on the path can change content that is not signed.';
  const unsigned = resignRequest({ aws4: { unsignedPayload: true } });
  yield ['the content is not signed', policy, refused, unsigned, 'other-content'];
}

function* repeatParameters(forger: Forger): Generator<Forgery> {
  const why = 'It is ambiguous which of two parameters counts.';
  const parameters: readonly (readonly [name: string, value: string])[] = [
    ['X-Amz-Expires', '604800'],
    ['X-Amz-Signature', '0'.repeat(64)],
    ['X-Amz-Date', '20150830T123600Z'],
  ];
  for (const [name, value] of parameters) {
    const { url, ...good } = forger.signGood();
    const twice = { ...good, url: appendParameters(url, `${name}=${value}`) };
    yield [`${name} occurs twice in the query`, why, malformed, twice];
  }
}
