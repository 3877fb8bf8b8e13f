/** The fields of a message, by name in lower case. */
export interface FieldSource {
  /** Returns the value, several lines joined with a comma and a space; undefined if the field is absent. */
  get(name: string): string | undefined;
  /** Returns the value of each line, in order. */
  getAll(name: string): readonly string[];
}

/** A request, as far as a signature can cover it. */
export interface RequestMessage {
  readonly method: string;
  /** The request target as sent: in origin form, absolute form or asterisk form. */
  readonly target: string;
  /** Whether the target URI has the scheme `https`. */
  readonly secure: boolean;
  readonly fields: FieldSource;
  /** The trailer fields. Default: none. */
  readonly trailers?: FieldSource;
}

/** A response, as far as a signature can cover it. */
export interface ResponseMessage {
  readonly status: number;
  readonly fields: FieldSource;
  readonly trailers?: FieldSource;
  /** The request that it answers. Components with the parameter `req` are taken from it (RFC 9421 §2.4). */
  readonly request: RequestMessage;
}

/** The message that a signature covers. */
export type Message = RequestMessage | ResponseMessage;

/** Returns whether a message is a response. */
export function isResponse(message: Message): message is ResponseMessage {
  return 'status' in message;
}

/** Creates a source of fields from lines. */
export function fieldSource(lines: readonly (readonly [name: string, value: string])[]): FieldSource {
  const listValues = (sought: string): string[] =>
    lines.flatMap(([name, value]) => (name.toLowerCase() === sought ? [value] : []));
  return {
    getAll: listValues,
    get(name) {
      const values = listValues(name);
      return values.length === 0 ? undefined : values.join(', ');
    },
  };
}

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
