import { delay } from './api.js';
import { button, field, fill, h, select, setOptions } from './dom.js';
import { attemptIn, input, panel } from './form.js';
import { longShown, statusBadge } from './format.js';
import { algorithmNames, dateOf, flipped, mistakesOf, newNonce, sign } from './sign.js';

const schemes = [
	['none', 'No credentials'],
	['hmac', 'HMAC'],
	['simple', 'HMAC, simple form'],
	['message-signatures', 'Message signature (RFC 9421)'],
	['basic', 'Basic'],
	['bearer', 'Bearer token (OAuth 2.0)'],
	['oauth1', 'OAuth 1.0a'],
];
/** Precedes the names of configured schemes, with which the server signs. */
const configured = 'configured:';
const mistakeLabels = {
	query: 'Leave the query out of what is signed',
	date: 'Another date: two hours ago',
	nonce: 'Reuse the last nonce',
	digest: 'Change one character of the digest',
	user: 'Name another user',
};
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];
const own = 'Empty: the user’s own, which a server in memory returns.';
/** The label of the key and its hint, for each scheme that has one. */
const keyTexts = {
	hmac: ['Secret', own],
	simple: ['Secret', own],
	'message-signatures': ['Secret or private key', `${own} A private key (PEM, JWK) stays in this page.`],
	basic: ['Password', own],
	bearer: ['Token', 'Empty: the server issues one.'],
};

/** The mistakes that a request with a configured scheme can have. */
const ofConfigured = ['query', 'date'];

/** Fields of a recorded request that belong to its signature or framing, and are made anew. */
const ownFields =
	/^(host|date|x-date|authorization|authentication|signature|signature-input|content-digest|content-length|transfer-encoding|connection)$/i;

/** The nonce of the latest request that was sent and not refused. */
let lastNonce;

