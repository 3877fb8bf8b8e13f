// Answers requests for operations: as a test chose, or else as the document describes.

import { toLines } from '../../http/field-lines.ts';
import { preferences } from '../../http/headers/prefer.ts';
import type { IncomingRequest } from '../../http/message.ts';
import type { Problem } from '../../http/problem.ts';
import { parseTarget } from '../../http/target.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { ActionResponse, Call } from '../../pipeline/resource.ts';
import { anything, flag, number, object, optional, read, type ShapesOf, text } from '../../shape/shape.ts';
import { checkRequestMatch, type RequestMatch } from '../match.ts';
import { type MatchedRequests, type Rule, type RuleHandle, Rules, type RulesSnapshot } from '../rules.ts';
import { type StubResponse, toActionResponse } from '../stubs/response.ts';
import type { Operation } from './document.ts';
import { ReceivedParameters } from './received.ts';
import type { RequestCheck } from './request-check.ts';
import type { PartnerResponses, ResponseChoice } from './responses.ts';
import { findResponse } from './statuses.ts';
import {
  mergeValidation,
  type Validation,
  type ValidationByDirection,
  type Validations,
  validationShape,
} from './validation.ts';

/** The responses that a test chose, at one time. */
export type ChosenSnapshot = RulesSnapshot<ChosenResponse>;

/** What answers are made of. */
interface AnswerParts {
  readonly requests: RequestCheck;
  readonly responses: PartnerResponses;
  /** The validation of the document. */
  readonly validation: Validations;
  readonly context: {
    readonly onError: ((error: unknown) => void) | undefined;
    /** Compares requests with the matches of responses that a test chose. */
    readonly requests: MatchedRequests;
  };
}

