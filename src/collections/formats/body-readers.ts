import type { HttpHeaders } from '../../http/fields.ts';
import { parseMediaType } from '../../http/headers/media-type.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { XmlNames } from '../../xml/names.ts';
import type { Shape } from '../fields/schema.ts';
import { formats } from './index.ts';
import type { ItemAddress, ItemDecoder, ReadingOptions } from './list-item.ts';

/** A body reader for the items of a collection (`ContentReader`). */
export interface ItemReading<Received extends ReceivedCall> {
  readonly type: string;
  readonly anyCharset: boolean;
  decoder(call: Received): MaybePromise<ItemDecoder>;
}

interface ReceivedCall {
  readonly incoming: { readonly headers: HttpHeaders };
}

/**
 * Returns a body reader for each format of a collection.
 * @param findAddress returns the id and path of the item, which JSON may repeat. Default: it may not
 */
export function createBodyReaders<Received extends ReceivedCall>(
  shape: Shape,
  options: ReadingOptions,
  findAddress?: (call: Received) => ItemAddress,
): ItemReading<Received>[] {
  // All documents share one bounded table of names; without it, parsing takes twice as long.
  let shared: ReadingOptions | undefined;
  const decoder = (format: (typeof formats)[number], call: Received) => {
    shared ??= { ...options, names: new XmlNames() };
    const charset = format.readsCharset ? findCharset(call.incoming.headers) : undefined;
    if (charset !== undefined) return format.decoder(shape, { ...shared, charset });
    return format.decoder(
      shape,
      findAddress === undefined ? shared : { ...shared, address: findAddress(call) },
    );
  };
  return formats.map((format) => ({
    type: format.reads,
    anyCharset: format.readsCharset,
    decoder: (call) => decoder(format, call),
  }));
}

function findCharset(fields: HttpHeaders): string | undefined {
  const type = fields.get('content-type');
  return type?.includes(';') === true ? parseMediaType(type)?.parameters.get('charset') : undefined;
}
