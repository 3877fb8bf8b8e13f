import { isUtf8 } from 'node:buffer';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { oauth1Methods } from '../../../accounts/oauth1-methods.ts';
import { signatureAlgorithms } from '../../../algorithms.ts';
import { bytesOf, octetsOf } from '../../../http/syntax/octets.ts';
import type { NamedPart } from '../../../schemes/message.ts';
import { flag, listOf, mapOf, number, object, optional, text, word } from '../../../shape/shape.ts';
import { clearTimeout, setTimeout } from '../../../timers.ts';
import { listSignedParts } from '../../fetch/signing.ts';
import type { JournalEntry, RawEntry } from '../../journal/entry.ts';
import { bytesInBase64 } from '../content.ts';
import { type Controlled, type Operation, operation, requireMemory } from '../operation.ts';
import { requireEntry } from './journal.ts';

/** The maximum number of bytes of a request. */
const maxRequest = 4 * 1024 * 1024;
/** The maximum number of bytes of a response. */
const maxResponse = 4 * 1024 * 1024;
const defaultTimeout = 10_000;
const longestTimeout = 60_000;

const result = object({
  response: text('the bytes received, in base64'),
  ended: text(
    'complete: the response is complete; closed: the server closed the connection first; failed: the connection failed; timeout; limit: the response is longer than 4 MiB',
  ),
  error: optional(text('the error of the connection')),
  entry: optional(number({}, 'number of the journal entry')),
});

/** The operation that sends bytes to the service. */
export function sendOperations({ addresses, journal }: Controlled): readonly Operation[] {
  return [
    operation('POST', '/send', 'send', {
      returns: result,
      summary:
        'Sends exactly these bytes to the server over a connection of their own, and returns the response',
      description:
        'At most 4 MiB. Either text, which is encoded as UTF-8, or bytes, or the number of a journal entry, whose request is sent again with its credentials.',
      accepts: object({
        text: optional(text('the request as text')),
        bytes: optional(bytesInBase64('the request in base64')),
        entry: optional(number({ min: 1 }, 'the number of an entry whose request is sent again')),
        secure: optional(flag('whether it is sent over TLS; default: as the entry was, otherwise false')),
        timeout: optional(number({ min: 1, max: longestTimeout }, `ms; default: ${defaultTimeout}`)),
      }),
      async run({ secure, timeout = defaultTimeout, text: plain, bytes: given, entry: again }) {
        const repeated = again === undefined ? undefined : requireEntry(journal, again);
        const bytes = selectBytes(plain, given, repeated);
        const origin = (secure ?? repeated?.request.secure === true) ? addresses.secureUrl : addresses.url;
        if (origin === undefined) throw new RangeError('the server does not listen on a port of this kind');
        const last = journal.all().at(-1)?.number ?? 0;
        const sent = await sendExact(origin, bytes, { timeout, limit: maxResponse });
        const entry = journal.all().find((each) => each.number > last && hasRecorded(each, bytes));
        return {
          response: sent.response.toString('base64'),
          ended: sent.ended,
          error: sent.error,
          entry: entry?.number,
        };
      },
    }),
  ];
}

/** Returns the bytes to send. Throws RangeError unless exactly one of them is present, and if they are too long. */
function selectBytes(
  plain: string | undefined,
  bytes: Uint8Array | undefined,
  repeated: JournalEntry | undefined,
): Buffer {
  const given = [plain, bytes, repeated && formatRequest(repeated)].filter((each) => each !== undefined);
  const [only, ...others] = given;
  if (only === undefined || others.length > 0)
    throw new RangeError('the content must have exactly one of text, bytes and entry');
  if (only.length === 0 || Buffer.byteLength(only) > maxRequest)
    throw new RangeError(`the request must have 1 to ${maxRequest} bytes`);
  return Buffer.from(only);
}

/** Returns the request of an entry with its credentials. Throws RangeError if not all of it was recorded. */
function formatRequest(entry: JournalEntry): Buffer {
  const { request, received } = entry.raw();
  if (request === undefined) return bytesOf(received ?? '');
  if (entry.request.length > request.body.length)
    throw new RangeError('the journal recorded only the beginning of the content of this request');
  return Buffer.concat([bytesOf(formatHead(request)), frameContent(request)]);
}

