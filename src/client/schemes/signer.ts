// The one place that knows how each scheme signs.
import type { ApiKeyOptions } from '../../auth/api-key-options.ts';
import type { Aws4Options } from '../../auth/aws4/options.ts';
import type { DeclaredOptions } from '../../auth/declared/options.ts';
import type { SealedDefinition } from '../../auth/defined/sealed.ts';
import type { MessageSignaturesOptions } from '../../auth/message-signatures/options.ts';
import { formatContentDigest } from '../../http/headers/content-digest.ts';
import {
  digestOnce,
  endsLikeFullForm,
  formatHmacCredentials,
  formatSignedDate,
  isNonce,
  messageParts,
  messageText,
} from '../../signature/hmac.ts';
import {
  generateText,
  type SchemeSigner,
  type Signature,
  type SigningChoices,
  type SigningIdentity,
  type SigningMoment,
  type UnsignedRequest,
} from '../../signature/signing.ts';
import { createAws4Signer } from './aws4.ts';
import { basicSigner, bearerSigner, createApiKeySigner } from './credentials.ts';
import { createDeclaredSigner } from './declared.ts';
import { createDefinedSigner } from './defined.ts';
import { createMessageSignaturesSigner } from './message-signatures.ts';
import { createOAuth1Signer, type OAuth1Options } from './oauth1.ts';

/** A scheme to sign with. `readSchemes` returns the configured ones. */
export type SignableScheme = { readonly name: string } & (
  | { readonly kind: 'hmac'; readonly options: HmacSigning }
  | { readonly kind: 'basic' | 'bearer' }
  | { readonly kind: 'oauth1'; readonly options?: OAuth1Options }
  | { readonly kind: 'message-signatures'; readonly options: MessageSignaturesOptions }
  | { readonly kind: 'aws4'; readonly options: Aws4Options }
  | { readonly kind: 'api-key'; readonly options: ApiKeyOptions }
  | { readonly kind: 'declared'; readonly options: DeclaredOptions }
  | { readonly kind: 'defined'; readonly options: SealedDefinition }
);

/** The kind of a scheme. */
export type SchemeKind = SignableScheme['kind'];

/** Returns how a scheme signs. */
export function selectSigner(scheme: SignableScheme): SchemeSigner {
  switch (scheme.kind) {
    case 'hmac':
      return createHmacSigner(scheme.options);
    case 'basic':
      return basicSigner;
    case 'bearer':
      return bearerSigner;
    case 'oauth1':
      return createOAuth1Signer(scheme.options);
    case 'message-signatures':
      return createMessageSignaturesSigner(scheme.name, scheme.options);
    case 'aws4':
      return createAws4Signer(scheme.name, scheme.options);
    case 'api-key':
      return createApiKeySigner(scheme.name, scheme.options);
    case 'declared':
      return createDeclaredSigner(scheme.name, scheme.options);
    case 'defined':
      return createDefinedSigner(scheme.name, scheme.options);
  }
}

/** The kinds of schemes that have each choice. The type checks that the list is complete. */
const kindsWith: Readonly<Record<keyof SigningChoices, readonly SchemeKind[]>> = {
  nonce: ['message-signatures', 'declared', 'defined', 'hmac', 'oauth1'],
  date: ['hmac'],
  id: ['declared'],
  components: ['message-signatures'],
  lifetime: ['message-signatures'],
  alg: ['message-signatures'],
  label: ['message-signatures'],
  presign: ['aws4'],
  sessionToken: ['aws4'],
};

/** The kinds of schemes that use a private key. */
const asymmetricKinds: readonly SchemeKind[] = ['message-signatures', 'declared', 'defined', 'oauth1'];

/** What a kind of schemes is called in messages that list those with an option. */
const kindNames: Readonly<Partial<Record<SchemeKind, string>>> = {
  'message-signatures': 'HTTP Message Signatures',
  aws4: 'AWS Signature Version 4',
  oauth1: 'OAuth 1.0a',
  'api-key': 'an API key',
  declared: 'declared schemes',
};

/** Signs requests as one identity. Throws RangeError if a request cannot be signed. */
export type Sign = (request: UnsignedRequest, moment: SigningMoment) => Signature;

/**
 * Creates the function that signs requests as an identity.
 * @throws RangeError if credentials are missing, or something is chosen that the scheme does not have
 */
export function createSign(
  scheme: SignableScheme,
  identity: SigningIdentity,
  choices: SigningChoices = {},
): Sign {
  for (const [choice, kinds] of Object.entries(kindsWith)) {
    if (Reflect.get(choices, choice) !== undefined) checkKind(choice, kinds, scheme);
  }
  if (identity.privateKey !== undefined) checkKind('privateKey', asymmetricKinds, scheme);
  const signer = selectSigner(scheme);
  signer.check(identity, choices);
  return (request, moment) => signer.sign(request, identity, { ...moment, ...choices });
}

/** Throws RangeError if only other kinds of schemes have an option. */
function checkKind(option: string, kinds: readonly SchemeKind[], { kind, name }: SignableScheme): void {
  if (kinds.includes(kind)) return;
  const configurable = new Intl.ListFormat('en-GB').format(kinds.flatMap((each) => kindNames[each] ?? []));
  throw new RangeError(`${option} is an option of ${configurable}, not of the scheme ${name}`);
}

/** How the scheme `hmac` signs. */
interface HmacSigning {
  /** `full` has a date and a nonce, so it can be used once; `simple` has neither and can be replayed. Default: `full`. */
  readonly form?: 'full' | 'simple' | undefined;
  /** The field for the date: `X-Date` if the client cannot set `Date`, as in a browser. Default: `Date`. */
  readonly dateField?: 'Date' | 'X-Date' | undefined;
  /** Whether content is signed by its digest, which is sent as Content-Digest. Default: true. */
  readonly signBody?: boolean | undefined;
}

/** Creates the signer of the scheme `hmac`. */
function createHmacSigner(options: HmacSigning): SchemeSigner {
  const { form = 'full', dateField = 'Date', signBody = true } = options;
  return {
    check({ user = '' }, { nonce }) {
      if (user === '' || /[:\x00-\x1f\x7f]/.test(user))
        throw new RangeError('a user has at least one character, no colon and no control characters');
      if (nonce !== undefined && !isNonce(nonce))
        throw new RangeError('a nonce is 1 to 128 characters out of A-Z a-z 0-9 . _ ~ -');
    },
    sign({ method, target, content }, { user = '', secret = '' }, options) {
      const isFull = form === 'full';
      // An attacker could send such a signature as that of a full request for a shorter target.
      if (!isFull && endsLikeFullForm(target))
        throw new RangeError(
          'the simple form cannot sign a target that ends like a date and a nonce, or like a content digest',
        );
      const nonce = isFull ? (options.nonce ?? generateText(options)) : undefined;
      const date = isFull ? (options.date ?? formatSignedDate(options.now)) : undefined;
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
