// The forms of a time that clients send by mistake.
import { describeTimeForm } from './freshness.ts';

const dateForms: readonly [form: RegExp, hint: string][] = [
  [
    /^(?:[A-Z][a-z]{2}, )?\d[^,]{1,30}, /,
    'the field was sent twice and joined with a comma (Headers.append?); send it once',
  ],
  [/^"/, 'the date is in quotes'],
  [/UTC$/, 'the zone must be written as GMT'],
  [/^\d{4}-?\d\d-?\d\dT/i, 'the date is in ISO 8601 format'],
  [/^\d+(?:\.\d+)?$/, 'the date is a number of seconds or milliseconds'],
  [/^[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d /, 'the date is in the obsolete RFC 850 format'],
  [/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d /, 'the date is in asctime format'],
  [/[+-]\d\d:?\d\d$/, 'the date has a time zone offset; it must be in UTC'],
  [/^[A-Z][a-z]{2}, .* GMT$/, 'the day of the week is wrong, or the day or time does not exist'],
  [/^\d{1,2} [A-Za-z]{4,} /, 'the name of the month must be abbreviated to three letters'],
  [/^\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d:\d\d$/, 'the day, month or time does not exist'],
  [/^\d{1,2}[A-Za-z]{3}\d{4}/, 'the spaces must be removed only in the message, not in the field'],
];

/** Returns a hint for a malformed date, from its form. */
export function explainDateForm(date: string): string | undefined {
  return dateForms.find(([form]) => form.test(date))?.[1];
}

/** Returns a hint for a timestamp that is not a number of seconds, from its form. */
export function explainSecondsForm(text: string): string | undefined {
  if (/^[1-9]\d{12,15}$/.test(text)) return 'the timestamp is in milliseconds; seconds are expected';
  const form = describeTimeForm(text);
  if (form === 'a number' || text.length > 64) return undefined;
  if (form !== undefined) return `the timestamp is ${form}; a number of seconds is expected`;
  return /[A-Za-z]{3}/.test(text) ? 'the timestamp is a date; a number of seconds is expected' : undefined;
}
