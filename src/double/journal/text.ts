import { escapeInvisible } from '../../http/syntax/control-character.ts';
import { toReadable } from '../../http/syntax/octets.ts';
import type { JournalCors } from '../../pipeline/cors.ts';
import type { Fault } from '../faults/declaration.ts';
import type { JournalAuth, JournalRequest } from './view.ts';

/** The members of an entry that its text contains. */
interface EntryText {
  readonly number: number;
  readonly request: JournalRequest;
  readonly received: string | undefined;
  readonly status: number;
  readonly user: string | undefined;
  readonly step: number | undefined;
  readonly problem:
    | { readonly type: string; readonly detail: string; readonly hint?: string | undefined }
    | undefined;
  readonly auth: JournalAuth | undefined;
  readonly cors: JournalCors | undefined;
  readonly fault: Fault | undefined;
  readonly aborted: boolean;
  readonly warnings: readonly string[];
}

/** The names of the steps, from 0 on. `docs/operations.md` describes them. */
const stepNames = [
  'parsing',
  'availability',
  'message',
  'method',
  'target',
  'framing',
  'route',
  'credentials',
  'OPTIONS',
  'implementation',
  'permission',
  'content type',
  'existence',
  'representation',
  'preconditions',
  'content',
  'action',
];

/**
 * Returns one line with the request, the response and the reason of a refusal. For wrong credentials, further lines contain the
 * check and the messages.
 */
export function formatEntry(entry: EntryText): string {
  const { number, request, status, user, problem, auth, cors } = entry;
  const by = user === undefined ? '' : ` by ${user}`;
  const outcome = [
    status === 0 ? 'no response' : status,
    problem?.type ?? auth?.error,
    formatStep(entry),
    formatFault(entry.fault),
    entry.aborted ? 'the client disconnected' : undefined,
  ].filter((part) => part !== undefined);
  const reason = formatReason(entry);
  const line = `#${number} ${formatSubject(request, entry.received)}${by}: ${outcome.join(', ')}`;
  const described = reason === undefined ? line : `${line}: ${reason}`;
  return [
    escapeInvisible(described),
    ...(auth === undefined ? [] : formatChecks(auth)),
    ...formatCors(cors),
    ...formatWarnings(entry),
  ].join('\n  ');
}

function formatSubject(request: JournalRequest, received: string | undefined): string {
  if (request.method !== '') return `${request.method} ${toReadable(request.target)}`;
  const [line = ''] = (received ?? '').split('\n', 1);
  const start = line.trimEnd();
  return isRequestLine.test(start) ? `unparsable request ${JSON.stringify(start)}` : 'unparsable request';
}

const isRequestLine = /^[!-~]{1,32} .{0,200}$/;

function formatStep({ step, fault }: EntryText): string | undefined {
  if (step !== undefined) return `step ${step} (${stepNames[step] ?? ''})`;
  return fault === undefined ? 'no step' : undefined;
}

/** Describes a fault by its members. A body and fields, which may be long or contain secrets, are only named. */
function formatFault(fault: Fault | undefined): string | undefined {
  if (fault === undefined) return undefined;
  const members = Object.entries(fault).filter(([, value]: [string, unknown]) => value !== undefined);
  const described = members.map(([name, value]: [string, unknown]) =>
    typeof value === 'object' || name === 'body' || name === 'retryAfter' ? name : `${name} ${String(value)}`,
  );
  return `fault: ${described.join(', ')}`;
}

/** Returns the detail of the refusal and, after a colon, the mistake. Undefined if the request was not refused. */
function formatReason({ problem, auth }: EntryText): string | undefined {
  const detail = problem?.detail ?? (auth?.failedAt === undefined ? undefined : auth.detail);
  const hint = auth?.hint ?? problem?.hint;
  if (detail === undefined || hint === undefined) return detail ?? hint;
  // Some details contain their hint.
  if (detail.includes(hint.replace(/\.$/, ''))) return detail;
  return `${detail.replace(/\.$/, '')}: ${hint}`;
}

function formatChecks(shown: JournalAuth): string[] {
  const { scheme = 'credentials', failedAt, expected, received } = shown;
  if (failedAt === undefined) return [];
  const lines = [`${scheme}: failed at ${failedAt}`];
  // A message of several lines, or without separators beside its parts, is shown by its parts.
  const isJoined = shown.parts.map((part) => part.expected).join('') === expected;
  const isLong = expected === undefined || expected.length > longestMessage || expected.includes('\n');
  const hasParts = shown.parts.length > 0 && (isJoined || isLong);
  if (hasParts) return [...lines, ...formatParts(shown)].map(escapeInvisible);
  if (expected !== undefined) lines.push(`expected ${expected}`);
  if (received !== undefined) lines.push(`received ${received}`);
  return lines.map(escapeInvisible);
}

/** Returns how the response differs from the document of the partner, or what was accepted although it is not as a standard says. */
function formatWarnings({ warnings }: EntryText): string[] {
  return warnings.map((warning) => escapeInvisible(`warning: ${warning}`));
}

/** Returns the condition that a request from another origin does not meet. */
function formatCors(cors: JournalCors | undefined): string[] {
  if (cors?.failedAt === undefined) return [];
  return [escapeInvisible(`cors: failed at ${cors.failedAt}: ${cors.detail ?? ''}`)];
}

/** Returns the checks that passed, and the part that differs or, if none is known, all parts. */
function formatParts({ passed, parts, differs }: JournalAuth): string[] {
  const lines = passed.length === 0 ? [] : [`passed ${passed.join(', ')}`];
  const part = parts.find(({ name }) => name === differs);
  if (part === undefined)
    return [
      ...lines,
      `expected ${parts.map(({ name, expected }) => `${name} ${shorten(expected)}`).join(' | ')}`,
    ];
  const signed = part.signed === undefined ? '' : `, signed ${JSON.stringify(shorten(part.signed))}`;
  return [...lines, `${part.name}: expected ${JSON.stringify(shorten(part.expected))}${signed}`];
}

/** The longest message that is shown whole, in characters. */
const longestMessage = 1000;

/** The longest value of a part in a line, in characters. */
const longestPart = 200;

function shorten(text: string): string {
  return text.length <= longestPart ? text : `${text.slice(0, longestPart)}…`;
}