/** Answers requests for operations, and compares requests and responses with the document. */
export class Answers {
  readonly #parts: AnswerParts;
  readonly #chosen = new Map<Operation, Set<Rule<ChosenResponse>>>();
  readonly #rules: Rules<ChosenResponse>;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    this.#rules = new Rules<ChosenResponse>(parts.context.requests, {
      place: ({ operation }) => this.#chosenFor(operation),
    });
  }

  /** Chooses the response to requests for an operation. Throws RangeError if it is invalid. */
  choose(operation: Operation, response: number | StubResponse, options: RespondOptions): RuleHandle {
    const choice = readChoice(operation, response, options);
    return this.#rules.add(options.match ?? {}, choice, options.times);
  }

  /** Returns how strictly a request is compared with the document. */
  validationOf(operation: Operation, request: IncomingRequest): Validations {
    return mergeValidation(this.#findChosen(operation, request)?.validation, this.#parts.validation);
  }

  /** Returns the response to a request: what a test chose, what the client prefers, or the usual one. */
  respond(operation: Operation, { incoming: request }: Call): ActionResponse {
    const { responses, validation } = this.#parts;
    const rule = this.#findChosen(operation, request);
    if (rule !== undefined) this.#rules.take(rule);
    if (rule?.outcome !== undefined)
      return this.#report(operation, rule.outcome, mergeValidation(rule.validation, validation));
    const preferred = responses.readPreferences(operation, request);
    const { choice, applied } = rule === undefined ? preferred : { choice: rule.choice, applied: [] };
    const outcome = responses.create(operation, choice, request.headers.get('accept'));
    if (applied.length === 0) return outcome;
    return {
      ...outcome,
      headers: [...toLines(outcome.headers ?? []), ['Preference-Applied', applied.join(', ')]],
    };
  }

  /** Compares a request as far as its validation wants it, and answers it with what is wrong as warnings. */
  respondLeniently(operation: Operation, call: Call): MaybePromise<ActionResponse> {
    const validation = this.validationOf(operation, call.incoming);
    return andThen(this.#examine(operation, call, validation), (warnings) =>
      addWarnings(this.respond(operation, call), warnings),
    );
  }

  /** Compares the request of a stub. Returns the function that compares its response. */
  examineStub(
    operation: Operation,
    call: Call,
    stub: string,
  ): MaybePromise<(outcome: ActionResponse) => ActionResponse> {
    const { validation } = this.#parts;
    return andThen(this.#examine(operation, call, validation), (warnings) => (outcome) => {
      const unused = this.#reportUnused(operation, call.incoming, stub);
      return addWarnings(this.#report(operation, outcome, validation), [...unused, ...warnings]);
    });
  }

  /** Returns a problem in the form of the document; undefined if it has none, or the client prefers a problem document. */
  writeProblem(
    operation: Operation,
    problem: Problem,
    request: IncomingRequest | undefined,
  ): ActionResponse | undefined {
    const { responses, context } = this.#parts;
    const fields = request?.headers;
    if (fields !== undefined && preferences(fields.getAll('prefer')).has('problem')) return undefined;
    try {
      return responses.createError(operation, problem, fields?.get('accept'));
    } catch (error) {
      context.onError?.(error);
      return undefined;
    }
  }

  snapshot(): ChosenSnapshot {
    return this.#rules.snapshot();
  }

  restore(snapshot: ChosenSnapshot): void {
    this.#rules.restore(snapshot);
  }

  reset(): void {
    this.#rules.reset();
  }

  #chosenFor(operation: Operation): Set<Rule<ChosenResponse>> {
    const known = this.#chosen.get(operation) ?? new Set();
    this.#chosen.set(operation, known);
    return known;
  }

  #findChosen(operation: Operation, request: IncomingRequest): Rule<ChosenResponse> | undefined {
    return this.#rules.find(request, this.#chosenFor(operation));
  }

  /** Returns the response of a test, with warnings if the document does not allow it. */
  #report(operation: Operation, outcome: ActionResponse, { response }: Validations): ActionResponse {
    const { responses, context } = this.#parts;
    const warnings = response === 'off' ? [] : responses.check(operation, outcome);
    if (response === 'on' && warnings.length > 0)
      context.onError?.(
        new Error(`the response of ${operation.id} is not as documented: ${warnings.join(' ')}`),
      );
    return addWarnings(outcome, warnings);
  }

  /** Reports the response that a test chose and a stub precedes. Returns a warning. */
  #reportUnused(operation: Operation, request: IncomingRequest, stub: string): readonly string[] {
    if (this.#findChosen(operation, request) === undefined) return [];
    const unused = `the response that respond chose for ${operation.id} was not sent, because the stub ${stub} answered`;
    this.#parts.context.onError?.(new Error(unused));
    return [`${unused}.`];
  }

  /** Compares a request as far as its validation wants it. Returns what is wrong with it, unless that refuses it. */
  #examine(
    operation: Operation,
    { body, incoming: { target, method, headers } }: Call,
    { request }: Validations,
  ): MaybePromise<readonly string[]> {
    const { requests } = this.#parts;
    if (request === 'off') return [];
    const received = new ReceivedParameters(operation, parseTarget(target, method), headers);
    if (request === 'warn')
      return andThen(requests.listFaults(operation, received, body), (faults) =>
        faults.map((fault) => `request: ${fault}`),
      );
    requests.checkParameters(operation, received);
    return andThen(requests.checkContent(operation, body, headers), () => []);
  }
}

/** Returns the response with what is wrong, which the journal shows. */
function addWarnings(outcome: ActionResponse, warnings: readonly string[]): ActionResponse {
  if (warnings.length === 0) return outcome;
  return { ...outcome, warnings: [...warnings, ...(outcome.warnings ?? [])] };
}

// The responses that a test chooses for operations.

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
interface ChosenResponse {
  readonly operation: Operation;
  readonly choice: ResponseChoice;
  readonly outcome: ActionResponse | undefined;
  readonly validation: Validation | ValidationByDirection | undefined;
}

/**
 * Reads the response that a test chooses.
 * @throws RangeError if the options are invalid, or the document has no response of this status
 */
function readChoice(
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
