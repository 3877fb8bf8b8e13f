import { h } from './dom.js';
import { dateTime, longShown, span, visible } from './format.js';
import { differ, splitLike } from './text-diff.js';

/**
 * @typedef {{ name: string, expected: string, signed?: string }} Part
 *
 * The verification of the credentials.
 * @typedef {object} Verification
 * @property {string} [scheme]
 * @property {string[]} passed
 * @property {string} [failedAt]
 * @property {string} [detail]
 * @property {string} [hint]
 * @property {string} [expected]
 * @property {string} [received]
 * @property {Part[]} [parts]
 * @property {string} [differs]
 *
 * The date and nonce of the signature.
 * @typedef {object} Presented
 * @property {{ text: string, time?: number }} [date]
 * @property {string} [nonce]
 * @property {{ number: number, time: number }} [earlier]
 * @property {number} window in seconds
 */

/** @type {Record<string, string>} */
const checkNames = {
  parse: 'Form of the credentials',
  transport: 'Connection secure enough',
  scheme: 'Scheme offered here',
  throttle: 'Few enough failures before',
  user: 'User known',
  key: 'Key known',
  password: 'Password',
  token: 'Token valid',
  digest: 'Digest matches',
  signature: 'Signature matches',
  content: 'Digest of the content',
  date: 'Date in the window',
  created: 'Time of creation in the window',
  nonce: 'Nonce not used before',
  algorithm: 'Algorithm of the key',
  scope: 'Scope of the credentials',
};

/**
 * Returns the list of the checks that passed and of the one that failed.
 *
 * @param {Verification} verification
 */
export function checksOf({ passed, failedAt }) {
  const item = (/** @type {string} */ check, /** @type {boolean} */ good) =>
    h(
      'li',
      { class: good ? 'passed' : 'refused' },
      h('span', { class: 'mark', 'aria-hidden': 'true' }, good ? '✓' : '✗'),
      h(
        'span',
        {},
        checkNames[check] ?? check,
        h('span', { class: 'visually-hidden' }, good ? ': passed' : ': failed'),
      ),
      h('code', {}, ...visible(check)),
    );
  const failed = failedAt === undefined ? [] : [item(failedAt, false)];
  return h('ol', { class: 'checks' }, ...passed.map((check) => item(check, true)), ...failed);
}

/**
 * Explains the signature of an exchange, of any scheme.
 *
 * @param {import('./exchange.js').Entry} entry
 */
export function signatureView(entry) {
  const { auth } = entry;
  if (auth === undefined) return [h('p', { class: 'empty' }, noSignature(entry))];
  const parts = partsOf(auth, entry);
  return [
    hintOf(auth),
    h('h3', {}, 'Checks'),
    checksOf(auth),
    ...(parts.length > 0 ? comparison(parts) : []),
    ...dateView(entry),
    ...nonceView(entry),
  ];
}

/** @param {import('./exchange.js').Entry} entry */
function noSignature({ step, fault }) {
  if (fault !== undefined && step === undefined)
    return 'A planned fault responded before the credentials were read.';
  if (step !== undefined && step < 7) return `Step ${step} responded before the credentials were read.`;
  return 'The request has no credentials.';
}

/** @param {Verification} verification */
function hintOf({ failedAt, hint, detail, scheme }) {
  if (failedAt === undefined)
    return h('p', { class: 'verdict good' }, `All checks of the scheme ${scheme} passed.`);
  const text = hint ?? detail ?? `The check “${failedAt}” failed.`;
  return h('p', { class: 'verdict s4' }, h('strong', {}, longShown(sentence(text))));
}

/** @param {string} text */
function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/**
 * Returns the parts of the message: as the scheme lists them, or cut from the whole message. `signed` is undefined if it is not
 * known what the client signed.
 *
 * @param {Verification} verification
 * @param {import('./exchange.js').Entry} entry
 * @returns {Part[]}
 */
