import type { Access } from '../../../pipeline/resource.ts';
import { type Operation, operation } from '../operation.ts';
import { anything, either, listOf, mapOf, number, object, optional, type Shape, text } from '../shape.ts';
import { stubResource } from '../stub.ts';
import { type ControlTarget, inMemory } from '../target.ts';

/** The operations that add resources and collections. */
export function servedOperations(target: ControlTarget): readonly Operation[] {
  return [
    operation({
      ...{ method: 'POST', path: '/resources', id: 'addResource', memoryOnly: true },
      summary:
        'Puts a resource under a path template that always answers the same, in the place of what stood there',
      description:
        'HEAD and OPTIONS follow from the methods. Credentials, Allow and all else are judged as everywhere.',
      takes: object({
        template: text('such as /weather/{city}'),
        ...{ GET: optional(answer), PUT: optional(answer), POST: optional(answer), DELETE: optional(answer) },
      }),
      answer({ template, ...answers }) {
        inMemory(target).resource(template, stubResource(template, answers));
      },
    }),
    operation({
      ...{ method: 'POST', path: '/collections', id: 'addCollection', memoryOnly: true },
      summary: 'Declares a collection, in the place of what stood there',
      takes: object({
        path: text('its path template'),
        declaration: { ...anything, schema: declarationSchema },
      }),
      answer: ({ path, declaration }) => inMemory(target).collection(path, declaration),
    }),
  ];
}

const declarationSchema = {
  type: 'object',
  description: 'as a configuration has it under collections: element, item, fields, access, createWithPut',
};

const accessWords = /^(?:anyone|authenticated|nobody|owner:[^{}/]+)$/;

const accessWord: Shape<Exclude<Access, readonly string[]>> = {
  schema: { type: 'string', pattern: accessWords.source },
  read(value, at) {
    const word = text().read(value, at);
    if (isAccess(word)) return word;
    throw new RangeError(`${at} is not one of anyone, authenticated, nobody, owner:PARAMETER`);
  },
};

function isAccess(word: string): word is Exclude<Access, readonly string[]> {
  return accessWords.test(word);
}

const answer = object(
  {
    access: either(listOf(text()), accessWord, 'who may: users by their names, or one of these words'),
    status: optional(number({ least: 200, most: 599 }, '200 when left out')),
    type: optional(text('the media type of the content; text/plain; charset=utf-8 when left out')),
    content: optional(text('as text')),
    base64: optional(text('as bytes, in the place of content')),
    fields: optional(mapOf(text(), 'further fields')),
  },
  'what a method answers',
);
