// The responses that a test chooses for operations.

import type { ActionResponse } from '../../pipeline/resource.ts';
import { checkFlag, checkMembers, checkNumber, checkText } from '../../service/argument-checks.ts';
import { checkRequestMatch, type RequestMatch } from '../match.ts';
import { type StubResponse, toActionResponse } from '../stubs/response.ts';
import { documentedStatus } from './coverage.ts';
import type { Operation } from './document.ts';
import type { ResponseChoice } from './responses.ts';
import { checkValidation, type Validation, type ValidationByDirection } from './validation.ts';

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
  checkRespondOptions(options);
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

function checkRespondOptions(options: RespondOptions): void {
  const known = ['match', 'times', 'example', 'dynamic', 'validation'];
  checkMembers(options, known, 'the options of respond', 'such as { times: 1 }');
  checkRequestMatch(options.match ?? {});
  checkNumber(options.times, 'times of a response', { min: 1, whole: true });
  checkText(options.example, 'example of a response');
  checkFlag(options.dynamic, 'dynamic of a response');
  checkValidation(options.validation);
}

function checkDocumented(operation: Operation, status: number): void {
  checkNumber(status, 'the status of a response', { min: 200, max: 599, whole: true });
  if (documentedStatus(operation, status) !== undefined) return;
  const known = operation.responses.map((each) => each.status).join(', ') || 'none';
  throw new RangeError(`${operation.id} has no response with status ${status}; the document has ${known}`);
}
