import { Problem } from '../../../http/problem.ts';
import type { Access } from '../../../pipeline/resource.ts';
import {
  either,
  flag,
  listOf,
  mapOf,
  number,
  object,
  optional,
  type Shape,
  text,
  textLike,
  word,
} from '../../../shape/shape.ts';
import { checkFault, faultMembers } from '../../faults/declaration.ts';
import type { PlannedFault } from '../../faults/faults.ts';
import type { StubRule } from '../../stubs/stubs.ts';
import {
  anyObject,
  describeHeaders,
  invalid,
  readResponse,
  requestMatchMembers,
  responseMembers,
  ruleMembers,
  ruleToJson,
} from '../content.ts';
import { type Controlled, type Operation, operation } from '../operation.ts';

/** The operations on planned faults. */
export function faultOperations({ faults, core }: Pick<Controlled, 'faults' | 'core'>): readonly Operation[] {
  const listFaults = (all: readonly PlannedFault[]) => ({ faults: all.map(faultToJson) });
  return [
    operation('GET', '/faults', 'faults', {
      returns: faultList,
      summary: 'Returns all planned faults that can still be applied',
      run: () => listFaults(core.faults.rules.remaining()),
    }),
    operation('GET', '/faults/pending', 'pendingFaults', {
      returns: faultList,
      summary: 'Returns the planned faults that were not applied to all their requests',
      description: 'A fault with `times: always` is pending until it was applied once.',
      run: () => listFaults(faults.pending()),
    }),
    operation('POST', '/faults', 'planFault', {
      status: 201,
      returns: plannedFault,
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
        return faultToJson({ match, fault, remaining: rule.remaining, count: rule.count });
      },
    }),
    operation('DELETE', '/faults', 'clearFaults', {
      summary: 'Removes all planned faults',
      description: 'A fault that is being applied is not interrupted.',
      run: () => faults.clear(),
    }),
  ];
}

const plannedFault = object({ ...ruleMembers, fault: anyObject() });

const faultList = object({ faults: listOf(plannedFault) });

function faultToJson({ fault, ...rule }: Pick<PlannedFault, 'match' | 'fault' | 'remaining' | 'count'>) {
  return { ...ruleToJson(rule), fault };
}

const faultShape = object(
  {
    ...faultMembers,
    body: optional(text('content of that response')),
    headers: optional(describeHeaders('further header fields of that response')),
  },
  'the fault',
);

/** The operations on stubs. */
export function stubOperations({
  core: { stubs, keptItems },
}: Pick<Controlled, 'core'>): readonly Operation[] {
  const toJson = (rule: StubRule) => ({
    number: rule.number,
    ...ruleToJson(rule),
    collection: keptItems.find(rule)?.path,
  });
  return [
    operation('GET', '/stubs', 'stubs', {
      returns: stubList,
      summary: 'Returns all stubs that can still answer, the oldest first',
      run: () => ({ stubs: stubs.rules.remaining().map(toJson) }),
    }),
    operation('POST', '/stubs', 'addStub', {
      status: 201,
      returns: addedStub,
      summary:
        'Adds a route with a fixed response, or a collection, which precedes resources and collections',
      description:
        'Either with match and response, or with collection. Of several stubs that match a request, the last one answers. Credentials and access are checked first.',
      accepts: object({
        match: optional(object(requestMatchMembers, 'selects requests')),
        collection: optional(collectionPath),
        response: optional(object(responseMembers, 'the response')),
        access: optional(accessShape),
        schemes: optional(listOf(text(), 'names of the accepted schemes; default: all')),
        times: optional(number({ min: 1 }, 'number of requests that it answers; default: any number')),
        fallback: optional(flag('whether it answers only what nothing else does; default: false')),
      }),
      run({ match, response, collection, ...options }) {
        if (collection !== undefined) {
          if (match !== undefined || response !== undefined || options.times !== undefined)
            throw invalid('collection', 'excludes match, response and times');
          return toJson(keptItems.add(stubs, collection, options).rules[0]);
        }
        if (match === undefined) throw invalid('match', 'must be an object, is missing');
        if (response === undefined) throw invalid('response', 'must be an object, is missing');
        return toJson(stubs.add({ ...options, match, response: readResponse(response) }));
      },
    }),
    operation('DELETE', '/stubs', 'removeStubs', {
      summary: 'Removes all stubs',
      run: () => stubs.rules.restore([]),
    }),
    operation('DELETE', '/stubs/{number}', 'removeStub', {
      summary: 'Removes a stub by its number',
      description: 'Both stubs of a collection are removed together.',
      errors: { '404': 'there is no stub with this number' },
      run(_, { number: wanted }) {
        const stub = stubs.rules.remaining().find((each) => String(each.number) === wanted);
        if (stub === undefined) throw new Problem('not-found', `There is no stub ${wanted ?? ''}.`);
        for (const rule of keptItems.find(stub)?.rules ?? [stub]) rule.remove();
      },
    }),
  ];
}

