// Mistakes that only a test double can recognize, because it knows all secrets, also former ones, and the content.
import { createHash } from 'node:crypto';
import { messageBytes, type Part } from '../../signature/message.ts';
import { toKey } from '../keyring.ts';
import { describeOtherSecret, otherSecrets } from '../other-secrets.ts';
import { assembleMessage, type MessageMistake, type Presented } from '../signature-scheme.ts';
import type { KnownSecret, TraceKnowledge } from '../trace.ts';
import { describeUnknown } from '../unknown-user.ts';
import { ExplanationBudget, verificationTime } from './budget.ts';
import { signWith } from './key.ts';
import { listVariants } from './mistake.ts';
import { formatLabel, shiftedTimeMistakes } from './parts.ts';
import { listPublicHostMistakes } from './target.ts';
import {
  buildRightMessages,
  createSignatureTest,
  type Found,
  messageMistakes,
  readFacts,
  type WrongSignature,
} from './wrong-signature.ts';

/** The largest number of secrets that are tried with all mistakes. */
const maxTried = 32;

/** Finds the mistake that made a wrong signature, with all that a test double knows; undefined if none did. */
export async function explainByKnowledge<Own extends Presented>(
  wrong: WrongSignature<Own>,
  parts: readonly Part[],
  message: Buffer,
  knowledge: TraceKnowledge,
): Promise<Found | undefined> {
  const { scheme, presented, holder } = wrong;
  const { owner = 'user' } = scheme;
  const user = owner === 'user' ? (holder?.principal.name ?? presented.user) : presented.user;
  const unknown =
    holder === undefined && presented.user !== ''
      ? describeUnknown(owner, presented.user, knowledge)
      : undefined;
  const found = await findByKnowledge(wrong, parts, message, knowledge, user);
  if (unknown === undefined) return found;
  return { ...found, hint: found === undefined ? unknown : `${unknown}; ${found.hint}` };
}

async function findByKnowledge<Own extends Presented>(
  wrong: WrongSignature<Own>,
  parts: readonly Part[],
  message: Buffer,
  knowledge: TraceKnowledge,
  user: string,
): Promise<Found | undefined> {
  const { scheme, presented, holder, content } = wrong;
  const mac = scheme.mac?.(presented);
  if (mac === undefined) return undefined;
  const isGiven = createSignatureTest(presented);
  const signs = (key: Buffer, signed: Buffer): boolean => isGiven(signWith(mac, key, signed));
  const prepareKey = (secret: Buffer): Buffer => mac.key(secret) ?? secret;
  const own = (holder?.keys ?? []).flatMap((key) =>
    key.kind === 'secret' ? [key.secret.derive(prepareKey)] : [],
  );
  const firstSigned = (mistakes: Iterable<MessageMistake>): Found | undefined => {
    for (const mistake of mistakes) if (own.some((key) => signs(key, mistake.message))) return mistake;
    return undefined;
  };
  const findSigner = (
    secrets: readonly KnownSecret[],
    mistakes: readonly MessageMistake[],
  ): Found | undefined => {
    for (const known of secrets) {
      const key = prepareKey(Buffer.from(known.secret));
      const mistake = mistakes.find((each) => signs(key, each.message));
      if (mistake === undefined) continue;
      const hint = describeOtherSecret(known, user);
      return mistake.hint === '' ? { hint } : { ...mistake, hint: `${hint}; and ${mistake.hint}` };
    }
    return undefined;
  };
  const others = otherSecrets(knowledge, user, scheme.owner);
  const mistakes = new ExplanationBudget().matching(
    messageMistakes(wrong, parts, message, content),
    (mistake) => 3 * verificationTime('secret', mistake.message.length),
    () => true,
  );
  return (
    (await otherKey(wrong, message)) ??
    findSigner(
      others,
      buildRightMessages(wrong, content).map((right) => ({ hint: '', message: right })),
    ) ??
    firstSigned(changeParts(wrong, parts, 'target', knowledge)) ??
    firstSigned(changeParts(wrong, parts, 'time', knowledge)) ??
    firstSigned(await contentMistakes(wrong, parts, knowledge)) ??
    findSigner(others.slice(-maxTried), mistakes) ??
    firstSigned(pairs(wrong, parts, mistakes))
  );
}

/** Finds another key of the user that made the signature. */
async function otherKey<Own extends Presented>(
  { scheme, presented, holder, context }: WrongSignature<Own>,
  message: Buffer,
): Promise<Found | undefined> {
  if ((scheme.owner ?? 'user') !== 'user') return undefined;
  const account = holder && (await context.accounts.find(holder.principal.name));
  const kinds = scheme.kinds(presented);
  for (const [id, accountKey] of account?.keys ?? []) {
    const key = toKey(accountKey);
    const isOther = id !== presented.user && kinds.includes(key.kind);
    if (isOther && scheme.signs(key, [message.toString('latin1')], presented))
      return { hint: `the request is signed with another key of the user: ${id}` };
  }
  return undefined;
}

