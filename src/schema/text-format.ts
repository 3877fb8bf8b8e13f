/** The forms that a text can be required to have. */

/** The names of the forms, in the order of documents. */
export const textFormats = ['email', 'uri', 'uuid'] as const;

/** The name of a form. */
export type TextFormat = (typeof textFormats)[number];

/** A form: how a text has it, and what it must be. */
interface FormOfText {
  readonly must: string;
  matches(text: string): boolean;
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const emailForm = new RegExp(`^[a-z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*$`, 'i');
const uriForm = /^[a-z][a-z0-9+.-]*:(?:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})+$/i;
const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The forms by name. An email address is one that browsers accept (HTML, "valid email address"). */
export const formsOfText: Readonly<Record<TextFormat, FormOfText>> = {
  email: { must: 'must be an email address', matches: (text) => emailForm.test(text) },
  uri: {
    must: 'must be an absolute URI (RFC 3986)',
    matches: (text) => uriForm.test(text) && URL.canParse(text),
  },
  uuid: { must: 'must be a UUID (RFC 9562)', matches: (text) => uuidForm.test(text) },
};
