// Undoes the escapes in which a text can contain a secret, and remembers where each octet stands in the text.
import { isAscii, toOctets } from '../../http/syntax/octets.ts';

/** A text as octets of UTF-8, one character for each, at one level of decoding. */
export interface Layer {
  readonly octets: string;
  /** The index in the text of each octet, and the text's length. Undefined if the text consists of the octets. */
  readonly starts: Uint32Array | undefined;
}

/** The maximum number of levels: a percent-encoding of a percent-encoding within JSON within HTML. */
const maxLevels = 5;

/** Escapes of URIs, JSON and JavaScript, HTML and XML; line ends, at which PEM and MIME break base64. */
const escapes =
  /%[0-9a-f]{2}|\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u(?:([0-9a-f]{4})|\{([0-9a-f]{1,6})\})|\\x[0-9a-f]{2}|\\[^ux]|&(?:(amp|lt|gt|quot|apos)|#(\d{2,7})|#x([0-9a-f]{2,6}));|[\r\n]+/gi;

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Returns a layer, and then what its escapes stand for, level by level, until none is left or the levels end. */
export function listLayers(first: Layer): Layer[] {
  const layers = [first];
  for (let layer: Layer | undefined = first; layer !== undefined && layers.length < maxLevels; ) {
    layer = decodeLayer(layer);
    if (layer !== undefined) layers.push(layer);
  }
  return layers;
}

/** Returns where octets stand in the text. Escapes are included as a whole. */
export function locate({ starts }: Layer, from: number, to: number): readonly [from: number, to: number] {
  if (starts === undefined) return [from, to];
  let end = to;
  while (end < starts.length - 1 && starts[end] === starts[to - 1]) end += 1;
  return [starts[from] ?? 0, starts[end] ?? 0];
}

/** Returns a text as octets. */
export function toLayer(text: string): Layer {
  if (isAscii(text)) return { octets: text, starts: undefined };
  const starts = new Uint32Array(3 * text.length + 1);
  let octets = '';
  let at = 0;
  for (const character of text) {
    const encoded = toOctets(character);
    starts.fill(at, octets.length, octets.length + encoded.length);
    octets += encoded;
    at += character.length;
  }
  starts[octets.length] = at;
  return { octets, starts: starts.subarray(0, octets.length + 1) };
}

/** Undoes one level of escapes. Returns undefined if there are none. */
function decodeLayer({ octets, starts }: Layer): Layer | undefined {
  // No escape is shorter than its octets.
  const decodedStarts = new Uint32Array(octets.length + 1);
  const startOf = (at: number): number => starts?.[at] ?? at;
  let decoded = '';
  let at = 0;
  const copyUntil = (end: number): void => {
    for (let from = at; from < end; from += 1) decodedStarts[decoded.length + from - at] = startOf(from);
    decoded += octets.slice(at, end);
  };
  for (const match of octets.matchAll(escapes)) {
    copyUntil(match.index);
    const plain = decodeEscape(match);
    decodedStarts.fill(startOf(match.index), decoded.length, decoded.length + plain.length);
    decoded += plain;
    at = match.index + match[0].length;
  }
  if (at === 0) return undefined;
  copyUntil(octets.length);
  decodedStarts[decoded.length] = startOf(octets.length);
  return { octets: decoded, starts: decodedStarts.subarray(0, decoded.length + 1) };
}

function decodeEscape(match: RegExpExecArray): string {
  const [written, high, low, unit, braced, entity, decimal, hexadecimal] = match;
  if (written.startsWith('\n') || written.startsWith('\r')) return '';
  if (written.startsWith('%')) return String.fromCharCode(Number.parseInt(written.slice(1), 16));
  if (high !== undefined && low !== undefined)
    return toOctets(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)));
  const code = unit ?? braced ?? hexadecimal;
  if (code !== undefined) return encodePoint(Number.parseInt(code, 16));
  if (decimal !== undefined) return encodePoint(Number(decimal));
  if (entity !== undefined) return entities[entity.toLowerCase()] ?? '';
  if (/^\\x/i.test(written)) return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  const character = written.slice(1);
  return controls[character] ?? character;
}

function encodePoint(point: number): string {
  return point > 0x10_ffff ? '' : toOctets(String.fromCodePoint(point));
}
