import { Problem } from '../../../http/problem.ts';
import type { Access } from '../../../pipeline/resource.ts';
import {
  anything,
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
import { readBody } from '../content.ts';
import { describeHeaders, matchToJson, requestMatchMembers } from '../match.ts';
import { createBareOperation, type Operation, operation } from '../operation.ts';
import type { ControlTarget } from '../target.ts';

/** The operations on stubs. */
export function stubOperations({ core: { stubs } }: Pick<ControlTarget, 'core'>): readonly Operation[] {
  return [
    createBareOperation({
      method: 'GET',
      path: '/stubs',
      id: 'stubs',
      returns: listSchema,
      summary: 'Returns all stubs that can still answer, the oldest first',
      run: () => ({ stubs: stubs.all().map(toJson) }),
    }),
    operation({
      method: 'POST',
      path: '/stubs',
      id: 'addStub',
      status: 201,
      returns: stubSchema,
      summary: 'Adds a route with a fixed response, which precedes resources and collections',
      description:
        'Of several stubs that match a request, the last one answers. Credentials and access are checked first.',
      accepts: object({
        match: object(requestMatchMembers, 'selects requests'),
        response: object(
          {
            status: optional(number({ min: 200, max: 599 }, 'default: 200')),
            headers: optional(
              describeHeaders('header fields; Content-Type names another type than that of the body'),
            ),
            body: optional({
              ...anything,
              schema: { description: 'text is sent as text, any other value as JSON' },
            }),
            base64: optional(text('content as bytes, instead of body')),
          },
          'the response',
        ),
        access: optional(accessShape),
        schemes: optional(listOf(text(), 'names of the accepted schemes; default: all')),
        times: optional(number({ min: 1 }, 'number of requests that it answers; default: any number')),
        fallback: optional(flag('whether it answers only what nothing else does; default: false')),
      }),
      run({ match, response: { base64, body, ...response }, ...options }) {
        const content = readBody(body, base64);
        return toJson(stubs.add({ ...options, match, response: { ...response, body: content } }));
      },
    }),
    createBareOperation({
      method: 'DELETE',
      path: '/stubs',
      id: 'removeStubs',
      summary: 'Removes all stubs',
      run() {
        for (const stub of stubs.all()) stub.remove();
      },
    }),
    createBareOperation({
      method: 'DELETE',
      path: '/stubs/{number}',
      id: 'removeStub',
      summary: 'Removes a stub by its number',
      errors: { '404': 'there is no stub with this number' },
      run(_, { number: wanted }) {
        const stub = stubs.all().find((each) => String(each.number) === wanted);
        if (stub === undefined) throw new Problem('not-found', `There is no stub ${wanted ?? ''}.`);
        stub.remove();
      },
    }),
  ];
}

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

const stubSchema = {
  type: 'object',
  required: ['number', 'match', 'count', 'remaining'],
  properties: {
    number: { type: 'integer', description: 'the number of the stub, from 1' },
    match: { type: 'object' },
    count: { type: 'integer', description: 'the number of requests that it answered' },
    remaining: {
      anyOf: [{ type: 'integer' }, { const: 'always' }],
      description: 'the number of requests that it will still answer',
    },
  },
};

const listSchema = {
  type: 'object',
  required: ['stubs'],
  properties: { stubs: { type: 'array', items: stubSchema } },
};

function toJson({ number: assigned, match, count, remaining }: StubRule) {
  return {
    number: assigned,
    match: matchToJson(match),
    count,
    remaining: Number.isFinite(remaining) ? remaining : 'always',
  };
}
