import { type Form, parseForm } from '../http/form.ts';
import type { Reading } from '../resource.ts';

/** A form that was sent. A malformed one is refused by the endpoint, in the terms of its protocol. */
export type FormContent = Form | 'malformed';

/** Reads content as a form (`application/x-www-form-urlencoded`). Its length is limited before it comes here. */
export const formReading: Reading<unknown, FormContent> = {
  type: 'application/x-www-form-urlencoded',
  decoder() {
    // One character for each octet, as `parseForm` takes them.
    let text = '';
    return {
      write(bytes) {
        text += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
      },
      end: (): FormContent => parseForm(text) ?? 'malformed',
    };
  },
};
