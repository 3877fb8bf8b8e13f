import { decodeCanonicalBase64 } from '../../../http/headers/content-digest.ts';
import { Problem } from '../../../http/problem.ts';
import { bytesOf, octetsOf } from '../../../http/syntax/octets.ts';
import { flag, number, object, optional, text } from '../../../shape/shape.ts';
import type { JournalEntry, RawEntry } from '../../journal/entry.ts';
import type { DoubleJournal } from '../../journal/journal.ts';
import { sendExact } from '../exchange/send-exact.ts';
import { type Controlled, type Operation, operation } from '../operation.ts';

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
        bytes: optional(text('the request in base64')),
        entry: optional(number({ min: 1 }, 'the number of an entry whose request is sent again')),
        secure: optional(flag('whether it is sent over TLS; default: as the entry was, otherwise false')),
        timeout: optional(number({ min: 1, max: longestTimeout }, `ms; default: ${defaultTimeout}`)),
      }),
      async run({ secure, timeout = defaultTimeout, ...content }) {
        const repeated = content.entry === undefined ? undefined : requireEntry(journal, content.entry);
        const bytes = selectBytes(content, repeated);
        const origin = (secure ?? repeated?.request.secure === true) ? addresses.secureUrl : addresses.url;
        if (origin === undefined) throw new RangeError('the server does not listen on a port of this kind');
        const last = journal.all().at(-1)?.number ?? 0;
        const sent = await sendExact(origin, bytes, { timeout, limit: maxResponse });
        const entry = journal.all().find((each) => each.number > last && hasRecorded(each, bytes));
        return {
          response: sent.response.toString('base64'),
          ended: sent.ended,
          ...(sent.error !== undefined && { error: sent.error }),
          ...(entry !== undefined && { entry: entry.number }),
        };
      },
    }),
  ];
}

function requireEntry(journal: DoubleJournal, wanted: number): JournalEntry {
  const entry = journal.all().find(({ number: each }) => each === wanted);
  if (entry === undefined) throw new Problem('not-found', `The journal has no entry ${wanted}.`);
  return entry;
}

interface Content {
  readonly text?: string;
  readonly bytes?: string;
  readonly entry?: number;
}

/** Returns the bytes to send. Throws RangeError unless exactly one member is present, and if they are too long. */
function selectBytes(
  { text: plain, bytes: encoded, entry }: Content,
  repeated: JournalEntry | undefined,
): Buffer {
  if ([plain, encoded, entry].filter((each) => each !== undefined).length !== 1)
    throw new RangeError('the content must have exactly one of text, bytes and entry');
  const bytes =
    repeated === undefined
      ? plain === undefined
        ? decodeBytes(encoded)
        : Buffer.from(plain)
      : formatRequest(repeated);
  if (bytes.length === 0 || bytes.length > maxRequest)
    throw new RangeError(`the request must have 1 to ${maxRequest} bytes`);
  return bytes;
}

function decodeBytes(base64 = ''): Buffer {
  const bytes = decodeCanonicalBase64(base64);
  if (bytes === undefined) throw new RangeError('bytes is not canonical base64 (RFC 4648 §4)');
  return Buffer.from(bytes);
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
