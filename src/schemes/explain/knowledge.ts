// Mistakes that only a test double can recognize, because it knows all secrets, also former ones, and the content.

import { createHash } from 'node:crypto';
import type { AccountKey } from '../../accounts/account-key.ts';
import { fitsOne, toKey } from '../../accounts/keyring.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { describeOtherSecret, describeUnknown, otherSecrets } from '../known-secrets.ts';
import { messageBytes, type Part } from '../message.ts';
import { assembleMessage, type MessageMistake, type Presented } from '../scheme.ts';
import type { KnownSecret, TraceKnowledge } from '../trace.ts';
import { type Budgets, type ExplanationBudget, selectLongest, verificationTime } from './budget.ts';
import { listPublicHostMistakes } from './host.ts';
import { listMasked, signWith } from './key.ts';
import { formatLabel, listVariants } from './mistake.ts';
import { furtherReadings, millisecondReadings, readings, rewrittenTimes } from './times.ts';
import type { Assemble } from './whole.ts';
import {
  buildRightMessages,
  createSignatureTest,
  createTry,
  type Found,
  messageMistakes,
  readFacts,
  searchTime,
  type WrongSignature,
} from './wrong-signature.ts';

/** The largest number of secrets that are tried with all mistakes. */
const maxTried = 32;

/** Finds the mistake that made a wrong signature, with all that a test double knows; undefined if none did. */
export function explainByKnowledge<Own extends Presented>(
  wrong: WrongSignature<Own>,
  parts: readonly Part[],
  message: Buffer,
  knowledge: TraceKnowledge,
  budgets: Budgets,
): Found | undefined {
  const { scheme, presented, holder } = wrong;
  const { owner = 'user' } = scheme.rules;
  const user = owner === 'user' ? (holder?.principal.name ?? presented.user) : presented.user;
  const unknown =
    holder === undefined && presented.user !== ''
      ? describeUnknown(owner, presented.user, knowledge)
      : undefined;
  const isTried = Math.max(message.length, wrong.content.length) <= selectLongest(budgets.isLimited);
  const found = isTried ? findByKnowledge(wrong, parts, message, knowledge, user, budgets) : undefined;
  if (unknown === undefined) return found;
  return { ...found, hint: found === undefined ? unknown : `${unknown}; ${found.hint}` };
}

/** The hint at a secret that was copied from where it is shown in part. */
const masked: Found = {
  hint: 'the secret was used masked, as a page or a log shows it; sign with the whole secret',
};

function findByKnowledge<Own extends Presented>(
  wrong: WrongSignature<Own>,
  parts: readonly Part[],
  message: Buffer,
  knowledge: TraceKnowledge,
  user: string,
  budgets: Budgets,
): Found | undefined {
  const { scheme, presented, holder, content } = wrong;
  const mac = scheme.mistakes?.mac?.(presented);
  const isGiven = createSignatureTest(presented);
  const assemble: Assemble = (changed) => assembleMessage(scheme, changed, presented);
  const kinds = presented.kinds;
  const keys = (holder?.keys ?? []).filter(
    (key) => kinds.includes(key.kind) && fitsOne(key, presented.signatures),
  );
  const tries = keys.map((key) => createTry(key, scheme, presented));
  const firstSigned = (mistakes: Iterable<MessageMistake>, budget: ExplanationBudget): Found | undefined => {
    if (tries.length === 0) return undefined;
    for (const mistake of mistakes) {
      if (!budget.spend(searchTime(keys, mistake.message.length))) return undefined;
      if (tries.some((made) => made(mistake))) return mistake;
    }
    return undefined;
  };
  /** Returns the first of mistakes with a right key that a text makes as a secret. */
  const findMade = (
    secret: string,
    mistakes: readonly MessageMistake[],
    budget: ExplanationBudget,
  ): MessageMistake | undefined => {
    const bytes = Buffer.from(secret);
    return mistakes.find(
      ({ message: signed }) =>
        mac !== undefined &&
        budget.spend(verificationTime('secret', signed.length)) &&
        isGiven(signWith(mac, mac.key(bytes) ?? bytes, signed)),
    );
  };
  const findSigner = (
    secrets: readonly KnownSecret[],
    mistakes: readonly MessageMistake[],
    budget: ExplanationBudget,
  ): Found | undefined => {
    for (const known of mac === undefined ? [] : secrets) {
      const mistake = findMade(known.secret, mistakes, budget);
      if (mistake === undefined) continue;
      const hint = describeOtherSecret(known, user);
      return mistake.hint === '' ? { hint } : { ...mistake, hint: `${hint}; and ${mistake.hint}` };
    }
    return undefined;
  };
  const isMaskedSecret = ({ secret, owner, name }: KnownSecret): boolean =>
    owner === (scheme.rules.owner ?? 'user') &&
    name === user &&
    listMasked(secret).some((text) => findMade(text, rights, budgets.secrets) !== undefined);
  const others = otherSecrets(knowledge, user, scheme.rules.owner);
  const messages = buildRightMessages(wrong, content);
  const rights = messages.map((right) => ({ hint: '', message: right }));
  const first =
    findOtherKey(wrong, messages, budgets.secrets) ??
    findSigner(others, rights, budgets.secrets) ??
    (mac !== undefined && !budgets.isLimited && knowledge.secrets.some(isMaskedSecret)
      ? masked
      : undefined) ??
    firstSigned(changeHosts(wrong, parts, knowledge), budgets.changes) ??
    firstSigned(readings(parts, presented.time, furtherReadings, assemble), budgets.changes) ??
    firstSigned(rewrittenTimes(parts, presented.time, assemble), budgets.changes) ??
    firstSigned(readings(parts, presented.time, millisecondReadings, assemble), budgets.readings) ??
    firstSigned(contentMistakes(wrong, parts), budgets.catalogue);
  if (first !== undefined || budgets.pairs.isExhausted) return first;
  const mistakes = budgets.list.matching(
    messageMistakes(wrong, parts, message, content),
    (mistake) => 3 * verificationTime('secret', mistake.message.length),
    () => true,
  );
  return (
    findSigner(others.slice(-maxTried), mistakes, budgets.secrets) ??
    firstSigned(pairs(wrong, parts, mistakes), budgets.pairs)
  );
}

