import { type Attempt, adding, malformed, type OutgoingRequest, refused, replacing } from '../../attempt.ts';
import { attemptsOf, type Forger, type Forgery, withParts } from '../../forger.ts';

import { type Aws4Parts, resignFields } from '../../signers/aws4-resign.ts';
import type { Aws4Signing } from '../../signers/schemes.ts';
import { withParameters } from '../../signers/target.ts';
import { alteredContent } from '../content.ts';
import { presignedAttempts } from './presigned.ts';

/** Signatures of AWS for other content, headers or scopes, and in two places. */
export function* aws4Attempts(forger: Forger, scheme: Aws4Signing): Generator<Attempt> {
  yield* attemptsOf(forger, twoPlaces(forger, scheme));
  if (scheme.options.presigned !== undefined) {
    yield* presignedAttempts(forger, scheme);
    return;
  }
  yield* attemptsOf(forger, payloads(forger, scheme));
  yield* attemptsOf(forger, addedHeaders(forger));
  yield* attemptsOf(forger, signedHeaders(forger, scheme));
  yield* attemptsOf(forger, scopes(forger, scheme));
}

function* twoPlaces(forger: Forger, { inFields, inQuery }: Aws4Signing): Generator<Forgery> {
  const { plain } = forger;
  const [fields, query] = [inFields(plain, forger.fresh()), inQuery(plain, forger.fresh())];
  if (fields === undefined || query === undefined) return;
  const why = 'It is ambiguous which signature counts.';
  const both = withParts(plain, { fields: fields.fields, query: query.query });
  yield ['there is a signature in Authorization and in the query', why, malformed, both];
  const inner = { ...plain, url: withParameters(plain.url, query.query) };
  const outer = inFields(inner, forger.fresh());
  const covered = outer && withParts(inner, outer);
  yield ['the signature in Authorization covers one in the query', why, malformed, covered];
}

/** What X-Amz-Content-Sha256 can contain in place of a digest of the whole content. */
const streaming = [
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD',
];

function* payloads(forger: Forger, scheme: Aws4Signing): Generator<Forgery> {
  const { plain } = forger;
  const { options } = scheme;
  if (plain.body === undefined) return;
  const good = forger.good();
  const substituted = replacing(good, ['X-Amz-Content-Sha256', 'UNSIGNED-PAYLOAD']);
  const altered = { ...substituted, body: alteredContent(plain.body) };
  const why = 'The digest is signed, so that it cannot be replaced.';
  yield ['UNSIGNED-PAYLOAD replaces the digest of the content', why, refused, altered];
  const digested = 'The digest must be that of the received content.';
  for (const value of streaming) {
    const request = withDigest(forger, scheme, value);
    yield [`the digest of the content is ${value}`, digested, [400, 401, 403, 411, 501], request];
  }
  const empty = withDigest(forger, scheme, '');
  yield ['the digest of the content is empty', digested, malformed, empty];
  const none = withDigest(forger, scheme, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  yield ['the digest of the content is that of no content', digested, malformed, none];
  if (options.unsignedPayload ?? options.service === 's3') return;
  const unsigned = scheme.inFields(plain, forger.fresh(), { unsignedPayload: true });
  const policy = 'Anyone on the path can change content that is not signed.';
  yield ['the content is not signed', policy, refused, unsigned && withParts(plain, unsigned)];
}

/** Signs the request with another value of X-Amz-Content-Sha256. */
function withDigest(forger: Forger, { options }: Aws4Signing, value: string): OutgoingRequest | undefined {
  const changed = replacing(forger.good(), ['X-Amz-Content-Sha256', value]);
  return resignFields(changed, options, (parts) => parts);
}

function* addedHeaders(forger: Forger): Generator<Forgery> {
  const why = 'All X-Amz fields that are sent must be signed, because a service may act on them.';
  for (const [name, value] of [
    ['X-Amz-Acl', 'public-read'],
    ['X-Amz-Target', 'Admin.DeleteAll'],
  ] as const)
    yield [`${name} was added after signing`, why, refused, adding(forger.good(), [name, value])];
}

function* signedHeaders(forger: Forger, { options }: Aws4Signing): Generator<Forgery> {
  const good = forger.good();
  const names: string[] = [];
  resignFields(good, options, (parts) => {
    names.push(...parts.signedHeaders);
    return parts;
  });
  const why = 'Anyone can change a field that is not signed.';
  for (const name of names) {
    const others = (parts: Aws4Parts): Aws4Parts => ({
      ...parts,
      signedHeaders: parts.signedHeaders.filter((each) => each !== name),
    });
    // Content-Type need not be signed.
    if (name === 'host' || name.startsWith('x-amz-'))
      yield [
        `the signature does not cover ${name}`,
        why,
        refused,
        resignFields(forger.good(), options, others),
      ];
    const changed = rewritten(forger.good(), (value) =>
      value.replace(/SignedHeaders=([^,]*)/, (_, list: string) => {
        const left = list.split(';').filter((each) => each !== name);
        return `SignedHeaders=${left.join(';')}`;
      }),
    );
    yield [`${name} was removed from SignedHeaders after signing`, why, refused, changed];
  }
  const absent = resignFields(forger.good(), options, (parts) => ({
    ...parts,
    signedHeaders: [...parts.signedHeaders, 'x-zzz'],
  }));
  const ambiguous = 'Whether a field is absent or empty must not be ambiguous.';
  yield ['the signature covers a field that is absent', ambiguous, refused, absent];
}

function rewritten(request: OutgoingRequest, change: (value: string) => string): OutgoingRequest {
  const headers = request.headers.map(([name, value]) =>
    name === 'Authorization' ? ([name, change(value)] as const) : ([name, value] as const),
  );
  return { ...request, headers };
}

const dayBefore = 86_400_000;

function* scopes(forger: Forger, scheme: Aws4Signing): Generator<Forgery> {
  const { options } = scheme;
  const why = 'A signing key is valid for one day, region and service, so that a stolen one is worth little.';
  const yesterday = new Date(forger.now - dayBefore).toISOString().slice(0, 10).replaceAll('-', '');
  const changes: readonly (readonly [name: string, change: (parts: string[]) => string[]])[] = [
    ['the day before', ([, ...rest]) => [yesterday, ...rest]],
    ['another region', ([date = '', , ...rest]) => [date, `not-${options.region}`, ...rest]],
    [
      'another service',
      ([date = '', region = '', , end = '']) => [date, region, `not-${options.service}`, end],
    ],
  ];
  for (const [name, change] of changes) {
    const otherOf = (scope: string): string => change(scope.split('/')).join('/');
    const named = resignFields(forger.good(), options, (parts) => ({
      ...parts,
      scope: otherOf(parts.scope),
    }));
    yield [`the scope is that of ${name}`, why, refused, named];
    const keyed = resignFields(forger.good(), options, (parts) => ({
      ...parts,
      keyScope: otherOf(parts.scope),
    }));
    yield [`the signing key is that of ${name}`, why, refused, keyed];
    const hidden = resignFields(forger.good(), options, (parts) => ({
      ...parts,
      ...{ scope: otherOf(parts.scope), keyScope: parts.scope },
    }));
    yield [`the scope is that of ${name}, but the signing key is not`, why, refused, hidden];
  }
  const end = resignFields(forger.good(), options, (parts) => ({
    ...parts,
    scope: parts.scope.replace('aws4_request', 'aws5_request'),
  }));
  yield ['the scope ends differently', 'The scope ends with aws4_request.', malformed, end];
}
