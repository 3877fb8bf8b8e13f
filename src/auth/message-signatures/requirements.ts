// The requirements of the application for a signature (RFC 9421 §3.2.1).
import { Problem, type ProblemMember } from '../../http/problem.ts';
import {
  type BaseFault,
  type BaseLine,
  baseLines,
  basePieces,
  type CoveredComponents,
  coverComponents,
  formatBase,
  isBaseFault,
} from '../../signature/message-signatures/base.ts';
import {
  coversContentDigest,
  identifierKey,
  parseIdentifier,
} from '../../signature/message-signatures/identifiers.ts';
import type { RequestMessage } from '../../signature/message-signatures/message.ts';
import type {
  MessageSignature,
  SignatureParameters,
} from '../../signature/message-signatures/signature-fields.ts';
import type { Item } from '../../signature/structured-fields/value.ts';
import type { MessageSignaturesOptions } from './options.ts';

/** A signature that meets the requirements. */
export interface Candidate {
  readonly components: JudgedComponents;
  readonly parameters: SignatureParameters;
  readonly keyid: string;
  /** In seconds. */
  readonly created: number;
  /** The signature in base64. */
  readonly value: string;
  /** The pieces of the signature base: joining them would take longer than computing an HMAC of them. */
  readonly pieces: readonly string[];
}

/** A candidate, and what an explanation needs. */
export interface ParsedCandidate extends Candidate {
  readonly signature: MessageSignature;
  /** The lines of the signature base. */
  readonly lines: readonly BaseLine[];
  readonly text: string;
}

/** Covered components, and what the requirements say about them. They are the same for many requests. */
export interface JudgedComponents extends CoveredComponents {
  /** The required components that are not covered. */
  readonly missing: readonly string[];
  readonly coversContent: boolean;
}

/** A signature whose components were judged for an earlier request. */
export interface KnownSignature {
  readonly components: JudgedComponents;
  readonly parameters: SignatureParameters;
  /** The parameters, serialized strictly. */
  readonly serialized: string;
  /** The signature in base64. */
  readonly value: string;
}

/** Judges signatures before their keys are looked up. */
export interface Requirements {
  /** Judges the covered components. Returns a fault if they are invalid in any request. */
  components(items: readonly Item[]): JudgedComponents | BaseFault;
  /**
   * Returns a candidate for a signature that meets the requirements, or the Problem. The Problem depends on nothing but the
   * request, so it reveals nothing about keys and users.
   */
  judge(
    signature: MessageSignature,
    components: JudgedComponents | BaseFault,
    request: RequestMessage,
    hasContent: boolean,
  ): ParsedCandidate | Problem;
  /** Returns a candidate for a signature with known components; undefined if it must be judged as a whole. */
  judgeKnown(known: KnownSignature, request: RequestMessage, hasContent: boolean): Candidate | undefined;
}

/** The maximum length of a nonce, in characters. */
const maxNonce = 256;

/** Creates the judge of the requirements. */
export function createRequirements(options: MessageSignaturesOptions, explain: boolean): Requirements {
  const required = options.components.map((component) => identifierKey(parseIdentifier(component)));
  const insufficient = (detail: string, members: Readonly<Record<string, ProblemMember>> = {}): Problem =>
    new Problem('signature-insufficient', detail, {
      members: explain ? { check: 'requirements', ...members } : {},
    });

  const parameterFault = (parameters: SignatureParameters): Problem | undefined => {
    const { keyid, created, nonce, tag } = parameters;
    if (keyid === undefined) return insufficient('The signature requires the parameter keyid.');
    if (created === undefined) return insufficient('The signature requires the parameter created.');
    if (options.tag !== undefined && tag !== options.tag)
      return insufficient(`The signature requires the parameter tag with the value "${options.tag}".`);
    if (options.nonce === 'required' && nonce === undefined)
      return insufficient('The signature requires the parameter nonce.');
    return nonce !== undefined && (nonce.length < 1 || nonce.length > maxNonce)
      ? malformed(`The nonce must have 1 to ${maxNonce} characters.`, explain)
      : undefined;
  };

  const coverageFault = (
    { missing, coversContent }: JudgedComponents,
    hasContent: boolean,
  ): Problem | undefined => {
    if (missing.length === 0) return hasContent && !coversContent ? digestRequired(explain) : undefined;
    return insufficient(`The signature does not cover ${missing.join(', ')}.`, {
      missing,
      hint: `add ${missing.join(', ')} to the covered components, in Signature-Input and in the message`,
    });
  };

  return {
    components(items) {
      const covered = coverComponents(items, 'request');
      if (isBaseFault(covered)) return covered;
      const keys = new Set(items.map(identifierKey));
      const missing = required.filter((key) => !keys.has(key));
      return { ...covered, missing, coversContent: items.some(coversContentDigest) };
    },
    judge(signature, components, request, hasContent) {
      if (isBaseFault(components)) return baseProblem(components, explain);
      const { parameters } = signature.covered;
      const lines = baseLines(components, parameters, request, options.structuredFields);
      if (isBaseFault(lines)) return baseProblem(lines, explain);
      const fault = parameterFault(signature.parameters) ?? coverageFault(components, hasContent);
      if (fault !== undefined) return fault;
      const { parameters: read, signature: value } = signature;
      const { keyid = '', created = 0 } = read;
      const text = formatBase(lines);
      const base = { lines, text, pieces: [text] };
      return { ...base, signature, components, parameters: read, keyid, created, value };
    },
    judgeKnown({ components, parameters, serialized, value }, request, hasContent) {
      if (parameterFault(parameters) !== undefined || (hasContent && !components.coversContent))
        return undefined;
      const pieces = basePieces(components, serialized, request, options.structuredFields);
      const { keyid = '', created = 0 } = parameters;
      return pieces === undefined ? undefined : { components, parameters, keyid, created, value, pieces };
    },
  };
}

function digestRequired(explain: boolean): Problem {
  const members = explain
    ? { check: 'requirements', missing: ['"content-digest"'], hint: 'send Content-Digest and cover it' }
    : {};
  return new Problem(
    'digest-required',
    'The signature of a request with content must cover content-digest.',
    {
      members,
    },
  );
}

function malformed(detail: string, explain: boolean): Problem {
  return new Problem('malformed-credentials', detail, { members: explain ? { check: 'grammar' } : {} });
}

/** Returns the Problem for a signature without a base. A component that this request lacks may have been removed on the way. */
function baseProblem({ kind, fault }: BaseFault, explain: boolean): Problem {
  if (kind === 'malformed') return malformed(`${capitalized(fault)}.`, explain);
  return new Problem('credentials-refused', `The signature cannot be verified: ${fault}.`, {
    members: explain ? { check: 'signature', hint: fault } : {},
  });
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
