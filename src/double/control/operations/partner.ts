import { Problem } from '../../../http/problem.ts';
import { either, flag, listOf, mapOf, number, object, optional, text, word } from '../../../shape/shape.ts';
import { readResponse, requestMatchMembers, responseMembers } from '../content.ts';
import { type Controlled, type Operation, operation } from '../operation.ts';

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
