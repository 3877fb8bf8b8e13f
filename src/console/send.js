import { delay } from './api.js';
import { button, field, fill, h, select, setOptions } from './dom.js';
import { attemptIn, input, loadView, panel, table } from './form.js';
import { algorithmNames, longShown, statusBadge, visible } from './format.js';

const none = { id: '', label: 'No credentials' };
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];
const own = 'Empty: the user’s own, which a server in memory has.';
const keyLabels = { secret: 'Secret', password: 'Password', token: 'Token' };

/** The ms by which the mistake `date` makes a date too old. */
const age = 7_200_000;

/**
 * The deliberate mistakes: a label, and a function that returns why a scheme cannot have it, if so.
 * @type {{ name: string, label: string, refuse: (scheme: any, entered: any) => string | false }[]}
 */
const mistakeKinds = [
	{
		name: 'query',
		label: 'Leave the query out of what is signed',
		refuse: ({ message }, { target }) =>
			(!message && 'The scheme signs no message.') || (!target.includes('?') && 'The target has no query.'),
	},
	{
		name: 'date',
		label: 'Another date: two hours ago',
		refuse: ({ date }) => !date && 'Its credentials have no date.',
	},
	{
		name: 'nonce',
		label: 'Reuse the last nonce',
		refuse: ({ nonce }) =>
			(!nonce && 'Its credentials have no nonce.') || (lastNonce === undefined && 'No nonce was sent yet.'),
	},
	{ name: 'digest', label: 'Change one character of the credentials', refuse: () => false },
	{
		name: 'user',
		label: 'Name another user',
		refuse: (scheme, { key }) =>
			(!scheme.user && 'Its credentials do not name a user.') ||
			(isPrivateKey(key) && 'A private key belongs to its key id.'),
	},
];

/** Fields of a recorded request that belong to its signature or framing, and are made anew. */
const ownFields =
	/^(host|date|x-date|authorization|authentication|signature|signature-input|content-digest|content-length|transfer-encoding|connection)$/i;

/** The nonce of the latest request that was sent and not refused. */
let lastNonce;

