// The responses that a test chooses for operations.

import type { ActionResponse } from '../../pipeline/resource.ts';
import { checkFlag, checkMembers, checkNumber, checkText } from '../../service/argument-checks.ts';
import type { RuleHandle } from '../match.ts';
import { type StubResponse, toActionResponse } from '../stubs/response.ts';
import { documentedStatus } from './coverage.ts';
import type { Operation } from './document.ts';
import type { ResponseChoice } from './responses.ts';
import { checkValidation, type Validation, type ValidationByDirection } from './validation.ts';

/** The options of a response that a test chooses. */
export interface RespondOptions {
  /** The number of requests that get it, from 1. Default: all further ones. */
  readonly times?: number | undefined;
  /** The name of an example in the document. */
  readonly example?: string | undefined;
  /** Whether the content has all members of its schema, with values drawn from the seed of the double. Default: false. */
  readonly dynamic?: boolean | undefined;
  /** How strictly the requests that get it, and the response, are compared with the document. Default: that of the document. */
  readonly validation?: Validation | ValidationByDirection | undefined;
}

/** A response that a test has chosen for an operation. */
interface Rule {
  readonly operation: Operation;
  readonly choice: ResponseChoice;
  readonly outcome: ActionResponse | undefined;
  readonly validation: Validation | ValidationByDirection | undefined;
  remaining: number;
  count: number;
}

/** The rules at one time, with what has changed since in each. */
export type RulesRecord = readonly {
  readonly rule: Rule;
  readonly remaining: number;
  readonly count: number;
}[];

/** The rules of a double. The last one for an operation wins. */
export class Rules {
  readonly #rules = new Set<Rule>();

  /** Returns the rule for the next request of an operation. */
  find(operation: Operation): Rule | undefined {
    return [...this.#rules].findLast((rule) => rule.operation === operation && rule.remaining > 0);
  }

  /** Returns the rule for a request of an operation, and counts it. */
  take(operation: Operation): Rule | undefined {
    const found = this.find(operation);
    if (found === undefined) return undefined;
    found.remaining -= 1;
    found.count += 1;
    if (found.remaining === 0) this.#rules.delete(found);
    return found;
  }

  add(rule: Rule): RuleHandle {
    const rules = this.#rules;
    rules.add(rule);
    const remove = (): void => {
      rule.remaining = 0;
      rules.delete(rule);
    };
    return {
      get count() {
        return rule.count;
      },
      get remaining() {
        return rule.remaining;
      },
      remove,
      [Symbol.dispose]: remove,
    };
  }

  clear(): void {
    this.#rules.clear();
  }

  snapshot(): RulesRecord {
    return [...this.#rules].map((rule) => ({ rule, remaining: rule.remaining, count: rule.count }));
  }

  restore(record: RulesRecord): void {
    this.#rules.clear();
    for (const { rule, remaining, count } of record)
      this.#rules.add(Object.assign(rule, { remaining, count }));
  }
}

/**
 * Creates a rule from what a test gives.
 * @throws RangeError if the options are invalid, or the document has no response of this status
 */
export function createRule(
  operation: Operation,
  response: number | StubResponse,
  options: RespondOptions,
): Rule {
  checkRespondOptions(options);
  const { times = Number.POSITIVE_INFINITY, example, dynamic, validation } = options;
  const isStatus = typeof response === 'number';
  if (isStatus) checkDocumented(operation, response);
  return {
    operation,
    choice: { status: isStatus ? response : undefined, example, dynamic },
    outcome: isStatus ? undefined : toActionResponse(response),
    validation,
    remaining: times,
    count: 0,
  };
}

function checkRespondOptions(options: RespondOptions): void {
  const known = ['times', 'example', 'dynamic', 'validation'];
  checkMembers(options, known, 'the options of respond', 'such as { times: 1 }');
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
