// Canonical headers that clients compute by mistake.
import {
  type CanonicalHeader,
  type CanonicalRequest,
  canonicalText,
  canonicalValue,
  signedHeadersOf,
} from '../../../signature/aws4/canonical-request.ts';
import type { Presented } from '../presented.ts';
import { type MessageMistake, maxTried } from './mistake.ts';

/** A mistake in the headers, with the canonical request that the client signs. */
export type HeaderMistake = Omit<MessageMistake, 'stringToSign'> & { readonly text: string };

/** Returns the mistakes in the canonical headers and in the list of signed headers. */
export function headerMistakes(presented: Presented, canonical: CanonicalRequest): HeaderMistake[] {
  return [
    ...hostMistakes(presented, canonical),
    ...valueMistakes(presented, canonical),
    ...selectionMistakes(presented, canonical),
    ...layoutMistakes(presented, canonical),
  ];
}

function withHeader(canonical: CanonicalRequest, name: string, value: string): string {
  const headers = canonical.headers.map(
    (header): CanonicalHeader => (header[0] === name ? [name, value] : header),
  );
  return canonicalText({ ...canonical, headers });
}

function signedValue({ headers }: CanonicalRequest, name: string): string {
  return headers.find(([each]) => each === name)?.[1] ?? '';
}

function hostMistakes({ request }: Presented, canonical: CanonicalRequest): HeaderMistake[] {
  const host = signedValue(canonical, 'host');
  const bare = host.replace(/:\d+$/, '');
  const hosts: [hint: string, value: string][] = [
    ['the host was signed without the port, and sent with it', bare],
    [
      'the host was signed with a port, and sent without it',
      `${bare}:${request.connection.secure ? 443 : 80}`,
    ],
    ['the host was signed with a port, and sent without it', `${bare}:443`],
    ['the host was signed with a port, and sent without it', `${bare}:80`],
    ['the host was signed in lower case, and sent in another', host.toLowerCase()],
    ['the URL was signed as the host', `https://${host}`],
    ['the host was signed as localhost', host.replace(/^127\.0\.0\.1/, 'localhost')],
    ['the host was signed as 127.0.0.1', host.replace(/^localhost/, '127.0.0.1')],
    ['the host was signed with an empty value', ''],
  ];
  return hosts.map(([hint, signed]) => ({
    hint,
    part: 'header host',
    signed,
    text: withHeader(canonical, 'host', signed),
  }));
}

function valueMistakes({ request }: Presented, canonical: CanonicalRequest): HeaderMistake[] {
  return canonical.headers.slice(0, maxTried).flatMap(([name, value]) => {
    const lines = request.fields.lines(name);
    const signed: [hint: string, value: string][] = [
      [
        `the value of ${name} was signed with its inner spaces; each run of spaces must be one`,
        lines.join(','),
      ],
      [`the value of ${name} was not trimmed before it was signed`, ` ${value}`],
      [`the value of ${name} was not trimmed before it was signed`, `${value} `],
      [
        `the lines of ${name} were joined by a comma and a space; they must be joined by a comma`,
        lines.map(canonicalValue).join(', '),
      ],
      [
        `the lines of ${name} were sorted before they were joined`,
        lines.map(canonicalValue).sort().join(','),
      ],
      [`only the first line of ${name} was signed`, canonicalValue(lines[0] ?? '')],
      [`only the last line of ${name} was signed`, canonicalValue(lines.at(-1) ?? '')],
      [`the value of ${name} was signed in lower case`, value.toLowerCase()],
      [
        `the value of ${name} was signed without its parameters, which were added after signing`,
        value.replace(/;.*$/, ''),
      ],
      [`the value of ${name} was signed as empty`, ''],
    ];
    return signed.map(([hint, text]) => ({
      hint,
      part: `header ${name}`,
      signed: text,
      text: withHeader(canonical, name, text),
    }));
  });
}

