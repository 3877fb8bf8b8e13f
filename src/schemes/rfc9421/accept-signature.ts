// The field Accept-Signature (RFC 9421 §5.1).
import { readDictionary } from '../../http/structured-fields/parse.ts';
import { serializeDictionary } from '../../http/structured-fields/serialize.ts';
import {
  type BareItem,
  type InnerList,
  type Item,
  isInnerList,
  type Parameters,
  trueItem,
} from '../../http/structured-fields/value.ts';
import { stringParameter } from './identifiers.ts';

/** A signature that the peer asks for. */
export interface RequestedSignature {
  readonly label: string;
  readonly components: readonly Item[];
  /** Whether the signature must have the parameter, with a value of the signer. */
  readonly created: boolean;
  readonly expires: boolean;
  /** The values that the signature must have; undefined for none. */
  readonly nonce: string | undefined;
  readonly alg: string | undefined;
  readonly keyid: string | undefined;
  readonly tag: string | undefined;
}

/** Formats Accept-Signature with one label. */
export function formatAcceptSignature(
  components: readonly Item[],
  requested: { readonly created?: boolean; readonly tag?: string | undefined },
  label = 'sig1',
): string {
  const parameters = new Map<string, BareItem>();
  if (requested.created === true) parameters.set('created', trueItem);
  if (requested.tag !== undefined) parameters.set('tag', { type: 'string', value: requested.tag });
  return serializeDictionary(new Map([[label, { items: components, parameters }]]));
}

/**
 * Parses Accept-Signature. Omits members that are not inner lists, or whose parameters are unknown or have the wrong type: a
 * signer that does not understand them cannot fulfil them. Returns an empty list if the field is malformed.
 */
export function parseAcceptSignature(value: string): readonly RequestedSignature[] {
  return Array.from(readDictionary(value, { uniqueKeys: true }) ?? []).flatMap(([label, member]) => {
    const requested = isInnerList(member) ? readRequestedSignature(label, member) : undefined;
    return requested === undefined ? [] : [requested];
  });
}

const texts = ['nonce', 'alg', 'keyid', 'tag'];

function readRequestedSignature(
  label: string,
  { items, parameters }: InnerList,
): RequestedSignature | undefined {
  const isUnderstood = ([name, bare]: readonly [string, BareItem]): boolean =>
    texts.includes(name) ? bare.type === 'string' : name === 'created' || name === 'expires';
  if (![...parameters].every(isUnderstood)) return undefined;
  const text = (name: string): string | undefined => stringParameter(parameters, name);
  return {
    label,
    components: items,
    created: isWanted(parameters, 'created'),
    expires: isWanted(parameters, 'expires'),
    nonce: text('nonce'),
    alg: text('alg'),
    keyid: text('keyid'),
    tag: text('tag'),
  };
}

/** The parameter has no value, that is, the boolean true. */
function isWanted(parameters: Parameters, name: string): boolean {
  return parameters.get(name)?.value === true;
}
