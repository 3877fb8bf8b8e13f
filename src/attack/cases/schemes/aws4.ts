import { findQueryValues } from '../../../http/form.ts';
import { decodeText } from '../../../http/syntax/percent.ts';
import { emptyHash } from '../../../schemes/aws4/canonical-request.ts';
import type { Aws4Options } from '../../../schemes/aws4/options.ts';
import type { Scope } from '../../../schemes/aws4/signing-key.ts';
import {
  appendLines,
  type Case,
  changeLine,
  findLine,
  group,
  type HeaderLine,
  malformed,
  type Row,
  refused,
  replaceLine,
} from '../../attempt.ts';
import type { Forger } from '../../forger.ts';
import { alterContent, appendParameters, replaceParameter } from '../../target.ts';

/** Signatures of AWS for other content, headers or scopes, and in two places. */
export function* aws4Cases(forger: Forger): Generator<Case> {
  const scheme = forger.signing?.scheme;
  if (scheme?.kind !== 'aws4') return;
  const { options } = scheme;
  yield* twoPlaces(forger);
  if (forger.signing?.choices.presign !== undefined) {
    yield* presignedCases(forger, options);
    return;
  }
  yield* changePayloads(forger, options);
  yield* addHeaders(forger, addedFields);
  yield* changeSignedHeaders(forger);
  yield* scopes(forger, options);
}

/** The lifetime of presigned URLs of a signer that signs header fields. */
const defaultExpires = 300;

function* twoPlaces({ plain, signing, resignRequest }: Forger): Generator<Case> {
  const presign = signing?.choices.presign ?? defaultExpires;
  const inner = resignRequest({ presign });
  if (inner === undefined) return;
  const inFields = { presign: undefined };
  const both = resignRequest(inFields);
  const covered = resignRequest(inFields, { ...plain, url: inner.url });
  const why = 'It is ambiguous which signature counts.';
  yield* group({ id: 'repeated-field', why, expected: malformed }, [
    ['there is a signature in Authorization and in the query', both && { ...both, url: inner.url }],
    ['the signature in Authorization covers one in the query', covered],
  ]);
}

/** What X-Amz-Content-Sha256 can contain in place of a digest of the whole content. */
const streaming = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';

function* changePayloads(forger: Forger, options: Aws4Options): Generator<Case> {
  const { plain, signGood, resignRequest } = forger;
  if (plain.body === undefined) return;
  const signDigest = (payloadHash: string) => resignRequest({ aws4: { payloadHash } });
  const substituted = replaceLine(signGood(), ['X-Amz-Content-Sha256', 'UNSIGNED-PAYLOAD']);
  const altered = { ...substituted, body: alterContent(plain.body) };
  const signed = 'The digest is signed, so that it cannot be replaced.';
  const digested = 'The digest must be that of the received content.';
  yield* group({ id: 'other-content', why: digested, expected: malformed }, [
    ['UNSIGNED-PAYLOAD replaces the digest of the content', altered, { why: signed, expected: refused }],
    [
      `the digest of the content is ${streaming}`,
      signDigest(streaming),
      { expected: [400, 401, 403, 411, 501] },
    ],
    ['the digest of the content is empty', signDigest('')],
    ['the digest of the content is that of no content', signDigest(emptyHash)],
  ]);
  if (!options.unsignedPayload) yield* omitDigest(forger);
}

/** Content that the signature does not cover, although the service requires it. */
function omitDigest({ resignRequest }: Forger): Generator<Case> {
  const why = 'Anyone on the path can change content that is not signed.';
  return group({ id: 'other-content', why, expected: refused }, [
    ['the content is not signed', resignRequest({ aws4: { unsignedPayload: true } })],
  ]);
}

const addedFields: readonly HeaderLine[] = [
  ['X-Amz-Acl', 'public-read'],
  ['X-Amz-Target', 'Admin.DeleteAll'],
];

function addHeaders({ signGood }: Forger, fields: readonly HeaderLine[]): Generator<Case> {
  const why = 'All X-Amz fields that are sent must be signed, because a service may act on them.';
  const rows = fields.map((line): Row => {
    return [`${line[0]} was added after signing`, appendLines(signGood(), line)];
  });
  return group({ id: 'uncovered-component', why, expected: refused }, rows);
}

