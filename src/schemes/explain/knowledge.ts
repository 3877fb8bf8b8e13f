// Mistakes that only a test double can recognize, because it knows all secrets, also former ones, and the content.

import { createHash } from 'node:crypto';
import type { AccountKey } from '../../accounts/account-key.ts';
import { fitsOne, type Key, toKey } from '../../accounts/keyring.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { describeOtherSecret, describeUnknown, otherSecrets } from '../known-secrets.ts';
import { messageBytes, type Part, type Piece } from '../message.ts';
import type { MessageMistake } from '../scheme.ts';
import type { KnownSecret, TraceKnowledge } from '../trace.ts';
import { type ExplanationBudget, selectLongest, verificationTime } from './budget.ts';
import { serializedAgain } from './content.ts';
import { listPublicHostMistakes } from './host.ts';
import { listMasked, listMisread, signWith } from './key.ts';
import { messageMistakes, takeTurns } from './messages.ts';
import { formatLabel, listVariants } from './mistake.ts';
import { furtherVariantsOfPart } from './parts.ts';
import { type Found, type RightMessage, type Search, searchTime } from './search.ts';
import { furtherReadings, millisecondReadings, readings, rewrittenTimes } from './times.ts';
import { omissions, separatorMistakes } from './whole.ts';

/** The largest number of secrets that are tried with all mistakes. */
const maxTried = 32;

/** Finds the mistake that made a wrong signature, with all that a test double knows; undefined if none did. */
export function findByKnowledge(search: Search): Found | undefined {
  const { wrong, messages, budgets } = search;
  const { knowledge, holder, presented, content, scheme } = wrong;
  if (knowledge === undefined) return undefined;
  const { owner = 'user' } = scheme.rules;
  const user = owner === 'user' ? (holder?.principal.name ?? presented.user) : presented.user;
  const unknown =
    holder === undefined && presented.user !== ''
      ? describeUnknown(owner, presented.user, knowledge)
      : undefined;
  const tried = messages.filter(
    ({ message }) => Math.max(message.length, content.length) <= selectLongest(budgets.isLimited),
  );
  const all = tried.flatMap((right) => findInMessage(search, right, knowledge, user) ?? []);
  const found =
    all.find(({ message }) => message !== undefined) ??
    all[0] ??
    findTogether(search, tried, knowledge, user);
  if (unknown === undefined) return found;
  return { ...found, hint: found === undefined ? unknown : `${unknown}; ${found.hint}` };
}

/** The hint at a secret that was copied from where it is shown in part. */
const masked: Found = {
  hint: 'the secret was used masked, as a page or a log shows it; sign with the whole secret',
};

function findInMessage(
  search: Search,
  right: RightMessage,
  knowledge: TraceKnowledge,
  user: string,
): Found | undefined {
  const { wrong, budgets, messages, assemble } = search;
  const { time } = wrong.presented;
  const { owner } = wrong.scheme.rules;
  const { parts } = right;
  const firstSigned = createFinder(search, listOwnKeys(search));
  const rights = messages.map(({ message }) => ({ hint: '', message }));
  const isMaskedSecret = ({ secret, owner: of, name }: KnownSecret): boolean =>
    of === (owner ?? 'user') &&
    name === user &&
    listMasked(secret).some((text) => findMade(search, text, rights) !== undefined);
  const others = otherSecrets(knowledge, user, owner);
  return (
    findOtherKey(search) ??
    findSigner(search, others, user, rights) ??
    (search.mac !== undefined && !budgets.isLimited && knowledge.secrets.some(isMaskedSecret)
      ? masked
      : undefined) ??
    firstSigned(changeHosts(search, parts, knowledge), budgets.changes) ??
    firstSigned(readings(parts, time, furtherReadings, assemble), budgets.changes) ??
    firstSigned(rewrittenTimes(parts, time, assemble), budgets.changes) ??
    firstSigned(readings(parts, time, millisecondReadings, assemble), budgets.readings) ??
    firstSigned(digestsOfContent(search, parts), budgets.catalogue)
  );
}

/** Returns the keys of the holder that may have made the signature. */
function listOwnKeys({ wrong: { holder, presented } }: Search): readonly Key[] {
  const { kinds, signatures } = presented;
  return (holder?.keys ?? []).filter((key) => kinds.includes(key.kind) && fitsOne(key, signatures));
}

