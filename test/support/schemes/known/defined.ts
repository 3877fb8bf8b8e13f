import type { NamedMistakes } from '../../scheme-contract.ts';
import { knownMistakes as declared } from './declared.ts';

const {
  'HTTP date sent': _,
  'ISO 8601 sent': __,
  'fraction of a second sent': ___,
  'date without a zone sent': ____,
  ...named
} = declared.named;
const {
  'another second signed than sent': _____,
  'time of another zone signed than sent': ______,
  ...namedByDouble
} = declared.namedByDouble;

/** The mistakes that are explained for a scheme in code: those of the same message in a declaration, but for forms of its times. */
export const knownMistakes: NamedMistakes = {
  ...declared,
  named: {
    ...named,
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
  namedByDouble,
  notNamedYet: [
    ...declared.notNamedYet,
    'HTTP date sent',
    'ISO 8601 sent',
    'fraction of a second sent',
    'date without a zone sent',
    'another second signed than sent',
    'time of another zone signed than sent',
  ],
};
