import type { Problem } from '../../http/problem.ts';
import { maxNonceLength } from '../../schemes/message.ts';
import { missingParameters, oauth1Error, rejectedParameters } from './error.ts';
import type { OAuth1Parameters } from './parameters.ts';

/** The purpose of a signed request: a resource, or one of the two token endpoints. */
export type SignedFor = 'resource' | 'request_token' | 'access_token';

const always = ['oauth_consumer_key', 'oauth_signature_method', 'oauth_signature'];
/** Parameters that PLAINTEXT does not require (RFC 5849 §3.1). */
const freshness = ['oauth_timestamp', 'oauth_nonce'];
const optional = ['oauth_version', 'oauth_body_hash'];
const requiredFor: Readonly<Record<SignedFor, readonly string[]>> = {
  resource: [],
  request_token: ['oauth_callback'],
  access_token: ['oauth_token', 'oauth_verifier'],
};

/** Parameters that are accepted, because some clients repeat them in later requests. */
const acceptedFor: Readonly<Record<SignedFor, readonly string[]>> = {
  // Without a token, or with an empty one, the consumer acts on its own behalf.
  resource: ['oauth_token', 'oauth_callback'],
  // RFC 5849 §2.1: the token may be sent empty.
  request_token: ['oauth_token'],
  access_token: ['oauth_callback'],
};

const supportedFor: Readonly<Record<SignedFor, ReadonlySet<string>>> = {
  resource: listSupported('resource'),
  request_token: listSupported('request_token'),
  access_token: listSupported('access_token'),
};

function listSupported(signedFor: SignedFor): ReadonlySet<string> {
  const own = [...requiredFor[signedFor], ...acceptedFor[signedFor]];
  return new Set([...always, ...freshness, ...optional, ...own]);
}

type Protocol = OAuth1Parameters['protocol'];

/** The checks of the protocol parameters, in order, by their names in traces. Each returns a Problem (400), or undefined. */
export const checks: readonly (readonly [
  name: string,
  check: (protocol: Protocol, signedFor: SignedFor) => Problem | undefined,
])[] = [
  ['parse', namesProblem],
  ['version', versionProblem],
  ['presence', absenceProblem],
  ['nonce', nonceProblem],
];

/** Refuses unknown protocol parameters, because one of them could change the meaning of the request. */
function namesProblem(protocol: Protocol, signedFor: SignedFor): Problem | undefined {
  const others = [...protocol.keys()].filter((name) => !supportedFor[signedFor].has(name));
  if (signedFor === 'request_token' && (protocol.get('oauth_token') ?? '') !== '') others.push('oauth_token');
  return others.length === 0
    ? undefined
    : rejectedParameters('Protocol parameters that are not supported here were sent.', others);
}

function versionProblem(protocol: Protocol): Problem | undefined {
  const version = protocol.get('oauth_version');
  if (version === undefined || version === '1.0') return undefined;
  return oauth1Error('version_rejected', 'oauth_version must be 1.0 or omitted.', {
    oauth_acceptable_versions: '1.0-1.0',
  });
}

/** Refuses a request in which a required parameter is missing or empty. */
export function absenceProblem(protocol: Protocol, signedFor: SignedFor): Problem | undefined {
  const mayRepeat = protocol.get('oauth_signature_method') === 'PLAINTEXT';
  const sent = freshness.filter((name) => protocol.has(name));
  const needed = mayRepeat && sent.length === 0 ? [] : freshness;
  const missing = [...always, ...needed, ...requiredFor[signedFor]].filter(
    (name) => (protocol.get(name) ?? '') === '',
  );
  return missing.length === 0 ? undefined : missingParameters(missing);
}

function nonceProblem(protocol: Protocol): Problem | undefined {
  if (Buffer.byteLength(protocol.get('oauth_nonce') ?? '') <= maxNonceLength) return undefined;
  return rejectedParameters(`oauth_nonce has more than ${maxNonceLength} bytes.`, ['oauth_nonce']);
}
