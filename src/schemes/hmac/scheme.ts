import { formatContentDigest } from '../../http/headers/content-digest.ts';
import { type AuthScheme, problemsOfDates } from '../auth-scheme.ts';
import { generateText } from '../signing.ts';
import {
  digestOnce,
  endsLikeFullForm,
  formatHmacCredentials,
  formatSignedDate,
  isNonce,
  messageParts,
  messageText,
  splitHmacCredentials,
} from './credentials.ts';
import type { HmacOptions } from './options.ts';

/** Creates the scheme `hmac`: HMAC-SHA256 over the method, the target as sent, and in the full form a date and a nonce. */
export function createHmacScheme(options: HmacOptions = {}): AuthScheme<'hmac', HmacOptions> {
  const { form = 'full', dateField = 'Date', signBody = true } = options;
  const { window = 600_000, simple = 'safe', requireBodyDigest = false } = options;
  const isFull = form === 'full';
  return {
    kind: 'hmac',
    name: 'hmac',
    label: 'HMAC',
    options,
    dateWindow: window,
    window,
    places: [{ role: '', in: 'authorization', name: 'hmac', description: about }],
    requestHeaders: ['authentication', 'x-date'],
    challengeParameters: [['algorithm', 'SHA-256']],
    problems: [...problemsOfDates, 'date-missing', 'simple-form-refused', 'digest-required'],
    claimedUser(rest) {
      const credentials = splitHmacCredentials(rest);
      return typeof credentials === 'string' ? undefined : credentials.user;
    },
    async load(context) {
      const { createHmacSignature } = await import('./signature.ts');
      return createHmacSignature({ window, simple, requireBodyDigest }, context);
    },
    // The simple form ignores both.
    choices: ['nonce', 'date'],
    check({ user = '' }, { nonce }) {
      if (user === '' || /[:\x00-\x1f\x7f]/.test(user))
        throw new RangeError('a user has at least one character, no colon and no control characters');
      if (nonce !== undefined && !isNonce(nonce))
        throw new RangeError('a nonce is 1 to 128 characters out of A-Z a-z 0-9 . _ ~ -');
    },
    sign({ method, target, content }, { user = '', secret = '' }, choices) {
      // An attacker could send such a signature as that of a full request for a shorter target.
      if (!isFull && endsLikeFullForm(target))
        throw new RangeError(
          'the simple form cannot sign a target that ends like a date and a nonce, or like a content digest',
        );
      const nonce = isFull ? (choices.nonce ?? generateText(choices)) : undefined;
      const date = isFull ? (choices.date ?? formatSignedDate(choices.now)) : undefined;
      const contentDigest = content === undefined || !signBody ? undefined : formatContentDigest(content);
      const parts = messageParts({ method, target, date, nonce, contentDigest });
      const digest = digestOnce(secret, messageText(parts));
      const fields: [string, string][] = [];
      if (date !== undefined) fields.push([dateField, date]);
      if (contentDigest !== undefined) fields.push(['Content-Digest', contentDigest]);
      fields.push(['Authentication', `hmac ${formatHmacCredentials({ user, nonce, digest })}`]);
      return { fields, target, parts };
    },
  };
}

const about =
  '`hmac USER:NONCE:DIGEST`, the HMAC-SHA256 of the method, the target, the date, the nonce and possibly a digest of the content. Authentication is read instead of Authorization, and X-Date instead of Date.';
