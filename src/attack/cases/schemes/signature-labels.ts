import {
  type AttackRequest,
  type Attempt,
  attempt,
  findLine,
  type HeaderLine,
  malformed,
  refused,
  replaceLine,
} from '../../attempt.ts';
import { type Forger, type Forgery, toAttempts } from '../../forger.ts';

/** The fields of a signature. */
interface Pair {
  readonly input: string;
  readonly signature: string;
}

/** Signatures whose labels are repeated, or are only in one of the fields. */
export function* labelAttempts(forger: Forger): Generator<Attempt> {
  yield* toAttempts(forger, 'repeated-field', changeLabels(forger));
  yield* toAttempts(forger, 'signature-count', manyLabels(forger));
  if (forger.hasNonce) yield* otherLabel(forger);
}

function* changeLabels(forger: Forger): Generator<Forgery> {
  const bad = 'sig1=:AAAA:';
  const why =
    'A label is in both fields, once, so that all implementations verify the same signature (RFC 9421 §4).';
  const changes: readonly (readonly [name: string, change: (pair: Pair) => Pair])[] = [
    ['a label occurs twice in Signature', (pair) => ({ ...pair, signature: `${bad}, ${pair.signature}` })],
    [
      'a label occurs twice in Signature-Input',
      (pair) => ({ ...pair, input: `sig1=();created=1;keyid="x", ${pair.input}` }),
    ],
    ['a label is only in Signature', (pair) => ({ ...pair, signature: `${pair.signature}, other=:AAAA:` })],
    [
      'a label is only in Signature-Input',
      (pair) => ({ ...pair, input: `${pair.input}, other=();created=1;keyid="x"` }),
    ],
    [
      'the label differs in both fields',
      (pair) => ({ ...pair, signature: pair.signature.replace('sig1', 'sig2') }),
    ],
    [
      'the signature is a string',
      (pair) => ({ ...pair, signature: pair.signature.replace(/:([^:]*):/, '"$1"') }),
    ],
    ['a comma follows the last signature', (pair) => ({ ...pair, signature: `${pair.signature},` })],
  ];
  for (const [name, change] of changes) yield [name, why, malformed, changePair(forger.signGood(), change)];
}

function changePair(request: AttackRequest, change: (pair: Pair) => Pair): AttackRequest {
  const lineValue = (name: string): string => findLine(request.headers, name)?.[1] ?? '';
  const { input, signature } = change({
    input: lineValue('Signature-Input'),
    signature: lineValue('Signature'),
  });
  return replaceLine(replaceLine(request, ['Signature-Input', input]), ['Signature', signature]);
}

/** The number of signatures that a server may refuse to read. */
const manySignatures = 17;

function* manyLabels({ resignRequest }: Forger): Generator<Forgery> {
  const labels = Array.from({ length: manySignatures }, (_, at) => `sig${at + 1}`);
  const signed = labels.map((label) => resignRequest({ label }));
  const [first] = signed;
  const joinLines = (name: string): HeaderLine => [
    name,
    signed.map((each) => (each && findLine(each.headers, name)?.[1]) ?? '').join(', '),
  ];
  const why = 'Each signature costs the verification of one, so their number must be limited.';
  const all = first && replaceLine(replaceLine(first, joinLines('Signature-Input')), joinLines('Signature'));
  yield [`there are ${manySignatures} signatures`, why, [400, 401, 403, 431], all];
}

/** A request that is sent again under another label, which the signature does not cover. */
function* otherLabel(forger: Forger): Generator<Attempt> {
  const good = forger.signGood();
  const renamed = changePair(good, ({ input, signature }) => ({
    input: input.replace('sig1=', 'again='),
    signature: signature.replace('sig1=', 'again='),
  }));
  yield attempt({
    id: 'replay',
    name: 'the request is sent again under another label',
    why: 'The signature does not cover its label, so a nonce counts under every label.',
    expected: refused,
    needs: forger.needs,
    requests: [good, renamed],
  });
}