/** Finds another key of the user, or one of another user, that made the signature. */
function findOtherKey<Own extends Presented>(
  wrong: WrongSignature<Own>,
  rights: readonly Buffer[],
  budget: ExplanationBudget,
): Found | undefined {
  const { scheme, presented, account, holder } = wrong;
  const { kinds } = presented;
  const made = (id: string, accountKey: AccountKey): boolean => {
    const key = toKey(accountKey);
    if (id === presented.user || !kinds.includes(key.kind) || !fitsOne(key, presented.signatures))
      return false;
    return rights.some(
      (right) =>
        budget.spend(verificationTime(key.kind, right.length)) &&
        scheme.verify(key, [octetsOf(right)], presented),
    );
  };
  for (const [id, key] of account?.keys ?? [])
    if (made(id, key)) return { hint: `the request is signed with another key of the user: ${id}` };
  for (const { id, user, key } of wrong.others)
    if (user !== holder?.principal.name && !('secret' in key) && made(id, key))
      return { hint: `the request is signed with the key of another user, ${user}: its id is ${id}` };
  return undefined;
}

/** Builds messages with a public host, which only the configuration shows. */
function* changeHosts<Own extends Presented>(
  { scheme, presented, content }: WrongSignature<Own>,
  parts: readonly Part[],
  { hosts }: TraceKnowledge,
): Generator<MessageMistake> {
  const byKind = listPublicHostMistakes(hosts);
  const facts = readFacts(presented, content);
  for (const [at, part] of parts.entries()) {
    const mistakes = byKind[part.kind];
    if (mistakes === undefined || typeof part.value !== 'string') continue;
    for (const [hint, signed] of listVariants(mistakes, formatLabel(part), part.value, facts)) {
      const changed = assembleMessage(scheme, parts.with(at, { ...part, value: signed }), presented);
      yield { hint, message: messageBytes(changed), differs: { name: part.name, signed } };
    }
  }
}

/** Returns messages with a digest of content that the scheme does not read, or with the content itself. */
function contentMistakes<Own extends Presented>(
  { scheme, presented, content: read, arrived }: WrongSignature<Own>,
  parts: readonly Part[],
): MessageMistake[] {
  const content = read.length > 0 ? read : arrived;
  if (content === undefined || parts.some(({ kind }) => kind === 'content')) return [];
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
  const all = [...forms, ['the content itself', octetsOf(content)] as const];
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
  for (const [at, one] of single.entries())
    for (const other of single.slice(at + 1)) {
      if (other.name === one.name) continue;
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
