import { missingParameters, oauth1Error, rejectedParameters } from '../../auth/oauth1/error.ts';
import type { OAuth1Parameters } from './parameters.ts';

/** The purpose of a signed request: a resource, or one of the two token endpoints. */
export type SignedFor = 'resource' | 'request_token' | 'access_token';

const always = ['oauth_consumer_key', 'oauth_signature_method', 'oauth_signature'];
/** Parameters that PLAINTEXT does not require (RFC 5849 §3.1). */
const freshness = ['oauth_timestamp', 'oauth_nonce'];
const optional = ['oauth_version', 'oauth_body_hash'];
const requiredFor: Readonly<Record<SignedFor, readonly string[]>> = {
  resource: ['oauth_token'],
  request_token: ['oauth_callback'],
  access_token: ['oauth_token', 'oauth_verifier'],
};

/** Parameters that are accepted, because some clients repeat them in later requests. */
const acceptedFor: Readonly<Record<SignedFor, readonly string[]>> = {
  resource: ['oauth_callback'],
  // RFC 5849 §2.1: the token may be sent empty.
  request_token: ['oauth_token'],
  access_token: ['oauth_callback'],
};

/**
 * Throws a Problem (400) if there are unknown protocol parameters, because one of them could change the meaning of the request.
 */
export function checkNames({ protocol }: OAuth1Parameters, signedFor: SignedFor): void {
  const supported = [
    ...always,
    ...freshness,
    ...optional,
    ...requiredFor[signedFor],
    ...acceptedFor[signedFor],
  ];
  const others = [...protocol.keys()].filter((name) => !supported.includes(name));
  if (signedFor === 'request_token' && (protocol.get('oauth_token') ?? '') !== '') others.push('oauth_token');
  if (others.length > 0)
    throw rejectedParameters('Protocol parameters that are not supported here were sent.', others);
}

/** Throws a Problem (400) if a version other than 1.0 was sent. */
export function checkVersion({ protocol }: OAuth1Parameters): void {
  const version = protocol.get('oauth_version');
  if (version === undefined || version === '1.0') return;
  throw oauth1Error('version_rejected', 'oauth_version must be 1.0 or omitted.', {
    oauth_acceptable_versions: '1.0-1.0',
  });
}

/** Throws a Problem (400) if a required parameter is missing or empty. */
export function checkRequired({ protocol }: OAuth1Parameters, signedFor: SignedFor): void {
  const mayRepeat = protocol.get('oauth_signature_method') === 'PLAINTEXT';
  const sent = freshness.filter((name) => protocol.has(name));
  const needed = mayRepeat && sent.length === 0 ? [] : freshness;
  const missing = [...always, ...needed, ...requiredFor[signedFor]].filter(
    (name) => (protocol.get(name) ?? '') === '',
  );
  if (missing.length > 0) throw missingParameters(missing);
}
