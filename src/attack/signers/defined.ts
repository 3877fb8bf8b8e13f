import type { KeyObject } from 'node:crypto';
import { definitionOf } from '../../auth/defined/define-scheme.ts';
import type { Scheme } from '../../auth/defined/definition.ts';
import type { SealedDefinition } from '../../auth/defined/sealed.ts';
import { signByDefinition } from '../../auth/defined/sign.ts';
import type { OutgoingRequest } from '../attempt.ts';
import { checkSignerOptions } from './check-options.ts';
import type { SignedParts, SigningChanges } from './signed-parts.ts';
import type { RequestSigner, SignerTraits } from './signer.ts';
import { bytesOf, splitUrl } from './target.ts';

/** The options of `definedSigner`: a secret, or a private key if the scheme has public keys. */
export interface DefinedSignerOptions {
  /** The name of the user, or the id of one of its keys. */
  readonly user: string;
  readonly secret?: string;
  readonly privateKey?: KeyObject;
}

/**
 * Creates a signer for a scheme in code.
 * @throws RangeError if the scheme is none that `defineScheme` returned, or credentials are missing
 * @example const attempts = adversary({ url }, definedSigner(scheme, { user: 'ann', secret }));
 */
export function definedSigner(scheme: Scheme, options: DefinedSignerOptions): RequestSigner {
  const definition = definitionOf(scheme);
  if (definition === undefined)
    throw new RangeError('definedSigner: a scheme that defineScheme returned is expected');
  return signerOfDefinition(definition, options);
}

/** Creates a signer for a definition. */
export function signerOfDefinition(
  definition: SealedDefinition,
  options: DefinedSignerOptions,
): RequestSigner {
  const { user, privateKey } = options;
  checkSignerOptions(options, 'definedSigner', privateKey === undefined ? ['user', 'secret'] : ['user']);
  const key = privateKey ?? options.secret ?? '';
  const sign = (request: OutgoingRequest, changes: SigningChanges): SignedParts | undefined => {
    const { date, nonce = 'n-1' } = changes;
    if (typeof date === 'string') return undefined;
    // Keys are padded with zeros (RFC 2104 §2), so this one is equivalent to an empty one.
    const secret = changes.secret === '' ? '\0' : changes.secret;
    const { host, secure, target } = splitUrl(request.url);
    const { method, headers: fields } = request;
    const unsigned = { method, target, fields, host, secure, content: bytesOf(request) };
    const identity = {
      user: changes.user ?? user,
      key: privateKey ?? secret ?? key,
      now: date ?? 0,
      nonce,
    };
    try {
      const signed = signByDefinition(unsigned, definition, identity);
      return { fields: Object.fromEntries(signed.fields), query: addedQuery(target, signed.target) };
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
  return Object.assign(sign, { user, tlsOnly: false, traits: traitsOf(definition) });
}

/** Returns the parameters that were appended to a target. */
function addedQuery(target: string, signed: string): string {
  return signed.startsWith(target) ? signed.slice(target.length).replace(/^[?&]/, '') : '';
}

function traitsOf({ place, form, headers, dateField, replay }: SealedDefinition): SignerTraits {
  const otherFields = headers.filter((name) => !('field' in place) || name !== place.field);
  return {
    place: { in: place, otherFields, form },
    acceptedOnce: replay === 'refuse',
    ...(dateField !== undefined && { dateField }),
  };
}
