/** The type of a structured field (RFC 9651 §3). */
export type StructuredFieldType = 'item' | 'list' | 'dictionary';

/** The types of fields, by name in lower case. */
export type StructuredFieldTypes = Readonly<Record<string, StructuredFieldType>>;

/** The registered structured fields (IANA, "Hypertext Transfer Protocol (HTTP) Field Name Registry"). */
export const registeredTypes: StructuredFieldTypes = {
  ...toTypes('list', ['accept-ch', 'cache-status', 'client-cert-chain', 'proxy-status']),
  ...toTypes('dictionary', [
    'accept-signature',
    'cdn-cache-control',
    'content-digest',
    'priority',
    'repr-digest',
  ]),
  ...toTypes('dictionary', ['signature', 'signature-input', 'want-content-digest', 'want-repr-digest']),
  ...toTypes('item', ['client-cert', 'cross-origin-embedder-policy', 'cross-origin-opener-policy']),
  ...toTypes('item', ['deprecation', 'origin-agent-cluster']),
};

function toTypes(type: StructuredFieldType, names: readonly string[]): StructuredFieldTypes {
  return Object.fromEntries(names.map((name) => [name, type]));
}

/** Returns the type of a field; undefined if it is not known. */
export function typeOfField(name: string, types: StructuredFieldTypes): StructuredFieldType | undefined {
  return Object.hasOwn(types, name) ? types[name] : undefined;
}
