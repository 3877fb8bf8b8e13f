// RFC 3986 §3.3: the characters of a path segment that need no encoding.
const plain = /^[A-Za-z0-9._~!$&'()*+,;=:@-]*$/;

/** Encodes text as one path segment: other characters are percent-encoded as UTF-8. */
export function encodeSegment(text: string): string {
  if (plain.test(text)) return text;
  return encodeURIComponent(text).replace(/%(24|26|2B|2C|3A|3B|3D|40)/g, (octet) =>
    decodeURIComponent(octet),
  );
}

/** Fills a path template such as `/users/{username}/financialrecords` with values. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  if (!template.includes('{')) return template;
  return template.replace(/\{([^{}]*)\}/g, (_, name: string) => encodeSegment(values[name] ?? ''));
}
