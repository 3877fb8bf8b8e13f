import { h } from './dom.js';
import { dateTime, longShown, span, visible } from './format.js';
import { differ } from './text-diff.js';

/** The names of the checks of all schemes. */
const checkNames = {
	parse: 'Form of the credentials',
	transport: 'Connection secure enough',
	scheme: 'Scheme offered here',
	throttle: 'Few enough failures before',
	user: 'User known',
	key: 'Key known',
	password: 'Password',
	token: 'Token valid',
	version: 'Version',
	presence: 'Parameters present',
	method: 'Signature method',
	timestamp: 'Timestamp in the window',
	digest: 'Digest matches',
	signature: 'Signature matches',
	content: 'Digest of the content',
	date: 'Date in the window',
	created: 'Time of creation in the window',
	nonce: 'Nonce not used before',
	algorithm: 'Algorithm of the key',
	scope: 'Scope of the credentials',
};

/** Returns the list of the checks that passed and of the one that failed. */
export function checksOf({ passed, failedAt }) {
	const item = (check, good) =>
		h(
			'li',
			{ class: good ? 'passed' : 'refused' },
			h('span.mark', { 'aria-hidden': 'true' }, good ? '✓' : '✗'),
			h('span', checkNames[check] ?? check, hidden(good ? ': passed' : ': failed')),
			h('code', ...visible(check)),
		);
	const failed = failedAt === undefined ? [] : [item(failedAt, false)];
	return h('ol.checks', ...passed.map((check) => item(check, true)), ...failed);
}

/** Explains the signature of an exchange, of any scheme. */
export function signatureView(entry) {
	const { auth } = entry;
	if (auth === undefined) return [h('p.empty', noSignature(entry))];
	const parts = partsOf(auth);
	return [
		hintOf(auth),
		h('h3', 'Checks'),
		checksOf(auth),
		...(parts.length > 0 ? comparison(parts, auth.failedAt) : []),
		...dateView(entry),
		...nonceView(entry),
	];
}

function noSignature({ step, fault }) {
	if (fault !== undefined && step === undefined) return 'A planned fault responded before the credentials were read.';
	if (step !== undefined && step < 7) return `Step ${step} responded before the credentials were read.`;
	return 'The request has no credentials.';
}

function hintOf({ failedAt, hint, detail, scheme }) {
	if (failedAt === undefined) return h('p.verdict.good', `All checks of the scheme ${scheme} passed.`);
	const text = hint ?? detail ?? `The check “${failedAt}” failed.`;
	return h('p.verdict.s4', h('strong', longShown(sentence(text))));
}

