import type { FieldLine } from '../http/fields.ts';
import { isToken } from '../http/token.ts';

/** A value that can be sent in one line, a character for each byte (RFC 9110 §5.5). */
const fieldValue = /^(?:[!-~\u0080-\u00ff](?:[\t -~\u0080-\u00ff]*[!-~\u0080-\u00ff])?)?$/;

/** A line of a reply that somebody made up. Throws RangeError where it cannot be sent. */
export function sendableLine(name: string, value: string): FieldLine {
  if (!isToken(name)) throw new RangeError(`${JSON.stringify(name)} is no name of a field`);
  if (!fieldValue.test(value)) throw new RangeError(`the value of ${name} cannot be sent in a field`);
  return [name, value];
}
