import { Problem } from '../../../http/problem.ts';
import type { Journal } from '../../journal/journal.ts';
import type { WaitOptions } from '../../journal/waiting.ts';
import { JournalTimeout } from '../../journal/waiting.ts';
import { matchMembers } from '../match.ts';
import { bareOperation, type Operation, operation } from '../operation.ts';
import { number, object, optional, text } from '../shape.ts';
import type { ControlTarget } from '../target.ts';

/** The longest wait in ms, which also bounds the wait of a client that is gone. */
export const longestWait = 60_000;

/** The operations on the journal. */
export function journalOperations({ journal }: Pick<ControlTarget, 'journal'>): readonly Operation[] {
  return [
    bareOperation({
      ...{ method: 'GET', path: '/journal', id: 'journal', gives: entriesSchema },
      summary: 'All entries, oldest first',
      description: 'Secrets, passwords, tokens and signatures are taken out.',
      answer: () => ({ entries: journal.all() }),
    }),
    bareOperation({
      ...{ method: 'GET', path: '/journal/last', id: 'lastEntry', gives: entrySchema },
      summary: 'The latest entry',
      refuses: { 404: 'There is none.' },
      answer() {
        const entry = journal.last();
        if (entry === undefined) throw new Problem('not-found', 'The journal is empty.');
        return entry;
      },
    }),
    operation({
      ...{ method: 'POST', path: '/journal/find', id: 'findEntries', gives: entriesSchema },
      summary: 'The entries that fit, oldest first',
      takes: object(entryMembers),
      answer: (match) => ({ entries: journal.find(match) }),
    }),
    operation({
      ...{ method: 'POST', path: '/journal/wait', id: 'waitForEntry', gives: entrySchema },
      summary: 'The first entry that fits, there or to come',
      refuses: { 404: 'None came in time; the detail lists what did, and how each differs.' },
      takes: object({
        match: object(entryMembers),
        timeout: optional(number({ least: 0, most: longestWait }, 'ms; 2000 when left out')),
        after: optional(number({ least: 0 }, 'entries up to this number do not count')),
      }),
      answer: ({ match, timeout, after }) =>
        journal
          .waitFor(match, { ...(timeout !== undefined && { timeout }), ...since(journal, after) })
          .catch((error: unknown) => {
            if (error instanceof JournalTimeout) throw new Problem('not-found', error.message);
            throw error;
          }),
    }),
    bareOperation({
      ...{ method: 'DELETE', path: '/journal', id: 'clearJournal' },
      summary: 'Forgets every entry',
      answer: () => journal.clear(),
    }),
  ];
}

/** The latest entry of no higher number: those up to it do not count. One that has gone takes all before it with it. */
function since(journal: Journal, after: number | undefined): Pick<WaitOptions, 'after'> {
  const entry = after === undefined ? undefined : journal.all().findLast(({ number: each }) => each <= after);
  return entry === undefined ? {} : { after: entry };
}

const entryMembers = {
  ...matchMembers,
  status: optional(number({}, 'of the reply')),
  step: optional(number({ least: 0, most: 16 }, 'that answered')),
  problem: optional(text('the problem type of a refusal, such as nonce-replayed')),
  text: optional(text('what the content of the request has in it')),
};

const fieldsSchema = { type: 'array', items: { type: 'array', items: { type: 'string' } } };

const entrySchema = {
  type: 'object',
  required: ['number', 'time', 'duration', 'aborted'],
  properties: {
    number: { type: 'integer', description: 'counted from 1' },
    time: { type: 'number', description: 'ms since 1970 by the clock of the server' },
    duration: { type: 'number', description: 'ms of the host’s time' },
    request: {
      type: 'object',
      description: 'left out where it could not be parsed',
      properties: {
        method: { type: 'string' },
        target: { type: 'string' },
        path: { type: 'string' },
        query: fieldsSchema,
        version: { type: 'string' },
        fields: fieldsSchema,
        length: { type: 'integer' },
        text: { type: 'string' },
        peer: { type: 'string' },
        secure: { type: 'boolean' },
      },
    },
    received: { type: 'string', description: 'what was being read where it could not be parsed' },
    reply: {
      type: 'object',
      description: 'left out where there was none',
      properties: { status: { type: 'integer' }, fields: fieldsSchema, text: { type: 'string' } },
    },
    principal: {
      type: 'object',
      properties: { name: { type: 'string' }, scheme: { type: 'string' } },
    },
    step: { type: 'integer', description: 'the step, 0 to 16, that answered; left out where a fault did' },
    problem: { type: 'object', properties: { type: { type: 'string' }, detail: { type: 'string' } } },
    auth: {
      type: 'object',
      description:
        'how the credentials were checked: passed, failedAt, hint, expected, received, firstDifference',
    },
    fault: { type: 'object', description: 'what went wrong on purpose' },
    aborted: { type: 'boolean' },
  },
};

const entriesSchema = {
  type: 'object',
  required: ['entries'],
  properties: { entries: { type: 'array', items: entrySchema } },
};
