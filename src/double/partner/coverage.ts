// Counts which operations, statuses and parameters of a document the requests of a test suite have used.
import type { Operation } from './document.ts';
import { formatName } from './parameters.ts';
import { findResponse } from './statuses.ts';

/** How often an operation and its parts were used. */
interface OperationCoverage {
  /** The operationId; without one, method and path: `GET /orders`. */
  readonly operationId: string;
  /** The method, such as `POST`. */
  readonly method: string;
  /** The path template: `/orders/{id}`. */
  readonly path: string;
  /** The number of requests. */
  readonly requests: number;
  /** The number of responses by status, as the document lists them: `200`, `4XX`, `default`. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The number of responses by status, of those that the document does not list. */
  readonly undocumented: Readonly<Record<string, number>>;
  /** The number of requests that had each parameter of the document, by place and name: `query.limit`. */
  readonly parameters: Readonly<Record<string, number>>;
}

/** Which operations, statuses and parameters of the partner's document were used. `String(coverage)` lists what was not. */
export class PartnerCoverage {
  /** How often each operation was used, in the order of the document. */
  readonly operations: readonly OperationCoverage[];
  /** The operationIds of which no request was received. */
  readonly uncovered: readonly string[];

  /** @internal */
  constructor(operations: readonly OperationCoverage[]) {
    this.operations = operations;
    this.uncovered = operations
      .filter(({ requests }) => requests === 0)
      .map(({ operationId }) => operationId);
  }

  /** Returns `operations` and `uncovered`. */
  toJSON(): object {
    const { operations, uncovered } = this;
    return { operations, uncovered };
  }

  /** Returns a summary, and a line for each operation with what was used of it and what was not. */
  toString(): string {
    const { operations, uncovered } = this;
    const statuses = operations.flatMap((each) => Object.values(each.statuses));
    const parameters = operations.flatMap((each) => Object.values(each.parameters));
    const share = (counts: readonly number[]): string =>
      `${counts.filter((count) => count > 0).length} of ${counts.length}`;
    const used = operations.length - uncovered.length;
    const head = `${used} of ${operations.length} operations, ${share(statuses)} statuses, ${share(parameters)} parameters`;
    return [head, ...operations.map(describeOperation)].join('\n');
  }
}

function describeOperation({
  operationId,
  method,
  path,
  requests,
  statuses,
  undocumented,
  parameters,
}: OperationCoverage): string {
  const missing = [...Object.entries(statuses), ...Object.entries(parameters)]
    .filter(([, count]) => count === 0)
    .map(([name]) => name);
  const title = operationId === `${method} ${path}` ? operationId : `${operationId} (${method} ${path})`;
  if (requests === 0) return `  ${title}: no request`;
  const seen = [...Object.entries(statuses), ...Object.entries(undocumented)].filter(
    ([, count]) => count > 0,
  );
  const counts = seen.map(([status, count]) => `${status} × ${count}`).join(', ');
  return `  ${title}: ${counts}${missing.length === 0 ? '' : `; not used: ${missing.join(', ')}`}`;
}

/** The counts of an operation, which grow. */
interface Counts extends OperationCoverage {
  requests: number;
  readonly statuses: Record<string, number>;
  readonly undocumented: Record<string, number>;
  readonly parameters: Record<string, number>;
}

/** The counts as a part of a double. */
interface CoveragePart {
  /** Counts a request and its response. `parameters` are those that it had. */
  add(operation: Operation, status: number, parameters: readonly string[]): void;
  read(): PartnerCoverage;
}

/** Creates the counts of operations. */
export function createCoverage(operations: readonly Operation[]): CoveragePart {
  const counts = new Map<Operation, Counts>();
  return {
    add(operation, status, parameters) {
      const count = counts.get(operation) ?? countNothing(operation);
      counts.set(operation, count);
      const documented = findResponse(operation, status)?.status;
      count.requests += 1;
      if (documented === undefined) increase(count.undocumented, String(status));
      else increase(count.statuses, documented);
      for (const name of parameters) increase(count.parameters, name);
    },
    read: () =>
      new PartnerCoverage(
        operations.map((operation) => structuredClone(counts.get(operation) ?? countNothing(operation))),
      ),
  };
}

function increase(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function countNothing({ id, method, path, responses, parameters }: Operation): Counts {
  return {
    operationId: id,
    method,
    path,
    requests: 0,
    statuses: Object.fromEntries(responses.map(({ status }) => [status, 0])),
    undocumented: {},
    parameters: Object.fromEntries(parameters.map((parameter) => [formatName(parameter), 0])),
  };
}
