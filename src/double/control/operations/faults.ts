import { either, listOf, number, object, optional, text, word } from '../../../shape/shape.ts';
import { checkFault, faultMembers } from '../../faults/declaration.ts';
import type { PlannedFault } from '../../faults/faults.ts';
import { anyObject, describeHeaders, requestMatchMembers, ruleMembers, ruleToJson } from '../content.ts';
import { type Controlled, type Operation, operation } from '../operation.ts';

/** The operations on planned faults. */
export function faultOperations({ faults, core }: Pick<Controlled, 'faults' | 'core'>): readonly Operation[] {
  const listFaults = (all: readonly PlannedFault[]) => ({ faults: all.map(toJson) });
  return [
    operation('GET', '/faults', 'faults', {
      returns: listSchema,
      summary: 'Returns all planned faults that can still be applied',
      run: () => listFaults(core.faults.rules.remaining()),
    }),
    operation('GET', '/faults/pending', 'pendingFaults', {
      returns: listSchema,
      summary: 'Returns the planned faults that were not applied to all their requests',
      description: 'A fault with `times: always` is pending until it was applied once.',
      run: () => listFaults(faults.pending()),
    }),
    operation('POST', '/faults', 'planFault', {
      status: 201,
      returns: planned,
      summary: 'Plans a fault',
      description: 'It applies to the next matching request, to a number of them, or to all.',
      accepts: object({
        match: optional(object(requestMatchMembers, 'selects requests; default: all')),
        fault: faultShape,
        times: optional(either(number({ min: 1 }), word(['always']), 'default: 1')),
      }),
      run({ match = {}, fault, times = 1 }) {
        checkFault(fault);
        const rule = times === 'always' ? faults.always(match, fault) : faults.times(times, match, fault);
        return toJson({ match, fault, remaining: rule.remaining, count: rule.count });
      },
    }),
    operation('DELETE', '/faults', 'clearFaults', {
      summary: 'Removes all planned faults',
      description: 'A fault that is being applied is not interrupted.',
      run: () => faults.clear(),
    }),
  ];
}

const planned = object({ ...ruleMembers, fault: anyObject() });

const listSchema = object({ faults: listOf(planned) });

function toJson(planned: Pick<PlannedFault, 'match' | 'fault' | 'remaining' | 'count'>) {
  return { ...ruleToJson(planned), fault: planned.fault };
}

const faultShape = object(
  {
    ...faultMembers,
    body: optional(text('content of that response')),
    headers: optional(describeHeaders('further header fields of that response')),
  },
  'the fault',
);
