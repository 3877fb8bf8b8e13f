interface Explained {
  /** The status code that goes with it. */
  readonly status: number;
  /** A few words that never change (RFC 9457 §3.1.3). */
  readonly title: string;
  /** What it means and what to do about it: the text at `/problems/NAME`. */
  readonly explanation: string;
}

/** Every problem type there is. Its address is `/problems/` and its name. */
export const problemTypes = {
  'malformed-request': {
    status: 400,
    title: 'The request is not HTTP',
    explanation:
      'The bytes received do not follow the framing or field syntax of HTTP/1.1 (RFC 9112), so nothing after them can be trusted. The connection is closed. Look for a bare line feed, a folded or nameless field, a Content-Length that is given twice or beside Transfer-Encoding, or a broken chunk.',
  },
  'malformed-host': {
    status: 400,
    title: 'Host is missing or malformed',
    explanation:
      'An HTTP/1.1 request has exactly one Host field with a host and perhaps a port (RFC 9112 §3.2).',
  },
  'repeated-field': {
    status: 400,
    title: 'A field that stands once was sent twice',
    explanation:
      'The field named has a single value by definition (RFC 9110 §5.3). Which of two was meant cannot be guessed, and an intermediary might have read the other one.',
  },
  'malformed-field': {
    status: 400,
    title: 'A field value is malformed',
    explanation:
      'The value of the field named does not follow its grammar, and ignoring it would do something else than was asked.',
  },
  'malformed-target': {
    status: 400,
    title: 'The request target is malformed',
    explanation:
      'The target is not a path with an optional query (RFC 9112 §3.2): a character that must be percent-encoded stands in it, a percent sign is not followed by two hexadecimal digits, the path does not decode to UTF-8, or the asterisk form was used with another method than OPTIONS.',
  },
  'malformed-query': {
    status: 400,
    title: 'A query parameter is malformed',
    explanation:
      'The query parameter named has a value that cannot be used here. Parameters that mean nothing here are ignored.',
  },
  'malformed-credentials': {
    status: 400,
    title: 'The credentials are malformed',
    explanation:
      'The Authorization or Authentication field does not follow the grammar of its scheme. They were not compared with anything. The attempt counts towards the limit on failed authentications of the peer.',
  },
  'several-credentials': {
    status: 400,
    title: 'More than one set of credentials',
    explanation:
      'A request carries at most one Authorization or Authentication field, and not both: which one counts must not be a guess. A bearer token in the field excludes an access_token in the query or in a form (RFC 6750 §2).',
  },
  'content-range-on-put': {
    status: 400,
    title: 'A PUT replaces the whole representation',
    explanation:
      'Content-Range on a PUT asks for a partial replacement, which this server does not do (RFC 9110 §14.5).',
  },
  'content-missing': {
    status: 400,
    title: 'The content is missing',
    explanation: 'This method needs content, and the request has none.',
  },
  'content-incomplete': {
    status: 400,
    title: 'The content broke off',
    explanation:
      'The connection ended or the framing broke before the content was whole. Nothing was changed.',
  },
  'content-coding-broken': {
    status: 400,
    title: 'The content coding is broken',
    explanation: 'The content does not decode as the Content-Encoding field says.',
  },
  'digest-mismatch': {
    status: 400,
    title: 'The content is not what its digest says',
    explanation:
      'The bytes received do not have the digest in Content-Digest (RFC 9530) or Content-MD5. They were changed on the way, or the digest was made of other bytes. It covers the content as sent, after any content coding.',
  },
  'xml-malformed': {
    status: 400,
    title: 'The XML is not well-formed',
    explanation:
      'The document breaks a rule of XML 1.0 or of Namespaces in XML at the line and column given.',
  },
  'limit-exceeded': {
    status: 400,
    title: 'The document goes beyond a limit',
    explanation:
      'The document may be well-formed, but it is nested more deeply, has more attributes on one element, or has longer names than this server takes. Where that is, is told.',
  },
  'doctype-refused': {
    status: 400,
    title: 'A DOCTYPE is never accepted',
    explanation:
      'Document type declarations, and with them entities of your own, are refused wherever they stand. Leave the DOCTYPE out.',
  },
  'json-malformed': {
    status: 400,
    title: 'The JSON is malformed',
    explanation:
      'The document breaks the grammar of JSON (RFC 8259) at the line and column given, or has a member name twice in one object.',
  },
  'invalid-id': {
    status: 400,
    title: 'The id cannot be used',
    explanation:
      'An id that a client chooses is one path segment of 1 to 128 bytes of UTF-8 without control characters and slashes, and is not a dot segment.',
  },
  'authentication-required': {
    status: 401,
    title: 'Somebody must be known for this',
    explanation:
      'The request carries no credentials, and nobody may do this. WWW-Authenticate lists the schemes that work on this connection.',
  },
  'credentials-refused': {
    status: 401,
    title: 'The credentials are not good',
    explanation:
      'The user, the password, the secret or what was signed is not right; which of them is not told to strangers. Where you signed, compare the message you signed with the form in the documentation: method, target exactly as sent with its query, the date without its spaces, the nonce, and the digest field if there is one. A server started with --explain shows the message that it rebuilt.',
  },
  'token-refused': {
    status: 401,
    title: 'The token is not good',
    explanation:
      'The token is not one that was issued here, or it has expired or was revoked, or its client or its user is not known any more; which of these is not told. Refresh it, or get another one (RFC 6750 §3.1).',
  },
  'scheme-not-offered': {
    status: 401,
    title: 'This authentication scheme is not offered here',
    explanation:
      'The scheme of the credentials is not one that works on this connection. WWW-Authenticate lists those that do.',
  },
  'date-missing': {
    status: 401,
    title: 'A signed request needs a date',
    explanation:
      'The full form signs the value of Date, or of X-Date where a client cannot set Date. Neither was sent.',
  },
  'date-out-of-window': {
    status: 401,
    title: 'The date is too far from the server’s clock',
    explanation:
      'The signature is good, but the date that it covers lies outside the window. The Date field of this reply is the server’s time: set your clock by it and sign again.',
  },
  'nonce-replayed': {
    status: 401,
    title: 'The nonce was used before',
    explanation:
      'The signature is good, but a request with this nonce has been accepted already. Draw a new nonce for every request, also when you send one again.',
  },
  'simple-form-refused': {
    status: 401,
    title: 'The simple form may not sign this request',
    explanation:
      'A signature without date and nonce can be replayed for ever, so it counts only for what the server’s option --hmac-simple allows (safe methods, unless set otherwise), and never on a target that ends like a date and a nonce or has a digest of content in it. Use the full form.',
  },
  'digest-required': {
    status: 401,
    title: 'The content must be signed',
    explanation:
      'This server takes signed content only when its digest is signed with it: send Content-Digest (RFC 9530) and add its value to the message.',
  },
  'oauth1-parameter-absent': {
    status: 400,
    title: 'A parameter of OAuth 1.0a is missing',
    explanation:
      'A request that is signed with OAuth 1.0a has oauth_consumer_key, oauth_token, oauth_signature_method, oauth_signature, oauth_timestamp and oauth_nonce (RFC 5849 §3.1); only with PLAINTEXT the last two may be left out. The member oauth_parameters_absent lists what is missing or empty. A request without a token is nobody’s here.',
  },
  'oauth1-parameter-rejected': {
    status: 400,
    title: 'A parameter of OAuth 1.0a is not right',
    explanation:
      'A parameter whose name begins with oauth_ was sent twice, in two places, where it has no meaning or with a value that it cannot have, or the parameters cannot be read. They stand in the Authorization field, in the query or in a form, and in one of these only (RFC 5849 §3.5), percent-encoded. A request has at most 1,000 parameters in all, and a signed form has at most 64 KiB. The member oauth_parameters_rejected lists them, where they are known.',
  },
  'oauth1-version-rejected': {
    status: 400,
    title: 'The version of OAuth is not 1.0',
    explanation: 'Where oauth_version is sent it says 1.0 (RFC 5849 §3.1), also for OAuth 1.0a.',
  },
  'oauth1-signature-method-rejected': {
    status: 400,
    title: 'The signature method is not taken',
    explanation:
      'The methods are HMAC-SHA256, HMAC-SHA1, PLAINTEXT and RSA-SHA1, and each consumer is registered for some of them.',
  },
  'oauth1-signature-invalid': {
    status: 401,
    title: 'The signature is not right',
    explanation:
      'The consumer is not known, or the signature is not the one that its secret, the secret of the token and the request make; which of these is not told. Compare the base string that you signed (RFC 5849 §3.4.1): scheme and host in lower case, the path as sent, and the parameters of query, header and form, encoded and then sorted. A server started with --explain shows the one that it made.',
  },
  'oauth1-token-rejected': {
    status: 401,
    title: 'The token is not good any more',
    explanation:
      'The signature is good, but the token is not: it has expired, was used up or revoked, is another consumer’s, or its user is gone. The member oauth_problem says which; get another one.',
  },
  'oauth1-timestamp-refused': {
    status: 401,
    title: 'The timestamp is too far from the server’s clock',
    explanation:
      'The member oauth_acceptable_timestamps has the first and the last second that are taken now. The Date field of this reply is the server’s time.',
  },
  'oauth1-nonce-used': {
    status: 401,
    title: 'The nonce was used before',
    explanation:
      'The signature is good, but a request of this consumer with this token, timestamp and nonce was accepted already. Draw a new nonce for every request, also when you send one again (RFC 5849 §3.3).',
  },
  forbidden: {
    status: 403,
    title: 'Not for this principal',
    explanation:
      'The credentials are good, but this principal may not do this here. Whether anything exists here is not told.',
  },
  'tls-required': {
    status: 403,
    title: 'These credentials work over TLS only',
    explanation:
      'Basic and OAuth credentials are worth as much as what they open, so they are not read over plain HTTP. Treat the ones just sent as known to others.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'The scope of the token is too narrow',
    explanation:
      "A token carries a part of its user's rights: the scope `read` is good for GET, HEAD and OPTIONS, `write` for POST, PUT and DELETE. Ask for another token with the scope that the challenge names (RFC 6750 §3.1).",
  },
  'not-found': {
    status: 404,
    title: 'There is nothing here',
    explanation:
      'No resource has this address, or what had it was taken away. Addresses are compared segment by segment: a slash at the end, another case or a percent-encoded slash make another one.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The resource does not have this method',
    explanation: 'Allow lists the methods that this resource has for this principal.',
  },
  'not-acceptable': {
    status: 406,
    title: 'No representation is acceptable',
    explanation:
      'None of the media types that this resource is written in matches the Accept field of the request.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long',
    explanation:
      'The header or the content did not arrive within the time that the server waits. Send it again, faster.',
  },
  'memory-only': {
    status: 409,
    title: 'This is for what is held in memory alone',
    explanation:
      'The operation of the control interface takes the whole state away or puts another in its place, and this server keeps what it holds in a data directory. Start it with --memory instead of --data to have this.',
  },
  'precondition-failed': {
    status: 412,
    title: 'A precondition does not hold',
    explanation:
      'If-Match, If-Unmodified-Since or If-None-Match named a state that is not the present one: somebody changed it in the meantime, or it exists already. Read it again and decide anew.',
  },
  'content-too-large': {
    status: 413,
    title: 'The content is too large',
    explanation:
      'The content, as sent or after unpacking, exceeds the limit of this server. It was not read to its end.',
  },
  'target-too-long': {
    status: 414,
    title: 'The request target is too long',
    explanation: 'The request target exceeds the limit of this server.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The content type is not understood',
    explanation:
      'Content-Type is missing or names a media type that this resource does not read. Accept-Post lists those it reads.',
  },
  'unsupported-content-coding': {
    status: 415,
    title: 'The content coding is not understood',
    explanation:
      'Content-Encoding names a coding that this server does not undo. Accept-Encoding lists those it does.',
  },
  'unsupported-charset': {
    status: 415,
    title: 'The character encoding is not UTF-8',
    explanation: 'Content is read as UTF-8 only. The encoding that was declared or detected is named.',
  },
  'expectation-failed': {
    status: 417,
    title: 'The expectation cannot be met',
    explanation: 'Expect asks for something else than 100-continue (RFC 9110 §10.1.1).',
  },
  'invalid-content': {
    status: 422,
    title: 'The content breaks the rules of this resource',
    explanation:
      'The document is well-formed, but it is not what the resource keeps. Each fault is listed with the path of its field, the rule, and where it stands.',
  },
  'too-many-failures': {
    status: 429,
    title: 'Too many failed authentications',
    explanation:
      'This peer or this user failed to authenticate too often within a minute. Retry-After says when to try again.',
  },
  'too-many-nonces': {
    status: 429,
    title: 'This user has used too many nonces',
    explanation:
      'A nonce is remembered for as long as a request that carries it could be accepted again, and the server remembers so many for one user (--max-nonces-per-user) that the others keep room. The signature is right, and the nonce was not used up. Retry-After says when nonces of this user expire.',
  },
  'too-many-attempts': {
    status: 429,
    title: 'Too many passwords are being checked',
    explanation:
      'Checking a password for the first time takes a while, and too many requests wait for it. The credentials were not looked at. Retry-After says when to try again.',
  },
  'header-too-large': {
    status: 431,
    title: 'The header section is too large',
    explanation: 'The field lines together exceed the limit of this server.',
  },
  'internal-error': {
    status: 500,
    title: 'The server failed',
    explanation: 'This is a fault of the server, not of the request. Its log has the details.',
  },
  'method-not-implemented': {
    status: 501,
    title: 'The method is not implemented',
    explanation: 'This server has HEAD, GET, PUT, POST, DELETE and OPTIONS, for every resource.',
  },
  'transfer-coding-not-implemented': {
    status: 501,
    title: 'The transfer coding is not implemented',
    explanation: 'The only transfer coding that this server reads is chunked (RFC 9112 §6.1).',
  },
  stopping: {
    status: 503,
    title: 'The server is stopping',
    explanation:
      'The server finishes what it has begun and takes nothing new. Try again after the time in Retry-After.',
  },
  full: {
    status: 503,
    title: 'The server is full',
    explanation:
      'More connections or nonces are held than the server’s limits allow. Try again after the time in Retry-After.',
  },
  'store-unavailable': {
    status: 503,
    title: 'Changes cannot be kept',
    explanation:
      'The store could not make a change durable, so the change was not made. Reading still works.',
  },
  'version-not-supported': {
    status: 505,
    title: 'This version of HTTP is not spoken here',
    explanation: 'The server speaks HTTP/1.1 and understands HTTP/1.0.',
  },
  'store-full': {
    status: 507,
    title: 'There is no room left',
    explanation:
      'The disk that the store is kept on is full, so the change was not made. Reading still works.',
  },
} as const satisfies Record<string, Explained>;

/** The name of a problem type. */
export type ProblemType = keyof typeof problemTypes;

/** The explanation of a type by its name; undefined for a name that is not one. */
export function explanationOf(name: string): Explained | undefined {
  return Object.entries(problemTypes).find(([known]) => known === name)?.[1];
}
