import {
  type AttackRequest,
  type Case,
  changeLine,
  findLine,
  group,
  type HeaderLine,
  malformed,
  refused,
  replaceLine,
} from '../../attempt.ts';
import type { Forger } from '../../forger.ts';

/** Signatures whose labels are repeated, or are only in one of the fields. */
export function* labelCases(forger: Forger): Generator<Case> {
  yield* changeLabels(forger);
  yield* manyLabels(forger);
  if (forger.hasNonce) yield* otherLabel(forger);
}

/** A change of the value of a field. */
type Change = (value: string) => string;

function* changeLabels({ signGood }: Forger): Generator<Case> {
  const why =
    'A label is in both fields, once, so that all implementations verify the same signature (RFC 9421 §4).';
  const input = (change: Change): AttackRequest => changeLine(signGood(), 'Signature-Input', change);
  const signature = (change: Change): AttackRequest => changeLine(signGood(), 'Signature', change);
  yield* group({ id: 'repeated-field', why, expected: malformed }, [
    ['a label occurs twice in Signature', signature((value) => `sig1=:AAAA:, ${value}`)],
    ['a label occurs twice in Signature-Input', input((value) => `sig1=();created=1;keyid="x", ${value}`)],
    ['a label is only in Signature', signature((value) => `${value}, other=:AAAA:`)],
    ['a label is only in Signature-Input', input((value) => `${value}, other=();created=1;keyid="x"`)],
    ['the label differs in both fields', signature((value) => value.replace('sig1', 'sig2'))],
    ['the signature is a string', signature((value) => value.replace(/:([^:]*):/, '"$1"'))],
    ['a comma follows the last signature', signature((value) => `${value},`)],
  ]);
}

/** The number of signatures that a server may refuse to read. */
const manySignatures = 17;

function* manyLabels({ resignRequest }: Forger): Generator<Case> {
  const labels = Array.from({ length: manySignatures }, (_, at) => `sig${at + 1}`);
  const signed = labels.map((label) => resignRequest({ label }));
  const [first] = signed;
  const joinLines = (name: string): HeaderLine => [
    name,
    signed.map((each) => (each && findLine(each.headers, name)?.[1]) ?? '').join(', '),
  ];
  const all = first && replaceLine(replaceLine(first, joinLines('Signature-Input')), joinLines('Signature'));
  const why = 'Each signature costs the verification of one, so their number must be limited.';
  yield* group({ id: 'signature-count', why, expected: [400, 401, 403, 431] }, [
    [`there are ${manySignatures} signatures`, all],
  ]);
}

/** A request that is sent again under another label, which the signature does not cover. */
function otherLabel({ signGood }: Forger): Generator<Case> {
  const good = signGood();
  const rename: Change = (value) => value.replace('sig1=', 'again=');
  const renamed = changeLine(changeLine(good, 'Signature-Input', rename), 'Signature', rename);
  const why = 'The signature does not cover its label, so a nonce counts under every label.';
  return group({ id: 'replay', why, expected: refused }, [
    ['the request is sent again under another label', [good, renamed]],
  ]);
}
