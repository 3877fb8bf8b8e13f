// Explains a wrong signature: tries the mistakes of the catalogue against the signature that was received.

import { type KeyKind, selectSamples } from '../../accounts/keyring.ts';
import type { Presented } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { Explained, TraceKnowledge } from '../trace.ts';
import { countTried } from './budget.ts';
import { searchCatalogue } from './catalogue.ts';
import { findByKnowledge } from './knowledge.ts';
import { type OthersKey, type RefusedSignature, Search, type WrongSignature } from './search.ts';
import { describeSentForm, describeSentKey } from './sent-keys.ts';
import { describe, formatWhole, type Members } from './shown.ts';

/**
 * Prepares the explanation of a wrong signature: keeps all that it depends on, so that it is the same whenever it is made. It is made
 * in full for the trace, and for the client without showing whether the user exists. Then the mistakes are tried with at least two
 * keys of each kind, so the work does not depend on the user, and it has a fixed budget.
 */
export async function prepareExplanation({ context, ...refused }: RefusedSignature): Promise<Explained> {
  const { scheme, holder, content, knowledge } = refused;
  const isUser = (scheme.rules.owner ?? 'user') === 'user';
  const hasPublicKeys = refused.presented.kinds.some((kind) => kind !== 'secret');
  const [account, arrived, others] = await Promise.all([
    knowledge && isUser && holder && context.accounts.find(holder.principal.name),
    content.length === 0 ? knowledge?.content() : undefined,
    knowledge && hasPublicKeys ? findOthersKeys(knowledge, context) : [],
  ]);
  const presented = withoutBody(refused.presented);
  const wrong: WrongSignature = {
    ...refused,
    presented,
    arrived,
    account: account || undefined,
    others,
  };
  let made: Search | undefined;
  const search = (): Search => {
    if (made === undefined) {
      made = new Search(wrong);
      searchCatalogue(made);
    }
    return made;
  };
  return { traced: () => traceSearch(search()), shown: () => showSearch(search()) };
}

/** The number of keys of other users that are tried: a verification with a public key takes long. */
const maxOthers = 256;

/** Finds the keys that users have, with their ids, for a test double. */
async function findOthersKeys(
  { keyIds }: TraceKnowledge,
  { accounts }: SchemeContext,
): Promise<readonly OthersKey[]> {
  const found = await Promise.all(
    keyIds.slice(0, maxOthers).map(async (id) => ({ id, found: await accounts.findKey?.(id) })),
  );
  return found.flatMap(({ id, found: known }) =>
    known === undefined ? [] : [{ id, user: known.account.name, key: known.key }],
  );
}

/** Returns credentials that do not keep the content of their request, nor its connection. */
function withoutBody(presented: Presented): Presented {
  const { present } = presented.request.body;
  const unread = (): Promise<never> => Promise.reject(new Error('the content was not kept'));
  return {
    ...presented,
    request: { ...presented.request, body: { present, consume: unread, hold: unread } },
  };
}

/** Returns the explanation for the trace, with all that a test double knows. */
function traceSearch(search: Search): Members {
  const { parts, message } = search.shown;
  const found = search.found ?? findByKnowledge(search);
  return {
    ...formatWhole(parts, message),
    ...listCommonMembers(search),
    ...describe(parts, message, found, hintFor(search)),
  };
}

/** Returns the explanation for the client. */
function showSearch(search: Search): Members {
  const { scheme, presented } = search.wrong;
  const { parts, message } = search.shown;
  const sent = presented.sentKey;
  const hint =
    presented.user === ''
      ? (describeSentForm(sent ?? '', 'key') ?? 'no user has this key')
      : `the ${scheme.rules.owner ?? 'user'} does not exist, ${parts.length === 0 ? 'or ' : ''}${explainUnmatched(search)}`;
  return { ...listCommonMembers(search), ...describe(parts, message, search.found, hint) };
}

function listCommonMembers({ wrong }: Search): Members {
  const { scheme, presented, content } = wrong;
  return scheme.mistakes?.members?.(presented, content, 'signature') ?? {};
}

/** Returns the hint if no mistake made the signature. */
function explainUnmatched(
  { wrong, shown, untried }: Search,
  kinds: readonly KeyKind[] = wrong.presented.kinds,
): string {
  const hasMessage = shown.parts.length > 0;
  const different = `the ${kinds[0] === 'secret' ? 'secret' : 'key'} is different`;
  if (untried !== undefined) return `${different}${hasMessage ? ', or the message differs' : ''}; ${untried}`;
  if (!hasMessage) return different;
  return `${different}, or the message differs in a way that is not a common mistake`;
}

/** Returns the hint for the trace if no mistake made the signature. */
function hintFor(search: Search): string {
  const { scheme, presented, holder, knowledge } = search.wrong;
  const { mac } = search;
  const { owner = 'user' } = scheme.rules;
  const sent = presented.sentKey;
  const mistake =
    sent === undefined ? undefined : describeSentKey(sent, presented.user, knowledge?.secrets ?? []);
  if (mistake !== undefined) return mistake;
  if (holder === undefined && presented.user === '') return 'no user has this key, or several have it';
  if (holder === undefined)
    return owner === 'user'
      ? 'there is no user of this name, and no key of this id'
      : `there is no ${owner} of this name`;
  const own = holder.hint;
  if (own !== undefined) return own;
  const kinds = presented.kinds.filter((kind) => selectSamples(kind, presented.signatures).length > 0);
  const keys = holder.keys.filter(({ kind }) => kinds.includes(kind));
  if (keys.length === 0 && holder.keys.length > 0)
    return `the signature has another length than one of ${holder.keys.map(({ kind }) => kind).join(' or ')}`;
  if (keys.length === 0)
    return kinds.includes('secret')
      ? `the ${owner} has no secret`
      : `the ${owner} has no key of ${kinds.join(' or ')}`;
  const isReadable = keys.some(
    (key) => key.kind !== 'secret' || mac === undefined || key.secret.derive(mac.key) !== undefined,
  );
  if (!isReadable) return `the secret of the ${owner} is not in ${mac?.encoding ?? 'the right encoding'}`;
  const unmatched = explainUnmatched(
    search,
    keys.map(({ kind }) => kind),
  );
  return unmatched + describeTries(search);
}

/** Describes how much was tried when no mistake made the signature, and what cannot be tried. */
function describeTries({ wrong, shown, untried, budgets }: Search): string {
  if (untried !== undefined || shown.parts.length === 0) return '';
  const kinds = new Set(shown.parts.map(({ kind }) => kind));
  const unknown: string[] = [];
  if (kinds.has('host') || kinds.has('url'))
    unknown.push('a host that the request does not show, such as that of a proxy');
  if (kinds.has('path') || kinds.has('target') || kinds.has('url'))
    unknown.push('other base paths and parameters that did not arrive');
  if (/^multipart\//i.test(wrong.presented.request.headers.get('content-type') ?? ''))
    unknown.push('multipart content with another boundary, which each serialization has');
  const rest = unknown.length === 0 ? '' : `; not tried: ${unknown.join(', and ')}`;
  const count = countTried(budgets).toLocaleString('en-US');
  return ` (${count} forms of the message were tried${rest})`;
}
