import type { ProblemMember } from '../../http/problem.ts';
import { keyOf } from '../../signature/hmac.ts';
import type { RequestMessage } from '../../signature/message-signatures/message.ts';
import { ExplanationBudget, timeBySignature } from '../explain/budget.ts';
import { encodingMistakes } from '../explain/public-key.ts';
import type { MessagePart, SignatureExplanation } from '../explanation.ts';
import type { TraceDetails } from '../trace.ts';
import { bytesIn, type Holder, isSignedBy, type Verifiers, type VerifyingKey, verifyingKey } from './keys.ts';
import { baseMistakes } from './mistakes.ts';
import type { ParsedCandidate } from './requirements.ts';
import { computationMistake } from './signature-mistakes.ts';

/** A refused signature. */
export interface Refused {
  readonly message: RequestMessage;
  readonly candidate: ParsedCandidate;
  /** Undefined if no key has the id. */
  readonly holder: Holder | undefined;
  readonly verifiers: Verifiers;
}

/** Explanations of a refusal: for the client, which does not reveal whether the key exists, and for the trace, in full. */
export interface Explained {
  /** Whether a usual mistake explains it. */
  readonly isExplained: boolean;
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
 * Explains a wrong signature. It tries mistakes, with the same keys and dummies as the verification, so the time does not
 * depend on the key. What it finds is a signature that only a holder of the key can make.
 */
export function explainSignature(refused: Refused): Explained {
  const { candidate, holder } = refused;
  const { text } = candidate;
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
  const other = holder && anotherKey(holder, candidate);
  const traced = holder === undefined ? unknownKey : (other ?? otherMessage);
  return {
    isExplained: (found ?? other) !== undefined,
    shown: explain(`${unknownKey}; or ${otherMessage}`),
    traced: explain(traced),
  };
}

/** Returns whether a secret produces the signature. */
export function isSignedWith(secret: string, { text, value }: ParsedCandidate): boolean {
  return (
    bytesIn(value) === 32 && isSignedBy({ algorithm: 'hmac-sha256', secret: keyOf(secret) }, [text], value)
  );
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

function partsOf({ lines }: ParsedCandidate, found: Found | undefined): readonly MessagePart[] {
  return lines.map(({ name, value }) =>
    name === found?.differs && found.signed !== undefined
      ? { name, expected: value, signed: found.signed }
      : { name, expected: value },
  );
}

/**
 * Tries all mistakes with all keys, and the same with dummies, whose results are ignored. Hundreds of bases may be possible, so they
 * are tried last, until the budget is used up.
 */
function mistakeOf(refused: Refused): Found | undefined {
  const { message, candidate, holder, verifiers } = refused;
  const { signature: presented, lines, text, value: signature } = candidate;
  const search = (
    encoded: string,
    hintWith: (key: VerifyingKey) => string | undefined,
  ): Found | undefined => {
    const length = bytesIn(encoded);
    const fitting = verifiers.fitting(holder?.keys ?? [], length);
    const [hint] = fitting.map(hintWith).filter((each) => each !== undefined);
    for (const dummy of verifiers.dummies(fitting, length)) hintWith(dummy);
    return hint === undefined ? undefined : { hint };
  };
  const signed = (base: string, encoded: string, hint: string): Found | undefined =>
    search(encoded, (key) => (isSignedBy(key, [base], encoded) ? hint : undefined));
  const expired = signed(text, signature, 'the request is signed with an expired key');
  const computed = search(signature, (key) => computationMistake(key, text, signature));
  const [reencoded] = encodingMistakes(signature)
    .map(({ hint, signature: other }) => signed(text, other, hint))
    .filter((each) => each !== undefined);
  const length = bytesIn(signature);
  const [base] = new ExplanationBudget().matching(
    baseMistakes({ lines, message, signature: presented }),
    (mistake) => timeBySignature(length, mistake.text.length),
    (mistake) => signed(mistake.text, signature, mistake.hint) !== undefined,
  );
  return expired ?? base ?? computed ?? reencoded ?? otherHmac(holder, text, signature);
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
function anotherKey({ account }: Holder, { keyid, text, value }: ParsedCandidate): string | undefined {
  for (const [id, accountKey] of account.keys ?? []) {
    const key = id === keyid ? undefined : verifyingKey(accountKey);
    if (key !== undefined && isSignedBy(key, [text], value))
      return `the request is signed with another key of the user: ${id}`;
  }
  return undefined;
}
