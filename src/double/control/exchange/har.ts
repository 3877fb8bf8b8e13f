import type { JournalEntry, JournalRequest, JournalResponse } from '../../journal/entry.ts';
import { entriesJson } from './entries-json.ts';

type Line = readonly [name: string, value: string];

/** The origins of the server over HTTP and over HTTPS. */
interface Origins {
  readonly url: string | undefined;
  readonly secureUrl: string | undefined;
}

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
  // Each getter redacts anew, so each is read once.
  const { number, time, duration, step, problem, auth, fault, user, request, received, response } = entry;
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
