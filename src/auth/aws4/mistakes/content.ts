import { emptyHash, hashContent } from '../../../signature/aws4/canonical-request.ts';

/** A text that a client hashed by mistake in place of the content that it sent. */
export type ContentMistake = readonly [hint: string, content: string];

/** Returns the texts that clients hash by mistake in place of the content; each character is one octet. */
export function contentMistakes(content: Uint8Array): ContentMistake[] {
  const text = Buffer.from(content).toString('latin1');
  return [
    ['the hash is that of no content; it must be that of the content sent', ''],
    ['the content was hashed with a trailing newline, and sent without', `${text}\n`],
    ['the content was hashed with a trailing newline (CR LF), and sent without', `${text}\r\n`],
    ['the content was hashed without its trailing newline', text.replace(/\r?\n$/, '')],
    ['the content was hashed without the white space around it', text.trim()],
    ['the content was hashed with LF line endings, and sent with CR LF', text.replaceAll('\r\n', '\n')],
    ['the content was hashed with CR LF line endings, and sent with LF', text.replace(/\r?\n/g, '\r\n')],
    ...serializedAgain(text),
    ['spaces of the form were hashed as %20, and sent as +', text.replaceAll('+', '%20')],
    ['spaces of the form were hashed as +, and sent as %20', text.replaceAll('%20', '+')],
    ['the content was hashed in base64', Buffer.from(content).toString('base64')],
    ['the hash of the content was hashed again', hashContent(content)],
  ];
}

const again = 'the JSON was serialized again: other white space was hashed than was sent';

function serializedAgain(text: string): ContentMistake[] {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
  } catch {
    return [];
  }
  const octets = (json: string): string => Buffer.from(json).toString('latin1');
  const compact = JSON.stringify(value);
  const spaced = JSON.stringify(value, null, 1)
    .replace(/\n */g, ' ')
    .replace(/([{[]) | ([}\]])/g, '$1$2');
  return [
    [again, octets(compact)],
    [again, octets(spaced)],
    [again, octets(JSON.stringify(value, null, 2))],
    [again, octets(JSON.stringify(value, null, 4))],
    ['the JSON was hashed in its keys’ alphabetical order', octets(JSON.stringify(sorted(value)))],
    ['the JSON was hashed as a string, which contains the JSON', octets(JSON.stringify(compact))],
  ];
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

/** Explains why content does not have the hash that was sent with it. */
export function explainContent(content: Uint8Array, sentHash: string): Readonly<Record<string, string>> {
  if (sentHash === emptyHash) return { hint: contentMistakes(content)[0]?.[0] ?? '' };
  const found = contentMistakes(content).find(
    ([, text]) => hashContent(Buffer.from(text, 'latin1')) === sentHash,
  );
  return { hint: found?.[0] ?? 'other content was hashed than was sent, or it was changed in transit' };
}
