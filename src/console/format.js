import { h } from './dom.js';

/** The names of the steps of a decision, 0 to 16. */
export const stepNames = [
	'Parse the request',
	'Server available',
	'Version, Host, single fields',
	'Method known',
	'Target valid',
	'Framing and expectation',
	'Resource found',
	'Credentials',
	'OPTIONS',
	'Method implemented',
	'Permission',
	'Content readable',
	'Item exists',
	'Format acceptable',
	'Preconditions',
	'Content valid',
	'Perform the method',
];

/** The algorithms of keys. The first has a secret, the others a private key. */
export const algorithmNames = [
	'hmac-sha256',
	'ed25519',
	'ecdsa-p256-sha256',
	'ecdsa-p384-sha384',
	'rsa-pss-sha512',
	'rsa-v1_5-sha256',
];

export function clockTime(time) {
	return new Date(time).toISOString().slice(11, 23);
}

export function dateTime(time) {
	const text = new Date(time).toISOString().replace('T', ' ');
	return text.replace(/(\.000)?Z$/, ' UTC');
}

export function duration(ms) {
	if (ms < 10) return `${ms.toFixed(1)} ms`;
	if (ms < 1000) return `${Math.round(ms)} ms`;
	return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

export function span(seconds) {
	const distance = Math.abs(seconds);
	if (distance < 120) return `${Number(distance.toFixed(distance < 10 ? 1 : 0))} s`;
	if (distance < 7200) return `${Math.round(distance / 60)} min`;
	if (distance < 172_800) return `${Math.round(distance / 360) / 10} h`;
	return `${Math.round(distance / 86_400)} days`;
}

export function size(bytes) {
	if (bytes < 1024) return `${bytes} B`;
	if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
	return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** Returns the class of a status: `s2` to `s5`, or `s0` for 0, without a response. */
export function statusClass(status) {
	return `s${Math.floor(status / 100)}`;
}

/** Returns a mark with a status, coloured by its class. */
export function statusBadge(status) {
	return h(`span.badge.${statusClass(status)}`, status || 'none');
}

/** Controls, formats, separators, lone surrogates and fillers. */
const hidden =
	/[^\P{C}\r\n\t]|[\u2028\u2029]|(?! )\p{Zs}|\u034f|\p{Variation_Selector}|[\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0\ufffc\ufffd]/gu;
/** The same, and white space: for messages in which every octet counts. */
const everyHidden = new RegExp(`${hidden.source}|[ \\t\\r\\n]`, 'gu');
const marks = { ' ': '·', '\t': '→', '\n': '↵', '\r': '␍', '\u00a0': 'NBSP', '\ufffd': '�' };

/** Returns nodes that show a text: characters that are invisible or reorder text become marks. */
export function visible(text, whiteSpace = false) {
	const pattern = whiteSpace ? everyHidden : hidden;
	const nodes = [];
	let from = 0;
	for (const match of text.matchAll(pattern)) {
		if (match.index > from) nodes.push(text.slice(from, match.index));
		nodes.push(markOf(match[0]));
		from = match.index + match[0].length;
	}
	nodes.push(text.slice(from));
	return nodes;
}

function markOf(character) {
	const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
	const mark = h('span.hidden-character', { title: code }, marks[character] ?? code);
	// The line is broken as the text says.
	return character === '\n' ? h('span', mark, '\n') : mark;
}

/** The length from which a text is cut until more is asked for. */
const longText = 4000;

/** Returns an element that shows a text, of a long one only the beginning, with a button that shows more. */
export function longShown(text, classes = '') {
	const element = h(`span${classes}`, visible(text.slice(0, longText)));
	let shown = longText;
	const more = h('button.quiet', { type: 'button' });
	const label = () => {
		if (shown >= text.length) more.remove();
		more.textContent = `… show more (${text.length - shown} further characters)`;
	};
	more.addEventListener('click', () => {
		more.before(...visible(text.slice(shown, shown + 16 * longText)));
		shown += 16 * longText;
		label();
	});
	if (text.length > longText) element.append(more);
	label();
	return element;
}

/** Indents JSON and XML. Works on the text, so that every value stays as it was sent. Returns other content unchanged. */
export function indented(text, type) {
	if (/\bjson\b/i.test(type)) return indentedJson(text);
	if (/\bxml\b/i.test(type)) return indentedXml(text);
	return text;
}

/** Levels deeper than 40 are shown like that one: the text would be too long. */
function indentation(depth) {
	return '  '.repeat(Math.min(depth, 40));
}

function indentedJson(text) {
	try {
		JSON.parse(text);
	} catch {
		return text;
	}
	let depth = 0;
	const newLine = () => `\n${indentation(depth)}`;
	return text.trim().replace(/"(?:[^"\\]|\\.)*"?|[[{]\s*[\]}]|[[{}\],:]|\s+/g, (token) => {
		if (token.startsWith('"')) return token;
		if (/^\s+$/.test(token)) return '';
		if (/^[[{]\s*[\]}]$/.test(token)) return token.replace(/\s/g, '');
		if (token === ':') return ': ';
		if (token === ',') return `,${newLine()}`;
		depth += token === '{' || token === '[' ? 1 : -1;
		return token === '{' || token === '[' ? token + newLine() : newLine() + token;
	});
}

function isUnclosed(token) {
	const isComment = token.startsWith('<!--') && !token.endsWith('-->');
	return isComment || (token.startsWith('<![CDATA[') && !token.endsWith(']]>'));
}

function indentedXml(text) {
	// What is not closed reaches to the end, so that nothing is searched twice.
	const tokens = text.match(/<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<[^<>]*>|[^<]+/g) ?? [];
	if (tokens.join('') !== text || isUnclosed(tokens.at(-1) ?? '')) return text;
	const lines = [];
	let depth = 0;
	for (let at = 0; at < tokens.length; at += 1) {
		const token = tokens[at] ?? '';
		if (token.trim() === '') continue;
		const [next = '', after = ''] = [tokens[at + 1], tokens[at + 2]];
		const opens = /^<[^!?/]/.test(token) && !token.endsWith('/>');
		if (token.startsWith('</')) depth = Math.max(0, depth - 1);
		const indent = indentation(depth);
		if (opens && !next.startsWith('<') && after.startsWith('</')) {
			lines.push(indent + token + next + after);
			at += 2;
		} else if (opens && next.startsWith('</')) {
			lines.push(indent + token + next);
			at += 1;
		} else {
			lines.push(indent + token.trim());
			if (opens) depth += 1;
		}
	}
	return lines.join('\n');
}
