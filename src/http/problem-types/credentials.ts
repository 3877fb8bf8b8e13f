import type { ProblemTypeInfo } from './info.ts';

/** Problem types of credentials and permissions, with the status 401 or 403. */
export const credentialTypes = {
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
} as const satisfies Record<string, ProblemTypeInfo>;