const collectionPath = textLike(
  {
    pattern: '^/',
    description:
      'a path or template: POST to it keeps what is sent, and GET, PUT, PATCH and DELETE of its address return and change that',
  },
  (word): word is `/${string}` => word.startsWith('/'),
  () => 'must begin with a slash',
);

const accessWords = /^(?:anyone|authenticated|nobody|owner:[^{}/]+)$/;

const accessWord: Shape<Exclude<Access, readonly string[]>> = textLike(
  { pattern: accessWords.source },
  (word): word is Exclude<Access, readonly string[]> => accessWords.test(word),
  () => 'must be one of anyone, authenticated, nobody, owner:PARAMETER',
);

/** An access rule. */
const accessShape = either(
  listOf(text()),
  accessWord,
  'principals with access: a list of users, or one of these words',
);

const addedStub = object({
  number: number({}, 'the number of the stub, from 1'),
  ...ruleMembers,
  collection: optional(text('the path of the collection to which the stub belongs')),
});

const stubList = object({ stubs: listOf(addedStub) });

const validation = word(['on', 'warn', 'off'], 'how strictly the document is compared');

/** The operations on the document of a partner. */
export function partnerOperations({ core }: Pick<Controlled, 'core'>): readonly Operation[] {
  const partner = () => {
    if (core.partner !== undefined) return core.partner;
    throw new Problem('not-found', 'There is no document of a partner. Start the server with --partner.');
  };
  const errors = { '404': 'There is no document of a partner.' };
  return [
    operation('POST', '/partner/respond', 'respondAsPartner', {
      errors,
      summary: 'Chooses the response of an operation of the partner’s document',
      description:
        'The last choice wins. A response that the document does not allow is sent and reported in the journal.',
      accepts: object({
        operationId: text('the operationId or, without one, method and path such as GET /orders'),
        response: either(
          number({ min: 200, max: 599 }),
          object(responseMembers),
          'a status of the document, or a response',
        ),
        match: optional(object(requestMatchMembers, 'selects requests of the operation; default: all')),
        times: optional(number({ min: 1 }, 'number of requests that get it; default: any number')),
        example: optional(text('the name of an example in the document')),
        dynamic: optional(flag('whether the content has all members, with drawn values')),
        validation: optional(
          either(validation, object({ request: optional(validation), response: optional(validation) })),
        ),
      }),
      run({ operationId, response, ...options }) {
        const { respond } = partner().control;
        const chosen = typeof response === 'number' ? response : readResponse(response);
        respond(operationId, chosen, options);
      },
    }),
    operation('DELETE', '/partner/respond', 'clearPartnerResponses', {
      errors,
      summary: 'Removes all responses that were chosen',
      run: () => partner().clearResponses(),
    }),
    operation('GET', '/partner/coverage', 'partnerCoverage', {
      errors,
      returns: coverageSchema,
      summary: 'Returns which operations, statuses and parameters of the partner’s document were used',
      run() {
        const coverage = partner().control.coverage();
        const { operations, uncovered } = coverage;
        return { operations, uncovered, text: String(coverage) };
      },
    }),
  ];
}

const counts = (description: string) => mapOf(number({}), description);

const coverageSchema = object({
  operations: listOf(
    object({
      operationId: text(),
      method: text(),
      path: text(),
      requests: number({}),
      statuses: counts('the number of responses by status of the document'),
      undocumented: counts('the number of responses by any other status'),
      parameters: counts('the number of requests that had each parameter'),
    }),
  ),
  uncovered: listOf(text(), 'operations without a request'),
  text: text(),
});
