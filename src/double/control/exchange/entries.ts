// The forms in which the control interface writes entries of the journal.
import { nextTurn } from '../../../timers.ts';
import type { JournalEntry, JournalRequest, JournalResponse } from '../../journal/entry.ts';
import type { DoubleJournal } from '../../journal/journal.ts';
import type { ControlledAddresses } from '../operation.ts';

/** The size in bytes of the entries that are written in one turn of the event loop. */
const sliceSize = 64 * 1024;

/**
 * Writes entries as an array in JSON. It pauses after each slice, and before each explanation, so that other requests do not wait for a long journal.
 * @param toView returns what is written of an entry. Default: the entry itself
 */
export async function entriesJson(
  entries: readonly JournalEntry[],
  toView: (entry: JournalEntry) => object = (entry) => entry,
): Promise<string> {
  const written: string[] = [];
  let size = 0;
  for (const entry of entries) {
    if (size >= sliceSize || entry.isPending) {
      await nextTurn();
      size = 0;
    }
    written.push(JSON.stringify(toView(entry)));
    size += entry.size;
  }
  return `[${written.join(',')}]`;
}

type Line = readonly [name: string, value: string];

/** The origins of the server over HTTP and over HTTPS. */
type Origins = Pick<ControlledAddresses, 'url' | 'secureUrl'>;

/**
 * Writes entries of the journal as HAR 1.2 (HTTP Archive), which browsers' developer tools and proxies open. Secrets are
 * redacted. What HAR cannot express is in members that begin with an underscore.
 */
export async function formatHar(
  entries: readonly JournalEntry[],
  origins: Origins,
  version: string,
): Promise<string> {
  const creator = JSON.stringify({ name: 'Countersign', version });
  const written = await entriesJson(entries, (entry) => harEntry(entry, origins));
  return `{"log":{"version":"1.2","creator":${creator},"entries":${written}}}`;
}

function harEntry(entry: JournalEntry, { url, secureUrl }: Origins): object {
  const { number, time, duration, step, problem, auth, fault, user, request, received, response } =
    entry.view();
  const origin = (request.secure === true ? secureUrl : url) ?? url ?? secureUrl ?? '';
  return {
    startedDateTime: new Date(time).toISOString(),
    time: duration,
    request: harRequest(request, received, origin),
    response: harResponse(response),
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    _number: number,
    _user: user,
    _step: step,
    _problem: problem,
    _authentication: auth,
    _fault: fault,
  };
}

/** Returns the request. One that could not be parsed has the method `-` and its text as content. */
function harRequest(request: JournalRequest, received: string | undefined, origin: string): object {
  const { headers, query } = request;
  const target = request.target || '/';
  const text = request.body || (received ?? '');
  return {
    method: request.method || '-',
    url: /^[a-z][a-z0-9+.-]*:\/\//i.test(target)
      ? target
      : `${origin}${target.startsWith('/') ? '' : '/'}${target}`,
    httpVersion: `HTTP/${request.version || '1.1'}`,
    cookies: [],
    headers: pairs(headers),
    queryString: pairs(query),
    ...(text !== '' && { postData: { mimeType: readType(headers), text } }),
    headersSize: -1,
    bodySize: request.method === '' ? -1 : request.length,
  };
}

function harResponse(response: JournalResponse | undefined): object {
  const { status = 0, headers = [], body: text = '' } = response ?? {};
  return {
    status,
    statusText: '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairs(headers),
    content: { size: Buffer.byteLength(text), mimeType: readType(headers), text },
    redirectURL: findField(headers, 'location'),
    headersSize: -1,
    bodySize: -1,
  };
}

function pairs(lines: readonly Line[]): object[] {
  return lines.map(([name, value]) => ({ name, value }));
}

function readType(fields: readonly Line[]): string {
  return findField(fields, 'content-type') || 'x-unknown';
}

function findField(fields: readonly Line[], wanted: string): string {
  return fields.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
}

/** Returns the date and the nonce with which a request was signed, as sent, without secrets, and an earlier use of the nonce. */
export function showPresented(journal: Pick<DoubleJournal, 'all'>, entry: JournalEntry) {
  const { time, nonce, sentTime } = entry.presented ?? {};
  const text = sentTime ?? String(Math.floor((time ?? 0) / 1000));
  return {
    /** `time` is in ms since 1970-01-01T00:00:00Z. */
    date: time === undefined ? undefined : { text: entry.redact(text), time },
    nonce: nonce === undefined ? undefined : entry.redact(nonce),
    earlier: nonce === undefined ? undefined : findEarlierUse(journal, entry, nonce),
  };
}

/** Returns the first other request with the same nonce, before this one. */
function findEarlierUse(journal: Pick<DoubleJournal, 'all'>, { number, user }: JournalEntry, nonce: string) {
  const first = journal.all().find((other) => other.user === user && other.presented?.nonce === nonce);
  return first === undefined || first.number >= number
    ? undefined
    : { number: first.number, time: first.time };
}
