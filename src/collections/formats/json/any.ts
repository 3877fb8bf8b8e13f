import { JsonError, type JsonNode, readJson } from '../../../http/json.ts';
import { maxJsonDepth } from '../../fields/any-json.ts';

/**
 * Returns a value as the text in which a field of the type `json` is stored: without white space, with the members in the order and
 * the numbers in the digits that were sent.
 */
export function writeAnyJson(node: JsonNode): string {
  switch (node.kind) {
    case 'string':
      return quote(node.text);
    case 'number':
    case 'boolean':
    case 'null':
      return node.text;
    case 'array':
      return `[${node.items.map(writeAnyJson).join(',')}]`;
    case 'object':
      return `{${Array.from(node.members, ([name, { value }]) => `${quote(name)}:${writeAnyJson(value)}`).join(',')}}`;
  }
}

/** XML cannot represent these two characters; JSON.stringify escapes all others that it cannot (XML §2.2). */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\ufffe\uffff]/g, (character) =>
    character === '\ufffe' ? '\\ufffe' : '\\uffff',
  );
}

/** Reads the text of a field of the type `json`. Returns it as it is stored, or the error. */
export function readAnyJson(text: string): { readonly value: string } | { readonly fault: string } {
  try {
    return { value: writeAnyJson(readJson(text.trim(), maxJsonDepth)) };
  } catch (error) {
    if (error instanceof JsonError) return { fault: error.message };
    throw error;
  }
}
