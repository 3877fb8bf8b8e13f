import type { Access } from '../../../pipeline/resource.ts';
import {
  anything,
  either,
  listOf,
  mapOf,
  number,
  object,
  optional,
  type Shape,
  text,
  textLike,
} from '../../../shape/shape.ts';
import { createFixedResource } from '../fixed-responses.ts';
import { type Operation, operation } from '../operation.ts';
import { type ControlTarget, requireMemory } from '../target.ts';

/** The operations that add resources and collections. */
export function routeOperations(target: ControlTarget): readonly Operation[] {
  return [
    operation({
      method: 'POST',
      path: '/resources',
      id: 'addResource',
      memoryOnly: true,
      summary: 'Adds or replaces a resource with fixed responses',
      description:
        'HEAD and OPTIONS are derived from the methods. Credentials and access are checked as for any resource.',
      accepts: object({
        template: text('path template, such as /weather/{city}'),
        GET: optional(response),
        PUT: optional(response),
        POST: optional(response),
        DELETE: optional(response),
      }),
      run({ template, ...responses }) {
        requireMemory(target).resource(template, createFixedResource(template, responses));
      },
    }),
    operation({
      method: 'POST',
      path: '/collections',
      id: 'addCollection',
      memoryOnly: true,
      summary: 'Adds or replaces a collection',
      accepts: object({
        path: text('path template of the collection'),
        declaration: { ...anything, schema: declarationSchema },
      }),
      run: ({ path, declaration }) => requireMemory(target).collection(path, declaration),
    }),
  ];
}

const declarationSchema = {
  type: 'object',
  description: 'as in the configuration under collections: element, item, fields, access, createWithPut',
};

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
export const accessShape = either(
  listOf(text()),
  accessWord,
  'principals with access: a list of users, or one of these words',
);

const response = object(
  {
    access: accessShape,
    status: optional(number({ min: 200, max: 599 }, 'default: 200')),
    type: optional(text('media type of the content; default: text/plain; charset=utf-8')),
    body: optional(text('content as text')),
    base64: optional(text('content as bytes, instead of body')),
    headers: optional(mapOf(text(), 'further header fields')),
  },
  'the response of a method',
);