function formatHead({ method, target, version, headers }: NonNullable<RawEntry['request']>): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/${version}\r\n${lines.join('')}\r\n`;
}

/** Returns the content in the framing that the fields declare: one chunk, or the bytes themselves. */
function frameContent({ headers, body }: NonNullable<RawEntry['request']>): Uint8Array {
  const isChunked = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
  if (!isChunked) return body;
  const chunk = body.length === 0 ? [] : [`${body.length.toString(16)}\r\n`, body, '\r\n'];
  return Buffer.concat([...chunk, '0\r\n\r\n'].map((part) => Buffer.from(part)));
}

/** Returns whether an entry records these bytes: their request line and field lines, or bytes that are no request. */
function hasRecorded(entry: JournalEntry, bytes: Buffer): boolean {
  const { request, received } = entry.raw();
  if (request !== undefined)
    return octetsOf(bytes.subarray(0, 65_536)).startsWith(`${request.method} ${request.target} `);
  return received !== undefined && octetsOf(bytes).includes(received.slice(0, 1024));
}

/** The result of sending bytes. */
interface SentExchange {
  /** The bytes received, at most `limit`. */
  readonly response: Buffer;
  /** How it ended: a complete response, the end of the connection, an error, the timeout, or the limit. */
  readonly ended: 'complete' | 'closed' | 'failed' | 'timeout' | 'limit';
  /** The message of the error. */
  readonly error: string | undefined;
}

/** The limits on an exchange. */
interface SendLimits {
  /** Milliseconds within which the response must be complete. */
  readonly timeout: number;
  /** The maximum number of bytes that are received. */
  readonly limit: number;
}

/**
 * Sends exactly these bytes over a connection of their own, and returns the bytes of the response. The connection is not closed
 * before the response is complete, since the server would take that as a client that has disconnected.
 * @param origin `http://…` or `https://…`, an origin of the controlled service
 */
function sendExact(origin: string, bytes: Uint8Array, limits: SendLimits): Promise<SentExchange> {
  const method = /^[^ \r\n]*/.exec(Buffer.from(bytes.subarray(0, 64)).toString('latin1'))?.[0] ?? '';
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket = open(origin);
    const end = (ended: SentExchange['ended'], error?: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      const response = Buffer.concat(received).subarray(0, limits.limit);
      resolve({ response, ended, error: error?.message });
    };
    const timer = setTimeout(() => end('timeout'), limits.timeout);
    let length = 0;
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      length += chunk.length;
      if (hasFinalResponse(Buffer.concat(received), method)) end('complete');
      else if (length > limits.limit) end('limit');
    });
    socket.once('error', (error) => end('failed', error));
    socket.once('close', () => end('closed'));
    socket.write(bytes);
  });
}

function open(origin: string): Socket {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'https:') return connect({ host, port: Number(port || 80), noDelay: true });
  // The peer is the controlled service itself. Its certificate may be one of an authority that is not known here, or a planned fault.
  const socket = connectSecurely({ host, port: Number(port || 443), rejectUnauthorized: false });
  return socket.setNoDelay(true);
}

/**
 * Returns whether the bytes contain a complete final response (RFC 9112 §6.3). Interim responses before it are skipped. A response
 * without a length is never complete: it ends with the connection.
 * @param method the method of the request, since a response to HEAD has no content
 */
function hasFinalResponse(bytes: Buffer, method: string): boolean {
  let start = 0;
  for (;;) {
    const headEnd = bytes.indexOf('\r\n\r\n', start);
    const head = bytes.toString('latin1', start, headEnd < 0 ? start : headEnd);
    const status = /^HTTP\/\d\.\d (\d{3})(?!\d)/.exec(head)?.[1];
    if (status === undefined) return false;
    const content = headEnd + 4;
    // 101 is final: what follows is another protocol.
    if (status >= '200' || status === '101')
      return isComplete(head, Number(status), bytes.subarray(content), method);
    start = content;
  }
}

function isComplete(head: string, status: number, content: Buffer, method: string): boolean {
  if (method === 'HEAD' || status === 101 || status === 204 || status === 304) return true;
  if (/\r\ntransfer-encoding:.*chunked[ \t]*(?:\r\n|$)/i.test(head)) return endsWithLastChunk(content);
  const length = /\r\ncontent-length:[ \t]*(\d+)[ \t]*(?:\r\n|$)/i.exec(head)?.[1];
  return length !== undefined && content.length >= Number(length);
}

