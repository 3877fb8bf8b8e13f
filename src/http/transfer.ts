import type { Fields } from './fields.ts';
import { Problem } from './problem.ts';
import { listElements } from './syntax/token.ts';

/**
 * Throws the Problem `transfer-coding-not-implemented`, which closes the connection, when Transfer-Encoding is there
 * and is anything but `chunked`, once (RFC 9112 §6.1).
 */
export function judgeFraming(fields: Fields): void {
  const coding = fields.get('transfer-encoding');
  if (coding === undefined || coding === 'chunked' || coding.toLowerCase() === 'chunked') return;
  throw new Problem('transfer-coding-not-implemented', 'Transfer-Encoding is not chunked alone.', {
    close: true,
  });
}

/**
 * Throws the Problem `expectation-failed` when Expect has a member other than `100-continue` (RFC 9110 §10.1.1). An
 * HTTP/1.0 request is taken as if it had none.
 */
export function judgeExpectation(fields: Fields, version: string): void {
  const expect = fields.get('expect');
  if (expect === undefined || expect === '100-continue' || version === '1.0') return;
  if (listElements(expect).every((expectation) => expectation.toLowerCase() === '100-continue')) return;
  throw new Problem('expectation-failed', 'Expect asks for something else than 100-continue.');
}
