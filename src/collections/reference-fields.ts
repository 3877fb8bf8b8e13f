// The fields that refer to items, and the values that they may have.
import type { IncomingRequest } from '../http/message.ts';
import { decodeText } from '../http/syntax/percent.ts';
import { referenceIn, type Shape } from './fields/schema.ts';
import type { ReferenceTo } from './fields/simple-type.ts';

/** Returns the fields of items that refer to others. */
export function listReferences({ schema }: Shape): readonly (ReferenceTo & { readonly field: string })[] {
  return schema.fields.flatMap((field) => {
    const reference = referenceIn(field);
    return reference === undefined ? [] : [{ ...reference, field: field.name }];
  });
}

/**
 * Returns the id that a text names: an id, or the address of an item: its path, or a URL of this host. Returns undefined for the
 * address of anything else.
 * @param to the path of the collection
 * @param request the request that has the text. Default: it is in a configuration
 */
export function parseReference(
  text: string,
  to: string,
  request?: Pick<IncomingRequest, 'basePath' | 'headers'>,
): string | undefined {
  if (!text.includes('/')) return text;
  const [, authority, path = ''] = /^(?:https?:\/\/([^/?#]*))?(.*)$/is.exec(text) ?? [];
  if (authority !== undefined && authority.toLowerCase() !== request?.headers.get('host')?.toLowerCase())
    return undefined;
  const bases = [`${request?.basePath ?? ''}${to}/`, `${to}/`];
  const base = bases.find((each) => path.startsWith(each));
  const segment = base === undefined ? '' : path.slice(base.length);
  return segment === '' || /[/?#]/.test(segment) ? undefined : decodeText(segment);
}

/** Returns why a text refers to no item: `must be the id or address of an item of /products, is “9”`. */
export function describeMissing(collection: string, id: string): string {
  return `must be the id or address of an item of ${collection}, is “${id}”`;
}
