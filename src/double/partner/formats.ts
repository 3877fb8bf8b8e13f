// Checks the formats of JSON Schema and OpenAPI for texts. Every expression takes linear time.
import { findSyntaxFault } from '../../schema/pattern/ecma-syntax.ts';

const dateForm = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const timeForm = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const labelForm =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const ipv4Form = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: (text) => timeForm.test(text),
  'date-time': isDateTime,
  duration: (text) =>
    /^P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uuid: (text) => /^(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]*$/i.test(text) && isPercentEncoded(text),
  'uri-reference': (text) => /^[^\s<>"{}|\\^`]*$/.test(text) && isPercentEncoded(text),
  hostname: (text) => labelForm.test(text),
  ipv4: (text) => ipv4Form.test(text),
  ipv6: (text) => text.includes(':') && URL.canParse(`http://[${text}]/`),
  byte: (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  'json-pointer': (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text),
  regex: (text) => findSyntaxFault(text) === undefined,
};

/** Returns whether a text has a format; undefined if the format is not known. */
export function isOfFormat(text: string, format: string): boolean | undefined {
  return Object.hasOwn(formats, format) ? formats[format]?.(text) : undefined;
}

function isDate(text: string): boolean {
  const time = dateForm.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.split(/[T ]/i);
  return isDate(date) && timeForm.test(time);
}

function isPercentEncoded(text: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(text);
}
