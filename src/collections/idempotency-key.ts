import { createHash } from 'node:crypto';

import { Problem } from '../http/problem.ts';
import { parseItem, StructuredFieldError } from '../http/structured-fields/parse.ts';
import type { Call } from '../pipeline/resource.ts';
import type { Principal } from '../principal.ts';
import type { StoredValue } from '../store/store.ts';
import type { IdempotencyMode } from './declaration-shape.ts';
import { isList } from './fields/record.ts';

const maxLength = 255;

/**
 * Parses the value of Idempotency-Key: a String (RFC 9651 §3.3.3) of 1 to 255 characters. Parameters are ignored. Throws a
 * Problem.
 */
export function parseIdempotencyKey(field: string): string {
  try {
    const { bare } = parseItem(field);
    if (bare.type === 'string' && bare.value.length > 0 && bare.value.length <= maxLength) return bare.value;
  } catch (error) {
    if (!(error instanceof StructuredFieldError)) throw error;
    throw malformed(` (${error.message})`);
  }
  throw malformed('');
}

function malformed(reason: string): Problem {
  const expected = `one string in quotes, of 1 to ${maxLength} characters, such as "8e03978e-40d5-43e8-bc93-6894a57f9324"`;
  return new Problem('malformed-idempotency-key', `Idempotency-Key must be ${expected}${reason}.`);
}

/** The parts of a call that the check of its key needs. */
export type KeyedCall = Pick<Call, 'incoming' | 'method' | 'principal'>;

/** Throws a Problem if Idempotency-Key is malformed, if the principal is anonymous, or if POST has none and must have one. */
export function checkIdempotencyKey(
  { incoming: request, method, principal }: KeyedCall,
  mode: IdempotencyMode,
): void {
  const field = request.headers.get('idempotency-key');
  if (field === undefined) {
    if (mode !== 'required' || method !== 'POST') return;
    throw new Problem('idempotency-key-missing', 'POST requires an Idempotency-Key here.');
  }
  parseIdempotencyKey(field);
  if (principal === undefined) {
    const reason =
      'An Idempotency-Key belongs to an authenticated user or client, and this request is anonymous';
    throw new Problem('idempotency-key-anonymous', `${reason}. Authenticate it, or omit the field.`);
  }
}

/** Returns the name under which the receipts of a principal are counted. A client can have the name of a user. */
export function formatOwner({ name, lent }: Principal): string {
  return lent?.users === undefined ? name : `client:${name}`;
}

/** Returns the key of a receipt. It depends on the principal, the client that acts for it, the path and the client's key. */
export function receiptKey(principal: Principal, path: string, key: string): string {
  return digest([formatOwner(principal), principal.lent?.client ?? '', path, key]);
}

/**
 * Returns a digest of a request by which it is distinguished from others with the same key: of the method, the content as it was
 * understood, and the preconditions. White space, the format and the order of members do not matter.
 */
export function computeFingerprint(
  { incoming: request, method }: Call,
  content: StoredValue | undefined,
): string {
  const conditions = conditionFields.map((name) => request.headers.get(name) ?? '');
  return digest([method, content === undefined ? '' : canonicalJson(content), ...conditions]);
}

const conditionFields = ['if-match', 'if-unmodified-since', 'if-none-match'];

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Formats a value as JSON with sorted member names. */
function canonicalJson(value: StoredValue): string {
  if (typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}
