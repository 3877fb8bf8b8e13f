/** The state of one register: what was written last; undefined if it was deleted or never written. */
export type State = string | undefined;

/** An operation on one register, with the times of its call and of its return. */
export interface Operation {
  /** `write` and `delete` may be conditional: they then succeed only in the state `expected`. */
  readonly kind: 'read' | 'write' | 'delete';
  readonly value?: string;
  readonly expected?: { readonly state: State } | 'present';
  readonly called: number;
  /** Infinity if the result is unknown: the operation may have taken effect at any later time, or never. */
  readonly returned: number;
  /** The state that a read returned, or whether a change succeeded; undefined if it is unknown. */
  readonly result?: { readonly state: State } | { readonly done: boolean };
}

/** Returns the state after an operation; `impossible` if it cannot have had its result in this state. */
function step(operation: Operation, state: State): State | typeof impossible {
  const { kind, value, expected, result } = operation;
  if (kind === 'read')
    return result === undefined || ('state' in result && result.state === state) ? state : impossible;
  const holds =
    expected === undefined || (expected === 'present' ? state !== undefined : expected.state === state);
  if (result !== undefined && (!('done' in result) || result.done !== holds)) return impossible;
  return holds ? value : state;
}

const impossible = Symbol('impossible');

/**
 * Returns whether the operations on one register, which is empty at first, can have taken effect one after the other, each
 * between its call and its return (J. M. Wing and C. Gong, Testing and Verifying Concurrent Objects, 1993). Remembers the
 * sets of operations and states that led nowhere, as G. Lowe proposes (Testing for linearizability, 2016).
 */
export function isLinearizable(operations: readonly Operation[]): boolean {
  const sorted = operations.toSorted((one, other) => one.called - other.called);
  const tried = new Set<string>();
  const pending: { readonly taken: bigint; readonly state: State }[] = [{ taken: 0n, state: undefined }];
  const required = sorted.reduce(
    (set, { returned }, index) => (returned === Number.POSITIVE_INFINITY ? set : set | (1n << BigInt(index))),
    0n,
  );
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { taken, state } = at;
    if ((taken & required) === required) return true;
    for (const index of candidates(sorted, taken)) {
      const operation = sorted[index];
      if (operation === undefined) continue;
      const next = step(operation, state);
      if (next === impossible) continue;
      const all = taken | (1n << BigInt(index));
      const key = `${all.toString(36)} ${next}`;
      if (tried.has(key)) continue;
      tried.add(key);
      pending.push({ taken: all, state: next });
    }
  }
  return false;
}

/** Returns the operations that can be the next one: none of the others returned before they were called. */
function candidates(sorted: readonly Operation[], taken: bigint): readonly number[] {
  const left: number[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (const [index, { called, returned }] of sorted.entries()) {
    if ((taken >> BigInt(index)) & 1n) continue;
    // They are sorted by their calls, so all that follow were called even later.
    if (called > earliest) break;
    left.push(index);
    earliest = Math.min(earliest, returned);
  }
  return left;
}
