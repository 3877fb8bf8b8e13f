import { type Form, parseForm } from '../http/form.ts';
import type { Reading } from '../resource.ts';

/** What was sent as a form. One that is malformed is the endpoint's to refuse, in the words of its protocol. */
export type FormContent = Form | 'malformed';

/** Reads content as a form (`application/x-www-form-urlencoded`). How long it may be is judged before. */
export const formReading: Reading<unknown, FormContent> = {
  type: 'application/x-www-form-urlencoded',
  decoder() {
    // Octets as characters, which is what they are until they are decoded.
    let text = '';
    return {
      write(bytes) {
        text += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
      },
      end: (): FormContent => parseForm(text) ?? 'malformed',
    };
  },
};
