// HTTP Message Signatures (RFC 9421) as a signature scheme: its message is the signature base, whose lines are the parts.

import { createKeyring, type Key } from '../../accounts/keyring.ts';
import { isSignatureAlgorithm, verifyWith } from '../../algorithms.ts';
import type { Item } from '../../http/structured-fields/value.ts';
import { areOctets, messageBytes, type Part, type PartKind, type Piece } from '../message.ts';
import { type RequestVerification, wrongKey } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import { compareContent } from '../signed-digest.ts';
import { type BaseLine, formatBase } from './base.ts';
import { readName } from './identifiers.ts';
import { messageMistakes, partMistakes } from './mistakes.ts';
import type { MessageSignaturesOptions } from './options.ts';
import { createRequirements, type PresentedSignature, read, selectKinds } from './presented.ts';

/** Creates the signature scheme. */
export function createMessageSignature(
  name: string,
  options: MessageSignaturesOptions,
  { accounts, bodyLimit }: SchemeContext,
): RequestVerification<PresentedSignature> {
  const check = createRequirements(options);
  return {
    rules: {
      check: 'signature',
      wrong,
      time: { subject: 'created', window: options.window * 1000, resolution: 1000 },
    },
    parse: (request) => read(request, check, options),
    // The key determines the algorithm, and its id the key (RFC 9421 §3.2).
    find: createKeyring(accounts, name, {
      ofUser: () => false,
      byId: ({ algorithm }) => algorithm !== 'aws4',
    }),
    messages: ({ lines, signature }) => [buildParts(lines, signature.covered.items)],
    join,
    verify,
    accept({ signature: { parameters } }, { kind }) {
      const { alg } = parameters;
      const own = kind === 'secret' ? 'hmac-sha256' : kind;
      if (alg === undefined || alg === own) return undefined;
      return wrongKey(wrong, `the parameter alg is "${alg}", but the key with this id is for ${own}`);
    },
    digestFault: ({ request, digests }) =>
      digests.length === 0 ? undefined : compareContent(request, digests, bodyLimit),
    mistakes: {
      mac: () => ({ hash: 'sha256', encoding: 'utf8', key: (secret) => secret }),
      part: partMistakes,
      message: messageMistakes,
      withSignature: (presented, signature) => ({
        ...presented,
        signatures: [signature],
        kinds: selectKinds(signature),
      }),
      members: ({ lines }) => ({ message: formatBase(lines) }),
    },
  };
}

const wrong = 'The key, the signature or the signed message is wrong.';

function verify(
  key: Key,
  message: readonly Piece[],
  { signatures: [signature = ''] }: PresentedSignature,
): boolean {
  if (key.kind === 'secret') return areOctets(message) && key.secret.signs(message, signature);
  if (!isSignatureAlgorithm(key.kind)) return false;
  return verifyWith(key.kind, key.publicKey, messageBytes(message), Buffer.from(signature, 'base64'));
}

/** The kinds of the components without parameters of their own. */
const kinds: Readonly<Record<string, PartKind>> = {
  '@method': 'method',
  '@target-uri': 'url',
  '@authority': 'host',
  '@request-target': 'target',
  '@path': 'path',
  '@query': 'search',
  'content-digest': 'digest',
};

function buildParts(lines: readonly BaseLine[], items: readonly Item[]): Part[] {
  return lines.map(({ name, value }, at): Part => ({ kind: chooseKind(items[at]), name, value }));
}

function chooseKind(item: Item | undefined): PartKind {
  if (item === undefined) return 'other';
  const name = readName(item);
  const known = item.parameters.size === 0 ? kinds[name] : undefined;
  return known ?? (name.startsWith('@') ? 'other' : 'header');
}

/** Returns the signature base (RFC 9421 §2.5): a line for each part, without a line feed at the end. */
function join(parts: readonly Part[]): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const { name, value } of parts) pieces.push(pieces.length === 0 ? '' : '\n', name, ': ', value);
  return pieces;
}
