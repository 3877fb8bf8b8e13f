import { Problem } from '../../../http/problem.ts';
import { type EventLog, EventTimeout, eventKinds } from '../event-log.ts';
import { bareOperation, type Operation, operation } from '../operation.ts';
import { listOf, number, object, optional, text, word } from '../shape.ts';
import { longestWait } from './journal.ts';

/** The operations on events: what happened to grants and tokens, and replays. */
export function eventOperations(log: EventLog): readonly Operation[] {
  return [
    bareOperation({
      ...{ method: 'GET', path: '/events', id: 'events', gives: object({ events: listOf(heard) }).schema },
      summary: 'What happened to grants and tokens since the interface was opened, oldest first',
      description: 'The latest 1000 are kept. No token or nonce is in them.',
      answer: () => ({ events: log.all }),
    }),
    operation({
      ...{ method: 'POST', path: '/events/wait', id: 'waitForEvent', gives: heard.schema },
      summary: 'The first event that fits, there or to come',
      refuses: { 404: 'None came in time; the detail lists what did.' },
      takes: object({
        kind: optional(word(eventKinds)),
        client: optional(text('the client’s id, or the consumer’s key')),
        user: optional(text()),
        timeout: optional(number({ least: 0, most: longestWait }, 'ms; 2000 when left out')),
        after: optional(number({ least: 0 }, 'events up to this number do not count')),
      }),
      answer: ({ timeout = 2000, after = 0, ...match }) =>
        log.waitFor(match, timeout, after).catch((error: unknown) => {
          if (error instanceof EventTimeout) throw new Problem('not-found', error.message);
          throw error;
        }),
    }),
  ];
}

const heard = object({
  number: number({}, 'counted from 1'),
  time: number({ whole: false }, 'ms since 1970 by the clock of the server'),
  kind: word(eventKinds),
  mechanism: optional(word(['oauth1', 'oauth2'])),
  client: optional(text()),
  user: optional(text('left out where a client came for itself')),
  token: optional(
    word(
      ['ticket', 'code', 'access', 'refresh', 'request'],
      'what was issued, revoked or used twice; left out for a whole grant',
    ),
  ),
});
