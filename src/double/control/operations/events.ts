import { Problem } from '../../../http/problem.ts';
import { listOf, number, object, optional, text, word } from '../../../shape/shape.ts';
import { DoubleError } from '../../error.ts';
import { credentialEvents } from '../../events.ts';
import type { EventLog } from '../event-log.ts';
import { type Operation, operation } from '../operation.ts';
import { longestWait } from './journal.ts';

/** The operations on events: changes of grants and tokens, and replays. */
export function eventOperations(log: EventLog): readonly Operation[] {
  return [
    operation('GET', '/events', 'events', {
      returns: object({ events: listOf(eventShape) }),
      summary: 'Returns the events since the interface was opened, oldest first',
      description: 'The log holds the latest 1000 events. They contain no token and no nonce.',
      run: () => ({ events: log.all }),
    }),
    operation('POST', '/events/wait', 'waitForEvent', {
      returns: eventShape,
      summary: 'Returns the first matching event, and waits for it if necessary',
      errors: { 404: 'No matching event in time; the detail lists the other events.' },
      accepts: object({
        type: optional(word(credentialEvents)),
        client: optional(text('the client’s id, or the consumer’s key')),
        user: optional(text()),
        timeout: optional(number({ min: 0, max: longestWait }, 'ms; default: 2000')),
        after: optional(number({ min: 0 }, 'the number of an event; it and earlier ones are ignored')),
      }),
      run: ({ timeout = 2000, after = 0, ...match }) =>
        log.waitFor(match, timeout, after).catch((error: unknown) => {
          if (error instanceof DoubleError) throw new Problem('not-found', error.message);
          throw error;
        }),
    }),
  ];
}

const eventShape = object({
  number: number({}, 'sequence number, from 1'),
  time: number({ whole: false }, 'time of the server’s clock, in ms since 1970-01-01T00:00:00Z'),
  type: word(credentialEvents),
  mechanism: optional(word(['oauth1', 'oauth2'])),
  client: optional(text()),
  user: optional(text('absent if a client acts for itself')),
  token: optional(
    word(
      ['ticket', 'code', 'access', 'refresh', 'request'],
      'the kind of the issued, revoked or reused token; absent for a whole grant',
    ),
  ),
});