/** Finds two mistakes that were made together, in one of these messages and with another key, or in two places. */
function findTogether(
  search: Search,
  rights: readonly RightMessage[],
  knowledge: TraceKnowledge,
  user: string,
): Found | undefined {
  const { wrong, budgets } = search;
  if (budgets.pairs.isExhausted) return undefined;
  const keys = listOwnKeys(search);
  const lists = rights.map((right) => ({
    parts: right.parts,
    mistakes: budgets.list().matching(
      messageMistakes(search, right),
      (mistake) => 3 * verificationTime('secret', mistake.message.length),
      () => true,
    ),
  }));
  const mistakes = lists.flatMap((list) => list.mistakes);
  const others = otherSecrets(knowledge, user, wrong.scheme.rules.owner).slice(-maxTried);
  return (
    findSigner(search, others, user, mistakes) ??
    findMisread(search, keys, mistakes) ??
    createFinder(search, keys)(
      takeTurns(
        lists.flatMap((list) =>
          [pairs, likelyPairs, withStructure, withTimes].map((make) =>
            make(search, list.parts, list.mistakes),
          ),
        ),
      ),
      budgets.pairs,
    )
  );
}

/** Creates the function that returns the first of mistakes that one of these keys signed. */
function createFinder(
  search: Search,
  keys: readonly Key[],
): (mistakes: Iterable<MessageMistake>, budget: ExplanationBudget) => Found | undefined {
  const tries = keys.map((key) => search.createTry(key));
  return (mistakes, budget) => {
    if (tries.length === 0) return undefined;
    for (const mistake of mistakes) {
      if (!budget.spend(searchTime(keys, mistake.message.length))) return undefined;
      if (tries.some((made) => made(mistake))) return mistake;
    }
    return undefined;
  };
}

/** Returns the first of mistakes that a text makes as a secret. */
function findMade(
  search: Search,
  secret: string,
  mistakes: readonly MessageMistake[],
): MessageMistake | undefined {
  return mistakes.find(
    ({ message }) =>
      search.mac !== undefined &&
      search.budgets.secrets.spend(verificationTime('secret', message.length)) &&
      search.isMadeWith(secret, message),
  );
}

/** Finds the secret of another one, or a former one, that made the signature, with a mistake or without. */
function findSigner(
  search: Search,
  secrets: readonly KnownSecret[],
  user: string,
  mistakes: readonly MessageMistake[],
): Found | undefined {
  for (const known of search.mac === undefined ? [] : secrets) {
    const mistake = findMade(search, known.secret, mistakes);
    if (mistake === undefined) continue;
    const hint = describeOtherSecret(known, user, search.wrong.scheme.rules.owner);
    return mistake.hint === '' ? { hint } : { ...mistake, hint: `${hint}; and ${mistake.hint}` };
  }
  return undefined;
}

/** Finds a mistake in the message that was signed with a secret of the user that was misread. */
function findMisread(
  { wrong: { scheme, presented }, mac, budgets, isGiven }: Search,
  keys: readonly Key[],
  mistakes: readonly MessageMistake[],
): Found | undefined {
  if (mac === undefined || (mac.hash === undefined && mac.sign === undefined)) return undefined;
  const misread = keys.flatMap((key) =>
    key.kind === 'secret'
      ? key.secret.derive((secret) =>
          listMisread(secret, mac, scheme.mistakes?.key?.(secret, presented) ?? []),
        )
      : [],
  );
  for (const mistake of mistakes)
    for (const [hint, key] of misread) {
      if (!budgets.secrets.spend(verificationTime('secret', mistake.message.length))) return undefined;
      if (isGiven(signWith(mac, key, mistake.message)))
        return { ...mistake, hint: `${hint}; and ${mistake.hint}` };
    }
  return undefined;
}

/** Finds another key of the user, or one of another user, that made the signature. */
function findOtherKey({ wrong, messages, budgets }: Search): Found | undefined {
  const { presented, scheme, account, holder, others } = wrong;
  const made = (id: string, accountKey: AccountKey): boolean => {
    const key = toKey(accountKey);
    if (id === presented.user || !presented.kinds.includes(key.kind) || !fitsOne(key, presented.signatures))
      return false;
    return messages.some(
      ({ message }) =>
        budgets.secrets.spend(verificationTime(key.kind, message.length)) &&
        scheme.verify(key, [octetsOf(message)], presented),
    );
  };
  for (const [id, key] of account?.keys ?? [])
    if (made(id, key)) return { hint: `the request is signed with another key of the user: ${id}` };
  for (const { id, user, key } of others)
    if (user !== holder?.principal.name && !('secret' in key) && made(id, key))
      return { hint: `the request is signed with the key of another user, ${user}: its id is ${id}` };
  return undefined;
}

