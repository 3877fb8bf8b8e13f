import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ProblemMember } from '../../http/problem.ts';
import { signedHeadersOf } from '../../signature/aws4/canonical-request.ts';
import { deriveKey, scopeText } from '../../signature/aws4/signing-key.ts';
import type { Secret } from '../accounts.ts';
import type { ExplanationBudget, MessagePart, SignatureExplanation } from '../explanation.ts';
import { createDummySecret, minSecrets } from './access.ts';
import { keyMistakes } from './mistakes/key.ts';
import { messageMistakes } from './mistakes/message.ts';
import type { MessageMistake } from './mistakes/mistake.ts';
import type { Presented, Texts } from './presented.ts';

/** Members of a Problem that explain a refusal. */
type Members = Readonly<Record<string, ProblemMember>>;

/** The mistake that reproduces a signature. */
interface Found {
  readonly hint: string;
  /** Undefined for a mistake in the signing key. */
  readonly message?: MessageMistake;
}

/** The explanation of a wrong signature. */
export interface Explained {
  /** For the trace. */
  readonly traced: Members;
  /** For the client. It does not reveal whether the access key exists, except to a client with the secret. */
  readonly shown: Members;
}

/**
 * Finds the usual mistake that produced a wrong signature. Always tries all mistakes with at least two secrets, so that the time does
 * not show whether the access key exists.
 *
 * @param content The content, if its hash is not in a header field.
 */
export function explainSignature(
  presented: Presented,
  texts: Texts,
  secrets: readonly Secret[] | undefined,
  content: Uint8Array | undefined,
  budget: ExplanationBudget,
): Explained {
  const mistakes = messageMistakes(presented, texts, content);
  const dummy = createDummySecret();
  let found: Found | undefined;
  for (let at = 0; at < Math.max(secrets?.length ?? 0, minSecrets); at += 1) {
    const secret = secrets?.[at];
    const mistake = (secret ?? dummy).key.derive((bytes) =>
      mistakeOf(bytes, presented, texts, mistakes, budget),
    );
    if (secret !== undefined) found ??= mistake;
  }
  const described = membersOf(describe(presented, texts, found));
  const common = { canonicalRequest: texts.canonicalRequest, stringToSign: texts.stringToSign };
  const own = secrets?.length === 0 ? noSecret : otherSecret;
  return {
    traced: { ...common, ...(secrets === undefined ? {} : { hint: own }), ...described },
    shown: { ...common, hint: `the access key does not exist, ${otherSecret}`, ...described },
  };
}

const noSecret = 'the user has no secret';
const otherSecret =
  'the secret is different, or the signed request differs in a way that is not a common mistake';

/** Tries all mistakes with one secret. */
function mistakeOf(
  secret: Buffer,
  { credentials }: Presented,
  { stringToSign }: Texts,
  mistakes: readonly MessageMistake[],
  budget: ExplanationBudget,
): Found | undefined {
  const given = Buffer.from(credentials.signature, 'hex');
  const signs = (key: Buffer, text: string): boolean =>
    timingSafeEqual(createHmac('sha256', key).update(text, 'latin1').digest(), given);
  const key = deriveKey(secret, credentials.scope);
  const isExpired = signs(key, stringToSign);
  const [message] = budget.matching(mistakes, (mistake) => signs(key, mistake.stringToSign));
  const [other] = budget.matching(keyMistakes(secret, credentials.scope), (mistake) =>
    signs(mistake.key, stringToSign),
  );
  if (isExpired) return { hint: 'the request is signed with an expired secret' };
  if (message !== undefined) return { hint: message.hint, message };
  return other === undefined ? undefined : { hint: other.hint };
}

function describe({ stamp, credentials }: Presented, texts: Texts, found?: Found): SignatureExplanation {
  const { canonical } = texts;
  const expected: [name: string, value: string][] = [
    ['method', canonical.method],
    ['canonical path', canonical.path],
    ['canonical query', canonical.query],
    ...canonical.headers.map(([name, value]): [string, string] => [`header ${name}`, value]),
    ['signed headers', signedHeadersOf(canonical)],
    ['payload hash', canonical.payloadHash],
    ['timestamp', stamp],
    ['scope', scopeText(credentials.scope)],
    ['string to sign', texts.stringToSign],
  ];
  const message = found?.message;
  const parts = expected.map(([name, value]): MessagePart => {
    const part = { name, expected: value };
    return name === message?.part ? { ...part, signed: message.signed } : part;
  });
  return {
    parts,
    ...(found === undefined ? {} : { hint: found.hint }),
    ...(message === undefined ? {} : { differs: message.part }),
  };
}

/** Converts an explanation to members of a Problem. */
function membersOf({ hint, parts, differs }: SignatureExplanation): Members {
  return {
    ...(hint === undefined ? {} : { hint }),
    ...(differs === undefined ? {} : { differs }),
    parts: parts.map(({ name, expected, signed }) =>
      signed === undefined ? { name, expected } : { name, expected, signed },
    ),
  };
}