function sentence(text) {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Returns the parts of the message, or the whole message if parts of it do not show how it differs. */
function partsOf({ parts, expected, received }) {
	const isKnown = parts?.some(({ signed }) => signed !== undefined);
	if (parts?.length > 0 && (isKnown || received === undefined)) {
		if (!isKnown) return parts;
		// The digest of a request that differs is derived, so it is not compared.
		const compared = parts.filter(({ name }) => name !== 'string to sign');
		return compared.map(({ name, expected: own, signed = own }) => ({ name, expected: own, signed }));
	}
	return expected === undefined ? [] : [{ name: 'message', expected, signed: received }];
}

const unknown =
	'No usual mistake reproduces the client’s signature, so what it signed is not known. Compare with what your client signs:';
const [client, server] = ['Signed by the client', 'Expected by the server'];

/** The checks that a wrong signature fails. */
const signatureChecks = ['digest', 'signature'];

function comparison(parts, failedAt) {
	const isKnown = parts.some(({ signed }) => signed !== undefined);
	const headings = isKnown ? ['Part', '', client, server] : ['Part', server];
	const head = headings.map((label) => h('th', { scope: 'col' }, label || h('span.visually-hidden', 'Result')));
	const legend = [
		['·', 'space'],
		['→', 'tab'],
		['↵', 'line feed'],
		['U+…', 'other invisible characters'],
	];
	return [
		h('h3', 'Signed message'),
		!isKnown && signatureChecks.includes(failedAt) && h('p.hint', unknown),
		h(`table.parts${isKnown ? '.compared' : ''}`, h('thead', h('tr', ...head)), h('tbody', ...parts.map(rowOf))),
		h('p.legend', ...legend.map(([mark, name]) => h('span', h('span.hidden-character', mark), ` ${name}`))),
	];
}

function rowOf({ name, expected, signed }) {
	const heading = h('th', { scope: 'row' }, visible(name));
	// The label is shown where there is room for one column only.
	const cell = (label, content) => h('td', { 'data-label': label }, h('code', ...content));
	if (signed === undefined) return h('tr', heading, cell(server, visible(expected, true)));
	const isSame = signed === expected;
	const { one, other } = differ(signed, expected);
	return h(
		`tr.${isSame ? 'same' : 'differs'}`,
		heading,
		h('td.result', h('span', { 'aria-hidden': 'true' }, isSame ? '=' : '≠'), hidden(isSame ? 'same' : 'differs')),
		cell(client, one.flatMap(marked)),
		cell(server, other.flatMap(marked)),
	);
}

/** Shows a segment. Characters that differ are underlined, and a gap is marked. */
function marked({ kind, text }) {
	if (kind === 'same') return visible(text, true);
	if (kind === 'changed') return [h('mark', visible(text, true))];
	return [h('mark.gap', { title: 'Missing here' }, h('span', { 'aria-hidden': 'true' }, '∅'), hidden('(missing)'))];
}

function hidden(text) {
	return h('span.visually-hidden', text);
}

/** The part of the time line, in per cent, that half of the window takes. */
const halfWindow = 32;

function dateView({ presented: { date, window }, time }) {
	if (date === undefined) return [];
	const heading = h('h3', 'Date');
	const offset = (date.time - time) / 1000;
	const direction = offset < 0 ? 'behind' : 'ahead of';
	const isSame = Math.abs(offset) < 1;
	const accepted = window === undefined ? '' : `; ${span(window)} are accepted`;
	const text = isSame
		? 'The date is that of the server’s clock.'
		: `The date is ${span(offset)} ${direction} the server’s clock${accepted}.`;
	return [
		heading,
		h('p', text),
		h(
			'dl.pairs',
			...pair('Date sent', h('code', visible(date.text.slice(0, 200))), ` = ${dateTime(date.time)}`),
			...pair('Server’s clock', dateTime(time)),
		),
		window > 0 && timeLine(text, offset / window, span(window)),
	];
}

/** Shows a date on a line. The position 0 is the server's clock, and the window is from -1 to 1. */
function timeLine(text, position, window) {
	const at = Math.min(97, Math.max(3, 50 + position * halfWindow));
	const isInside = Math.abs(position) <= 1;
	const mark = isInside ? '▼' : position < 0 ? '◀' : '▶';
	const marker = h(`span.marker${isInside ? '' : '.outside'}`, mark);
	marker.style.left = `${at}%`;
	return h(
		'div.timeline',
		{ role: 'img', 'aria-label': text },
		h('span.range'),
		h('span.now'),
		marker,
		h('span.label.early', `−${window}`),
		h('span.label.clock', 'server'),
		h('span.label.late', `+${window}`),
	);
}

function pair(term, ...description) {
	return [h('dt', term), h('dd', ...description)];
}

function nonceView({ presented: { nonce, earlier }, problem }) {
	if (nonce === undefined) return [];
	const shown = h('code', ...visible(nonce.slice(0, 300), true));
	const link = earlier && h('a', { href: `#/exchanges/${earlier.number}` }, `#${earlier.number}`);
	const unseen =
		problem?.type === 'nonce-replayed'
			? 'was used before, by a request that the journal does not contain'
			: 'is in no earlier request of the journal';
	const text = link ? [' was first used in ', link, ` at ${dateTime(earlier.time)}.`] : [` ${unseen}.`];
	return [h('h3', 'Nonce'), h('p', shown, ...text)];
}
