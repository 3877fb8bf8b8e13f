import { Problem } from '../../../http/problem.ts';
import type { Access } from '../../../pipeline/resource.ts';
import {
  either,
  flag,
  listOf,
  number,
  object,
  optional,
  type Shape,
  text,
  textLike,
} from '../../../shape/shape.ts';
import type { StubRule } from '../../stubs/stubs.ts';
import {
  invalid,
  readResponse,
  requestMatchMembers,
  responseMembers,
  ruleMembers,
  ruleToJson,
} from '../content.ts';
import { type Controlled, type Operation, operation } from '../operation.ts';

/** The operations on stubs. */
export function stubOperations({
  core: { stubs, keptItems },
}: Pick<Controlled, 'core'>): readonly Operation[] {
  const toJson = (rule: StubRule) => describeStub(rule, keptItems.find(rule)?.path);
  return [
    operation('GET', '/stubs', 'stubs', {
      returns: listSchema,
      summary: 'Returns all stubs that can still answer, the oldest first',
      run: () => ({ stubs: stubs.rules.remaining().map(toJson) }),
    }),
    operation('POST', '/stubs', 'addStub', {
      status: 201,
      returns: planned,
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
  isAccess,
  () => 'must be one of anyone, authenticated, nobody, owner:PARAMETER',
);

function isAccess(word: string): word is Exclude<Access, readonly string[]> {
  return accessWords.test(word);
}

/** An access rule. */
const accessShape = either(
  listOf(text()),
  accessWord,
  'principals with access: a list of users, or one of these words',
);

const planned = object({
  number: number({}, 'the number of the stub, from 1'),
  ...ruleMembers,
  collection: optional(text('the path of the collection to which the stub belongs')),
});

const listSchema = object({ stubs: listOf(planned) });

function describeStub(rule: StubRule, collection?: string) {
  return { number: rule.number, ...ruleToJson(rule), ...(collection !== undefined && { collection }) };
}
