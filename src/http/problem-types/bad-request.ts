import type { ProblemTypeInfo } from './info.ts';

/** Problem types with the status 400. */
export const badRequestTypes = {
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
} as const satisfies Record<string, ProblemTypeInfo>;
