import type { PlannedFault } from '../../faults/faults.ts';
import { matchMembers } from '../match.ts';
import { bareOperation, type Operation, operation } from '../operation.ts';
import { either, flag, mapOf, number, object, optional, text, word } from '../shape.ts';
import type { ControlTarget } from '../target.ts';

/** The operations on planned faults. */
export function faultOperations({ faults }: Pick<ControlTarget, 'faults'>): readonly Operation[] {
  const listed = (planned: readonly PlannedFault[]) => ({ faults: planned.map(shown) });
  return [
    bareOperation({
      ...{ method: 'GET', path: '/faults', id: 'faults', gives: listSchema },
      summary: 'All that is planned for requests to come',
      answer: () => listed(faults.planned()),
    }),
    bareOperation({
      ...{ method: 'GET', path: '/faults/pending', id: 'pendingFaults', gives: listSchema },
      summary:
        'What was planned for requests that have not all come; of what is for always, what none has met',
      answer: () => listed(faults.pending()),
    }),
    operation({
      ...{ method: 'POST', path: '/faults', id: 'planFault', status: 201, gives: plannedSchema },
      summary: 'Plans that something goes wrong',
      description: 'It is for the next request that fits, for so many, or for always.',
      takes: object({
        match: optional(object(matchMembers, 'which requests; all when left out')),
        fault: object(faultMembers, 'what goes wrong'),
        times: optional(either(number({ least: 1 }), word(['always']), '1 when left out')),
      }),
      answer({ match = {}, fault, times = 1 }) {
        return shown(times === 'always' ? faults.always(match, fault) : faults.times(times, match, fault));
      },
    }),
    bareOperation({
      ...{ method: 'DELETE', path: '/faults', id: 'clearFaults' },
      summary: 'Takes back all that is planned; what is under way goes on',
      answer: () => faults.clear(),
    }),
  ];
}

const plannedSchema = {
  type: 'object',
  required: ['match', 'fault', 'left', 'met'],
  properties: {
    match: { type: 'object' },
    fault: { type: 'object' },
    left: {
      anyOf: [{ type: 'integer' }, { const: 'always' }],
      description: 'for how many requests it is still',
    },
    met: { type: 'integer', description: 'how many it has met' },
  },
};

const listSchema = {
  type: 'object',
  required: ['faults'],
  properties: { faults: { type: 'array', items: plannedSchema } },
};

function shown({ match, fault, left, met }: PlannedFault) {
  const path = match.path === undefined ? {} : { path: String(match.path) };
  return { match: { ...match, ...path }, fault, left: Number.isFinite(left) ? left : 'always', met };
}

const bytes = { least: 0 };

const faultMembers = {
  status: optional(
    number({ least: 200, most: 599 }, 'is answered in the place of the server, which does nothing'),
  ),
  body: optional(text('content of that answer')),
  fields: optional(mapOf(text(), 'further fields of that answer')),
  retryAfter: optional(either(number({ least: 0 }), text(), 'its Retry-After')),
  delay: optional(number({ least: 0, whole: false }, 'ms for which the reply is held back')),
  dribble: optional(number({ whole: false }, 'bytes a second')),
  truncate: optional(number(bytes, 'the connection ends in order after so many bytes of the content')),
  reset: optional(either(number(bytes), word(['before', 'amid']), 'the connection is reset')),
  badChunk: optional(flag('the second chunk has a size that is no number')),
  wrongLength: optional(number({}, 'Content-Length is off by so many bytes')),
  malformedXml: optional(flag('the document is cut before its last end tag')),
  staleCertificate: optional(flag('new connections over TLS see a certificate that has expired')),
  rotatedSecret: optional(flag('the secret of the user is another one from now on')),
  expiredToken: optional(flag('the token that the request carries has expired')),
  nonceSeen: optional(flag('the nonce of the request counts as seen')),
  skewedDate: optional(number({ whole: false }, 'for this request the clock is ahead by so many ms')),
  before: optional(flag('with delay: wait first, then act; with reset: do not act at all')),
};
