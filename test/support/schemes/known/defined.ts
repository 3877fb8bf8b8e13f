import type { NamedMistakes } from '../../scheme-contract.ts';
import { knownMistakes as declared } from './declared.ts';

/** Forms of a time, which a scheme in code reads itself. */
const times = [
  'HTTP date sent',
  'ISO 8601 sent',
  'fraction of a second sent',
  'obsolete date of RFC 850 sent',
  'asctime sent',
  'zone of the date written as UTC',
  'zone of the date written as an offset',
  'date without a zone sent',
  'time sent in quotes',
  'date with a wrong weekday',
  'month of the date written out',
  'time sent twice and joined by a comma',
  'time empty',
] as const;
const changed = ['another second signed than sent', 'time of another zone signed than sent'] as const;

function omit<Value>(
  values: Readonly<Record<string, Value>>,
  names: readonly string[],
): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

/** The mistakes that are explained for a scheme in code: those of the same message in a declaration, but for forms of its times. */
export const knownMistakes: NamedMistakes = {
  ...declared,
  named: {
    ...omit(declared.named, times),
    'off by a time-zone offset': /off by exactly 2 hours: probably a time zone; the date must be in/,
    'nonce empty': /The nonce is missing\. \| it is expected in the fields X-Tally-User, X-Tally-Time/,
    'nonce with characters that it cannot have': /The nonce is not 1 to 128 visible ASCII characters\./,
    'nonce too long': /The nonce is not 1 to 128 visible ASCII characters\./,
    'user empty': /The user is missing\./,
    'signature empty': /The signature is missing\./,
    'one part signed alone': /only the part X-Meta was signed/,
    'nothing signed': /only the part X-Meta was signed/,
    'milliseconds sent': /The date cannot be read\./,
  },
  namedByDouble: omit(declared.namedByDouble, changed),
  notNamedYet: [...declared.notNamedYet, ...times, ...changed],
};
