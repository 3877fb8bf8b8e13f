import { formatContentDigest } from '../../http/headers/content-digest.ts';
import { type ClientScheme, generateText } from '../signing.ts';
import {
  digestOnce,
  endsLikeFullForm,
  formatHmacCredentials,
  formatSignedDate,
  isNonce,
  messageParts,
  messageText,
} from './credentials.ts';

/** How a client signs with the scheme `hmac`. */
interface HmacSigning {
  /** `full` has a date and a nonce, so it can be used once; `simple` has neither and can be replayed. Default: `full`. */
  readonly form?: 'full' | 'simple' | undefined;
  /** The field for the date: `X-Date` if the client cannot set `Date`, as in a browser. Default: `Date`. */
  readonly dateField?: 'Date' | 'X-Date' | undefined;
  /** Whether content is signed by its digest, which is sent as Content-Digest. Default: true. */
  readonly signBody?: boolean | undefined;
}

/** Creates the scheme `hmac`, as a client signs with it. */
export function createHmacScheme(options: HmacSigning = {}): ClientScheme<'hmac'> {
  const { form = 'full', dateField = 'Date', signBody = true } = options;
  const isFull = form === 'full';
  return {
    kind: 'hmac',
    name: 'hmac',
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
