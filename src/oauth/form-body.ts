import { type Form, hasTooManyParameters, maxFormLength, parseForm } from '../http/form.ts';
import { formType } from '../http/headers/media-type.ts';
import { octetsOf } from '../http/syntax/octets.ts';
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