export function mount(root, context) {
	const { api, query, signal } = context;
	const attempt = attemptIn(context);
	const method = input({ value: 'GET', list: 'methods', required: true });
	const target = input({ value: '/articles', required: true });
	const fields = h('textarea', { rows: 3, spellcheck: 'false' }, 'Accept: application/json');
	const content = h('textarea', { rows: 4, spellcheck: 'false' });
	const transport = select([['plain', 'HTTP']]);
	const user = select([['', 'nobody']]);
	const scheme = select(schemes);
	const algorithm = select(algorithmNames.map((each) => [each, each]));
	const keyid = input();
	const key = h('textarea', { rows: 2, spellcheck: 'false', autocomplete: 'off' });
	const nonce = input({ placeholder: 'new for each request' });
	const message = h('div', { 'aria-live': 'polite' });
	const outcome = h('div', { 'aria-live': 'polite' });
	const send = h('button.primary', { type: 'submit' }, 'Send');
	const signOnServer = button('Sign', () => {
		changes += 1;
		prepare(true);
	});
	const keyField = field('Key', key, own);
	const messageKeys = h(
		'div.controls',
		field('Key id', keyid, 'Empty: the user’s name.'),
		field('Algorithm', algorithm),
	);
	const mistakes = Object.fromEntries(
		Object.keys(mistakeLabels).map((name) => [name, h('input', { type: 'checkbox', id: `mistake-${name}` })]),
	);
	let server = {};
	let users = [];
	let prepared;
	let sequence = 0;
	let changes = 0;

	const isConfigured = () => scheme.value.startsWith(configured);
	const isForServer = () =>
		isConfigured() || scheme.value === 'oauth1' || (scheme.value === 'bearer' && key.value === '');

	const chosenMistakes = () =>
		Object.fromEntries(Object.entries(mistakes).map(([name, box]) => [name, box.checked && !box.disabled]));

	/** Returns the request as entered, without credentials. */
	const entered = () => {
		const secure = transport.value === 'secure';
		const host = new URL((secure ? server.secureUrl : server.url) ?? 'http://localhost').host;
		const lines = fields.value.split('\n').filter((line) => line.trim() !== '');
		const pairs = lines.map((line) => /^([^:]*):?\s*(.*)$/s.exec(line)?.slice(1) ?? []);
		const has = (sought) => pairs.some(([name]) => name.toLowerCase() === sought);
		if (!has('host')) pairs.unshift(['Host', host]);
		const length = new TextEncoder().encode(content.value).length;
		if (length > 0 && !has('content-length') && !has('transfer-encoding')) pairs.push(['Content-Length', length]);
		return { method: method.value, target: target.value, fields: pairs, content: content.value, host, secure };
	};

	/** Returns the key with which the user signs: the one entered, or the user’s own, which only a server in memory returns. */
	const keyOf = async () => {
		if (key.value !== '' || scheme.value === 'none') return key.value;
		if (server.keeps !== 'memory') throw new Error('Enter the key: a server with a data directory does not return it.');
		const { secret, password } = await api.get(`/users/${encodeURIComponent(user.value)}`, signal);
		if (scheme.value === 'basic' && password === undefined)
			throw new Error(`The password of ${user.value} is not known. Enter it as the key.`);
		return scheme.value === 'basic' ? password : secret;
	};

	const signedByServer = async (request, chosen, signer) => {
		if (server.keeps !== 'memory') throw new Error('Only a server in memory signs with this scheme.');
		const path = chosen.query ? request.target.replace(/\?.*/s, '') : request.target;
		const url = /^https?:/i.test(path) ? path : `${request.secure ? 'https' : 'http'}://${request.host}${path}`;
		const date = new Date(dateOf(signer.time, chosen)).toISOString();
		const own = { headers: Object.fromEntries(request.fields.map(([name, value]) => [name, String(value)])), date };
		const { headers: added, url: signed } = await api.post(
			'/sign',
			{
				user: user.value,
				scheme: scheme.value.replace(configured, ''),
				method: request.method,
				url,
				...(request.content !== '' && { body: request.content }),
				...(scheme.value === 'oauth1' && { nonce: signer.nonce, date }),
				...(isConfigured() && own),
				...(isConfigured() && nonce.value !== '' && { nonce: nonce.value }),
			},
			signal,
		);
		const spoil = (text) =>
			text.replace(/((?:^Bearer |oauth_signature="))(.*)/, (_, start, rest) => start + flipped(rest));
		const pairs = Object.entries(added).map(([name, value]) => [name, chosen.digest ? spoil(value) : value]);
		const parameters = signed.slice(url.length + 1);
		const separator = request.target.includes('?') ? '&' : '?';
		return { fields: pairs, target: request.target + (parameters && separator + parameters) };
	};

	/** Signs the request and shows it. What the server must sign is signed on demand only, since it issues a token. */
	const prepare = async (isAsked) => {
		const current = ++sequence;
		prepared = undefined;
		send.disabled = true;
		if (isForServer() && !isAsked) {
			fill(message, h('p.hint', 'The server signs with this scheme. Press Sign to see the message.'));
			return;
		}
		try {
			const request = entered();
			const chosen = chosenMistakes();
			const { time } = await api.get('/clock', signal);
			const others = users.filter(({ name }) => name !== user.value);
			const named = chosen.user ? (others[0]?.name ?? `${user.value}x`) : user.value;
			const isMessage = scheme.value === 'message-signatures';
			const signer = {
				scheme: scheme.value,
				algorithm: algorithm.value,
				time,
				name: isMessage && keyid.value !== '' && !chosen.user ? keyid.value : named,
				nonce: (chosen.nonce && lastNonce) || nonce.value || newNonce(),
			};
			const {
				fields: added,
				text,
				target: sent = request.target,
			} = isForServer()
				? await signedByServer(request, chosen, signer)
				: await sign(request, { ...signer, key: await keyOf() }, chosen);
			if (current !== sequence) return;
			const lines = [...request.fields, ...added].map(([name, value]) => `${name}: ${value}`);
			const head = [`${request.method} ${sent} HTTP/1.1`, ...lines];
			const bytes = `${head.join('\r\n')}\r\n\r\n${request.content}`;
			prepared = { text: bytes, secure: request.secure, nonce: signer.nonce };
			send.disabled = false;
			fill(message, wire('Message', bytes), text && [h('h3', 'What is signed'), wire('What is signed', text)]);
		} catch (error) {
			if (current === sequence && !signal.aborted) fill(message, h('p.error', error.message));
		}
	};

	const submit = (event) => {
		event.preventDefault();
		return attempt(async () => {
			if (prepared === undefined) return;
			const { nonce: used, ...sent } = prepared;
			send.disabled = true;
			const { response, entry, ended, error } = await api.post('/send', sent, signal);
			const text = new TextDecoder().decode(Uint8Array.from(atob(response), (octet) => octet.charCodeAt(0)));
			const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
			if (status !== '401') lastNonce = used;
			const link = (path, label) => h('a', { href: `#/exchanges/${entry}${path}` }, label);
			const links = entry && [
				link('', `Exchange #${entry}`),
				status === '401' && link('/signature', 'See the signature explained'),
			];
			const shown = text === '' ? h('p.hint', `No response: ${error ?? ended}.`) : wire('Response', text);
			fill(outcome, h('h2', 'Response'), h('p.links', statusBadge(status && Number(status)), links), shown);
			adapt();
			await prepare(false);
		});
	};

	/** Enables the mistakes that are possible, and shows the inputs that the scheme needs. */
	const adapt = () => {
		if (user.value === '' && scheme.value !== 'none') scheme.value = 'none';
		for (const [name, box] of Object.entries(mistakes)) {
			box.disabled =
				!(mistakesOf[scheme.value] ?? ofConfigured).includes(name) || (name === 'nonce' && lastNonce === undefined);
		}
		messageKeys.hidden = scheme.value !== 'message-signatures';
		keyField.hidden = !(scheme.value in keyTexts);
		signOnServer.hidden = !isForServer();
		const [label, hint] = keyTexts[scheme.value] ?? [];
		keyField.firstChild.textContent = label;
		keyField.lastChild.textContent = hint;
	};

	const changed = async (event) => {
		if (event?.target === user && user.value !== '' && scheme.value === 'none') scheme.value = 'hmac';
		if (event?.target === scheme) {
			const isTls = ['basic', 'bearer', 'oauth1'].includes(scheme.value);
			if (isTls && server.secureUrl !== undefined) transport.value = 'secure';
			if (scheme.value !== 'none' && user.value === '') user.value = users[0]?.name ?? '';
		}
		adapt();
		const current = ++changes;
		prepared = undefined;
		send.disabled = true;
		await delay(150, signal);
		if (current === changes && !signal.aborted) await prepare(false);
	};

	const options = methods.map((value) => h('option', { value }));
	const boxes = Object.entries(mistakes).map(([name, box]) =>
		h('li', h('label.check', { for: box.id }, box, mistakeLabels[name])),
	);
	const editor = h(
		'form.editor',
		{ oninput: changed, onsubmit: submit },
		h(
			'div.controls',
			field('Method', method),
			field('Target', target),
			field('Over', transport),
			h('datalist', { id: 'methods' }, options),
		),
		field('Fields', fields, 'One per line. Host, Content-Length and credentials are added.'),
		field('Content', content),
		h('h2', 'Credentials'),
		h('div.controls', field('User', user), field('Scheme', scheme), field('Nonce', nonce)),
		messageKeys,
		keyField,
		h('h2', { id: 'mistakes' }, 'Deliberate mistakes'),
		h('ul.checks-list', { 'aria-labelledby': 'mistakes' }, boxes),
		h('div.actions', send, signOnServer),
	);
	fill(root, h('h1', 'Send'), h('div.columns', editor, h('div', panel('Message', message), outcome)));

	const load = async () => {
		[server, { users }] = await Promise.all([context.server(), api.get('/users', signal)]);
		const secure = server.secureUrl === undefined ? [] : [['secure', 'HTTPS']];
		setOptions(transport, [...(server.url === undefined ? [] : [['plain', 'HTTP']]), ...secure]);
		const others = server.schemes.filter((name) => !['hmac', 'oauth', 'message-signatures'].includes(name));
		setOptions(scheme, [...schemes, ...others.map((name) => [configured + name, name])]);
		setOptions(user, [['', 'nobody'], ...users.map(({ name }) => [name, name])]);
		if (query.has('entry')) await attempt(() => prefill(query.get('entry')));
		await changed();
	};

	/** Shows the request of a journal entry for editing. Its signature is made anew. */
	const prefill = async (number) => {
		const entry = await api.get(`/journal/${encodeURIComponent(number)}`, signal);
		const { request, user: name, principal, auth, presented } = entry;
		if (request.method === '') throw new Error(`Request #${number} could not be parsed, so it cannot be edited.`);
		method.value = request.method;
		target.value = request.target;
		content.value = request.body;
		const kept = request.headers.filter(([each, value]) => !ownFields.test(each) && value !== '[redacted]');
		fields.value = kept.map((pair) => pair.join(': ')).join('\n');
		transport.value = request.secure ? 'secure' : 'plain';
		const used = principal?.scheme ?? auth?.scheme;
		if (users.some((each) => each.name === name)) user.value = name;
		const values = [used === 'oauth' ? 'oauth1' : used, configured + used];
		const known = Array.from(scheme.options, (option) => option.value);
		if (user.value !== '') scheme.value = values.find((value) => known.includes(value)) ?? 'hmac';
		lastNonce = presented?.nonce ?? lastNonce;
	};
	adapt();
	void attempt(load);
}

/** Returns a message as on the wire. */
function wire(label, text) {
	return h('pre.wire', { tabindex: 0, 'aria-label': label }, longShown(text.replaceAll('\r\n', '\n')));
}
