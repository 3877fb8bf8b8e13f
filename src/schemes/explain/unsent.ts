// Parameters and members that programs sign, and that libraries then do not send.

import { isForm } from './parameter-steps.ts';

/** Names of parameters that programs sign, and that libraries then do not send, because their value is not set or stands elsewhere. */
export const unsentNames =
  `page limit offset cursor after before sort order filter q search query status state type id ids from to since until
  start end fields include expand lang locale currency version v format symbol side price quantity amount timestamp nonce recvWindow
  api_key apikey apiKey key token access_token signature sign callback redirect_uri user user_id userId client_id account per_page
  perPage page_size pageSize pageToken page_token size count next tag tags category name email phone date debug test description
  note comment metadata parent reference versionId uploadId partNumber x-id foo bar x`.split(/\s+/);

/** What programs sign for a value that is not set, and usual values. */
const unsentValues = ['=', '', '=undefined', '=null', '=None', '=NaN', '=true', '=false', '=0', '=1'];
const usualSizes = ['=10', '=20', '=50', '=100'];
const sizeNames = /limit|size|count|per_?page/i;

/** The longest text (bytes) to which parameters are added. */
const longestAdded = 2048;

/** Yields parameters with one more, which has not been sent: at their end or before the last, sorted, and at their beginning. */
export function* addUnsent(parameters: string): Generator<string> {
  if (parameters.length > longestAdded) return;
  const own = parameters === '' ? [] : parameters.split('&');
  const names = new Set(own.map((parameter) => parameter.replace(/=.*$/s, '')));
  for (const name of unsentNames)
    for (const value of names.has(name) ? [] : listUnsentValues(name)) {
      const added = name + value;
      const after = own.findIndex((parameter) => parameter > added);
      const places = new Set([own.length, after < 0 ? own.length : after, 0, Math.max(0, own.length - 1)]);
      for (const at of places) yield own.toSpliced(at, 0, added).join('&');
    }
}

function listUnsentValues(name: string): readonly string[] {
  // The AWS SDK for JavaScript adds the name of the operation.
  if (name === 'x-id') return ['=GetObject', '=PutObject', '=DeleteObject'];
  return sizeNames.test(name) ? [...unsentValues, ...usualSizes] : unsentValues;
}

/** The hint at a parameter that was signed and has not been sent. */
export const unsent =
  'the parameter {added} was signed, but was not sent: is a value that is not set left out?';

/** Yields a form with one more parameter, or a JSON object with one more member, which has not been sent. */
export function* addUnsentContent(content: string): Generator<string> {
  if (isForm(content)) yield* addUnsent(content);
  const [, start, end] = /^(\s*\{.*[^{\s])(\s*\}\s*)$/s.exec(content.slice(0, longestAdded + 1)) ?? [];
  if (start === undefined || end === undefined || content.length > longestAdded) return;
  for (const name of unsentNames)
    for (const value of ['null', '""', 'false', '"undefined"', '[]', '{}', '0'])
      for (const added of [`,"${name}":${value}`, `, "${name}": ${value}`]) yield start + added + end;
}
