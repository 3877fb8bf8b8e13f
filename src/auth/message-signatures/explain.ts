import type { ProblemMember } from '../../http/problem.ts';
import type { RequestMessage } from '../../signature/message-signatures/message.ts';
import type { MessagePart, SignatureExplanation } from '../explanation.ts';
import type { TraceDetails } from '../trace.ts';
import { bytesIn, type Holder, isSignedBy, type Verifier, type Verifiers, verifyingKey } from './keys.ts';
import { baseMistakes } from './mistakes.ts';
import type { Candidate } from './requirements.ts';
import { computationMistake, encodingMistakes } from './signature-mistakes.ts';

/** A refused signature. */
export interface Refused {
  readonly message: RequestMessage;
  readonly candidate: Candidate;
  /** The signature base. */
  readonly text: string;
  /** Undefined if no key has the id. */
  readonly holder: Holder | undefined;
  readonly verifiers: Verifiers;
}

/** Explanations of a refusal: for the client, which does not reveal whether the key exists, and for the trace, in full. */
export interface Explained {
  readonly shown: TraceDetails;
  readonly traced: TraceDetails;
}

/** A mistake that reproduces the client's signature. */
interface Found {
  readonly hint: string;
  readonly differs?: string;
  readonly signed?: string;
}

const unknownKey = 'no user has a key with this id, and no user has this name';
const otherMessage =
  'the signature was made with another key, or the signed message differs in a way that is not a common mistake';

/**
 * Explains a wrong signature. It tries all mistakes, with the same keys and dummies as the verification, so the time does not
 * depend on the key. What it finds is a signature that only a holder of the key can make.
 */
export function explainSignature(refused: Refused): Explained {
  const { candidate, text, holder } = refused;
  const found = mistakeOf(refused);
  const parts = partsOf(candidate, found);
  const explain = (hint: string): TraceDetails => ({
    message: text,
    ...membersOf({
      parts,
      hint: found?.hint ?? hint,
      ...(found?.differs === undefined ? {} : { differs: found.differs }),
    }),
  });
  const traced = holder === undefined ? unknownKey : (anotherKey(holder, candidate, text) ?? otherMessage);
  return { shown: explain(`${unknownKey}; or ${otherMessage}`), traced: explain(traced) };
}

/** Converts an explanation to members of a Problem. */
function membersOf({ hint, parts, differs }: SignatureExplanation): TraceDetails {
  const list = parts.map(
    ({ name, expected, signed }): ProblemMember =>
      signed === undefined ? { name, expected } : { name, expected, signed },
  );
  const first: Record<string, ProblemMember> = hint === undefined ? {} : { hint };
  return differs === undefined ? { ...first, parts: list } : { ...first, differs, parts: list };
}

function partsOf({ lines }: Candidate, found: Found | undefined): readonly MessagePart[] {
  return lines.map(({ name, value }) =>
    name === found?.differs && found.signed !== undefined
      ? { name, expected: value, signed: found.signed }
      : { name, expected: value },
  );
}

/** Tries all mistakes with all keys. Returns the first one found with a key that is not a dummy. */
function mistakeOf({ message, candidate, text, holder, verifiers }: Refused): Found | undefined {
  const { signature: presented, lines } = candidate;
  const { signature } = presented;
  const keys = holder?.keys ?? [];
  const mistakes = baseMistakes({ lines, message, signature: presented });
  const found: Found[] = [];
  for (const verifier of verifiers.for(keys, bytesIn(signature))) {
    const add = (mistake: Found): void => void (verifier.isDummy || found.push(mistake));
    if (isSignedBy(verifier.key, text, signature)) add({ hint: 'the request is signed with an expired key' });
    for (const mistake of mistakes) if (isSignedBy(verifier.key, mistake.text, signature)) add(mistake);
    addComputation(verifier, text, signature, add);
  }
  for (const { hint, signature: other } of encodingMistakes(signature))
    for (const { key, isDummy } of verifiers.for(keys, bytesIn(other)))
      if (isSignedBy(key, text, other) && !isDummy) found.push({ hint });
  return found[0] ?? otherHmac(holder, text, signature);
}

function addComputation(
  { key }: Verifier,
  text: string,
  signature: string,
  add: (mistake: Found) => void,
): void {
  const hint = computationMistake(key, text, signature);
  if (hint !== undefined) add({ hint });
}

/** Finds an HMAC of another length, which the verification does not compute. */
function otherHmac(holder: Holder | undefined, text: string, signature: string): Found | undefined {
  if (bytesIn(signature) === 32) return undefined;
  for (const key of holder?.keys ?? []) {
    const hint = key.algorithm === 'hmac-sha256' ? computationMistake(key, text, signature) : undefined;
    if (hint !== undefined) return { hint };
  }
  return undefined;
}

/** Finds another key of the user that made the signature. Only for the trace, because its time depends on the user. */
function anotherKey({ account }: Holder, { keyid, signature }: Candidate, text: string): string | undefined {
  for (const [id, accountKey] of account.keys ?? []) {
    const key = id === keyid ? undefined : verifyingKey(accountKey);
    if (key !== undefined && isSignedBy(key, text, signature.signature))
      return `the request is signed with another key of the user: ${id}`;
  }
  return undefined;
}
