// The responses that a test chooses for operations.

import type { ActionResponse } from '../../pipeline/resource.ts';
import { anything, flag, number, object, optional, read, type ShapesOf, text } from '../../shape/shape.ts';
import { checkRequestMatch, type RequestMatch } from '../match.ts';
import { type StubResponse, toActionResponse } from '../stubs/response.ts';
import type { Operation } from './document.ts';
import type { ResponseChoice } from './responses.ts';
import { findResponse } from './statuses.ts';
import { type Validation, type ValidationByDirection, validationShape } from './validation.ts';

/** The options of a response that a test chooses. */
export interface RespondOptions {
  /** Selects the requests of the operation that get it. Default: all. */
  readonly match?: RequestMatch | undefined;
  /** The number of requests that get it, from 1. Default: all further ones. */
  readonly times?: number | undefined;
  /** The name of an example in the document. */
  readonly example?: string | undefined;
  /** Whether the content has all members of its schema, with values drawn from the seed of the double. Default: false. */
  readonly dynamic?: boolean | undefined;
  /** How strictly the requests that get it, and the response, are compared with the document. Default: that of the document. */
  readonly validation?: Validation | ValidationByDirection | undefined;
}

/** What a test has chosen for an operation. */
export interface ChosenResponse {
  readonly operation: Operation;
  readonly choice: ResponseChoice;
  readonly outcome: ActionResponse | undefined;
  readonly validation: Validation | ValidationByDirection | undefined;
}

/**
 * Reads the response that a test chooses.
 * @throws RangeError if the options are invalid, or the document has no response of this status
 */
export function readChoice(
  operation: Operation,
  response: number | StubResponse,
  options: RespondOptions,
): ChosenResponse {
  read(respondShape, options, { optionsOf: 'respond' });
  checkRequestMatch(options.match ?? {});
  const { example, dynamic, validation } = options;
  const isStatus = typeof response === 'number';
  if (isStatus) checkDocumented(operation, response);
  return {
    operation,
    choice: { status: isStatus ? response : undefined, example, dynamic },
    outcome: isStatus ? undefined : toActionResponse(response),
    validation,
  };
}

const respondShape = object(
  {
    match: optional(anything),
    times: optional(number({ min: 1 })),
    example: optional(text()),
    dynamic: optional(flag()),
    validation: optional(validationShape),
  } satisfies ShapesOf<RespondOptions>,
  undefined,
  { expected: 'an object such as { times: 1 }' },
);

function checkDocumented(operation: Operation, status: number): void {
  read(number({ min: 200, max: 599 }), status, 'the status of a response');
  if (findResponse(operation, status) !== undefined) return;
  const known = operation.responses.map((each) => each.status).join(', ') || 'none';
  throw new RangeError(`${operation.id} has no response with status ${status}; the document has ${known}`);
}
