// The usual mistakes in the form of credentials, which need no secret to be recognized.

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
