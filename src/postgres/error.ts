/** An error of a query. The message contains no data and no part of the connection's configuration. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  /** Whether a repetition may succeed (`transient`), there is no space (`full`), or neither. */
  readonly kind: 'transient' | 'full' | 'permanent';

  constructor(kind: QueryError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A SQLSTATE (PostgreSQL, Appendix A). The codes of Node.js, such as EPIPE, begin with E. */
const sqlState = /^[0-9FHPX][0-9A-Z]{4}$/;
const diskFull = '53100';
/**
 * Connection exceptions, transaction rollbacks, insufficient resources and operator interventions; a lock that was not
 * available in time; a server that accepts no changes because another one was promoted.
 */
const transientState = /^(?:08|40|53|57)|^55P03$|^25006$/;
/** Invalid authorization and invalid catalog names: a malformed URL may have made part of a password a name. */
const stateWithoutText = /^(?:28|3D)/;

/** What PostgreSQL refused, by the SQLSTATE of errors that are reported when a connection is opened. */
const refusals: ReadonlyMap<string, string> = new Map([
  ['28P01', 'the user or the password'],
  ['28000', 'the user or the host'],
  ['3D000', 'the name of the database: there is none of this name'],
]);

/** Returns a query error for whatever a client threw. */
export function toQueryError(error: unknown): QueryError {
  if (error instanceof QueryError) return error;
  const code = readCode(error);
  if (code === 'ERR_INVALID_URL') return new QueryError('transient', 'the connection URL is invalid');
  if (code === undefined || !sqlState.test(code)) {
    return new QueryError(
      'transient',
      `PostgreSQL cannot be reached${code === undefined ? '' : ` (${code})`}`,
    );
  }
  if (code === diskFull) return new QueryError('full', `PostgreSQL has no space left (${code})`);
  if (transientState.test(code)) return new QueryError('transient', `PostgreSQL is not available (${code})`);
  const refusal = refusals.get(code);
  if (refusal !== undefined) return new QueryError('permanent', `PostgreSQL refused ${refusal} (${code})`);
  const text = error instanceof Error && !stateWithoutText.test(code) ? `: ${firstLine(error.message)}` : '';
  return new QueryError('permanent', `PostgreSQL refused a query (${code})${text}`);
}

/** Creates the error of a query that was not answered in time. */
export function timeoutError(): QueryError {
  return new QueryError('transient', 'PostgreSQL does not answer');
}

function readCode(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : undefined;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
