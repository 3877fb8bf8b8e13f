import { createHmac } from 'node:crypto';

/** What a request is signed with. */
interface Signing {
  readonly target: string;
  readonly secret: string;
  /** The time of the date, in ms. */
  readonly time: number;
  /** The target that is signed instead, and what is signed after the message. */
  readonly signs: { readonly target: string; readonly end?: string };
}

/** Returns the fields of a GET by `ann` that is signed wrongly. */
export function signedWithMistake({ secret, time, signs }: Signing): Record<string, string> {
  const date = new Date(time).toUTCString();
  const message = ['GET', signs.target, date.replaceAll(' ', ''), 'a-nonce'].join('+') + (signs.end ?? '');
  const digest = createHmac('sha256', secret).update(message).digest('base64');
  return { 'X-Date': date, Authorization: `hmac ann:a-nonce:${digest}` };
}