function* changeSignedHeaders({ signGood, resignRequest }: Forger): Generator<Case> {
  const authorization = findLine(signGood().headers, 'Authorization')?.[1] ?? '';
  const names = /SignedHeaders=([^,]*)/.exec(authorization)?.[1]?.split(';') ?? [];
  const signHeaders = (signed: readonly string[]) => resignRequest({ aws4: { signedHeaders: signed } });
  const rows = names.flatMap((name): Row[] => {
    const others = names.filter((each) => each !== name);
    const changed = changeLine(signGood(), 'Authorization', (value) =>
      value.replace(/SignedHeaders=[^,]*/, `SignedHeaders=${others.join(';')}`),
    );
    // Content-Type need not be signed.
    const isRequired = name === 'host' || name.startsWith('x-amz-');
    return [
      [`the signature does not cover ${name}`, isRequired ? signHeaders(others) : undefined],
      [`${name} was removed from SignedHeaders after signing`, changed],
    ];
  });
  const why = 'Anyone can change a field that is not signed.';
  const ambiguous = 'Whether a field is absent or empty must not be ambiguous.';
  yield* group({ id: 'uncovered-component', why, expected: refused }, [
    ...rows,
    [
      'the signature covers a field that is absent',
      signHeaders([...names, 'x-zzz']),
      { id: 'invalid-component', why: ambiguous },
    ],
  ]);
}

const dayBefore = 86_400_000;

const ofOneScope =
  'A signing key is valid for one day, region and service, so that a stolen one is worth little.';

function* scopes({ now, resignRequest }: Forger, options: Aws4Options): Generator<Case> {
  const rows = otherScopes(now, options).flatMap(([name, scope]): Row[] => [
    [`the scope is that of ${name}`, resignRequest({ aws4: { scope } })],
    [`the signing key is that of ${name}`, resignRequest({ aws4: { keyScope: scope } })],
    [
      `the scope is that of ${name}, but the signing key is not`,
      resignRequest({ aws4: { scope, keyScope: {} } }),
    ],
  ]);
  const why = 'The scope ends with aws4_request.';
  const end = resignRequest({ aws4: { scope: { end: 'aws5_request' } } });
  yield* group({ id: 'other-scope', why: ofOneScope, expected: refused }, [
    ...rows,
    ['the scope ends differently', end, { why, expected: malformed }],
  ]);
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
function* presignedCases(forger: Forger, options: Aws4Options): Generator<Case> {
  yield* lifetimes(forger);
  yield* otherParameters(forger, options);
  yield* repeatParameters(forger);
  yield* addHeaders(forger, addedFields.slice(0, 1));
}

function* lifetimes({ now, lifetime, signRequest, resignRequest }: Forger): Generator<Case> {
  const expired = signRequest({ date: now - lifetime - 60_000 });
  const longer = expired && { ...expired, url: replaceParameter(expired.url, 'X-Amz-Expires', '604800') };
  const signed = { id: 'changed-parameters', why: 'The lifetime is signed.', expected: refused } as const;
  const why = 'A lifetime is a number of seconds from 1 to 604,800, a week.';
  yield* group({ id: 'stale-date', why, expected: malformed }, [
    ['the lifetime of an expired URL was stretched', longer, signed],
    ['the lifetime is 0', resignRequest({ aws4: { expires: '0' } })],
    ['the lifetime is 604801', resignRequest({ aws4: { expires: '604801' } })],
  ]);
}

function* otherParameters(forger: Forger, options: Aws4Options): Generator<Case> {
  const { now, plain, signGood, resignRequest } = forger;
  const rows = otherScopes(now, options).map(([name, scope]): Row => {
    return [`the scope is that of ${name}`, resignRequest({ aws4: { scope } })];
  });
  const weak = resignRequest({ aws4: { algorithm: 'AWS4-HMAC-SHA1' } });
  const strong = 'The algorithm is AWS4-HMAC-SHA256.';
  const signed = decodeText(findQueryValues(signGood().url, 'X-Amz-SignedHeaders')[0] ?? '') ?? '';
  const others = signed.split(';').filter((name) => name !== 'host');
  const hostless = others.length === 0 ? undefined : resignRequest({ aws4: { signedHeaders: others } });
  const host = 'The operator of another server could send its requests here.';
  yield* group({ id: 'other-scope', why: ofOneScope, expected: refused }, [
    ...rows,
    ['the algorithm is AWS4-HMAC-SHA1', weak, { id: 'other-algorithm', why: strong, expected: malformed }],
    ['the signature does not cover host', hostless, { id: 'other-host', why: host }],
  ]);
  if (plain.body === undefined || options.service === 's3' || options.unsignedPayload) return;
  yield* omitDigest(forger);
}

const repeatedParameters: readonly HeaderLine[] = [
  ['X-Amz-Expires', '604800'],
  ['X-Amz-Signature', '0'.repeat(64)],
  ['X-Amz-Date', '20150830T123600Z'],
];

function repeatParameters({ signGood }: Forger): Generator<Case> {
  const why = 'It is ambiguous which of two parameters counts.';
  const rows = repeatedParameters.map(([name, value]): Row => {
    const { url, ...good } = signGood();
    return [`${name} occurs twice in the query`, { ...good, url: appendParameters(url, `${name}=${value}`) }];
  });
  return group({ id: 'repeated-field', why, expected: malformed }, rows);
}