/** Builds messages with another value of the target or the time, which takes many tries or needs the configuration. */
function* changeParts<Own extends Presented>(
  { scheme, presented, content }: WrongSignature<Own>,
  parts: readonly Part[],
  kind: 'target' | 'time',
  knowledge: TraceKnowledge,
): Generator<MessageMistake> {
  const mistakes = kind === 'time' ? shiftedTimeMistakes : listPublicHostMistakes(knowledge.hosts());
  const facts = readFacts(presented, content);
  const isMeant = (part: Part): boolean => part.kind === kind || (kind === 'target' && part.kind === 'path');
  const size = computeSize(parts);
  const budget = new ExplanationBudget(changeTime);
  for (const [at, part] of parts.entries()) {
    if (!isMeant(part) || typeof part.value !== 'string') continue;
    for (const [hint, signed] of listVariants(mistakes, formatLabel(part), part.value, facts)) {
      if (!budget.spend(verificationTime('secret', size))) return;
      const changed = assembleMessage(scheme, parts.with(at, { ...part, value: signed }), presented);
      yield { hint, message: messageBytes(changed), differs: { name: part.name, signed } };
    }
  }
}

function computeSize(parts: readonly Part[]): number {
  return parts.reduce((sum, { value }) => sum + value.length, 0);
}

/** Returns messages with a digest of content that the scheme does not read, or with the content itself. */
async function contentMistakes<Own extends Presented>(
  { scheme, presented }: WrongSignature<Own>,
  parts: readonly Part[],
  knowledge: TraceKnowledge,
): Promise<MessageMistake[]> {
  if (parts.some(({ kind }) => kind === 'content')) return [];
  const content = await knowledge.content();
  if (content === undefined) return [];
  const sent = parts.find(({ kind }) => kind === 'digest');
  const missing = sent === undefined ? 'but no Content-Digest was sent' : 'but not as it was sent';
  const forms = ['sha256', 'sha512', 'sha1', 'md5'].flatMap((algorithm): [what: string, form: string][] => {
    const digest = createHash(algorithm).update(content).digest();
    const base64 = digest.toString('base64');
    const field = `sha-${digest.length * 8}=:${base64}:`;
    return [field, base64, digest.toString('hex'), `${algorithm}=${base64}`].map((form) => [
      `the ${algorithm} digest of the content`,
      form,
    ]);
  });
  const all = [...forms, ['the content itself', Buffer.from(content).toString('latin1')] as const];
  const separator = parts.find(({ kind }, at) => kind === 'text' && at > 0);
  return all.map(([what, value]): MessageMistake => {
    const part: Part = { kind: 'digest', name: sent?.name ?? 'content digest', value };
    const added =
      sent === undefined
        ? [...parts, ...(separator === undefined ? [] : [separator]), part]
        : parts.map((each) => (each === sent ? part : each));
    return {
      hint: `${what} was signed, ${missing}`,
      message: messageBytes(assembleMessage(scheme, added, presented)),
      differs: { name: part.name, signed: what === 'the content itself' ? '' : value },
    };
  });
}

/** Builds messages with two mistakes, in different parts. There may be thousands, so they are built one by one. */
function* pairs<Own extends Presented>(
  { scheme, presented }: WrongSignature<Own>,
  parts: readonly Part[],
  mistakes: readonly MessageMistake[],
): Generator<MessageMistake> {
  const single = mistakes.flatMap(({ hint, differs }) =>
    differs === undefined ? [] : [{ hint, ...differs }],
  );
  const size = computeSize(parts);
  const budget = new ExplanationBudget(pairTime);
  for (const [at, one] of single.entries())
    for (const other of single.slice(at + 1)) {
      if (other.name === one.name) continue;
      if (!budget.spend(verificationTime('secret', size))) return;
      const changed = parts.map((part) =>
        part.name === one.name
          ? { ...part, value: one.signed }
          : part.name === other.name
            ? { ...part, value: other.signed }
            : part,
      );
      yield {
        hint: `${other.hint}; and ${one.hint}`,
        message: messageBytes(assembleMessage(scheme, changed, presented)),
      };
    }
}

/** The estimated time (µs) that changes of the target or the time may take. Only a test double tries them. */
const changeTime = 50_000;
/** The estimated time (µs) that pairs of mistakes may take. Only a test double tries them. */
const pairTime = 75_000;