function partsOf({ parts, expected, received, scheme }, { request }) {
  if (parts !== undefined && parts.length > 0) {
    if (!parts.some(({ signed }) => signed !== undefined)) return parts;
    return parts.map(({ name, expected: own, signed = own }) => ({ name, expected: own, signed }));
  }
  if (expected === undefined) return [];
  const pieces = piecesOf(expected, scheme, request);
  if (received === undefined) return pieces;
  const signed = splitLike(
    received,
    expected,
    pieces.map((piece) => piece.expected),
  );
  return pieces.map((piece, at) => ({ ...piece, signed: signed[at] ?? '' }));
}

/**
 * Cuts a message of HMAC or OAuth 1.0a into its parts. Each but the first begins with its separator.
 *
 * @param {string} message
 * @param {string | undefined} scheme
 * @param {import('./exchange.js').Entry['request']} request
 * @returns {Part[]}
 */
function piecesOf(message, scheme, request) {
  if (scheme === 'oauth' || scheme === 'oauth1')
    return named(message.split(/(?=&)/), ['method', 'address', 'parameters']);
  const start = request === undefined ? '' : `${request.method}+${request.target}`;
  if (scheme !== 'hmac' || !message.startsWith(start)) return [{ name: 'message', expected: message }];
  const rest = message.slice(start.length).split(/(?=\+)/);
  const others = rest.filter((piece) => piece !== '');
  const names = others.length === 1 ? ['content digest'] : ['date', 'nonce', 'content digest'];
  const [method = '', target = ''] = [request?.method, `+${request?.target}`];
  return named(
    [method, target, ...others.slice(0, 2), others.slice(2).join('')],
    ['method', 'target', ...names],
  );
}

/**
 * @param {string[]} texts
 * @param {string[]} names
 * @returns {Part[]}
 */
function named(texts, names) {
  return texts.flatMap((expected, at) =>
    expected === '' ? [] : [{ name: names[at] ?? `part ${at + 1}`, expected }],
  );
}

/** @param {Part[]} parts */
function comparison(parts) {
  const isKnown = parts.some(({ signed }) => signed !== undefined);
  const rows = parts.map((part) => (isKnown ? comparedRow(part) : expectedRow(part)));
  const headings = isKnown
    ? ['Part', '', 'Signed by the client', 'Expected by the server']
    : ['Part', 'Expected by the server'];
  return [
    h('h3', {}, 'Signed message'),
    !isKnown &&
      h(
        'p',
        { class: 'hint' },
        'No usual mistake reproduces the client’s signature, so what it signed is not known. Compare with what your client signs:',
      ),
    h(
      'table',
      { class: `parts ${isKnown ? 'compared' : ''}` },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...headings.map((label) =>
            h('th', { scope: 'col' }, label || h('span', { class: 'visually-hidden' }, 'Result')),
          ),
        ),
      ),
      h('tbody', {}, ...rows),
    ),
    h(
      'p',
      { class: 'legend' },
      h('span', { class: 'hidden-character' }, '·'),
      ' space  ',
      h('span', { class: 'hidden-character' }, '→'),
      ' tab  ',
      h('span', { class: 'hidden-character' }, '↵'),
      ' line feed  ',
      h('span', { class: 'hidden-character' }, 'U+…'),
      ' other invisible characters',
    ),
  ].filter((child) => child !== false);
}

/** @param {Part} part */
function expectedRow({ name, expected }) {
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, ...visible(name)),
    cell('Expected by the server', marked([{ kind: 'same', text: expected }])),
  );
}

/** @param {Part} part */
function comparedRow({ name, expected, signed = '' }) {
  const isSame = signed === expected;
  const { one, other } = differ(signed, expected);
  const result = h(
    'td',
    { class: 'result' },
    h('span', { 'aria-hidden': 'true' }, isSame ? '=' : '≠'),
    h('span', { class: 'visually-hidden' }, isSame ? 'same' : 'differs'),
  );
  return h(
    'tr',
    { class: isSame ? 'same' : 'differs' },
    h('th', { scope: 'row' }, ...visible(name)),
    result,
    cell('Signed by the client', marked(one)),
    cell('Expected by the server', marked(other)),
  );
}

