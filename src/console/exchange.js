import { button, fill, h } from './dom.js';
import {
	dateTime,
	duration,
	indented,
	longShown,
	size,
	statusBadge,
	statusClass,
	stepNames,
	visible,
} from './format.js';
import { checksOf, signatureView } from './signature.js';

/** Shows one exchange: what `GET /journal/{number}` returns. */
export class ExchangePane {
	element = h('section.detail', { 'aria-label': 'One exchange', hidden: true });
	#context;
	#close;
	#entry;
	#sequence = 0;
	#heading = h('h2', { tabindex: -1 });

	constructor(context, close) {
		this.#context = context;
		this.#close = close;
	}

	/** Moves the focus to the heading. */
	focus() {
		this.#heading.focus();
	}

	async show(number, tab) {
		const sequence = ++this.#sequence;
		this.element.hidden = number === undefined;
		if (number === undefined) return;
		const { api, signal } = this.#context;
		try {
			if (this.#entry?.number !== number) this.#entry = await api.get(`/journal/${number}`, signal);
			if (sequence === this.#sequence) this.#render(this.#entry, tab);
		} catch (error) {
			if (sequence === this.#sequence) this.#showMissing(number, error);
		}
	}

	#showMissing(number, error) {
		this.#entry = undefined;
		fill(this.#heading, `Exchange #${number}`);
		const text =
			error.status === 404 ? 'It is not in the journal: it was dropped, deleted, or never written.' : error.message;
		fill(this.element, this.#head(), h('p.error', text));
	}

	#render(entry, tab) {
		const { request, number } = entry;
		const subject = request.method === '' ? 'Unparsable request' : `${request.method} ${request.target}`;
		fill(this.#heading, ...visible(subject.slice(0, 400)), subject.length > 400 && '…');
		const isSignature = tab === 'signature';
		const link = (label, href, current) => h('a', { href, 'aria-current': current && 'true' }, label);
		const tabs = h(
			'nav.tabs',
			{ 'aria-label': 'Parts of the exchange' },
			link('Exchange', `#/exchanges/${number}`, !isSignature),
			link('Signature', `#/exchanges/${number}/signature`, isSignature),
		);
		const content = isSignature ? signatureView(entry) : exchangeView(entry);
		fill(this.element, this.#head(factsOf(entry), this.#actions(entry), tabs), h('div.content', ...content));
		this.element.scrollTop = 0;
	}

	#head(...children) {
		const label = 'Close (Escape)';
		const close = button('✕', this.#close, { class: 'quiet', 'aria-label': label, title: label });
		return h('header', h('div.title', this.#heading, close), ...children);
	}

	#actions(entry) {
		const { attempt, go } = this.#context;
		const { number } = entry;
		const copy = (note, text) => attempt(async () => navigator.clipboard.writeText(await text()), note);
		const resend = { title: 'Sends the same bytes again, with the same credentials' };
		return h(
			'div.actions',
			button('Resend', () => attempt(() => this.#resend(number)), resend),
			button('Edit and resend', () => go(`/send?entry=${number}`)),
			button('Copy as curl', () => copy(redactedNote(entry), () => this.#curl(entry))),
			button('Copy link', () => copy('Copied.', () => `${location.origin}/#/exchanges/${number}`)),
		);
	}

	async #resend(number) {
		const { api, go, notify } = this.#context;
		const { entry, ended, error = ended } = await api.post('/send', { entry: number });
		if (entry === undefined) throw new Error(`There was no response: ${error}.`);
		notify(`Sent again, as #${entry}.`);
		go(`/exchanges/${entry}`);
	}

	async #curl(entry) {
		const { url, secureUrl } = await this.#context.server();
		return curlOf(entry, entry.request.secure === true ? secureUrl : url);
	}
}

function factsOf({ number, time, duration: ms, request, status, user, principal, auth, aborted }) {
	const facts = [
		statusBadge(status),
		`#${number}`,
		dateTime(time),
		duration(ms),
		user === undefined ? 'anonymous' : h('span', visible(user.slice(0, 100))),
		principal?.scheme ?? auth?.scheme,
		request.method !== '' && (request.secure === true ? 'HTTPS' : 'HTTP'),
		request.peer,
		aborted && 'client disconnected',
	];
	return h('ul.facts', ...facts.filter(Boolean).map((fact) => h('li', fact)));
}

function exchangeView(entry) {
	const { request, received = '', response } = entry;
	const sent = `${request.method} ${request.target} HTTP/${request.version}`;
	return [
		verdictOf(entry),
		h('h3', 'Decision'),
		...stepsOf(entry),
		...tokenOf(entry),
		h('h3', 'Request'),
		request.method !== ''
			? message(sent, request)
			: h('pre.wire', { tabindex: 0, 'aria-label': 'Received bytes' }, longShown(received)),
		h('h3', 'Response'),
		response
			? message(`HTTP/1.1 ${response.status}`, response)
			: h('p.empty', 'None: the connection ended without one.'),
	];
}

/** Returns what decided the response, in one box. */
function verdictOf({ step, problem, fault, status, auth, number }) {
	const place = `step ${step}, ${stepNames[step]}`;
	if (fault !== undefined)
		return h(
			'div.verdict',
			h(
				'p',
				h('strong', 'A planned fault was applied'),
				step === undefined ? ' instead of a decision.' : ` after ${place}.`,
			),
			h('pre', longShown(JSON.stringify(fault, null, 2))),
		);
	if (problem === undefined) return h('p.verdict.good', `Answered at ${place}.`);
	return h(
		`div.verdict.${statusClass(status)}`,
		h('p', h('strong', `Refused at ${place}: `), h('code', problem.type)),
		h('p', longShown(problem.detail)),
		// Some hints are the detail itself.
		auth?.hint !== undefined &&
			!problem.detail.includes(auth.hint) &&
			h('p.why', 'Likely cause: ', longShown(auth.hint), '.'),
		auth?.failedAt !== undefined && h('a', { href: `#/exchanges/${number}/signature` }, 'See the signature explained'),
	);
}

/** Shows header and claims of a bearer token that is a JWT. The journal does not contain its signature. */
function tokenOf({ token, auth }) {
	if (token === undefined) return [];
	const part = (name, members) =>
		h('pre.wire', { tabindex: 0, 'aria-label': name }, longShown(JSON.stringify(members, null, 2)));
	return [
		h('h3', 'Token'),
		auth?.failedAt !== undefined && h('p', 'The check that failed: ', h('code', auth.failedAt)),
		h('h4', 'Header'),
		part('Header of the token', token.header),
		h('h4', 'Claims'),
		part('Claims of the token', token.claims),
	].filter(Boolean);
}

/** Returns the steps of the decision, ticked up to the one that responded, and the checks of the credentials. */
function stepsOf({ step = -1, problem, auth }) {
	const ended = problem === undefined ? ['answered', '✓', ': answered here'] : ['refused', '✗', ': refused here'];
	const items = stepNames.map((name, at) => {
		const before = at < step ? ['passed', '✓', ': passed'] : ['skipped', '', ': not reached'];
		const [state, mark, said] = at === step ? ended : before;
		return h(
			`li.${state}`,
			h('span.mark', { 'aria-hidden': 'true' }, mark),
			h('span.index', at),
			h('span', name, h('span.visually-hidden', said)),
		);
	});
	// If another step decided, the credentials are not what matters. The tab with the signature shows their checks.
	const checks = step === 7 && auth !== undefined;
	return [h('ol.steps', ...items), ...(!checks ? [] : [h('h4', 'Checks of step 7'), checksOf(auth)])];
}

/** Shows a message as on the wire, with its content indented if it is XML or JSON. */
function message(startLine, { headers, body, length }) {
	const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
	const lines = headers.flatMap(([name, value]) => [
		h('strong', visible(name)),
		': ',
		longShown(value, value === '[redacted]' ? '.redacted' : ''),
		'\n',
	]);
	const head = h('pre.wire', { tabindex: 0, 'aria-label': 'Head' }, h('strong', longShown(startLine)), '\n', ...lines);
	const declared = headers.some(([name, value]) => /^content-length$/i.test(name) && Number(value) > 0);
	const unread = length === 0 && declared && h('p.hint', 'The server did not read the content.');
	return h('div', head, unread, body !== '' && contentOf(body, type, length));
}

function contentOf(text, type, length) {
	const recorded = new TextEncoder().encode(text).length;
	const pretty = indented(text, type);
	const pre = h('pre.wire', { tabindex: 0, 'aria-label': 'Content' }, longShown(pretty));
	let isIndented = true;
	const toggle = button(
		'Indented',
		() => {
			isIndented = !isIndented;
			toggle.setAttribute('aria-pressed', isIndented);
			fill(pre, longShown(isIndented ? pretty : text));
		},
		{ class: 'quiet', 'aria-pressed': 'true' },
	);
	const cut = length > recorded && `, the first ${size(recorded)} recorded`;
	const facts = h('span', visible(type || 'no Content-Type'), `, ${size(length ?? recorded)}`, cut);
	return h('div', h('p.content-facts', facts, pretty !== text && toggle), pre);
}

const isRedacted = ([, value]) => value === '[redacted]';

function redactedNote({ request }) {
	const names = request.headers.filter(isRedacted).map(([name]) => name);
	return `Copied.${names.length === 0 ? '' : ` Complete ${names.join(', ')}, which the journal redacts.`}`;
}

/** Returns the command that sends the request again, to the server's own origin only. */
function curlOf({ request, user }, origin) {
	if (request.method === '') throw new Error('The request could not be parsed.');
	const { method, target, headers, body, secure } = request;
	const words = ['curl', '--include', '--path-as-is', '--globoff', ...(secure === true ? ['--insecure'] : [])];
	words.push(...(method === 'HEAD' ? ['--head'] : ['--request', quoted(method)]));
	for (const [name, value] of headers) {
		if (/^(?:content-length|connection|transfer-encoding)$/i.test(name) || !isSendable(name, value)) continue;
		if (/^host$/i.test(name) && origin.endsWith(`//${value}`)) continue;
		const sent = isRedacted([name, value]) ? `CREDENTIALS of ${user}` : value;
		// curl drops a field that has a colon and no value; one with a semicolon is sent empty.
		words.push('--header', quoted(sent === '' ? `${name};` : `${name}: ${sent}`));
	}
	// Unlike --data-binary, this option never reads a file.
	if (body !== '') words.push('--data-raw', quoted(body));
	// A recorded absolute form must not select the server, and curl drops a fragment.
	if (/^\/[^#]*$/.test(target)) return [...words, quoted(origin + target)].join(' ');
	return [...words, '--request-target', quoted(target), quoted(origin)].join(' ');
}

/** Returns whether curl takes `name: value` as one field line: a name that begins with an at sign would be read as a file. */
function isSendable(name, value) {
	return /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && !/[\0\r\n]/.test(value);
}

/** Quotes a word for a shell. Control characters other than line feeds are escaped, since a terminal acts on them. */
function quoted(text) {
	if (/^[\w@%+:,./-]+$/.test(text)) return text;
	if (!/[\0-\x09\x0b-\x1f\x7f]/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
	const escaped = (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
	return `$'${text.replace(/[\\']/g, '\\$&').replace(/[\0-\x09\x0b-\x1f\x7f]/g, escaped)}'`;
}
