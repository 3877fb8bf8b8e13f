// The requirements of the application for a signature (RFC 9421 §3.2.1). They are judged before any key is looked up, so a refusal
// depends on nothing but the request.
import { hasContent, type IncomingRequest } from '../../http/message.ts';
import type { BaseFault, CoveredComponents } from '../../signature/message-signatures/base.ts';
import {
  coversContentDigest,
  identifierKey,
  parseIdentifier,
} from '../../signature/message-signatures/identifiers.ts';
import type { SignatureParameters } from '../../signature/message-signatures/signature-fields.ts';
import type { Fault } from '../scheme.ts';
import type { MessageSignaturesOptions } from './options.ts';

/** Returns why a signature does not meet the requirements; undefined if it does. */
export type CheckRequirements = (
  parameters: SignatureParameters,
  components: CoveredComponents,
  request: IncomingRequest,
) => Fault | undefined;

/** The maximum length of a nonce, in characters. */
const maxNonce = 256;

/** Creates the check of the requirements. */
export function createRequirements(options: MessageSignaturesOptions): CheckRequirements {
  const required = options.components.map((component) => identifierKey(parseIdentifier(component)));
  return (parameters, components, request) =>
    parameterFault(parameters, options) ??
    coverageFault(required, components, request) ??
    contentFault(components, request);
}

function parameterFault(
  { keyid, created, nonce, tag }: SignatureParameters,
  options: MessageSignaturesOptions,
): Fault | undefined {
  if (keyid === undefined) return insufficient('The signature requires the parameter keyid.');
  if (created === undefined) return insufficient('The signature requires the parameter created.');
  if (options.tag !== undefined && tag !== options.tag)
    return insufficient(`The signature requires the parameter tag with the value "${options.tag}".`);
  if (options.nonce === 'required' && nonce === undefined)
    return insufficient('The signature requires the parameter nonce.');
  return nonce !== undefined && (nonce.length < 1 || nonce.length > maxNonce)
    ? { detail: `The nonce must have 1 to ${maxNonce} characters.` }
    : undefined;
}

function coverageFault(
  required: readonly string[],
  { keys }: CoveredComponents,
  { target }: IncomingRequest,
): Fault | undefined {
  const isCovered = (key: string): boolean =>
    keys.has(key) || Array.from(keys).some((other) => listContained(other, target).includes(key));
  const missing = required.filter((key) => !isCovered(key));
  if (missing.length === 0) return undefined;
  const names = missing.join(', ');
  return {
    ...insufficient(`The signature does not cover ${names}.`),
    hint: `add ${names} to the covered components, in Signature-Input and in the message`,
    members: { missing },
  };
}

const ofTarget: readonly string[] = ['"@path"', '"@query"'];
const ofUri: readonly string[] = ['"@scheme"', '"@authority"', ...ofTarget];
const none: readonly string[] = [];

/** Returns the components whose values a component contains (RFC 9421 §2.2.2, §2.2.5). Only an absolute form has an authority. */
function listContained(key: string, target: string): readonly string[] {
  if (key === '"@target-uri"') return ofUri;
  if (key !== '"@request-target"') return none;
  return /^https?:/i.test(target) ? ofUri : ofTarget;
}

function contentFault({ items }: CoveredComponents, request: IncomingRequest): Fault | undefined {
  if (!hasContent(request) || items.some(coversContentDigest)) return undefined;
  return {
    type: 'digest-required',
    check: 'requirements',
    detail: 'The signature of a request with content must cover content-digest.',
    hint: 'send Content-Digest and cover it',
    members: { missing: ['"content-digest"'] },
  };
}

function insufficient(detail: string): Fault {
  return { type: 'signature-insufficient', check: 'requirements', detail };
}

/** Returns the fault of a signature without a base. A component that this request lacks may have been removed on the way. */
export function noBase({ kind, fault }: BaseFault): Fault {
  if (kind === 'malformed') return { detail: `${fault.charAt(0).toUpperCase()}${fault.slice(1)}.` };
  return {
    type: 'credentials-refused',
    check: 'signature',
    detail: `The signature cannot be verified: ${fault}.`,
    hint: fault,
  };
}
