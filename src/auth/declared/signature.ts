// A declared scheme as a signature scheme: its message is a template, and its keys are the user's secrets.
import { createHash, verify as verifySignature } from 'node:crypto';
import { hasTooManyParameters, maxFormParameters } from '../../http/form.ts';
import { sortedForm } from '../../signature/declared/form.ts';
import { createDeclaredKey, isSameDigest, keyBytes } from '../../signature/declared/key.ts';
import { type MessageSource, pieceOf, takeParameter } from '../../signature/declared/message.ts';
import { partName, type TemplatePart } from '../../signature/declared/template.ts';
import { type DigestForm, messageBytes, type Part, type PartKind } from '../../signature/message.ts';
import type { Variant } from '../explain/mistake.ts';
import { describeOtherUnit } from '../freshness.ts';
import { createKeyring, derivedOnce, type KeyKind } from '../keyring.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { DigestFault, Fault, SignatureScheme } from '../signature-scheme.ts';
import type { DeclaredOptions } from './options.ts';
import { planOf } from './plan.ts';
import { type DeclaredPresented, hasSignedForm, present, sourcesOf } from './presented.ts';

/** Creates the signature scheme of a declaration. */
export function createDeclaredSignature(
  name: string,
  options: DeclaredOptions,
  { accounts }: SchemeContext,
): SignatureScheme<DeclaredPresented> {
  const plan = planOf(options);
  const find = createKeyring(accounts, name, {
    ofUser: ({ algorithm }) => algorithm === 'ed25519',
    byId: ({ algorithm }) => algorithm === 'ed25519' || algorithm === 'hmac-sha256',
  });
  const keyFor = (secret: Buffer): Buffer | undefined => keyBytes(secret, options);
  const prepared = derivedOnce((secret) => createDeclaredKey(keyFor(secret) ?? secret, options.hash));
  const readable = derivedOnce((secret) => ({ isReadable: keyFor(secret) !== undefined }));
  const heads = options.message.map(headOf);
  const { timestamp } = options;
  return {
    name,
    check: 'signature',
    wrong: 'The user, the secret or the signed message is wrong.',
    time: timestamp && {
      subject: 'The timestamp',
      window: timestamp.window,
      resolution: timestamp.unit === 'ms' ? 1 : 1000,
    },
    refusesReplays: options.replay === 'refuse',
    read: (request, rest) => present(request, rest, options, plan),
    needsContent: ({ request, target }) =>
      plan.needs.form && hasSignedForm(request, target, options) ? 'form' : plan.needs.content,
    addContent: plan.needs.form
      ? (presented, content) =>
          formFault(sourcesOf(presented, content, options, plan)[0], options) ?? presented
      : undefined,
    find: ({ user }) => find(user),
    kinds: kindsOf,
    messages: (presented, content) =>
      sourcesOf(presented, content, options, plan).map((source) =>
        heads.map(({ kind, name: part, digest }, at): Part => {
          const value = pieceOf(options.message[at] ?? emptyText, source);
          return digest === undefined ? { kind, name: part, value } : { kind, name: part, value, digest };
        }),
      ),
    signs(key, message, { digests, asymmetric }) {
      if (key.kind === 'secret')
        return prepared(key.secret).signs(message, digests) && readable(key.secret).isReadable;
      const bytes = messageBytes(message);
      const valid = asymmetric.filter((each) =>
        verifySignature(null, bytes, key.publicKey, Buffer.from(each, 'base64')),
      );
      return valid.length > 0;
    },
    digestFault: ({ target }, content) => parameterFault(target, content, options),
    mac: () => ({ hash: options.hash, encoding: options.key, prefix: options.keyPrefix, key: keyFor }),
    partMistakes: (part, presented, content) => ownMistakes(part, presented, content, options),
    timeHint: ({ timestamp: sent }, _, now) => timeHint(sent, now, options),
  };
}

const emptyText: TemplatePart = { kind: 'literal', text: '' };

function kindsOf({ digests, asymmetric }: DeclaredPresented): readonly KeyKind[] {
  if (asymmetric.length === 0) return onlySecret;
  return digests.length === 0 ? onlyEd25519 : bothKinds;
}

const onlySecret: readonly KeyKind[] = ['secret'];
const onlyEd25519: readonly KeyKind[] = ['ed25519'];
const bothKinds: readonly KeyKind[] = ['secret', 'ed25519'];

