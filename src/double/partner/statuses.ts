// Finds the response that a document has for a status, of a success or an error.
import type { DocumentedResponse, Operation } from './document.ts';

/** Returns the response of a status: its own, that of its range, or `default`; undefined if the document has none. */
export function findResponse({ responses }: Operation, status: number): DocumentedResponse | undefined {
  const keys = [String(status), `${String(status).charAt(0)}XX`, 'default'];
  return keys.flatMap((key) => responses.find((each) => each.status === key) ?? [])[0];
}

/** The responses that have a fixed place before others: the lowest successful one, any successful one, and so on. */
const usualOrder = [/^2\d\d$/, /^2XX$/, /^default$/, /^3/, /^[145]/];

/** Returns the response of a status, or else the usual one. */
export function selectResponse(
  operation: Operation,
  status: number | undefined,
): DocumentedResponse | undefined {
  if (status !== undefined) return findResponse(operation, status);
  const sorted = [...operation.responses].sort((one, other) => (one.status < other.status ? -1 : 1));
  return usualOrder.flatMap((form) => sorted.find((each) => form.test(each.status)) ?? [])[0];
}

/** Returns the status with which a response is sent. */
export function chooseStatus({ status }: DocumentedResponse): number {
  if (status === 'default') return 200;
  const lowest = Number(status.replace('XX', '00'));
  // A final response cannot have an informational status (RFC 9110 §15.2).
  return lowest < 200 ? 200 : lowest;
}

/**
 * Returns the documented status whose form an error has: its own, that of its class, `default`, or the nearest of the class. Where no
 * success is documented, `default` describes it, and is no form of errors.
 */
export function findErrorStatus({ responses }: Operation, status: number): number | undefined {
  const first = String(status).charAt(0);
  const hasSuccess = responses.some((response) => /^[23]/.test(response.status));
  const own = [String(status), `${first}XX`, ...(hasSuccess ? ['default'] : [])];
  if (responses.some((response) => own.includes(response.status))) return status;
  const documented = responses
    .map((response) => Number(response.status))
    .filter((each) => String(each).charAt(0) === first)
    .sort((one, other) => Math.abs(one - status) - Math.abs(other - status));
  return documented[0];
}
