import { Problem } from '../../../http/problem.ts';
import { listDateWindows } from '../../../service/authentication.ts';
import {
  either,
  flag,
  listOf,
  number,
  object,
  optional,
  type Shape,
  text,
  word,
} from '../../../shape/shape.ts';
import { nextTurn } from '../../../timers.ts';
import { DoubleError } from '../../error.ts';
import type { JournalEntry, JournalRequest, JournalResponse } from '../../journal/entry.ts';
import type { DoubleJournal } from '../../journal/journal.ts';
import { problemTypeShape } from '../../match.ts';
import { anyObject, requestMatchMembers } from '../content.ts';
import {
  type Controlled,
  type ControlledAddresses,
  type Operation,
  operation,
  version,
} from '../operation.ts';

/** The longest wait in ms. It limits waits of clients that have disconnected. */
export const longestWait = 60_000;

/** The maximum number of summaries in a list. */
const longestList = 1000;

/** The operations on the journal. */
export function journalOperations({
  journal,
  addresses,
  core: { options, schemes },
}: Pick<Controlled, 'journal' | 'addresses' | 'core'>): readonly Operation[] {
  const windows = listDateWindows(options, schemes);
  return [
    operation('GET', '/journal', 'journal', {
      returns: entriesShape,
      media: 'application/json',
      summary: 'Returns all entries, oldest first',
      description: 'Secrets, passwords, tokens and signatures are redacted.',
      run: () => entriesContent(journal.all()),
    }),
    operation('GET', '/journal/last', 'lastEntry', {
      returns: entry,
      summary: 'Returns the latest entry',
      errors: { 404: 'The journal is empty.' },
      run() {
        const entry = journal.all().at(-1);
        if (entry === undefined) throw new Problem('not-found', 'The journal is empty.');
        return entry.view();
      },
    }),
    operation('POST', '/journal/find', 'findEntries', {
      returns: entriesShape,
      media: 'application/json',
      summary: 'Returns the matching entries, oldest first',
      accepts: object(entryMembers),
      run: (match) => entriesContent(journal.all(match)),
    }),
    operation('POST', '/journal/wait', 'waitForEntry', {
      returns: entry,
      summary: 'Returns the first matching entry, and waits for it if necessary',
      errors: { 404: 'No matching entry in time; the detail lists the entries and how each differs.' },
      accepts: object({
        match: object(entryMembers),
        timeout: optional(number({ min: 0, max: longestWait }, 'ms; default: 2000')),
        after: optional(number({ min: 0 }, 'the number of an entry; it and earlier ones are ignored')),
      }),
      run: ({ match, timeout, after }) =>
        journal
          .waitFor(match, { timeout, after: findLatest(journal, after) })
          .then((entry) => entry.view(), notFoundInTime),
    }),
    operation('POST', '/journal/list', 'listEntries', {
      returns: listShape,
      summary:
        'Returns summaries of entries, oldest first: the latest ones, or those before or after an entry',
      accepts: object({
        after: optional(number({ min: 0 }, 'only entries with a higher number, the oldest of them')),
        before: optional(number({ min: 0 }, 'only entries with a lower number, the latest of them')),
        limit: optional(number({ min: 1, max: longestList }, `default: ${longestList}`)),
        wait: optional(
          number(
            { min: 0, max: longestWait },
            'ms to wait for the next entry if there are none in the range; default: 0',
          ),
        ),
      }),
      async run({ wait = 0, ...range }) {
        const now = await listEntries(journal, range);
        if (wait === 0 || now.entries.length > 0) return now;
        await nextEntry(journal, wait);
        return await listEntries(journal, range);
      },
    }),
    operation('GET', '/journal/{number}', 'entry', {
      returns: entry,
      summary: 'Returns an entry, with the date and nonce of its signature, and an earlier use of the nonce',
      errors: { 404: 'The journal does not contain the entry.' },
      run(_, { number: wanted = '' }) {
        const entry = requireEntry(journal, wanted);
        const shown = entry.view();
        const scheme = shown.principal?.scheme ?? shown.auth?.scheme;
        const window = scheme === undefined ? undefined : windows[scheme];
        return { ...shown, presented: { ...showPresented(journal, entry), window } };
      },
    }),
    operation('GET', '/journal.har', 'journalAsHar', {
      returns: anyObject(),
      media: 'application/json',
      summary: 'Returns all entries as HTTP Archive (HAR 1.2), without secrets',
      run: () => formatHar(journal.all(), addresses, version),
    }),
    operation('DELETE', '/journal', 'clearJournal', {
      summary: 'Removes all entries',
      run: () => journal.clear(),
    }),
  ];
}

