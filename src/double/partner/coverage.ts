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

interface Count {
  readonly requests: number;
  readonly statuses: ReadonlyMap<string, number>;
  readonly undocumented: ReadonlyMap<string, number>;
  readonly parameters: ReadonlyMap<string, number>;
}

/** The counts as a part of a double. */
interface CoveragePart {
  /** Counts a request and its response. `parameters` are those that it had. */
  add(operation: Operation, status: number, parameters: readonly string[]): void;
  read(): PartnerCoverage;
}

/** Creates the counts of operations. */
export function createCoverage(operations: readonly Operation[]): CoveragePart {
  const counts = new Map<Operation, Count>();
  const empty: Count = { requests: 0, statuses: new Map(), undocumented: new Map(), parameters: new Map() };
  return {
    add(operation, status, parameters) {
      const before = counts.get(operation) ?? empty;
      const key = findResponse(operation, status)?.status;
      counts.set(operation, {
        requests: before.requests + 1,
        statuses: increase(before.statuses, key === undefined ? [] : [key]),
        undocumented: increase(before.undocumented, key === undefined ? [String(status)] : []),
        parameters: increase(before.parameters, parameters),
      });
    },
    read: () =>
      new PartnerCoverage(
        operations.map((operation) => summarizeOperation(operation, counts.get(operation) ?? empty)),
      ),
  };
}

function increase(
  counts: ReadonlyMap<string, number>,
  names: readonly string[],
): ReadonlyMap<string, number> {
  return new Map([...counts, ...names.map((name): [string, number] => [name, (counts.get(name) ?? 0) + 1])]);
}

function summarizeOperation(
  operation: Operation,
  { requests, statuses, undocumented, parameters }: Count,
): OperationCoverage {
  const { id, method, path, responses } = operation;
  const listed = responses.map(({ status }): [string, number] => [status, 0]);
  const named = operation.parameters.map((parameter): [string, number] => [formatName(parameter), 0]);
  return {
    operationId: id,
    method,
    path,
    requests,
    statuses: Object.fromEntries(new Map([...listed, ...statuses])),
    undocumented: Object.fromEntries(undocumented),
    parameters: Object.fromEntries(new Map([...named, ...parameters])),
  };
}
