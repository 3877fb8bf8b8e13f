import { button, field, fill, h, select, setOptions } from './dom.js';
import { confirmed, copyButton, form, input, memoryPanel, moment, panel, table } from './form.js';
import { longShown, span } from './format.js';

const keyAlgorithms = [
	'ed25519',
	'ecdsa-p256-sha256',
	'ecdsa-p384-sha384',
	'rsa-pss-sha512',
	'rsa-v1_5-sha256',
	'hmac-sha256',
	'aws4',
];

export function mount(root, context) {
	const { api, attempt, signal } = context;
	const places = Object.fromEntries(
		['users', 'clients', 'consumers', 'consent', 'tokens'].map((name) => [name, h('div')]),
	);
	const issued = h('div', { 'aria-live': 'polite' });
	const live = h('input', { type: 'checkbox', checked: true, onchange: () => load() });
	/** @type {any} */
	let server = {};

	/** Performs a change, reports it, and shows the new state. */
	const change = (act, note) =>
		attempt(async () => {
			await act();
			await load();
		}, note);

	/** Offers new credentials for copying. They are not shown. */
	const offer = (title, values) => {
		const pairs = Object.entries(values).filter(([, value]) => value !== undefined);
		const copies = pairs.map(([label, value]) => copyButton(context, `Copy ${label}`, value));
		fill(issued, h('div.verdict.good', h('p', title), h('div.actions', copies)));
	};

	const showUsers = (users) => {
		const isMemory = server.keeps === 'memory';
		const rows = users.map(({ name, disabled, password, secrets, keys }) => {
			const path = `/users/${encodeURIComponent(name)}`;
			const former = secrets.filter(({ until }) => until !== undefined);
			const rotate = () =>
				change(async () => {
					const { secret } = await api.post(`${path}/rotate`, { grace: grace.value || 0 });
					offer(`${name} has a new secret.`, { secret });
				});
			const remove = () => change(() => api.call('DELETE', path), `${name} was removed.`);
			const keyList = keys.map(({ id, algorithm, until }) =>
				h(
					'li',
					h('code', id),
					` ${algorithm}${until === undefined ? '' : `, until ${moment(until)}`} `,
					confirmed(
						'Remove key',
						`Remove ${id}?`,
						() =>
							change(() => api.call('DELETE', `${path}/keys/${encodeURIComponent(id)}`), `The key ${id} was removed.`),
						{ class: 'quiet', disabled: !isMemory, 'aria-label': `Remove the key ${id}` },
					),
				),
			);
			const facts = [
				`${secrets.length - former.length} current`,
				...former.map(({ until }) => `former until ${moment(until)}`),
			];
			const actions = [
				button('Rotate secret', rotate, { disabled: !isMemory, 'aria-label': `Rotate the secret of ${name}` }),
				confirmed('Remove', `Remove ${name}?`, remove, { disabled: !isMemory, 'aria-label': `Remove ${name}` }),
			];
			return [
				longShown(name),
				disabled ? 'disabled' : 'enabled',
				facts.join(', '),
				password ? 'yes' : 'no',
				keyList.length === 0 ? 'none' : h('ul', keyList),
				h('div.actions', actions),
			];
		});
		fill(
			places.users,
			table('users', ['Name', 'State', 'Secrets', 'Password', 'Keys', ''], rows, 'There are no users.'),
		);
	};

	const scopesOf = ({ scopes }) => scopes.join(' ');
	const showClients = (clients) => {
		const rows = clients.map((each) => [
			longShown(each.id),
			each.confidential ? 'confidential' : 'public',
			scopesOf(each),
			each.grants.join(', '),
			longShown(each.redirectUris.join(' ')),
		]);
		fill(
			places.clients,
			table('clients', ['Id', 'Kind', 'Scopes', 'Grant types', 'Redirect URIs'], rows, 'No clients are registered.'),
		);
	};
	const showConsumers = (consumers) => {
		const rows = consumers.map((each) => [
			longShown(each.key),
			[each.secret && 'secret', each.rsa && 'RSA key'].filter(Boolean).join(', '),
			scopesOf(each),
			each.methods.join(', '),
			longShown(each.callbacks.join(' ')),
		]);
		fill(
			places.consumers,
			table('consumers', ['Key', 'Signs with', 'Scopes', 'Methods', 'Callbacks'], rows, 'No consumers are registered.'),
		);
	};

	const showTokens = (tokens, now) => {
		const rows = tokens
			.filter((each) => each.live || !live.checked)
			.reverse()
			.map((each) => {
				const { fingerprint, client, user = '', kind, mechanism, expires, used, grant } = each;
				const ended = grant?.revoked ? 'grant revoked' : used ? 'used' : 'expired';
				const state = each.live ? `live for ${span((expires - now) / 1000)}` : ended;
				const short = fingerprint.slice(0, 12);
				const expire = () => change(() => api.post('/tokens/expire', { fingerprint }), `${short} has expired.`);
				const revoke = () => change(() => api.post('/tokens/revoke', { fingerprint }), `${short} was revoked.`);
				return [
					h('code', { title: fingerprint }, short),
					`${mechanism === 'oauth1' ? 'OAuth 1.0a' : 'OAuth 2.0'} ${kind}`,
					longShown(client),
					longShown(user),
					scopesOf(each),
					state,
					h(
						'div.actions',
						button('Expire', expire, { disabled: !each.live, 'aria-label': `Expire ${short}` }),
						button('Revoke', revoke, { 'aria-label': `Revoke ${short}` }),
					),
				];
			});
		const heads = ['Fingerprint', 'Kind', 'Client', 'User', 'Scopes', 'State', ''];
		fill(
			places.tokens,
			table('tokens', heads, rows, live.checked ? 'There are no live tokens.' : 'There are no tokens.'),
		);
	};

	const consentUrl = input({ required: true, type: 'url' });
	const consentUser = select([]);
	const showConsent = async (tokens, entries) => {
		const waiting = tokens.filter(({ kind, live: isLive }) => kind === 'ticket' && isLive);
		const rows = waiting.map((each) => {
			const { client, user, expires, mechanism, fingerprint } = each;
			const prepare = () => {
				const asked = entries.findLast((entry) => isQuestion(entry, each));
				if (asked !== undefined) consentUrl.value = new URL(asked.target, server.secureUrl).href;
				consentUser.value = user;
				consentUrl.focus();
			};
			const withdraw = () => change(() => api.post('/tokens/revoke', { fingerprint }), 'The question was withdrawn.');
			return [
				longShown(client),
				longShown(user),
				scopesOf(each),
				mechanism === 'oauth1' ? 'OAuth 1.0a' : 'OAuth 2.0',
				moment(expires),
				h(
					'div.actions',
					button('Decide', prepare, { 'aria-label': `Decide on the request of ${client}` }),
					button('Withdraw', withdraw, { 'aria-label': `Withdraw the request of ${client}` }),
				),
			];
		});
		fill(
			places.consent,
			table('Pending consent', ['Client', 'User', 'Scopes', 'Protocol', 'Until', ''], rows, 'No consent is pending.'),
		);
	};
	const decide = (decision) =>
		change(async () => {
			const { location } = await api.post('/tokens/approve', {
				url: consentUrl.value,
				user: consentUser.value,
				decision,
			});
			const title = decision === 'allow' ? 'Consent was given.' : 'Consent was denied.';
			offer(`${title} Send the browser to this URL.`, { 'the redirect URL': location });
		});

	const grace = input({ placeholder: 'none, or 10m', size: 10 });
	const name = input({ required: true });
	const secret = input({ type: 'password', placeholder: 'generated' });
	const password = input({ type: 'password', placeholder: 'generated' });
	const add = () =>
		change(async () => {
			const given = {
				...(secret.value && { secret: secret.value }),
				...(password.value && { password: password.value }),
			};
			offer(`${name.value} was added.`, await api.call('PUT', `/users/${encodeURIComponent(name.value)}`, given));
			name.value = secret.value = password.value = '';
		});
	const keyUser = select([]);
	const keyId = input({ required: true });
	const algorithm = select(keyAlgorithms.map((each) => [each, each]));
	const key = h('textarea', { rows: 2, required: true, spellcheck: 'false' });
	const addKey = () =>
		change(() => {
			const isShared = ['hmac-sha256', 'aws4'].includes(algorithm.value);
			const content = { algorithm: algorithm.value, [isShared ? 'secret' : 'publicKey']: key.value };
			return api.call(
				'PUT',
				`/users/${encodeURIComponent(keyUser.value)}/keys/${encodeURIComponent(keyId.value)}`,
				content,
			);
		}, 'The key was added.');

	const holder = select([]);
	const holderUser = select([]);
	const scope = input({ placeholder: 'default' });
	const lifetime = input({ placeholder: 'default', size: 8 });
	const issue = () =>
		change(async () => {
			const [mechanism, id] = holder.value.split(/ (.*)/s);
			/** @type {any} */
			const others = {
				...(scope.value && { scope: scope.value }),
				...(lifetime.value && { expiresIn: lifetime.value }),
			};
			if (holderUser.value !== '') others.user = holderUser.value;
			if (mechanism === 'oauth1') {
				const { token, tokenSecret } = await api.post('/tokens/oauth1', { consumer: id, ...others });
				offer('A token was issued.', { 'the token': token, 'the token secret': tokenSecret });
			} else {
				const { accessToken } = await api.post('/tokens/oauth2', { client: id, ...others });
				offer('A token was issued.', { 'the token': accessToken });
			}
		});

	/** Loads everything, and shows it in its places. */
	const load = async () => {
		const paths = ['/users', '/clients', '/consumers', '/tokens', '/clock'];
		const [{ users }, { clients }, { consumers }, { tokens }, { time }] = await Promise.all(
			paths.map((path) => api.get(path, signal)),
		);
		const { entries } = await api.post('/journal/list', {}, signal);
		showUsers(users);
		showClients(clients);
		showConsumers(consumers);
		showTokens(tokens, time);
		showConsent(tokens, entries);
		const names = users.map((each) => [each.name, each.name]);
		for (const each of [consentUser, keyUser]) setOptions(each, names);
		setOptions(holderUser, [['', 'none: the client itself'], ...names]);
		setOptions(holder, [
			...clients.map(({ id }) => [`oauth2 ${id}`, `${id} (OAuth 2.0)`]),
			...consumers.map(({ key: id }) => [`oauth1 ${id}`, `${id} (OAuth 1.0a)`]),
		]);
	};

	const start = async () => {
		server = await context.server();
		const all = (label, question, path) => confirmed(label, question, () => change(() => api.post(path, {}), 'Done.'));
		fill(
			root,
			h('h1', 'Access'),
			issued,
			panel('Users', places.users),
			memoryPanel(
				'Change users',
				server,
				form('Add user', [field('Name', name), field('Secret', secret), field('Password', password)], add),
				form(
					'Add key',
					[
						field('User', keyUser),
						field('Key id', keyId),
						field('Algorithm', algorithm),
						field('Public key, or secret', key),
					],
					addKey,
				),
				h('div.controls', field('Grace period of a rotated secret', grace)),
			),
			panel(
				'Pending consent',
				places.consent,
				form(
					'Allow',
					[
						field('URL of the consent page', consentUrl),
						field('As', consentUser),
						button('Deny', () => consentUrl.reportValidity() && decide('deny')),
					],
					() => decide('allow'),
				),
			),
			panel(
				'Tokens and grants',
				h(
					'div.actions',
					h('label.check', live, 'Live only'),
					all('Expire all', 'Expire all tokens?', '/tokens/expire'),
					all('Revoke all', 'Revoke all tokens?', '/tokens/revoke'),
				),
				places.tokens,
				form(
					'Issue token',
					[
						field('To', holder),
						field('For', holderUser),
						field('Scopes', scope),
						field('Lifetime', lifetime, 'Such as 90s or 5m.'),
					],
					issue,
				),
			),
			panel('Clients of OAuth 2.0', places.clients),
			panel('Consumers of OAuth 1.0a', places.consumers),
		);
		await load();
	};
	fill(root, h('h1', 'Access'), h('p.empty', 'Loading…'));
	void attempt(start);
}

/** Returns whether an exchange showed the consent page to which a ticket belongs. */
function isQuestion({ target, status, time }, { client, issued, mechanism }) {
	if (status !== 200 || Math.abs(time - issued) > 5000) return false;
	return (
		target.includes('authorize') &&
		(mechanism === 'oauth1' || target.includes(`client_id=${encodeURIComponent(client)}`))
	);
}
