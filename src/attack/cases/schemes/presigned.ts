import { type Attempt, adding, malformed, type OutgoingRequest, refused } from '../../attempt.ts';
import { attemptsOf, type Forger, type Forgery } from '../../forger.ts';

import { resignQuery } from '../../signers/aws4-resign.ts';
import type { Aws4Signing } from '../../signers/schemes.ts';
import { parameterOf, withParameter, withParameters } from '../../signers/target.ts';

/** Presigned URLs of AWS with another lifetime, scope, date or signature than permitted. */
export function* presignedAttempts(forger: Forger, scheme: Aws4Signing): Generator<Attempt> {
  yield* attemptsOf(forger, lifetimes(forger, scheme));
  yield* attemptsOf(forger, otherParameters(forger, scheme));
  yield* attemptsOf(forger, repeatedParameters(forger));
  const why = 'All X-Amz fields that are sent must be signed, because a service may act on them.';
  const added = adding(forger.good(), ['X-Amz-Acl', 'public-read']);
  yield* attemptsOf(forger, [['X-Amz-Acl was added after signing', why, refused, added]]);
}

function* lifetimes(forger: Forger, { options }: Aws4Signing): Generator<Forgery> {
  const expires = 'X-Amz-Expires';
  const stretched = 'The lifetime is signed.';
  const expired = forger.signed({ date: forger.now - forger.lifetime - 60_000 });
  const longer = expired && { ...expired, url: withParameter(expired.url, expires, '604800') };
  yield ['the lifetime of an expired URL was stretched', stretched, refused, longer];
  const limited = 'A lifetime is a number of seconds from 1 to 604,800, a week.';
  for (const value of ['0', '-1', '604801', '1e9', '', '99999999999999999999']) {
    const { url, ...good } = forger.good();
    const changed = resignQuery({ ...good, url: withParameter(url, expires, value) }, options);
    yield [`the lifetime is ${value === '' ? 'empty' : value}`, limited, malformed, changed];
  }
}

const dayBefore = 86_400_000;

function* otherParameters(forger: Forger, { options }: Aws4Signing): Generator<Forgery> {
  const yesterday = new Date(forger.now - dayBefore).toISOString().slice(0, 10).replaceAll('-', '');
  const why = 'A signing key is valid for one day, region and service, so that a stolen one is worth little.';
  const { region, service } = options;
  const scopes: readonly (readonly [name: string, change: (credential: string) => string])[] = [
    ['the day before', (credential) => credential.replace(/%2F\d{8}%2F/, `%2F${yesterday}%2F`)],
    ['another region', (credential) => credential.replace(`%2F${region}%2F`, `%2Fnot-${region}%2F`)],
    ['another service', (credential) => credential.replace(`%2F${service}%2F`, `%2Fnot-${service}%2F`)],
  ];
  for (const [name, change] of scopes) {
    const request = changed(forger.good(), 'X-Amz-Credential', change);
    yield [`the scope is that of ${name}`, why, refused, resignQuery(request, options)];
  }
  const algorithm = changed(forger.good(), 'X-Amz-Algorithm', () => 'AWS4-HMAC-SHA1');
  const strong = 'The algorithm is AWS4-HMAC-SHA256.';
  yield ['the algorithm is AWS4-HMAC-SHA1', strong, malformed, resignQuery(algorithm, options)];
  const hostless = changed(forger.good(), 'X-Amz-SignedHeaders', (names) =>
    names.replace(/(?:%3B)?host/, ''),
  );
  const host = 'The operator of another server could send its requests here.';
  if ((parameterOf(hostless.url, 'X-Amz-SignedHeaders') ?? '') !== '')
    yield ['the signature does not cover host', host, refused, resignQuery(hostless, options)];
  if (forger.plain.body === undefined || options.service === 's3' || options.unsignedPayload === true) return;
  const { url, ...good } = forger.good();
  const unsigned = { ...good, url: withParameters(url, 'X-Amz-Content-Sha256=UNSIGNED-PAYLOAD') };
  const policy = 'Anyone on the path can change content that is not signed.';
  yield ['the content is not signed', policy, refused, resignQuery(unsigned, options)];
}

function changed(request: OutgoingRequest, name: string, change: (value: string) => string): OutgoingRequest {
  const value = change(parameterOf(request.url, name) ?? '');
  return { ...request, url: withParameter(request.url, name, value) };
}

function* repeatedParameters(forger: Forger): Generator<Forgery> {
  const why = 'It is ambiguous which of two parameters counts.';
  const parameters: readonly (readonly [name: string, value: string])[] = [
    ['X-Amz-Expires', '604800'],
    ['X-Amz-Signature', '0'.repeat(64)],
    ['X-Amz-Date', '20150830T123600Z'],
  ];
  for (const [name, value] of parameters) {
    const { url, ...good } = forger.good();
    const twice = { ...good, url: withParameters(url, `${name}=${value}`) };
    yield [`${name} occurs twice in the query`, why, malformed, twice];
  }
}