export function mount(root, context) {
	const { api, query, signal } = context;
	const attempt = attemptIn(context);
	const method = input({ value: 'GET', list: 'methods', required: true, class: 'short' });
	const target = input({ value: '/articles', required: true });
	const headers = h('textarea', { rows: 3, spellcheck: 'false' }, 'Accept: application/json');
	const body = h('textarea', { rows: 4, spellcheck: 'false' });
	const transport = select([['plain', 'HTTP']]);
	const user = select([['', 'nobody']]);
	const scheme = select([]);
	const algorithm = select([['', 'that of the key'], ...algorithmNames.slice(1).map((each) => [each, each])]);
	const keyId = input();
	const key = h('textarea', { rows: 2, spellcheck: 'false', autocomplete: 'off' });
	const nonce = input({ placeholder: 'a new one' });
	const message = h('div', { 'aria-live': 'polite' });
	const signedMessage = h('div');
	const outcome = h('div', { 'aria-live': 'polite' });
	const send = h('button.primary', { type: 'submit' }, 'Send');
	const signNow = button('Sign', () => {
		changes += 1;
		prepare(true);
	});
	const keyField = field('Key', key, own);
	const nonceField = field('Nonce', nonce);
	const keyIdField = field('Key id', keyId, 'Empty: the user’s name.');
	const algorithmField = field('Algorithm', algorithm, 'Of a private key.');
	const noMistakes = h('p.hint', 'The request has no credentials. Choose a user to sign it, rightly or wrongly.');
	const mistakes = mistakeKinds.map(({ name, label, refuse }) => {
		const reason = h('span.hint', { id: `mistake-${name}-reason` });
		const box = h('input', { type: 'checkbox', id: `mistake-${name}`, 'aria-describedby': reason.id });
		return { name, box, reason, refuse, item: h('li', h('label.check', { for: box.id }, box, label), reason) };
	});
	let schemes = [none];
	let server = {};
	let users = [];
	let prepared;
	let sequence = 0;
	let changes = 0;

	const chosen = () => schemes.find(({ id }) => id === scheme.value) ?? none;
	const issuesToken = (used) => used.key === 'consumer' || (used.key === 'token' && key.value === '');
	const makes = (wanted) => mistakes.some(({ name, box }) => name === wanted && box.checked && !box.disabled);

	/** Returns the request as entered, without credentials. */
	const entered = () => {
		const secure = transport.value === 'secure';
		const origin = (secure ? server.secureUrl : server.url) ?? 'http://localhost';
		const lines = headers.value.split('\n').filter((line) => line.trim() !== '');
		const pairs = lines.map((line) => /^([^:]*):?\s*(.*)$/s.exec(line)?.slice(1) ?? []);
		if (!hasField(pairs, 'host')) pairs.unshift(['Host', new URL(origin).host]);
		return { method: method.value, target: target.value, fields: pairs, content: body.value, origin, secure };
	};

	/** Returns the member of a key as entered. To name another user, the own key has to be stated. */
	const readKey = async ({ key: member }) => {
		if (!keyField.hidden && key.value !== '') return { [isPrivateKey(key.value) ? 'privateKey' : member]: key.value };
		if (server.keeps !== 'memory')
			throw new Error('Enter the key: a server with a data directory does not sign with its own.');
		if (!makes('user')) return {};
		const known = await api.get(`/users/${encodeURIComponent(user.value)}`, signal);
		if (known[member] === undefined) throw new Error(`The ${member} of ${user.value} is not known. Enter it.`);
		return { [member]: known[member] };
	};

	/** Signs a request with `POST /sign`, which signs with every scheme. */
	const sign = async (request, used) => {
		if (used === none) return request;
		const { time } = await api.get('/clock', signal);
		const other = users.find(({ name }) => name !== user.value)?.name ?? `${user.value}x`;
		const choices = {
			...(await readKey(used)),
			form: used.form,
			keyId: keyIdField.hidden || makes('user') ? undefined : keyId.value || undefined,
			algorithm: isPrivateKey(key.value) ? algorithm.value || undefined : undefined,
			nonce: used.nonce ? request.nonce : undefined,
			date: makes('date') ? new Date(time - age).toISOString() : undefined,
		};
		const path = makes('query') ? request.target.replace(/\?.*/s, '') : request.target;
		const url = /^https?:/i.test(path) ? path : request.origin + path;
		const signed = await api.post(
			'/sign',
			{
				...choices,
				user: makes('user') ? other : user.value,
				scheme: used.name,
				method: request.method,
				url,
				headers: Object.fromEntries(request.fields),
				body: request.content === '' ? undefined : request.content,
			},
			signal,
		);
		let added = Object.entries(signed.headers);
		let parameters = signed.url.startsWith(url) ? signed.url.slice(url.length + 1) : '';
		if (makes('digest')) [parameters, ...added] = spoil(parameters, added);
		const separator = request.target.includes('?') ? '&' : '?';
		return {
			...request,
			target: request.target + (parameters && separator + parameters),
			fields: [...request.fields.filter(([name]) => !hasField(added, name.toLowerCase())), ...added],
			content: signed.body ?? request.content,
			message: signed.message,
		};
	};

	/** Signs the request and shows it. If that issues a token, it is signed on demand only. */
	const prepare = async (isAsked) => {
		const current = ++sequence;
		prepared = undefined;
		send.disabled = true;
		fill(signedMessage);
		const used = chosen();
		if (issuesToken(used) && !isAsked) {
			fill(message, h('p.hint', 'To sign, the server issues a token. Press Sign to see the message.'));
			return;
		}
		try {
			const request = { ...entered(), nonce: (makes('nonce') && lastNonce) || nonce.value || newNonce() };
			const signed = await sign(request, used);
			if (current !== sequence) return;
			const { fields, content } = signed;
			const length = new TextEncoder().encode(content).length;
			const isFramed = hasField(fields, 'content-length') || hasField(fields, 'transfer-encoding');
			const all = length === 0 || isFramed ? fields : [...fields, ['Content-Length', length]];
			const lines = all.map(([name, value]) => `${name}: ${value}`);
			const text = `${[`${signed.method} ${signed.target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${content}`;
			prepared = { text, secure: signed.secure, nonce: request.nonce };
			send.disabled = false;
			fill(message, wire('Message', text));
			fill(signedMessage, partsTable(signed.message));
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
			if (status !== '401' && chosen().nonce) lastNonce = used;
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

	/** Enables the mistakes that are possible, says why others are not, and shows the inputs that the scheme needs. */
	const adapt = () => {
		if (user.value === '') scheme.value = none.id;
		const used = chosen();
		const isAnonymous = used === none;
		noMistakes.hidden = !isAnonymous;
		for (const { box, reason, refuse } of mistakes) {
			const why = !isAnonymous && refuse(used, { target: target.value, key: key.value });
			reason.textContent = why || '';
			box.disabled = isAnonymous || Boolean(why);
		}
		const hasKeys = used.keyIds && used.privateKeys;
		const label = keyLabels[used.key];
		algorithmField.hidden = !hasKeys;
		keyIdField.hidden = !used.keyIds;
		keyField.hidden = label === undefined;
		nonceField.hidden = !used.nonce;
		signNow.hidden = !issuesToken(used);
		keyField.firstChild.textContent = hasKeys ? `${label} or private key` : label;
		const missing = used.key === 'token' ? 'Empty: the server issues one.' : own;
		keyField.lastChild.textContent = hasKeys ? `${missing} A key is PEM or a JWK.` : missing;
	};

	const changed = async (event) => {
		if (event?.target === user && user.value !== '' && chosen() === none) scheme.value = 'hmac';
		if (event?.target === scheme) {
			if (chosen().secure && server.secureUrl !== undefined) transport.value = 'secure';
			if (chosen() !== none && user.value === '') user.value = users[0]?.name ?? '';
		}
		adapt();
		const current = ++changes;
		prepared = undefined;
		send.disabled = true;
		await delay(150, signal);
		if (current === changes && !signal.aborted) await prepare(false);
	};

	/** Shows the form. */
	const show = () => {
		const options = methods.map((value) => h('option', { value }));
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
			field('Header fields', headers, 'One per line. Host, Content-Length and credentials are added.'),
			field('Body', body),
			h('h2', 'Credentials'),
			h('div.controls', field('User', user), field('Scheme', scheme), nonceField),
			h('div.controls', keyIdField, algorithmField),
			keyField,
			h('h2', { id: 'mistakes' }, 'Deliberate mistakes'),
			noMistakes,
			h(
				'ul.checks-list',
				{ 'aria-labelledby': 'mistakes' },
				mistakes.map(({ item }) => item),
			),
			h('div.actions', send, signNow),
		);
		fill(
			root,
			h('h1', 'Send'),
			h('div.columns', editor, h('div', panel('Message', message), panel('What is signed', signedMessage), outcome)),
		);
	};

	const load = async () => {
		[server, { users }] = await Promise.all([context.server(), api.get('/users', signal)]);
		const secure = server.secureUrl === undefined ? [] : [['secure', 'HTTPS']];
		setOptions(transport, [...(server.url === undefined ? [] : [['plain', 'HTTP']]), ...secure]);
		schemes = [none, ...server.signers.flatMap(listForms)];
		setOptions(
			scheme,
			schemes.map(({ id, label }) => [id, label]),
		);
		setOptions(user, [['', 'nobody'], ...users.map(({ name }) => [name, name])]);
		show();
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
		body.value = request.body;
		const kept = request.headers.filter(([each, value]) => !ownFields.test(each) && value !== '[redacted]');
		headers.value = kept.map((pair) => pair.join(': ')).join('\n');
		transport.value = request.secure === true ? 'secure' : 'plain';
		const used = principal?.scheme ?? auth?.scheme;
		if (users.some((each) => each.name === name)) user.value = name;
		const sent = schemes.find(({ id }) => id === (used === 'oauth' ? 'oauth1' : used));
		if (user.value !== '') scheme.value = sent?.id ?? 'hmac';
		lastNonce = presented?.nonce ?? lastNonce;
	};
	void loadView(context, root, 'Send', 'users and schemes', load);
}

/** Returns a scheme as a choice; two for `hmac`, whose simple form has neither a date nor a nonce. */
function listForms(signer) {
	const full = { ...signer, id: signer.name };
	const simple = { ...full, id: 'hmac, simple', label: `${signer.label}, simple form`, form: 'simple' };
	return signer.kind === 'hmac' ? [full, { ...simple, date: false, nonce: false }] : [full];
}

function hasField(fields, sought) {
	return fields.some(([name]) => name.toLowerCase() === sought);
}

function isPrivateKey(text) {
	return /^\s*(\{|-----BEGIN)/.test(text);
}

/** Returns a new nonce of characters that every scheme permits. */
function newNonce() {
	return Array.from(crypto.getRandomValues(new Uint8Array(12)), (octet) => octet.toString(16).padStart(2, '0')).join(
		'',
	);
}

/**
 * Changes one character of a signature or secret: of what a name such as `Signature=` precedes, or else of the longest run of
 * characters of base64. It is the fourth of the last, since bits of the last can be padding.
 */
function spoil(parameters, fields) {
	const texts = [parameters, ...fields.map(([name, value]) => (/digest|sha256/i.test(name) ? '' : value))];
	const places = texts.flatMap((text, at) =>
		[...text.matchAll(/[\w+/-]+/g)].map(({ 0: run, index }) => {
			const isNamed = /(?:signature="?|sig\d*=:?)$/i.test(text.slice(0, index));
			return { at, run, index, rank: run.length + (isNamed ? 1000 : 0) };
		}),
	);
	places.sort((one, other) => other.rank - one.rank);
	const replaced = [parameters, ...fields];
	const [place] = places;
	if (place === undefined) return replaced;
	const { at, run, index } = place;
	const changed = index + Math.max(0, run.length - 4);
	const text = texts[at];
	const spoilt = text.slice(0, changed) + another(text[changed]) + text.slice(changed + 1);
	replaced[at] = at === 0 ? spoilt : [fields[at - 1][0], spoilt];
	return replaced;
}

/** Returns another character of the same alphabet, hexadecimal or base64. */
function another(character) {
	const [one, other] = /[a-z]/.test(character) ? 'ab' : /[A-Z]/.test(character) ? 'AB' : '01';
	return character === one ? other : one;
}

/** Returns the parts of a signed message. Fixed text between them has no name. */
function partsTable(parts = []) {
	const rows = parts.map(({ name, value }) => [name || 'fixed text', h('code', ...visible(value, name === ''))]);
	return table('signed parts', ['Part', 'Value'], rows, 'These credentials sign no message.');
}

/** Returns a message as on the wire. */
function wire(label, text) {
	return h('pre.wire', { tabindex: 0, 'aria-label': label }, longShown(text.replaceAll('\r\n', '\n')));
}
