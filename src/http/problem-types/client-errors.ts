import type { ProblemTypeInfo } from './info.ts';

/** Problem types with the statuses 404 to 431. */
export const clientErrorTypes = {
  'not-found': {
    status: 404,
    title: 'Not found',
    explanation:
      'No resource has this address, or it was deleted. Addresses are compared segment by segment. A trailing slash, another case or a percent-encoded slash makes a different address.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The resource does not allow this method',
    explanation: 'Allow lists the methods that this principal may use on this resource.',
  },
  'not-acceptable': {
    status: 406,
    title: 'No representation is acceptable',
    explanation: 'None of the media types of this resource matches the Accept field of the request.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long',
    explanation:
      'The header section or the content did not arrive within the time limit. Send the request again, faster.',
  },
  conflict: {
    status: 409,
    title: 'In conflict with another item',
    explanation:
      'Another item has the same values in the fields that the member fields names, which no two items of the collection may have, or its field that the member field names refers to the item that was to be deleted. Nothing was changed. The member href is the address of the other item, if you may read it: change that one, or choose another value.',
  },
  'memory-only': {
    status: 409,
    title: 'Available only with --memory',
    explanation:
      'This operation of the control interface deletes or replaces the whole state, and this server stores its state in a data directory. To use it, start the server with --memory instead of --data.',
  },
  'idempotency-key-in-progress': {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    explanation:
      'The first request with this key is still being processed. Repeat the same request, with the same key, after the time in Retry-After.',
  },
  'precondition-failed': {
    status: 412,
    title: 'A precondition does not hold',
    explanation:
      'The condition in If-Match, If-Unmodified-Since or If-None-Match is false for the current state: the resource was changed in the meantime, or it already exists. Read it again, then decide what to do. A weak entity tag never matches in If-Match; a proxy that compresses responses makes entity tags weak.',
  },
  'content-too-large': {
    status: 413,
    title: 'The content is too large',
    explanation:
      'The content, as sent or decompressed, exceeds the limit of this server. It was not read completely.',
  },
  'target-too-long': {
    status: 414,
    title: 'The request target is too long',
    explanation: 'The request target exceeds the limit of this server.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The media type is not supported',
    explanation:
      'Content-Type is missing, or names a media type that this resource does not accept. Accept-Post lists the ones it accepts.',
  },
  'unsupported-content-coding': {
    status: 415,
    title: 'The content coding is not supported',
    explanation:
      'Content-Encoding names a coding that this server does not support. Accept-Encoding lists the ones it supports.',
  },
  'unsupported-charset': {
    status: 415,
    title: 'The character encoding is not UTF-8',
    explanation:
      'Only UTF-8 is supported. The member encoding names the encoding that was declared or detected.',
  },
  'expectation-failed': {
    status: 417,
    title: 'The expectation is not supported',
    explanation: 'Expect contains something other than 100-continue (RFC 9110 §10.1.1).',
  },
  'misdirected-request': {
    status: 421,
    title: 'The request is for another server',
    explanation:
      'The control interface accepts requests only if their Host is 127.0.0.1, localhost or [::1] with its port (RFC 9110 §15.5.20). Otherwise a web page could reach it by a DNS name of its own that resolves to 127.0.0.1 (DNS rebinding).',
  },
  'invalid-content': {
    status: 422,
    title: 'The content is invalid',
    explanation:
      'The document is well-formed, but violates the rules of this resource. Each error is listed with the path of its field, the rule, and its position.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    explanation:
      'An earlier request with this key and target had another method, other content or other preconditions. It was performed; this one was not. Generate a new key for each operation. The same key is for the same request only, sent again.',
  },
  'precondition-required': {
    status: 428,
    title: 'A precondition is required',
    explanation:
      'A change here requires If-Match with the entity tag that you have read, or If-Unmodified-Since, so that you do not overwrite a change of someone else (RFC 6585 §3). With PUT, If-None-Match: * creates an item that does not exist. Read the item, then send the request with its entity tag.',
  },
  'too-many-idempotency-keys': {
    status: 429,
    title: 'This user has used too many idempotency keys',
    explanation:
      'The response to a request with an Idempotency-Key is stored until the key expires. The number stored for each user (--max-idempotency-keys-per-user) and their size are limited. Nothing was changed. Retry after the time in Retry-After, when the oldest key will have expired.',
  },
  'too-many-tokens': {
    status: 429,
    title: 'Too many tokens are stored',
    explanation:
      'The number of consent pages, permissions and tokens that are stored for one user or client is limited; used and revoked ones count until they end. Use a token until it expires. Retry after the time in Retry-After, when the first of them will have ended.',
  },
  'too-many-failures': {
    status: 429,
    title: 'Too many failed authentications',
    explanation:
      'Too many authentications failed within a minute. The member counted is peer-and-user if this user or client failed from this address, peer if this address failed for several users or with malformed credentials, and user if this user or client failed from several addresses. With peer-and-user, other users can still authenticate from this address. With user, correct credentials are still accepted. Retry after the time in Retry-After.',
  },
  'quota-exceeded': {
    status: 429,
    title: 'The quota is exceeded',
    explanation:
      'This user, client or address has sent as many requests as its quota permits within a time window. The member violated-policies names the policies, which RateLimit-Policy describes. The request was not processed; if it was signed, its nonce was used up. Retry after the time in Retry-After, with a new signature.',
  },
  'too-many-nonces': {
    status: 429,
    title: 'This user has used too many nonces',
    explanation:
      'A nonce is stored for as long as a request with it could be accepted again. The number stored for each user is limited (--max-nonces-per-user), so that one user cannot exhaust the storage. The signature is valid, and the nonce was not used up. Retry after the time in Retry-After, when nonces of this user will have expired.',
  },
  'too-many-attempts': {
    status: 429,
    title: 'Too many passwords are being verified',
    explanation:
      'Verifying a password for the first time takes a while, and too many requests are waiting for it. The credentials were not checked. Retry after the time in Retry-After.',
  },
  'header-too-large': {
    status: 431,
    title: 'The header section is too large',
    explanation: 'The header fields together exceed the limit of this server.',
  },
} as const satisfies Record<string, ProblemTypeInfo>;
