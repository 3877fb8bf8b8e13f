// Checks the formats of JSON Schema and OpenAPI for texts. Every expression takes linear time.
import { isDate, isDateTime } from './date.ts';
import { findSyntaxFault } from './pattern/ecma-syntax.ts';

/** The formats that a field can require, with what its values must be. An email address is one that browsers accept (HTML, "valid email address"). */
export const fieldFormats = {
  email: 'must be an email address',
  uri: 'must be an absolute URI (RFC 3986)',
  uuid: 'must be a UUID (RFC 9562)',
} as const;

/** The name of a format of fields. */
export type FieldFormat = keyof typeof fieldFormats;

/** The names of the formats of fields, in the order of documents. */
export const fieldFormatNames: readonly FieldFormat[] = ['email', 'uri', 'uuid'];

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const labels = `${label}(?:\\.${label})*`;
const hostnameForm = new RegExp(`^(?=.{1,253}$)${labels}$`, 'i');
const emailForm = new RegExp(`^[a-z0-9.!#$%&'*+/=?^_\`{|}~-]+@${labels}$`, 'i');
const timeForm = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const durationForm = /^P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/;
const ipv4Form = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const uuidForm = /^(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const absoluteForm = /^[a-z][a-z0-9+.-]*:/i;

/** The length of the longest regular expression that is examined: the time that engines take for nested groups grows faster. */
const maxExpressionLength = 4096;

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: (text) => timeForm.test(text),
  // RFC 3339 §5.6 permits a space in place of the "T".
  'date-time': (text) => isDateTime(text.replace(' ', 'T')),
  duration: (text) => durationForm.test(text),
  email: (text) => emailForm.test(text),
  uuid: (text) => uuidForm.test(text),
  uri: (text) => absoluteForm.test(text) && isReference(text) && URL.canParse(text),
  'uri-reference': isReference,
  hostname: (text) => hostnameForm.test(text),
  ipv4: (text) => ipv4Form.test(text),
  ipv6: (text) => text.includes(':') && URL.canParse(`http://[${text}]/`),
  byte: (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  'json-pointer': (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text),
  regex: (text) => text.length > maxExpressionLength || findSyntaxFault(text) === undefined,
};

/** Returns whether a text has a format; undefined if the format is not known. */
export function isOfFormat(text: string, format: string): boolean | undefined {
  return Object.hasOwn(formats, format) ? formats[format]?.(text) : undefined;
}

function isReference(text: string): boolean {
  return /^[^\s<>"{}|\\^`]*$/.test(text) && !/%(?![0-9a-f]{2})/i.test(text);
}
