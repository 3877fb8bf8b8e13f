// What is said of each mistake with each scheme, as one table.
import assert from 'node:assert/strict';
import { startDouble } from '../../src/double/index.ts';
import { type Opened, openSubject, type SchemeSubject } from '../support/scheme-contract.ts';
import { catalogue } from '../support/schemes/catalogue.ts';
import { type Answer, recordedBy, saidBy } from '../support/schemes/exchange.ts';
import { computeHmac, type Mistake, type Sent } from '../support/schemes/signer.ts';
import { key, now, secret, type WrongRequests } from './wrong-requests.ts';

/** What is said, by the mistake. */
export type Hints = Readonly<Record<string, string>>;

/**
 * Makes each mistake of the catalogue, and each that only the scheme has, and returns what the journal of a double says of it: the step that
 * failed, the hint, and in brackets the part that differs. `general` is an explanation that names no mistake, and `accepted` means that
 * the request was not refused. A mistake that has no effect with the scheme, or that cannot be sent, is left out.
 *
 * @param inResponse Whether the double explains refusals to clients too. A hint that only the journal has is marked.
 * @param known What was said before
 * @param skipped The mistakes that are not made again: what was said of them before is taken.
 */
export async function listHints(
  subject: SchemeSubject,
  inResponse: boolean,
  known: Hints,
  skipped: ReadonlySet<string>,
): Promise<Hints> {
  const options = { ...subject.options, explain: inResponse };
  const opened = await openSubject({ ...subject, options });
  const begun = opened.double.snapshot();
  const hints: Record<string, string> = {};
  try {
    for (const [name, mistake] of mistakesWith(subject)) {
      if (skipped.has(name)) {
        if (known[name] !== undefined) hints[name] = known[name];
        continue;
      }
      opened.double.restore(begun);
      const sent = signWithMistake(opened, subject, mistake);
      if (sent === undefined) continue;
      const answer = await opened.send(sent);
      hints[name] = describe(opened, inResponse && sent.method !== 'HEAD' ? answer : undefined);
    }
  } finally {
    await opened.double.close();
  }
  return hints;
}

/** Returns the mistakes of the catalogue, and those that only the scheme has, with their names. */
export function mistakesWith({ own = {} }: SchemeSubject): (readonly [name: string, Mistake])[] {
  return [
    ...Object.entries<Mistake>(catalogue),
    ...Object.entries(own).map(([name, mistake]) => [`own: ${name}`, mistake] as const),
  ];
}

/** Sends the requests of a group, which are not made of a mistake of the catalogue. Returns what is said of each, in this form. */
export async function listHintsOf({ options, schemes, requests }: WrongRequests): Promise<Hints> {
  const double = await startDouble({ now, https: false, strictQuery: false, maxAuthFailures: 0, ...options });
  double.stub(
    { method: ['GET', 'POST'], path: /^\/+a/ },
    { status: 204 },
    schemes === undefined ? {} : { schemes },
  );
  const hints: Record<string, string> = {};
  try {
    for (const [name, given] of Object.entries(requests)) {
      const wrong = typeof given === 'function' ? await given(double) : given;
      const { target = '/a', secure = false, headers = {}, body } = wrong;
      const init = body === undefined ? {} : { method: 'POST', body };
      const response = await double.fetch(target, {
        ...init,
        secure,
        headers: { Accept: 'application/json', ...headers },
      });
      const answer = { status: response.status, fields: response.headers, text: await response.text() };
      const shown = `${double.journal.last()}${JSON.stringify(double.journal.last())}${answer.text}`;
      for (const each of [secret, key]) assert.ok(!shown.includes(each), `${name} shows a secret: ${shown}`);
      const { hint = '' } = double.journal.last().auth ?? {};
      assert.ok(options.explain || hint === '' || !answer.text.includes(hint), `${name}: ${answer.text}`);
      hints[name] = describe({ double }, options.explain ? answer : undefined, true);
    }
  } finally {
    await double.close();
  }
  return hints;
}

/** Returns what the latest entry of the journal says, without secrets, and whether the response says it. A general explanation is shortened. */
function describe({ double }: Pick<Opened, 'double'>, answer: Answer | undefined, whole = false): string {
  const { problem, auth } = double.journal.last() ?? {};
  if (problem === undefined) return 'accepted';
  const recorded = recordedBy(double);
  if (!whole && /in a way that is not a common mistake/.test(recorded)) return `${auth?.failedAt}: general`;
  const isGeneralDetail = problem.type === 'credentials-refused' && auth?.hint !== undefined;
  const hint = (isGeneralDetail ? auth.hint : recorded).replace(/[\d,]{3,}(?= forms)/, 'many');
  const differs = auth?.differs === undefined ? '' : ` [${auth.differs}]`;
  const isHidden = answer !== undefined && !saidBy(answer).includes(hint);
  return `${auth?.failedAt ?? problem.type}: ${hint}${differs}${isHidden ? ' (journal only)' : ''}`;
}

/** Signs with a mistake, with new nonces until the signature shows it. Returns undefined if the mistake changes nothing, or cannot be made. */
function signWithMistake(opened: Opened, subject: SchemeSubject, mistake: Mistake): Sent | undefined {
  const right: Mistake = mistake.request === undefined ? {} : { request: mistake.request };
  for (let attempt = 1; ; attempt += 1) {
    let isTypical = true;
    const watched: Mistake = {
      ...mistake,
      encode(signature, usual) {
        const written = mistake.encode?.(signature, usual) ?? usual;
        isTypical = looksTypical(signature) && (mistake.isShown?.(written) ?? true);
        return written;
      },
    };
    const nonce = `n-${attempt}`;
    const sent = trySigning(opened, watched, nonce);
    if (sent === undefined || !canBeSent(sent)) return undefined;
    // Without a nonce, the signature stays the same.
    if (!isTypical && attempt < 64) continue;
    const comparable = comparableSigning(subject);
    const [made, usual] = [
      { ...comparable, ...mistake },
      { ...comparable, ...right },
    ].map((each) => JSON.stringify(trySigning(opened, each, nonce)));
    const isUsual =
      made === usual || JSON.stringify(sent) === JSON.stringify(trySigning(opened, right, nonce));
    return isUsual ? undefined : sent;
  }
}

/** Whether base64 of a signature differs from base64url, and one of ECDSA in DER has its most usual length. Random ones may not be. */
function looksTypical(signature: Buffer): boolean {
  const isDer = signature[0] === 0x30 && signature[1] === signature.length - 2;
  return /[+/]/.test(signature.toString('base64')) && (!isDer || signature.length === 71);
}

/** Signs by HMAC whatever the scheme has, so that equal messages have equal signatures. The key is that of an HMAC only. */
function comparableSigning({ identities }: SchemeSubject): Mistake {
  const isPrivateKey = identities.ann.secret.startsWith('-----BEGIN');
  return {
    sign: (message, key, length) =>
      computeHmac('sha512', isPrivateKey ? 'private key' : key, message).subarray(0, length),
  };
}

function trySigning(opened: Opened, mistake: Mistake, nonce: string): Sent | undefined {
  try {
    return opened.signed(mistake, undefined, { nonce });
  } catch (error) {
    // The signer must read the content, for instance, and the mistake replaced it.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Whether a client can send it: a value of a field consists of visible characters of Latin-1, and GET and HEAD have no content. */
function canBeSent({ method, lines, content }: Sent): boolean {
  const isReading = method === 'GET' || method === 'HEAD';
  return (
    lines.every(([, value]) => /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) &&
    !(isReading && content !== undefined)
  );
}
