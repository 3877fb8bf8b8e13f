import { either, flag, number, object, optional, text, word } from '../../../shape/shape.ts';
import { checkFault } from '../../faults/declaration.ts';
import type { PlannedFault } from '../../faults/faults.ts';
import { describeHeaders, matchToJson, requestMatchMembers } from '../match.ts';
import { createBareOperation, type Operation, operation } from '../operation.ts';
import type { ControlTarget } from '../target.ts';

/** The operations on planned faults. */
export function faultOperations({
  faults,
  core,
}: Pick<ControlTarget, 'faults' | 'core'>): readonly Operation[] {
  const listFaults = (all: readonly PlannedFault[]) => ({ faults: all.map(toJson) });
  return [
    createBareOperation({
      method: 'GET',
      path: '/faults',
      id: 'faults',
      returns: listSchema,
      summary: 'Returns all planned faults that can still be applied',
      run: () => listFaults(core.faults.planned()),
    }),
    createBareOperation({
      method: 'GET',
      path: '/faults/pending',
      id: 'pendingFaults',
      returns: listSchema,
      summary: 'Returns the planned faults that were not applied to all their requests',
      description: 'A fault with `times: always` is pending until it was applied once.',
      run: () => listFaults(faults.pending()),
    }),
    operation({
      method: 'POST',
      path: '/faults',
      id: 'planFault',
      status: 201,
      returns: plannedSchema,
      summary: 'Plans a fault',
      description: 'It applies to the next matching request, to a number of them, or to all.',
      accepts: object({
        match: optional(object(requestMatchMembers, 'selects requests; default: all')),
        fault: object(faultMembers, 'the fault'),
        times: optional(either(number({ min: 1 }), word(['always']), 'default: 1')),
      }),
      run({ match = {}, fault, times = 1 }) {
        checkFault(fault);
        const rule = times === 'always' ? faults.always(match, fault) : faults.times(times, match, fault);
        return toJson({ match, fault, remaining: rule.remaining, count: rule.count });
      },
    }),
    createBareOperation({
      method: 'DELETE',
      path: '/faults',
      id: 'clearFaults',
      summary: 'Removes all planned faults',
      description: 'A fault that is being applied is not interrupted.',
      run: () => faults.clear(),
    }),
  ];
}

const plannedSchema = {
  type: 'object',
  required: ['match', 'fault', 'remaining', 'count'],
  properties: {
    match: { type: 'object' },
    fault: { type: 'object' },
    remaining: {
      anyOf: [{ type: 'integer' }, { const: 'always' }],
      description: 'the number of requests to which it will still be applied',
    },
    count: { type: 'integer', description: 'the number of requests to which it was applied' },
  },
};

const listSchema = {
  type: 'object',
  required: ['faults'],
  properties: { faults: { type: 'array', items: plannedSchema } },
};

function toJson({
  match,
  fault,
  remaining,
  count,
}: Pick<PlannedFault, 'match' | 'fault' | 'remaining' | 'count'>) {
  return {
    match: matchToJson(match),
    fault,
    remaining: Number.isFinite(remaining) ? remaining : 'always',
    count,
  };
}

const bytes = { min: 0 };

const faultMembers = {
  status: optional(
    number({ min: 200, max: 599 }, 'status of the response that is sent instead of processing the request'),
  ),
  body: optional(text('content of that response')),
  headers: optional(describeHeaders('further header fields of that response')),
  retryAfter: optional(either(number({ min: 0 }), text(), 'Retry-After of that response')),
  delay: optional(
    either(
      number({ min: 0, whole: false }),
      text(),
      'ms, or text such as 2s, by which the response is delayed',
    ),
  ),
  dribble: optional(number({ whole: false }, 'rate of the content in bytes per second')),
  truncate: optional(number(bytes, 'the connection is closed after this number of bytes of the content')),
  reset: optional(
    either(
      number(bytes),
      word(['before', 'amid']),
      'the connection is reset before the response, in the middle of its content, or after this number of bytes',
    ),
  ),
  close: optional(flag('the connection is closed in order, without a response')),
  lostAfterActing: optional(
    flag('after PUT, POST or DELETE made a change, the connection is reset without a response'),
  ),
  badChunk: optional(flag('the size of the second chunk is not a number')),
  wrongLength: optional(number({}, 'number of bytes by which Content-Length is wrong')),
  malformedXml: optional(flag('the document is cut before its last end tag')),
  staleCertificate: optional(flag('new TLS connections get an expired certificate')),
  rotatedSecret: optional(flag('the user’s secret is rotated before the request is verified')),
  expiredToken: optional(flag('the request’s token expires before the request is verified')),
  nonceSeen: optional(flag('the nonce of the request counts as used')),
  skewedDate: optional(
    either(
      number({ whole: false }),
      text(),
      'ms, or text such as -5m, by which the clock is ahead for this request',
    ),
  ),
  before: optional(flag('with delay: the delay precedes processing; with reset: nothing is processed')),
};
