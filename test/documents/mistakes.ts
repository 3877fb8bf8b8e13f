// The table of the mistakes that explanations name, generated from the catalogue.
import { createHmac } from 'node:crypto';
import { digestMistakes } from '../../src/schemes/explain/content.ts';
import { keyMistakes } from '../../src/schemes/explain/key.ts';
import { twilioMistakes } from '../../src/schemes/explain/parameters.ts';
import { furtherMistakes, partMistakes } from '../../src/schemes/explain/parts.ts';
import { furtherReadings, millisecondReadings, readings } from '../../src/schemes/explain/times.ts';
import { endMistakes, omissions, separatorMistakes, wholeMistakes } from '../../src/schemes/explain/whole.ts';
import type { Part, PartKind } from '../../src/schemes/message.ts';

const introduction = `# Mistakes that are explained

<!-- Generated from the catalogue of src/schemes/explain by UPDATE_DOCUMENTS=1 npm test -- documents/mistakes. Do not edit. -->

A wrong signature is compared with those of the usual mistakes, in every [scheme](schemes.md) whose message has such a part.
The hint of the first one that reproduces it appears in the journal of the double, in the console and, with \`--explain\`, in
the response. A double tries many of them in pairs, too. Mistakes of single schemes, such as the components of RFC 9421, are not listed.
`;

/** The kinds of parts, as the table names them. */
const kindNames: Readonly<Partial<Record<PartKind, string>>> = {
  method: 'Method',
  target: 'Target',
  path: 'Path',
  query: 'Query',
  search: 'Query with its question mark',
  url: 'URL',
  host: 'Host',
  header: 'Header field',
  time: 'Time',
  nonce: 'Nonce, id and user',
  content: 'Content',
  digest: 'Field with a digest of the content',
  form: 'Form',
};

const placeholders: readonly (readonly [name: string, shown: string])[] = [
  ['{part}', 'the part'],
  ['{name}', 'field'],
  ['{signed}', 'X'],
  ['{expected}', 'Y'],
  ['{host}', 'HOST'],
  ['{authority}', 'OTHER'],
  ['{prefix}', 'PREFIX'],
  ['{front}', 'PREFIX'],
  ['{leftOut}', 'PREFIX'],
  ['{added}', 'NAME'],
  ['{instead}', 'X for Y'],
  ['{length}', 'N'],
  ['{parameter}', 'NAME'],
];

function shown(hint: string, kind = ''): string {
  const general = hint.replace(/as by .*?(?=: \{instead\}|$)/, 'as by PROGRAM');
  const text = placeholders.reduce((rest, [name, value]) => rest.replaceAll(name, value), general);
  const named = kind === '' ? text : text.replaceAll('the part', `the ${kind}`);
  return named.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function section(title: string, hints: Iterable<string>): string {
  const rows = [...new Set(hints)].map((hint) => `- ${hint}`);
  return `## ${title}\n\n${rows.join('\n')}\n`;
}

const text = (value: string): Part => ({ kind: 'text', name: '', value });
const parts: readonly Part[] = [
  { kind: 'method', name: 'method', value: 'GET' },
  text('.'),
  { kind: 'path', name: 'path', value: '/' },
  text('.'),
  { kind: 'nonce', name: 'nonce', value: 'n' },
];

/** Returns the hints that are tried after all others. */
function listFurther(kind: string): readonly string[] {
  if (kind === 'form') return twilioMistakes.map(([hint]) => hint);
  const further = Object.entries(furtherMistakes).find(([name]) => name === kind)?.[1] ?? [];
  // Two mistakes at once are both in the list.
  return further.map(([hint]) => hint).filter((hint) => !hint.includes('; and '));
}

/** Returns the page docs/mistakes.md. */
export function renderMistakes(): string {
  const ofParts = Object.entries(partMistakes).flatMap(([kind, mistakes]) => {
    const title = Object.entries(kindNames).find(([name]) => name === kind)?.[1];
    const label = kind === 'header' ? 'value of the field' : kind;
    return title === undefined
      ? []
      : [
          section(
            title,
            [...mistakes.map(([hint]) => hint), ...listFurther(kind)].map((hint) => shown(hint, label)),
          ),
        ];
  });
  const digest = { hash: 'sha256', format: (bytes: Buffer) => bytes.toString('hex') };
  const ofDigest = Array.from(digestMistakes(digest, Buffer.from('{"a": 1}')), ([hint]) => shown(hint));
  const assemble = (changed: readonly Part[]) => changed.map(({ value }) => value);
  const message = Buffer.from('GET./.n');
  const sent: Part = { kind: 'time', name: 'time', value: '1700000000000' };
  const distances = [...millisecondReadings, ...furtherReadings];
  const ofTimes = Array.from(readings([sent], Number(sent.value), distances, assemble), ({ hint }) =>
    hint.replace(/\d+ (?=m?s )/, 'N '),
  );
  const wholes = [
    ...endMistakes(message, parts),
    ...omissions(parts, assemble),
    ...separatorMistakes(parts, assemble),
    ...wholeMistakes(message),
  ].map(({ hint }) => shown(hint));
  const mac = (encoding: 'utf8' | 'hex' | 'base64') => ({
    hash: 'sha256',
    encoding,
    prefix: 'whsec_',
    key: (secret: Buffer) => secret,
  });
  const length = createHmac('sha256', 'key').digest().length;
  const ofKeys = (['utf8', 'hex', 'base64'] as const).flatMap((encoding) =>
    keyMistakes(Buffer.from('secret'), message, mac(encoding), length, []).map(([hint]) => shown(hint)),
  );
  return [
    introduction,
    ...ofParts,
    section('Digest of the content', ofDigest),
    section('Time of another reading of the clock', ofTimes),
    section('Message as a whole', wholes),
    section('Key, hash function and encoding', ofKeys),
  ].join('\n');
}
