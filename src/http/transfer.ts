import type { HttpHeaders } from './fields.ts';
import { Problem } from './problem.ts';
import { listElements } from './syntax/token.ts';

/**
 * Throws the Problem `transfer-coding-not-implemented`, which closes the connection, unless Transfer-Encoding is absent or is
 * `chunked`, once (RFC 9112 §6.1).
 */
export function checkFraming(fields: HttpHeaders): void {
  const coding = fields.get('transfer-encoding');
  if (coding === undefined || coding === 'chunked' || coding.toLowerCase() === 'chunked') return;
  throw new Problem('transfer-coding-not-implemented', 'The value of Transfer-Encoding is not chunked.', {
    close: true,
  });
}

/**
 * Throws the Problem `expectation-failed` if Expect has a member other than `100-continue` (RFC 9110 §10.1.1). In HTTP/1.0 the
 * field is ignored.
 */
export function checkExpectation(fields: HttpHeaders, version: string): void {
  const expect = fields.get('expect');
  if (expect === undefined || expect === '100-continue' || version === '1.0') return;
  if (listElements(expect).every((expectation) => expectation.toLowerCase() === '100-continue')) return;
  throw new Problem('expectation-failed', 'Expect contains something other than 100-continue.');
}
