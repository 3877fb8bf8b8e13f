// Mistakes in contents that are parameters, or JSON that was signed as parameters.
import { isFormType } from '../../http/headers/media-type.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { findQuery } from '../../http/target.ts';
import { readJsonNode } from './json-writers.ts';
import { describe, type Facts, listTextVariants, type TextMistake, type Variant } from './mistake.ts';
import { isForm, makeTexts, type Pair, type Pairs, readMembers, readMultipart } from './parameter-steps.ts';
import { formMistakes, listTexts, ofTwilio, twilioMistakes, twilioPairs } from './parameters.ts';
import { addUnsent, unsent } from './unsent.ts';

/** The mistakes of clients that sign parameters, or JSON, in another form than they send it. */
export const parameterMistakes: readonly TextMistake[] = [
  ...formMistakes,
  [
    'the content was signed as the parameter payload of a form, but it was sent as JSON',
    (content) => (readJsonNode(content) ? listTexts([['payload', content]]) : undefined),
  ],
  [
    'the members of the JSON were signed as parameters; sign the bytes that are sent',
    (content) => listMemberTexts(readMembers(content)),
  ],
  [
    'the content is a JSON string that contains the JSON that was signed: it was serialized twice',
    (content) => {
      const node = readJsonNode(content);
      return node?.kind === 'string' ? Buffer.from(node.text) : undefined;
    },
  ],
  [
    'the fields of the multipart content were signed as a form; sign the bytes that are sent',
    (content) => listTexts(readMultipart(content)),
  ],
];

/** Returns members as parameters, with their numbers as sent, and as JavaScript writes them. */
function listMemberTexts(members: Pairs | undefined): string[] {
  const written = members?.map(
    ([name, value = '']): Pair => [name, isNumber.test(value) ? String(Number(value)) : value],
  );
  return [...listTexts(members), ...listTexts(written)];
}

const isNumber = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** Yields the values that clients sign in place of the sorted parameters of a form (Twilio). */
export function* twilioVariants(value: string, facts: Facts): Generator<Variant> {
  const octets = octetsOf(facts.content);
  yield* listTextVariants(twilioMistakes, 'the form', octets, value);
  yield ['the parameters of the form were left out', ''];
  const query = findQuery(facts.target);
  for (const both of octets === '' ? [query] : [`${query}&${octets}`, `${octets}&${query}`])
    for (const signed of query === '' ? [] : makeTexts(both, ofTwilio))
      yield ['the parameters of the query were signed among those of the form; they are in the URL', signed];
  yield [
    isFormType(facts.request.headers.get('content-type'))
      ? 'the form was signed as sent'
      : 'the content was signed, but it is not a form',
    octets,
  ];
}

/** The longest form (bytes) with which two mistakes at once are tried. */
const longestTwice = 8192;

/** Yields further ones: with two mistakes at once, and with one more parameter, which has not been sent. */
export function* furtherTwilioVariants(facts: Facts): Generator<Variant> {
  const octets = octetsOf(facts.content);
  if (octets.length <= longestTwice) yield* listTextVariants(twilioPairs, 'the form', octets);
  if (isForm(octets))
    for (const longer of addUnsent(octets))
      for (const signed of makeTexts(longer, ofTwilio))
        yield [describe(unsent, 'the form', octets, longer), signed];
}
