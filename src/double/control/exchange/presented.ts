import { HttpHeaders } from '../../../http/fields.ts';
import { parseCredentials } from '../../../http/headers/authorization.ts';
import { parseSignedDate } from '../../../http/headers/date.ts';
import { splitHmacCredentials } from '../../../signature/hmac.ts';
import type { JournalEntry } from '../../journal/entry.ts';
import type { DoubleJournal } from '../../journal/journal.ts';

/** The date and the nonce with which a request was signed, as sent. Neither is a secret. */
interface Presented {
  readonly date?: {
    readonly text: string;
    /** In ms since 1970-01-01T00:00:00Z; absent if the text is not a date. */
    readonly time?: number;
  };
  readonly nonce?: string;
}

/** An earlier request with the same nonce. */
interface NonceUse {
  readonly number: number;
  readonly time: number;
}

/** Returns the date and nonce of a request, from the fields of the signature schemes. Empty without one of these. */
export function readPresented(entry: JournalEntry): Presented {
  const { request } = entry.raw();
  if (request === undefined) return {};
  const fields = new HttpHeaders(request.headers.flat());
  const signatureInput = fields.get('signature-input');
  if (signatureInput !== undefined) return readSignatureInput(signatureInput);
  const credentials = readCredentials(fields);
  if (credentials === undefined) return { ...readQuery(request.target), ...readParts(entry) };
  if (credentials.scheme === 'hmac') return readHmac(credentials.rest, fields);
  if (credentials.scheme === 'oauth') return readOAuth(credentials.rest);
  if (credentials.scheme.startsWith('aws4-'))
    return parseDated(fields.get('x-amz-date') ?? fields.get('date'));
  return {};
}

/** Returns a date and nonce without secrets, which a client can send in their place. */
export function maskPresented({ date, nonce }: Presented, entry: Pick<JournalEntry, 'redact'>): Presented {
  return {
    ...(date !== undefined && { date: { ...date, text: entry.redact(date.text) } }),
    ...(nonce !== undefined && { nonce: entry.redact(nonce) }),
  };
}

/** Returns the earliest other entry of the journal with the same nonce of the same user, before `entry`. */
export function findEarlierUse(
  journal: Pick<DoubleJournal, 'all'>,
  entry: JournalEntry,
): NonceUse | undefined {
  const { nonce } = readPresented(entry);
  if (nonce === undefined) return undefined;
  const { user } = entry;
  for (const other of journal.all()) {
    if (other.number >= entry.number) return undefined;
    if (other.user === user && readPresented(other).nonce === nonce)
      return { number: other.number, time: other.time };
  }
  return undefined;
}

function readCredentials(fields: HttpHeaders): ReturnType<typeof parseCredentials> {
  const value = fields.get('authorization') ?? fields.get('authentication');
  return value === undefined ? undefined : parseCredentials(value);
}

function readHmac(rest: string, fields: HttpHeaders): Presented {
  const credentials = splitHmacCredentials(rest);
  if (typeof credentials === 'string' || credentials.nonce === undefined) return {};
  return { ...parseDated(fields.get('x-date') ?? fields.get('date')), nonce: credentials.nonce };
}

/** OAuth 1.0a (RFC 5849 §3.5.1). */
function readOAuth(rest: string): Presented {
  const value = (name: string): string | undefined => new RegExp(`\\b${name}="([^"]*)"`).exec(rest)?.[1];
  return addNonce(value('oauth_nonce'), parseSeconds(value('oauth_timestamp')));
}

/** HTTP Message Signatures (RFC 9421 §2.3). */
function readSignatureInput(value: string): Presented {
  const [, created] = /;\s*created=(\d{1,15})/.exec(value) ?? [];
  const [, nonce] = /;\s*nonce="([^"]*)"/.exec(value) ?? [];
  return addNonce(nonce, parseSeconds(created));
}

function readQuery(target: string): Presented {
  const [, stamp] = /[?&]X-Amz-Date=([^&#]*)/.exec(target) ?? [];
  return parseDated(stamp);
}

/** A declared scheme, whose fields are not known here: from the parts of the message, if they are explained. */
function readParts({ auth }: JournalEntry): Presented {
  const findPart = (name: string): string | undefined =>
    auth?.parts?.find((part) => part.name === name)?.expected;
  const timestamp = findPart('timestamp');
  if (timestamp === undefined) return addNonce(findPart('nonce'), {});
  const scale = timestamp.length > 10 ? 1 : 1000;
  const isNumber = /^\d{9,13}$/.test(timestamp);
  const date = isNumber ? toPresented(timestamp, Number(timestamp) * scale) : parseDated(timestamp);
  return addNonce(findPart('nonce'), date);
}

function addNonce(nonce: string | undefined, others: Presented): Presented {
  return nonce === undefined ? others : { ...others, nonce };
}

function parseSeconds(text: string | undefined): Presented {
  return text === undefined ? {} : toPresented(text, Number(text) * 1000);
}

function parseDated(text: string | undefined): Presented {
  if (text === undefined) return {};
  return toPresented(text, parseSignedDate(text) ?? basicTime(text));
}

/** The largest time of a Date, in ms. */
const largestTime = 8.64e15;

function toPresented(text: string, time: number): Presented {
  return { date: Math.abs(time) <= largestTime ? { text, time } : { text } };
}

/** Parses the basic format of ISO 8601 in UTC, such as 20150830T123600Z, and the extended one. Returns NaN for other text. */
function basicTime(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}