async function entriesContent(entries: readonly JournalEntry[]): Promise<string> {
  return `{"entries":${await entriesJson(entries)}}`;
}

/** Returns the latest entry whose number is at most `after`. If it was dropped from the journal, so were all before it. */
function findLatest(journal: DoubleJournal, after = 0): JournalEntry | undefined {
  return journal.all().findLast(({ number: each }) => each <= after);
}

/** Returns the entry with a number. Throws a Problem if there is none. */
export function requireEntry(journal: DoubleJournal, wanted: number | string): JournalEntry {
  const entry = journal.all().find(({ number: each }) => String(each) === String(wanted));
  if (entry === undefined) throw new Problem('not-found', `The journal has no entry ${wanted}.`);
  return entry;
}

/** Throws the end of a wait without a match as a Problem `not-found`. */
export function notFoundInTime(error: unknown): never {
  if (error instanceof DoubleError) throw new Problem('not-found', error.message);
  throw error;
}

interface Range {
  readonly after?: number;
  readonly before?: number;
  readonly limit?: number;
}

/** Resolves at the next entry, whatever its number: a reset begins anew with 1. At the latest it resolves after `timeout` ms. */
async function nextEntry(journal: DoubleJournal, timeout: number): Promise<void> {
  const known = new Set(journal.all());
  await journal
    .waitFor((entry) => !known.has(entry), { timeout })
    .catch((error: unknown) => {
      if (!(error instanceof DoubleError)) throw error;
    });
}

/**
 * Returns the summaries of a range, and the numbers of the first and last entry of the whole journal. It pauses before each
 * explanation, so that other requests do not wait for all.
 */
async function listEntries(
  journal: DoubleJournal,
  { after, before = Number.POSITIVE_INFINITY, limit = longestList }: Range,
) {
  const all = journal.all();
  const chosen = all.filter(({ number: each }) => each > (after ?? 0) && each < before);
  const part = after === undefined ? chosen.slice(-limit) : chosen.slice(0, limit);
  const entries: ReturnType<typeof summarize>[] = [];
  for (const entry of part) {
    if (entry.isPending) await nextTurn();
    entries.push(summarize(entry));
  }
  return { entries, first: all[0]?.number, last: all.at(-1)?.number };
}

/** The maximum length of a target or a detail in a summary. */
const longestText = 2000;

/** Returns what a list shows of an entry. */
function summarize(entry: JournalEntry) {
  const { number, time, duration, user, request, status, principal, step, problem, auth, ...others } =
    entry.view();
  return {
    ...{ number, time, duration, user, status, step },
    method: request.method,
    target: request.target.slice(0, longestText),
    scheme: principal?.scheme ?? auth?.scheme,
    problem: problem?.type,
    detail: problem?.detail.slice(0, longestText),
    hint: auth?.hint ?? problem?.hint,
    fault: others.fault !== undefined,
    aborted: others.aborted,
    text: others.text,
  };
}

const entryMembers = {
  ...requestMatchMembers,
  status: optional(number({}, 'status of the response')),
  step: optional(number({ min: 0, max: 16 }, 'step that produced the response')),
  problem: optional(problemTypeShape),
  text: optional(text('text that the content of the request contains')),
};

const pairs = listOf(listOf(text()), 'names and values');

