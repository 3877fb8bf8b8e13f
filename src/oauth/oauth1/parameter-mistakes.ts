// Mistakes in the names and values of the parameters: how they are encoded, and how often they count.

import { type Parameter, parseFormOctets, splitPairs } from '../../http/form.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { decodeEscapes } from '../../http/syntax/percent.ts';
import { findQuery } from '../../http/target.ts';
import { listMembers, readJsonNode } from '../../schemes/explain/json-writers.ts';
import { listTextVariants } from '../../schemes/explain/mistake.ts';
import { type Pair, readMultipart, type Steps } from '../../schemes/explain/parameter-steps.ts';
import { canonical, listEncodingMistakes } from '../../schemes/explain/parameters.ts';
import { octetsOfPiece } from '../../schemes/message.ts';
import { encodePair, normalizePairs } from '../../schemes/oauth1/base-string.ts';
import { isProtocol } from '../../schemes/oauth1/parameters.ts';
import type { OAuth1Presented } from './presented.ts';

/** Parameters that clients sign by mistake, normalized. */
interface ParameterMistake {
  readonly hint: string;
  readonly parameters: string;
}

/** Returns the parameters that are signed. */
function listSigned({ parameters: { signed, form = [] } }: OAuth1Presented): readonly Parameter[] {
  return [...signed, ...form].filter(([name]) => name !== 'oauth_signature');
}

/**
 * Yields the mistakes in the encoding of the parameters in each place, beside those of the protocol.
 *
 * @param expected The right parameters, normalized.
 */
export function* encodingMistakes(
  { request, parameters: { signed, form = [] } }: OAuth1Presented,
  content: Uint8Array,
  expected: string,
): Generator<ParameterMistake> {
  const query = findQuery(request.target);
  const inField = signed.slice(0, signed.length - splitPairs(query).length);
  const inForm = form.length === 0 ? '' : octetsOf(content);
  const inQuery = signed.slice(inField.length);
  const places = [
    { name: 'query', text: query, others: [...inField, ...form] },
    { name: 'form', text: inForm, others: signed },
    { name: 'query and the form', text: `${query}&${inForm}`, others: inField },
  ];
  const areBoth = [inQuery, form].every((own) => own.some((each) => !isProtocol(each)));
  for (const { name, text, others } of areBoth ? places : places.slice(0, form.length === 0 ? 1 : 2)) {
    const isOwn = ([own]: Pair): boolean => !isProtocol([own, '']);
    const protocol = (name === 'form' ? form : inQuery).filter(isProtocol);
    const right = [...others, ...protocol].filter(([own]) => own !== 'oauth_signature').map(encodePair);
    const steps: Steps = {
      ...canonical,
      split: (sent) => canonical.split(sent)?.filter(isOwn),
      write: (pairs) => [normalizePairs([...right, ...canonical.write(pairs)])],
    };
    for (const [hint, parameters] of listTextVariants(listEncodingMistakes(name, steps), '', text, expected))
      yield { hint, parameters: octetsOfPiece(parameters) };
  }
}

/** Yields the parameters without those that were sent in a second place, where they count again (RFC 5849 §3.4.1.3.1). */
export function* repetitions(presented: OAuth1Presented): Generator<ParameterMistake> {
  const {
    request,
    parameters: { signed, form = [] },
  } = presented;
  const all = listSigned(presented);
  const query = parseFormOctets(findQuery(request.target)) ?? [];
  const inField = signed.slice(0, signed.length - query.length).filter((each) => !isProtocol(each));
  const inQuery = query.filter((each) => !isProtocol(each));
  const pairsIn = (parameters: readonly Parameter[]): ReadonlySet<string> =>
    new Set(parameters.map(encodePair));
  const places = [
    ['Authorization', inField, pairsIn([...inQuery, ...form])],
    ['the form', form, pairsIn(inQuery)],
  ] as const;
  for (const [place, own, others] of places) {
    const repeated = own.filter((each) => !isProtocol(each) && others.has(encodePair(each)));
    if (repeated.length === 0) continue;
    const left = new Set(repeated.map(encodePair));
    const once = all.map(encodePair).filter((pair) => !left.has(pair));
    const names = [...new Set(repeated.map(([name]) => name))].join(', ');
    const hint = `${names} is in ${place}, too, and so counts twice; send each parameter in one place`;
    yield { hint, parameters: normalizePairs([...once, ...left]) };
  }
  if (inField.length > 0) {
    const own = new Set(inField);
    yield {
      hint: `the parameters in Authorization beside those of OAuth were left out: ${inField.map(([name]) => name).join(', ')}`,
      parameters: normalizePairs(all.filter((each) => !own.has(each)).map(encodePair)),
    };
  }
}

/** Parameters that are signed, and do not belong to the message. */
interface Addition {
  readonly hint: string;
  readonly parameters: readonly string[];
}

/** Returns the parameters that clients sign though RFC 5849 §3.4.1.3.1 excludes them. */
export function additions(
  { request, parameters }: OAuth1Presented,
  content: Uint8Array,
): readonly Addition[] {
  const found: Addition[] = [];
  const [, realm] = /[\s,]realm="([^"]*)"/.exec(request.headers.get('authorization') ?? '') ?? [];
  if (realm !== undefined)
    found.push({
      hint: 'realm was signed; it is the only parameter of Authorization that is not',
      parameters: [encodePair(['realm', decodeEscapes(realm)])],
    });
  const objects = new Set(
    [...parameters.signed, ...(parameters.form ?? [])].flatMap(
      ([name]) => /^([^[]+)\[/.exec(name)?.[1] ?? [],
    ),
  );
  if (objects.size > 0)
    found.push({
      hint: 'an object was signed as [object Object] beside its members: only parameters with text are signed',
      parameters: [...objects].map((name) => encodePair([name, '[object Object]'])),
    });
  if (parameters.form !== undefined && parameters.form.length > 0) return found;
  const octets = octetsOf(content);
  const node = readJsonNode(octets);
  const members = node && listMembers(node);
  if (members !== undefined)
    found.push({
      hint: 'the members of the JSON were signed as parameters; only those of a form are',
      parameters: members.map(encodePair),
    });
  if (node !== undefined)
    found.push({
      hint: 'the JSON was signed as the name of a parameter; only the parameters of a form are signed',
      parameters: [encodePair([octets, ''])],
    });
  const fields = readMultipart(octets);
  if (fields !== undefined)
    found.push({
      hint: 'the fields of the multipart content were signed as parameters; only those of a form are',
      parameters: fields.map(([name, value = '']) => encodePair([name, value])),
    });
  const form = /^[!-~]+$/.test(octets) && octets.includes('=') ? parseFormOctets(octets) : undefined;
  const type = request.headers.get('content-type') ?? 'missing';
  if (form !== undefined && node === undefined)
    found.push({
      hint: `the content was signed as a form, but its Content-Type is ${type}: parameters of a form need application/x-www-form-urlencoded`,
      parameters: form.map(encodePair),
    });
  return found;
}
