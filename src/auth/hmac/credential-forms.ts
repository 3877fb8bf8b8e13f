// The usual mistakes in the form of credentials and dates, which need no secret to be recognized.

const credentialsForms: readonly [form: RegExp, hint: string][] = [
  [/, *hmac /i, 'the field was sent twice and joined with a comma (Headers.append?); send it once'],
  [/^[^:]*:(?:[^:]*:)?[A-Za-z0-9+/]{43}=(?:\\[nr]|%0[ad])+$/i, 'the digest ends with a line feed; remove it'],
  [/^[^:]*:[A-Za-z0-9+/]{43}=:[^:]*$/, 'nonce and digest were swapped'],
  [/^[^:]*::[^:]*$/, 'the nonce is empty'],
  [/:$/, 'the digest is empty'],
  [/^:/, 'the user is empty'],
  [/:[A-Za-z0-9+/]{22}==$/, 'the digest has the length of MD5; SHA-256 is required'],
  [/:"[^"]*"$/, 'the digest is in quotes'],
  [/[,;]$/, 'there is a comma or a semicolon after the credentials'],
  [/^[^:]*:[^:%]*%[0-9a-f]{2}[^:]*:[^:]*$/i, 'the nonce is percent-encoded'],
  [/:(?:[A-Za-z0-9+/]|%2b|%2f){43}%3d$/i, 'the digest is percent-encoded'],
  [/^"[^"]*"$/, 'the credentials are in quotes'],
  [/^[A-Za-z0-9+/]{16,}={0,2}$/, 'the credentials are encoded in base64, as for Basic'],
  [/^[^:]*%3a/i, 'the colons are percent-encoded'],
  [/, /, 'the credentials are a list of parameters, as in other schemes'],
  [/^[^:]*: | :/, 'there are spaces around a colon'],
];

/** Returns a hint for malformed credentials, from their form. */
export function explainCredentialsForm(rest: string): string | undefined {
  return credentialsForms.find(([form]) => form.test(rest))?.[1];
}

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
