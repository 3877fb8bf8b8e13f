import { type Form, hasTooManyParameters, maxFormLength, parseForm } from '../http/form.ts';
import { formType } from '../http/headers/media-type.ts';
import { decodeUtf8, octetsOf } from '../http/syntax/octets.ts';
import type { ContentReader } from '../pipeline/resource.ts';

/** A decoded form, or the reason why it cannot be decoded. The endpoint refuses the latter with an error of its protocol. */
export type FormContent = Form | 'malformed' | 'too-many-parameters';

/** Reads content as a form of at most 64 KiB and 1,000 parameters. Parameters are counted before they are decoded. */
export const formReading: ContentReader<unknown, FormContent> = {
  type: formType,
  maxLength: maxFormLength,
  decoder() {
    // One character per octet, as `parseForm` expects.
    let text = '';
    return {
      write(bytes) {
        text += octetsOf(bytes);
      },
      end: (): FormContent =>
        hasTooManyParameters(text) ? 'too-many-parameters' : (parseForm(text) ?? 'malformed'),
    };
  },
};

/** Reads content as JSON of at most 64 KiB: an object whose members are texts. Partners accept it at the token endpoint beside a form. */
export const jsonReading: ContentReader<unknown, FormContent> = {
  type: 'application/json',
  maxLength: maxFormLength,
  decoder() {
    const pieces: Uint8Array[] = [];
    return {
      write(bytes) {
        pieces.push(bytes);
      },
      end: (): FormContent => readMembers(decodeUtf8(octetsOf(Buffer.concat(pieces)))) ?? 'malformed',
    };
  },
};

function readMembers(text: string | undefined): Form | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members: readonly (readonly [string, unknown])[] = Object.entries(value);
  const texts = members.filter((member): member is [string, string] => typeof member[1] === 'string');
  return texts.length === members.length ? texts : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