/** The kinds of the placeholders. */
const kinds: Readonly<Record<TemplatePart['kind'], PartKind>> = {
  literal: 'text',
  method: 'method',
  'method-lower': 'method',
  target: 'target',
  path: 'path',
  query: 'query',
  'query-sorted': 'query',
  url: 'url',
  host: 'host',
  user: 'user',
  timestamp: 'time',
  nonce: 'nonce',
  id: 'id',
  field: 'header',
  body: 'content',
  'body-sha256': 'digest',
  'body-md5-base64': 'digest',
  'form-sorted': 'form',
};

const digestForms: Readonly<Partial<Record<TemplatePart['kind'], DigestForm>>> = {
  'body-sha256': { hash: 'sha256', format: (digest) => digest.toString('hex') },
  'body-md5-base64': { hash: 'md5', format: (digest) => digest.toString('base64') },
};

interface Head {
  readonly kind: PartKind;
  readonly name: string;
  readonly digest: DigestForm | undefined;
}

/** Returns what is the same for a part in all messages. Literal text has no name. */
function headOf(part: TemplatePart): Head {
  const name = part.kind === 'literal' ? '' : partName(part);
  return { kind: kinds[part.kind], name, digest: digestForms[part.kind] };
}

/** Returns a fault if the signature covers the content only as a form, and it is not one, or if the form cannot be parsed. */
function formFault(source: MessageSource, { message, digestParameter }: DeclaredOptions): Fault | undefined {
  if (source.content.length === 0) return undefined;
  const form = source.hasForm ? Buffer.from(source.content).toString('latin1') : undefined;
  // Counted before the form is decoded, because its sender is not authenticated yet.
  if (form !== undefined && hasTooManyParameters(form))
    return { detail: `A signed form can have at most ${maxFormParameters} parameters.` };
  if (message.some(({ kind }) => kind.startsWith('body'))) return undefined;
  if (digestParameter !== undefined && takeParameter(source.target, digestParameter).values.length === 1)
    return undefined;
  if (form !== undefined)
    return sortedForm(form) === undefined
      ? { detail: 'The form has a malformed escape, so the signature cannot cover it.' }
      : undefined;
  const further =
    digestParameter === undefined ? '' : `, or its SHA-256 in the query parameter ${digestParameter}`;
  return { detail: `The signature does not cover this content; it must be a form${further}.` };
}

/** Returns a fault if the content does not have the digest that the signed target contains. */
function parameterFault(
  target: string,
  content: Uint8Array,
  { digestParameter }: DeclaredOptions,
): DigestFault | undefined {
  if (digestParameter === undefined) return undefined;
  const { values } = takeParameter(target, digestParameter);
  const [given] = values;
  if (given === undefined) return undefined;
  const digest = createHash('sha256').update(content).digest('hex');
  // The lengths are compared by the digest of both, because the given one is not a secret.
  if (values.length === 1 && isSameDigest(digest, given)) return undefined;
  const detail = `The content does not have the SHA-256 in the query parameter ${digestParameter}.`;
  return { detail, explain: () => ({ detail }) };
}

/** Returns the mistakes that only declarations have: the parameter of the signature was signed, or the order of a sorted query. */
function ownMistakes(
  { kind, value }: Part,
  { request }: DeclaredPresented,
  _content: Uint8Array,
  { place }: DeclaredOptions,
): Variant[] {
  if (!('query' in place) || typeof value !== 'string') return [];
  if (kind !== 'target' && kind !== 'query' && kind !== 'url') return [];
  const hint = `the query parameter ${place.query} was signed; the message does not contain it`;
  const isEmpty = kind === 'query' ? value === '' : !value.includes('?');
  const separator = isEmpty ? (kind === 'query' ? '' : '?') : '&';
  const sent = kind === 'target' ? [request.target] : [];
  const kept = [`${place.query}=`, place.query].map((pair) => value + separator + pair);
  return [...kept, ...sent].map((signed): Variant => [hint, signed]);
}

/** Returns the likely cause of a timestamp outside the window. */
function timeHint(sent: string, now: number, { timestamp }: DeclaredOptions): string | undefined {
  const unit = timestamp?.unit;
  return unit === 's' || unit === 'ms'
    ? describeOtherUnit('the timestamp', Number(sent), unit, now)
    : undefined;
}