/** Builds messages with a public host, which only the configuration shows. */
function* changeHosts(
  search: Search,
  parts: readonly Part[],
  { hosts }: TraceKnowledge,
): Generator<MessageMistake> {
  const byKind = listPublicHostMistakes(hosts);
  for (const [at, part] of parts.entries()) {
    const mistakes = byKind[part.kind];
    if (mistakes === undefined || typeof part.value !== 'string') continue;
    for (const [hint, signed] of listVariants(mistakes, formatLabel(part), part.value, search.facts))
      yield search.change(parts, at, hint, signed);
  }
}

/** Returns messages with a digest of content that the scheme does not read, or with the content itself. */
function digestsOfContent({ wrong, content, assemble }: Search, parts: readonly Part[]): MessageMistake[] {
  const isKnown = wrong.content.length > 0 || wrong.arrived !== undefined;
  if (!isKnown || parts.some(({ kind }) => kind === 'content')) return [];
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
      message: messageBytes(assemble(added)),
      differs: { name: part.name, signed: what === 'the content itself' ? '' : value },
    };
  });
}

/** A mistake in one part. */
interface InPart {
  readonly hint: string;
  readonly name: string;
  readonly signed: Piece;
}

/** The number of forms of one mistake in one part that are tried together with others. */
const maxForms = 16;

/** Returns the mistakes in one part, each in its most likely forms. */
function listInParts(mistakes: readonly MessageMistake[]): readonly InPart[] {
  const forms = new Map<string, number>();
  return mistakes.flatMap(({ hint, differs }) => {
    if (differs === undefined) return [];
    const key = `${differs.name} ${hint}`;
    const count = forms.get(key) ?? 0;
    forms.set(key, count + 1);
    return count < maxForms ? [{ hint, ...differs }] : [];
  });
}

/** The number of mistakes in one part that are tried with others in the text between the parts. */
const maxStructured = 64;

/** Builds messages with a mistake in one part, and with other separators or without another part. */
function* withStructure(
  { assemble }: Search,
  parts: readonly Part[],
  mistakes: readonly MessageMistake[],
): Generator<MessageMistake> {
  for (const { hint, name, signed } of listInParts(mistakes).slice(0, maxStructured)) {
    const changed = parts.map((part) => (part.name === name ? { ...part, value: signed } : part));
    for (const made of [...separatorMistakes(changed, assemble), ...omissions(changed, assemble)])
      yield { hint: `${made.hint}; and ${hint}`, message: made.message };
  }
}

/** Builds messages with JSON that was serialized again, and a time that was signed in a form with more digits. */
function* withTimes(
  { assemble, facts }: Search,
  parts: readonly Part[],
  mistakes: readonly MessageMistake[],
): Generator<MessageMistake> {
  const at = parts.findIndex(({ kind }) => kind === 'time');
  const time = parts[at];
  if (time === undefined) return;
  for (const { hint, name, signed } of listInParts(mistakes).filter((each) => each.hint === serializedAgain))
    for (const [other, value] of furtherVariantsOfPart(time, facts)) {
      const changed = parts.map((part) =>
        part === time ? { ...part, value } : part.name === name ? { ...part, value: signed } : part,
      );
      yield { hint: `${other}; and ${hint}`, message: messageBytes(assemble(changed)) };
    }
}

/** Builds messages with a mistake of the first ones, and any other one. There may be thousands, so they are built one by one. */
function* pairs(
  search: Search,
  parts: readonly Part[],
  mistakes: readonly MessageMistake[],
): Generator<MessageMistake> {
  const single = listInParts(mistakes);
  for (const [at, one] of single.entries())
    for (const other of single.slice(at + 1)) yield* makeTwo(search, parts, one, other);
}

/** Builds messages with two mistakes, of which both are likely. */
function* likelyPairs(
  search: Search,
  parts: readonly Part[],
  mistakes: readonly MessageMistake[],
): Generator<MessageMistake> {
  const single = listInParts(mistakes);
  for (const [at, other] of single.entries())
    for (const one of single.slice(0, at)) yield* makeTwo(search, parts, one, other);
}

/** Yields the message with two mistakes, unless they are in the same part. */
function* makeTwo(
  { assemble }: Search,
  parts: readonly Part[],
  one: InPart,
  other: InPart,
): Generator<MessageMistake> {
  if (other.name === one.name) return;
  const changed = parts.map((part) =>
    part.name === one.name
      ? { ...part, value: one.signed }
      : part.name === other.name
        ? { ...part, value: other.signed }
        : part,
  );
  yield { hint: `${other.hint}; and ${one.hint}`, message: messageBytes(assemble(changed)) };
}
