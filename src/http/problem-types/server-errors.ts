import type { ProblemTypeInfo } from './info.ts';

/** Problem types with the statuses 500 to 507. */
export const serverErrorTypes = {
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
