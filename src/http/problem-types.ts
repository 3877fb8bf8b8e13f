/** A type of problems. */
export interface ProblemTypeInfo {
  /** The HTTP status code. */
  readonly status: number;
  /** A short summary, the same for each occurrence (RFC 9457 §3.1.3). */
  readonly title: string;
  /** The meaning, and what to do: the text at `/problems/NAME`. */
  readonly explanation: string;
}

/** All problem types by name. The `type` member of a problem is `/problems/` and the name. */
export const problemTypes = {
  // The status 400.
  'malformed-request': {
    status: 400,
    title: 'The request is malformed',
    explanation:
      'The bytes received violate the framing or field syntax of HTTP/1.1 (RFC 9112), so nothing after them can be trusted. The connection is closed. Typical causes are a bare line feed, a folded or nameless field, a Content-Length that is given twice or together with Transfer-Encoding, and a malformed chunk.',
  },
  'malformed-host': {
    status: 400,
    title: 'Host is missing or malformed',
    explanation:
      'An HTTP/1.1 request has exactly one Host field, with a host and an optional port (RFC 9112 §3.2).',
  },
  'repeated-field': {
    status: 400,
    title: 'A singleton field was sent twice',
    explanation:
      'The field named is not a list and may occur only once (RFC 9110 §5.3). The server does not guess which value was meant: an intermediary might have used the other one.',
  },
  'malformed-field': {
    status: 400,
    title: 'A field value is malformed',
    explanation:
      'The value of the field named violates its grammar. Ignoring it would change the meaning of the request.',
  },
  'malformed-target': {
    status: 400,
    title: 'The request target is malformed',
    explanation:
      'The target is not a path with an optional query (RFC 9112 §3.2). It contains a character that must be percent-encoded, or a percent sign that is not followed by two hexadecimal digits; or its path does not decode to UTF-8; or it is * and the method is not OPTIONS.',
  },
  'malformed-query': {
    status: 400,
    title: 'A query parameter is malformed',
    explanation: 'The query parameter named has an invalid value.',
  },
  'unknown-query-parameter': {
    status: 400,
    title: 'A query parameter is unknown',
    explanation:
      'The list has no query parameter of this name, and the service is configured to reject unknown ones (strictQuery). Names are case-sensitive.',
  },
  'repeated-query-parameter': {
    status: 400,
    title: 'A query parameter occurs more than once',
    explanation:
      'The service is configured to reject repeated query parameters (strictQuery), because it would use only one of them.',
  },
  'malformed-credentials': {
    status: 400,
    title: 'The credentials are malformed',
    explanation:
      'The credentials violate the grammar of their scheme, or a part of them is missing. They are in Authorization or Authentication, or in the fields or query parameters of a configured scheme. They were not compared with anything. The attempt counts towards the limit on failed authentications of the peer.',
  },
  'several-credentials': {
    status: 400,
    title: 'The request has several credentials',
    explanation:
      'A request has the credentials of one scheme, once: in Authorization, in Authentication, or in the fields or query parameters of a configured scheme. The server does not guess which ones count. A resource that accepts certain schemes verifies those, and leaves others alone. With a bearer token in the field, access_token must not occur in the query or in a form (RFC 6750 §2).',
  },
  'content-range-on-put': {
    status: 400,
    title: 'Partial PUT is not supported',
    explanation:
      'Content-Range on a PUT requests a partial replacement, which this server does not support (RFC 9110 §14.5). A PUT replaces the whole representation.',
  },
  'content-missing': {
    status: 400,
    title: 'The content is missing',
    explanation: 'This method requires content, and the request has none.',
  },
  'content-incomplete': {
    status: 400,
    title: 'The content is incomplete',
    explanation:
      'The connection was closed, or the framing was invalid, before all of the content had arrived. Nothing was changed.',
  },
  'content-coding-broken': {
    status: 400,
    title: 'The content does not decode',
    explanation: 'The content is not valid in the coding that Content-Encoding names.',
  },
  'digest-mismatch': {
    status: 400,
    title: 'The content does not match its digest',
    explanation:
      'The bytes received do not have the digest in Content-Digest (RFC 9530), Content-MD5 or X-Amz-Content-Sha256. They were changed in transit, or the digest was computed over other bytes. The digest covers the content as sent, that is, after any content coding was applied.',
  },
  'xml-malformed': {
    status: 400,
    title: 'The XML is not well-formed',
    explanation:
      'The document violates a rule of XML 1.0 or of Namespaces in XML at the line and column given.',
  },
  'limit-exceeded': {
    status: 400,
    title: 'The document exceeds a limit',
    explanation:
      'The document may be well-formed, but its depth, the number of attributes of an element, or the length of a name exceeds the limit of this server. The line and column are given.',
  },
  'doctype-refused': {
    status: 400,
    title: 'DOCTYPE is not accepted',
    explanation:
      'Document type declarations, and thus custom entities, are never accepted. Remove the DOCTYPE.',
  },
  'malformed-content': {
    status: 400,
    title: 'The content cannot be decoded',
    explanation:
      'The content is not what its Content-Type declares: a form with an incomplete percent-encoding or with more than 1,000 parameters, multipart/form-data without its boundary, with a malformed part or without its end (RFC 7578), or text that is not UTF-8.',
  },
  'json-malformed': {
    status: 400,
    title: 'The JSON is malformed',
    explanation:
      'The document violates the grammar of JSON (RFC 8259) at the line and column given, or an object in it has two members of the same name.',
  },
  'invalid-id': {
    status: 400,
    title: 'The id is invalid',
    explanation:
      'An id chosen by the client is one path segment of 1 to 128 bytes of UTF-8. It has no control characters and no slashes, and is not a dot segment. The path of its collection has at most 2,000 bytes, as it is encoded.',
  },
  'idempotency-key-missing': {
    status: 400,
    title: 'Idempotency-Key is missing',
    explanation:
      'POST requires an Idempotency-Key here, so that it can be repeated safely if its response is lost (draft-ietf-httpapi-idempotency-key-header). Generate a new key, such as a UUID, for each operation, and send the same key when you repeat the request.',
  },
  'malformed-idempotency-key': {
    status: 400,
    title: 'Idempotency-Key is malformed',
    explanation:
      'Idempotency-Key has one value: a string in quotes (RFC 9651 §3.3.3) of 1 to 255 characters, such as "8e03978e-40d5-43e8-bc93-6894a57f9324".',
  },
  'idempotency-key-anonymous': {
    status: 400,
    title: 'An anonymous request has an Idempotency-Key',
    explanation:
      'Keys are distinguished by user or client, so that nobody can get the response to the request of another one. Authenticate the request, or omit the field.',
  },
  // Credentials and permissions, with the status 401 or 403.
  'authentication-required': {
    status: 401,
    title: 'Authentication is required',
    explanation:
      'The request carries no credentials, and anonymous clients may not do this. WWW-Authenticate lists the schemes that work on this connection.',
  },
  'credentials-refused': {
    status: 401,
    title: 'The credentials were rejected',
    explanation:
      'The user, the password, the key, the secret or the signed message is wrong. For security, the response does not show which. If the request is signed, compare the message you signed with the definition of the scheme. For hmac, it consists of the method, the target exactly as sent including the query, the date without its spaces, the nonce, and the digest field if there is one. A server started with --explain shows the message that it expected.',
  },
  'token-refused': {
    status: 401,
    title: 'The token was rejected',
    explanation:
      'The token was not issued by this server, has expired or was revoked, or its client or user no longer exists. For security, the response does not show which. Refresh the token, or obtain another one (RFC 6750 §3.1).',
  },
  'scheme-not-offered': {
    status: 401,
    title: 'The authentication scheme is not offered',
    explanation:
      'The scheme of the credentials is unknown, or is not accepted for this resource or on this connection. WWW-Authenticate lists the accepted ones.',
  },
  'date-missing': {
    status: 401,
    title: 'A signed request needs a date',
    explanation:
      'The full form signs the value of Date, or of X-Date if the client cannot set Date. The request has neither.',
  },
  'date-out-of-window': {
    status: 401,
    title: 'The date is too far from the server’s clock',
    explanation:
      'The signed date or timestamp is outside the window of its scheme, or the signature has expired: by its parameter expires (RFC 9421 §2.3), or by the lifetime of a presigned URL. The Date field of this response is the server’s time: correct your clock and sign again.',
  },
  'nonce-replayed': {
    status: 401,
    title: 'The nonce was used before',
    explanation:
      'The signature is valid, but a request with this nonce was already accepted. Generate a new nonce for every request, including retries.',
  },
  'simple-form-refused': {
    status: 401,
    title: 'The simple form may not sign this request',
    explanation:
      'A signature without date and nonce can be replayed at any time. Therefore it is accepted only for the requests that the option --hmac-simple permits (by default, safe methods), and never for a target that ends like a date and a nonce or that contains a content digest. Use the full form.',
  },
  'digest-required': {
    status: 401,
    title: 'The content must be signed',
    explanation:
      'This server accepts signed content only if the signature covers its digest. Send Content-Digest (RFC 9530) and add its value to the message. With AWS Signature Version 4, sign the SHA-256 of the content instead of UNSIGNED-PAYLOAD.',
  },
  'signature-insufficient': {
    status: 401,
    title: 'The signature does not cover enough',
    explanation:
      'The signature lacks a component or a parameter that this server requires (RFC 9421 §3.2.1). Accept-Signature of this response lists the components, and parameters such as created and tag. The signature was not verified. Sign again with at least these components, in any order.',
  },
  'oauth1-parameter-absent': {
    status: 400,
    title: 'An OAuth 1.0a parameter is missing',
    explanation:
      'A request signed with OAuth 1.0a has oauth_consumer_key, oauth_token, oauth_signature_method, oauth_signature, oauth_timestamp and oauth_nonce (RFC 5849 §3.1). With PLAINTEXT, the last two are optional. The member oauth_parameters_absent lists the missing and empty ones. A request without a token is not accepted here.',
  },
  'oauth1-parameter-rejected': {
    status: 400,
    title: 'An OAuth 1.0a parameter is invalid',
    explanation:
      'A parameter whose name begins with oauth_ was sent twice or in two places, is not defined here or has an invalid value, or the parameters cannot be parsed. Send them percent-encoded and in one place: the Authorization field, the query or a form (RFC 5849 §3.5). A request has at most 1,000 parameters in all, and a signed form has at most 64 KiB. The member oauth_parameters_rejected lists the invalid ones, if they are known.',
  },
  'oauth1-version-rejected': {
    status: 400,
    title: 'The version of OAuth is not 1.0',
    explanation: 'If oauth_version is sent, its value is 1.0 (RFC 5849 §3.1), also for OAuth 1.0a.',
  },
  'oauth1-signature-method-rejected': {
    status: 400,
    title: 'The signature method is not accepted',
    explanation:
      'The methods are HMAC and RSA with SHA-256, SHA-1 and SHA-512, and PLAINTEXT. Each consumer is registered for some of them.',
  },
  'oauth1-signature-invalid': {
    status: 401,
    title: 'The signature is invalid',
    explanation:
      'The consumer is unknown, or the signature does not match its secret, the secret of the token and the request. For security, the response does not show which. Compare the base string that you signed (RFC 5849 §3.4.1): scheme and host in lower case, the path as sent, and the parameters of query, header and form, encoded and then sorted. A server started with --explain shows the base string that it expected.',
  },
  'oauth1-token-rejected': {
    status: 401,
    title: 'The token is no longer valid',
    explanation:
      'The signature is valid, but the token is not: it has expired, was used up or revoked, belongs to another consumer, or its user no longer exists. The member oauth_problem gives the reason. Obtain another token.',
  },
  'oauth1-timestamp-refused': {
    status: 401,
    title: 'The timestamp is too far from the server’s clock',
    explanation:
      'The member oauth_acceptable_timestamps gives the first and the last second that are accepted now. The Date field of this response is the server’s time.',
  },
  'oauth1-nonce-used': {
    status: 401,
    title: 'The nonce was used before',
    explanation:
      'The signature is valid, but a request of this consumer with this token, timestamp and nonce was already accepted. Generate a new nonce for every request, including retries (RFC 5849 §3.3).',
  },
  forbidden: {
    status: 403,
    title: 'This principal may not do this',
    explanation:
      'The credentials are valid, but this principal may not do this. The response is the same whether or not anything exists at this address.',
  },
  'tls-required': {
    status: 403,
    title: 'These credentials require TLS',
    explanation:
      'Basic and OAuth credentials and API keys can be used by anyone who reads them, so the server does not read them over plain HTTP. Treat the credentials just sent as compromised.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'The scope of the token is insufficient',
    explanation:
      'A token carries a part of its user’s rights: the scope `read` permits GET, HEAD and OPTIONS, the scope `write` permits POST, PUT and DELETE. Request a token with the scope that the challenge names (RFC 6750 §3.1).',
  },
  // The statuses 404 to 431.
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
  // The statuses 500 to 507.
  'internal-error': {
    status: 500,
    title: 'Internal server error',
    explanation: 'This is an error of the server, not of the request. The server’s log has the details.',
  },
  'method-not-implemented': {
    status: 501,
    title: 'The method is not implemented',
    explanation: 'This server implements HEAD, GET, PUT, POST, DELETE and OPTIONS.',
  },
  'operation-not-served': {
    status: 501,
    title: 'The operation is not served',
    explanation:
      'The document of the partner has a mistake in the operation or in what it uses; the detail contains its place. The other operations are served.',
  },
  'transfer-coding-not-implemented': {
    status: 501,
    title: 'The transfer coding is not implemented',
    explanation: 'The only transfer coding that this server supports is chunked (RFC 9112 §6.1).',
  },
  'streaming-signature-not-implemented': {
    status: 501,
    title: 'Signed chunks are not implemented',
    explanation:
      'X-Amz-Content-Sha256 announces content whose chunks are signed one by one (STREAMING-AWS4-HMAC-SHA256-PAYLOAD and similar values). This server does not verify such content. Send the SHA-256 of the whole content, in hexadecimal.',
  },
  stopping: {
    status: 503,
    title: 'The server is stopping',
    explanation:
      'The server finishes the requests in flight and accepts no new ones. Retry after the time in Retry-After.',
  },
  full: {
    status: 503,
    title: 'The server is full',
    explanation:
      'The number of connections or of stored nonces, or the size of content that is not authenticated, has reached the limit. Retry after the time in Retry-After.',
  },
  'nonces-lost': {
    status: 503,
    title: 'The server lost nonces',
    explanation:
      'The credentials are valid, but the server does not have the nonces of the time of the request any more, for instance after a restore or a power failure, or after its clock was set back. So it cannot know whether the request was sent before. Sign the request again after the time in Retry-After.',
  },
  'not-healthy': {
    status: 503,
    title: 'The server is not healthy',
    explanation:
      'A health check found that the server cannot do its work; the detail contains the reason. A load balancer should send requests elsewhere.',
  },
  'store-unavailable': {
    status: 503,
    title: 'The storage is unavailable',
    explanation:
      'The server could not read or write what the request requires: its change was not made, or its credentials could not be checked, because a nonce must be stored before a signed request is accepted. Retry after the time in Retry-After. Reading without credentials may still work.',
  },
  'version-not-supported': {
    status: 505,
    title: 'The HTTP version is not supported',
    explanation: 'The server supports HTTP/1.1 and HTTP/1.0.',
  },
  'store-full': {
    status: 507,
    title: 'The storage is full',
    explanation: 'The disk that contains the data is full, so the change was not made. Reading still works.',
  },
} as const satisfies Record<string, ProblemTypeInfo>;

/** The name of a problem type. */
export type ProblemType = keyof typeof problemTypes;

/** The names of all problem types. */
export const problemTypeNames: readonly ProblemType[] = Object.keys(problemTypes).filter(isProblemType);

function isProblemType(name: string): name is ProblemType {
  return Object.hasOwn(problemTypes, name);
}

/** Returns the problem type of a name; undefined if there is none. */
export function findProblemType(name: string): ProblemTypeInfo | undefined {
  return Object.entries(problemTypes).find(([type]) => type === name)?.[1];
}