/**
 * @param {string} label shown where there is room for one column only
 * @param {(Node | string)[]} content
 */
function cell(label, content) {
  return h('td', { 'data-label': label }, h('code', {}, ...content));
}

/**
 * Shows the characters of a text; those that differ are underlined, and a gap is marked.
 *
 * @param {readonly import('./text-diff.js').Segment[]} segments
 * @returns {(Node | string)[]}
 */
function marked(segments) {
  return segments.flatMap(({ kind, text }) => {
    if (kind === 'same') return visible(text, true);
    if (kind === 'gap')
      return [
        h(
          'mark',
          { class: 'gap', title: 'Missing here' },
          h('span', { 'aria-hidden': 'true' }, '∅'),
          h('span', { class: 'visually-hidden' }, '(missing)'),
        ),
      ];
    return [h('mark', { class: 'difference' }, ...visible(text, true))];
  });
}

/** The part of the time line, in per cent, that half of the window takes. */
const halfWindow = 32;

/** @param {import('./exchange.js').Entry} entry */
function dateView({ presented: { date, window }, time }) {
  if (date === undefined) return [];
  const heading = h('h3', {}, 'Date');
  if (date.time === undefined)
    return [
      heading,
      h('p', {}, 'The date cannot be parsed: ', h('code', {}, ...visible(date.text.slice(0, 200), true))),
    ];
  const offset = (date.time - time) / 1000;
  const isInside = Math.abs(offset) <= window;
  const direction = offset < 0 ? 'behind' : 'ahead of';
  const text =
    Math.abs(offset) < 1
      ? 'The date is that of the server’s clock.'
      : `The date is ${span(offset)} ${direction} the server’s clock; ${span(window)} are accepted.`;
  const at = Math.min(97, Math.max(3, 50 + (offset / (window || 1)) * halfWindow));
  const marker = h(
    'span',
    { class: `marker ${isInside ? 'inside' : 'outside'}` },
    isInside ? '▼' : at < 50 ? '◀' : '▶',
  );
  marker.style.left = `${at}%`;
  return [
    heading,
    h('p', {}, text),
    h(
      'dl',
      { class: 'pairs' },
      ...pair('Date sent', h('code', {}, ...visible(date.text.slice(0, 200))), ` = ${dateTime(date.time)}`),
      ...pair('Server’s clock', dateTime(time)),
    ),
    h(
      'div',
      { class: 'timeline', role: 'img', 'aria-label': text },
      h('span', { class: 'range' }),
      h('span', { class: 'now' }),
      marker,
      h('span', { class: 'label early' }, `−${span(window)}`),
      h('span', { class: 'label clock' }, 'server'),
      h('span', { class: 'label late' }, `+${span(window)}`),
    ),
  ];
}

/**
 * @param {string} term
 * @param {...import('./dom.js').Child} description
 */
function pair(term, ...description) {
  return [h('dt', {}, term), h('dd', {}, ...description)];
}

/** @param {import('./exchange.js').Entry} entry */
function nonceView({ presented: { nonce, earlier }, problem }) {
  if (nonce === undefined) return [];
  const shown = h('code', {}, ...visible(nonce.slice(0, 300), true));
  const link = earlier && h('a', { href: `#/exchanges/${earlier.number}` }, `#${earlier.number}`);
  const text =
    link !== undefined
      ? [' was first used in ', link, ` at ${dateTime(earlier?.time ?? 0)}.`]
      : problem?.type === 'nonce-replayed'
        ? [' was used before, by a request that the journal does not contain.']
        : [' is in no earlier request of the journal.'];
  return [h('h3', {}, 'Nonce'), h('p', {}, shown, ...text)];
}