/** Returns whether the chunks are followed by the last chunk and the trailer section (RFC 9112 §7.1). */
function endsWithLastChunk(content: Buffer): boolean {
  let at = 0;
  for (;;) {
    const lineEnd = content.indexOf('\r\n', at);
    if (lineEnd < 0) return false;
    const size = Number.parseInt(content.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) return false;
    if (size === 0) return content.indexOf('\r\n\r\n', lineEnd) >= 0;
    at = lineEnd + 2 + size + 2;
  }
}

const accepted = object({
  user: text(),
  scheme: optional(text('hmac, basic, bearer, oauth1, or a scheme of the configuration; default: hmac')),
  method: text(),
  url: text('a path with its query, or an absolute URL'),
  headers: optional(mapOf(text('the fields that the request has already, some of which a scheme may sign'))),
  body: optional(text()),
  form: optional(word(['full', 'simple'], 'for hmac; default: full')),
  keyId: optional(text('for schemes of the configuration: the id of the user’s key')),
  secret: optional(text('for hmac and schemes of the configuration; default: that of the user')),
  password: optional(text('for basic; default: that of the user')),
  token: optional(text('for bearer; default: a new one')),
  privateKey: optional(
    text('for oauth1 and schemes of the configuration: a private key in PEM, or as a JWK'),
  ),
  algorithm: optional(
    word(signatureAlgorithms, 'the algorithm of the private key; default: that of its type'),
  ),
  nonce: optional(text('for schemes with a nonce; default: a new one')),
  date: optional(text('for schemes with a date: an ISO 8601 date; default: the time of the server’s clock')),
  client: optional(text('for bearer and oauth1: the client’s id or the consumer’s key; default: the first')),
  signatureMethod: optional(word(oauth1Methods, 'for oauth1; default: the first one of the consumer')),
  bodyHash: optional(flag('for oauth1: whether oauth_body_hash is sent; default: false')),
  twoLegged: optional(flag('for oauth1: whether the user is a consumer that signs without a token')),
});

/** The operation that signs a request as a user. */
export function signOperations(target: Controlled): readonly Operation[] {
  return [
    operation('POST', '/sign', 'sign', {
      memoryOnly: true,
      summary: 'Returns the header fields that sign a request as a user, and the URL to send it to',
      description:
        'The URL contains the signature if the scheme has it in the query, and the body is returned if the scheme has it there. With bearer and oauth1, a token is issued. With a secret, password, token or private key of the request, a data directory is no obstacle.',
      returns: object({
        headers: mapOf(text()),
        url: text(),
        body: optional(text('the body to send, if it contains the signature')),
        message: listOf(
          object({
            name: text('such as method; empty for a separator or other fixed text'),
            value: text('octets that are not UTF-8 are in hexadecimal'),
          }),
          'the parts of the signed message, in order; none if the scheme signs no message',
        ),
      }),
      accepts: accepted,
      async run({ user, method, url, body, headers, scheme = 'hmac', privateKey, ...options }) {
        const { secret, password, token } = options;
        if ([secret, password, token, privateKey].every((given) => given === undefined))
          requireMemory(target);
        const key = privateKey === undefined ? {} : { privateKey: readPrivateKey(privateKey) };
        const signed = await target.as(user, { ...options, ...key, scheme }).signUrl({
          method,
          url,
          headers,
          body,
        });
        return {
          headers: signed.headers,
          url: signed.url,
          body: signed.body && Buffer.from(signed.body).toString('utf8'),
          message: listSignedParts(signed).map(({ name, value }) => ({ name, value: formatPart(value) })),
        };
      },
    }),
  ];
}

function formatPart(value: NamedPart['value']): string {
  const bytes = typeof value === 'string' ? bytesOf(value) : Buffer.from(value);
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'hex');
}

/** Reads a private key as a JWK. Text in PEM is left to the signer. Throws RangeError, whose message contains nothing of the key. */
function readPrivateKey(source: string): string | KeyObject {
  if (!source.trim().startsWith('{')) return source;
  try {
    return createPrivateKey({ key: JSON.parse(source), format: 'jwk' });
  } catch {
    throw new RangeError('privateKey is not a private key as a JWK (RFC 7517)');
  }
}