/** Headers that were signed without being listed, and listed without being signed. */
function selectionMistakes({ request }: Presented, canonical: CanonicalRequest): HeaderMistake[] {
  const { headers } = canonical;
  const names = new Set(headers.map(([name]) => name));
  const others = request.fields.raw
    .filter((_, at) => at % 2 === 0)
    .map((name) => name.toLowerCase())
    .filter((name) => !names.has(name) && name !== 'authorization');
  const list = signedHeadersOf(canonical);
  const added = [...new Set(others)].slice(0, maxTried).flatMap((name) => {
    const value = canonicalValue(request.fields.lines(name).join(','));
    const more = [...headers, [name, value] as const].sort(([one], [other]) => (one < other ? -1 : 1));
    const signed = signedHeadersOf({ ...canonical, headers: more });
    const hint = `${name} was signed, but is missing in SignedHeaders`;
    return [
      { hint, part: 'signed headers', signed, text: canonicalText({ ...canonical, headers: more }) },
      { hint, part: 'signed headers', signed, text: withNames({ ...canonical, headers: more }, list) },
    ];
  });
  const dropped = headers.slice(0, maxTried).flatMap(([name]) => {
    const fewer = headers.filter((header) => header[0] !== name);
    const signed = signedHeadersOf({ ...canonical, headers: fewer });
    const hint = `${name} is in SignedHeaders, but was not signed`;
    return [
      { hint, part: 'signed headers', signed, text: canonicalText({ ...canonical, headers: fewer }) },
      { hint, part: `header ${name}`, signed: '', text: withNames({ ...canonical, headers: fewer }, list) },
    ];
  });
  return [...added, ...dropped];
}

/** Returns the canonical request with another list of signed headers. */
function withNames(canonical: CanonicalRequest, list: string): string {
  const lines = canonicalText(canonical).split('\n');
  lines[lines.length - 2] = list;
  return lines.join('\n');
}

/** Mistakes in the case, order and line ends of the headers. */
function layoutMistakes({ request }: Presented, canonical: CanonicalRequest): HeaderMistake[] {
  const { headers, method, path, query, payloadHash } = canonical;
  const list = signedHeadersOf(canonical);
  const head = `${method}\n${path}\n${query}`;
  const lines = headers.map(([name, value]) => `${name}:${value}`);
  const block = lines.join('\n');
  const sentNames = new Map(
    request.fields.raw.filter((_, at) => at % 2 === 0).map((name) => [name.toLowerCase(), name]),
  );
  const asSent = headers.map(([name, value]) => `${sentNames.get(name) ?? name}:${value}`).join('\n');
  const order = [...sentNames.keys()];
  const inOrder = [...headers].sort(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  const inOrderBlock = inOrder.map(([name, value]) => `${name}:${value}`).join('\n');
  const hashOf = (text: string, names: string): string => `${head}\n${text}\n\n${names}\n${payloadHash}`;
  const layouts: [hint: string, signed: string, text: string][] = [
    ['the headers are not sorted by name', inOrderBlock, hashOf(inOrderBlock, list)],
    [
      'the headers are not sorted by name',
      inOrderBlock,
      hashOf(inOrderBlock, inOrder.map(([name]) => name).join(';')),
    ],
    [
      'the names of the headers were signed as sent; they must be in lower case',
      asSent,
      hashOf(asSent, list),
    ],
    [
      'the names in the list of signed headers are not in lower case',
      list,
      hashOf(block, headers.map(([name]) => sentNames.get(name) ?? name).join(';')),
    ],
    ['the blank line after the headers is missing', block, `${head}\n${block}\n${list}\n${payloadHash}`],
    [
      'there is a blank line too many after the headers',
      block,
      `${head}\n${block}\n\n\n${list}\n${payloadHash}`,
    ],
    [
      'there is a space after the colon of each header',
      block,
      hashOf(lines.map((line) => line.replace(':', ': ')).join('\n'), list),
    ],
    [
      'the signed headers were joined by commas; semicolons are expected',
      list,
      hashOf(block, list.replaceAll(';', ',')),
    ],
    ['the list of signed headers was left out', '', `${head}\n${block}\n\n${payloadHash}`],
    [
      'the list of signed headers was signed with a semicolon at its end',
      `${list};`,
      hashOf(block, `${list};`),
    ],
  ];
  return layouts.map(([hint, signed, text]) => ({ hint, part: 'signed headers', signed, text }));
}