const entryText = text(
  'request, response and reason in one line; for wrong credentials, what differs in further ones',
);

const claimedUser = text('the user that the credentials name, valid or not');

const entry = object({
  number: number({}, 'sequence number, from 1'),
  time: number({ whole: false }, 'time of the server’s clock, in ms since 1970-01-01T00:00:00Z'),
  duration: number({ whole: false }, 'ms of the host’s time'),
  user: optional(claimedUser),
  request: object(
    {
      method: text(),
      target: text(),
      path: text(),
      query: pairs,
      version: text(),
      headers: pairs,
      length: number({}),
      body: text('the recorded content, as UTF-8'),
      peer: text(),
      secure: either(flag(), word(['assumed'])),
    },
    'its members are empty if the request could not be parsed',
  ),
  received: optional(text('the received text if the request could not be parsed')),
  status: number({}, 'status of the response; 0 if there was none'),
  response: optional(
    object({ status: number({}), headers: pairs, body: text() }, 'the response; absent if there was none'),
  ),
  principal: optional(object({ name: text(), scheme: text() })),
  step: optional(number({}, 'step, 0 to 16, that produced the response; absent if a fault did')),
  problem: optional(object({ type: text(), detail: text(), hint: optional(text()) })),
  auth: optional(
    anyObject(
      'the verification of the credentials: passed, failedAt, hint, expected, received, firstDifference, parts, differs, error',
    ),
  ),
  token: optional(
    object(
      { header: anyObject(), claims: anyObject() },
      'of a bearer token in the form of a JWT, valid or not',
    ),
  ),
  cors: optional(
    anyObject(
      'a browser’s request from another origin: origin, preflight, failedAt (origin, status, method, header), detail',
    ),
  ),
  fault: optional(anyObject('the fault that was applied')),
  aborted: flag('whether the client disconnected'),
  warnings: optional(
    listOf(
      text(),
      'how the request or the response differs from the document of a partner; absent if it does not',
    ),
  ),
  text: entryText,
  presented: optional(
    anyObject(
      'of a single entry: date and nonce of its signature, an earlier use of the nonce, and the window',
    ),
  ),
});

const summary = object({
  number: number({}),
  time: number({ whole: false }),
  duration: number({ whole: false }),
  method: text('empty if the request could not be parsed'),
  target: text('at most 2,000 characters'),
  user: optional(claimedUser),
  scheme: optional(text()),
  status: number({}, '0 if there was no response'),
  step: optional(number({})),
  problem: optional(text()),
  detail: optional(text('what the problem says, at most 2,000 characters')),
  hint: optional(text('the usual cause of the problem, if one is recognized')),
  fault: flag('whether a fault was applied'),
  aborted: flag(),
  text: entryText,
});

const listShape = object({
  entries: listOf(summary),
  first: optional(number({}, 'number of the oldest entry of the journal')),
  last: optional(number({}, 'number of the latest entry of the journal')),
});

/** The entries are written in parts. */
const entriesShape: Shape<unknown> = object({ entries: listOf(entry) });

// The forms in which the control interface writes entries of the journal.

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
    headers: namedPairs(headers),
    queryString: namedPairs(query),
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
    headers: namedPairs(headers),
    content: { size: Buffer.byteLength(text), mimeType: readType(headers), text },
    redirectURL: findField(headers, 'location'),
    headersSize: -1,
    bodySize: -1,
  };
}

function namedPairs(lines: readonly Line[]): object[] {
  return lines.map(([name, value]) => ({ name, value }));
}

function readType(fields: readonly Line[]): string {
  return findField(fields, 'content-type') || 'x-unknown';
}

function findField(fields: readonly Line[], wanted: string): string {
  return fields.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
}

/** Returns the date and the nonce with which a request was signed, as sent, without secrets, and an earlier use of the nonce. */
function showPresented(journal: Pick<DoubleJournal, 'all'>, entry: JournalEntry) {
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
