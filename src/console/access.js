import { button, field, fill, h, select, setOptions } from './dom.js';
import { attemptIn, confirmed, filled, form, input, loadView, memoryPanel, moment, panel, table } from './form.js';
import { algorithmNames, longShown, span } from './format.js';

const protocols = { oauth1: 'OAuth 1.0a', oauth2: 'OAuth 2.0' };
const emptyTexts = {
	users: 'There are no users.',
	clients: 'The configuration has no clients and no consumers.',
	consent: 'No consent is pending.',
	tokens: 'There are no tokens, or none that are live.',
};
const userPath = (name, ...rest) => ['/users', ...[name, ...rest].map(encodeURIComponent)].join('/');

export function mount(root, context) {
	const { api, signal } = context;
	const attempt = attemptIn(context);
	const places = { users: h('div'), clients: h('div'), consent: h('div'), tokens: h('div') };
	const issued = h('div', { 'aria-live': 'polite' });
	const live = h('input', { type: 'checkbox', checked: true, onchange: () => attempt(load) });
	let server;

	/** Performs a change, reports it, and shows the new state. */
	const change = (act, note) =>
		attempt(async () => {
			await act();
			await load();
		}, note);

	/** Offers new credentials for copying. They are not shown. */
	const offer = (title, values) => {
		const copy = (value) => attempt(() => navigator.clipboard.writeText(value), 'Copied.');
		const pairs = Object.entries(values).filter(([, value]) => value !== undefined);
		const copies = pairs.map(([label, value]) => button(`Copy ${label}`, () => copy(value)));
		fill(issued, h('div.verdict.good', h('p', title), h('div.actions', copies)));
	};

	/** Shows a table in its place. */
	const show = (place, heads, rows) => {
		fill(places[place], table(place, heads, rows, emptyTexts[place]));
	};

	const showUsers = (users) => {
		const disabled = server.keeps !== 'memory';
		const rows = users.map(({ name, disabled: isDisabled, password, secrets, keys }) => {
			const grace = input({ placeholder: '0s or 10m', class: 'short' });
			const rotate = () =>
				change(async () => {
					const { secret } = await api.post(userPath(name, 'rotate'), { grace: grace.value || 0 });
					offer(`${name} has a new secret.`, { secret });
				});
			const remove = (what, ...path) =>
				confirmed('Remove', `Remove ${what}?`, () => change(() => api.call('DELETE', userPath(...path))), {
					'aria-label': `Remove ${what}`,
					disabled,
				});
			const keyList = keys.map(({ id, algorithm, until }) =>
				h(
					'li',
					h('code', id),
					` ${algorithm}${until ? `, until ${moment(until)} ` : ' '}`,
					remove(`the key ${id}`, name, 'keys', id),
				),
			);
			const facts = secrets.map(({ until }) => (until ? `former until ${moment(until)}` : 'current'));
			return [
				longShown(name),
				isDisabled ? 'disabled' : 'enabled',
				[...facts, password && 'password'].filter(Boolean).join(', '),
				h('ul', keyList),
				h(
					'div.actions',
					confirmed(
						'Rotate secret',
						`Rotate secret of ${name}?`,
						rotate,
						{ 'aria-label': `Rotate secret of ${name}` },
						h('label', 'Accept the former one for ', grace),
					),
					remove(name, name),
				),
			];
		});
		show('users', ['Name', 'State', 'Secrets', 'Keys', ''], rows);
	};

	const showClients = (clients, consumers) => {
		const rows = [
			...clients.map((each) => [
				each.id,
				'oauth2',
				each.confidential && 'secret',
				each.scopes,
				each.grants,
				each.redirectUris,
			]),
			...consumers.map((each) => [
				each.key,
				'oauth1',
				each.secret ? 'secret' : 'RSA key',
				each.scopes,
				each.methods,
				each.callbacks,
			]),
		].map(([name, protocol, credentials, ...lists]) => [
			longShown(name),
			protocols[protocol],
			credentials || 'none: public',
			...lists.map((list) => longShown(list.join(', '))),
		]);
		show('clients', ['Name', 'Protocol', 'Credentials', 'Scopes', 'Grants, methods', 'Callbacks'], rows);
	};

	/** Returns the cells that describe a token. */
	const described = ({ client, user = '', scopes }) => [longShown(client), longShown(user), scopes.join(' ')];

	const showTokens = (tokens, now) => {
		const rows = tokens
			.filter((each) => each.live || !live.checked)
			.reverse()
			.map((each) => {
				const { fingerprint, kind, mechanism, expires, used, grant } = each;
				const ended = grant?.revoked ? 'grant revoked' : used ? 'used' : 'expired';
				const short = fingerprint.slice(0, 12);
				const end = (label, path, disabled) =>
					button(label, () => change(() => api.post(path, { fingerprint })), {
						disabled,
						class: 'danger',
						'aria-label': `${label} ${short}`,
					});
				return [
					h('code', { title: fingerprint }, short),
					`${protocols[mechanism]} ${kind}`,
					...described(each),
					each.live ? `live for ${span((expires - now) / 1000)}` : ended,
					h('div.actions', end('Expire', '/tokens/expire', !each.live), end('Revoke', '/tokens/revoke')),
				];
			});
		for (const each of ofAll) each.hidden = tokens.length === 0;
		show('tokens', ['Fingerprint', 'Kind', 'Client', 'User', 'Scopes', 'State', ''], rows);
	};

	const consentUrl = input({ required: true, type: 'url' });
	const consentUser = select([]);
	const showConsent = (tokens, entries) => {
		const waiting = tokens.filter((each) => each.kind === 'ticket' && each.live);
		const rows = waiting.map((each) => {
			const prepare = () => {
				const asked = entries.findLast((entry) => isQuestion(entry, each));
				if (asked !== undefined) consentUrl.value = new URL(asked.target, server.secureUrl).href;
				consentUser.value = each.user;
				consentUrl.focus();
			};
			return [
				...described(each),
				moment(each.expires),
				h('div.actions', button('Decide', prepare, { 'aria-label': `Decide on ${each.client}` })),
			];
		});
		show('consent', ['Client', 'User', 'Scopes', 'Until', ''], rows);
	};
	const decide = (decision) =>
		change(async () => {
			const asked = { url: consentUrl.value, user: consentUser.value, decision };
			const { location } = await api.post('/tokens/approve', asked);
			const title = decision === 'allow' ? 'Consent was given.' : 'Consent was denied.';
			offer(`${title} Send the browser to this URL.`, { 'the redirect URL': location });
		});

	const name = input({ required: true });
	const secret = input({ type: 'password', placeholder: 'generated' });
	const password = input({ type: 'password', placeholder: 'generated' });
	const add = () =>
		change(async () => {
			offer(`${name.value} was added.`, await api.call('PUT', userPath(name.value), filled({ secret, password })));
			name.value = secret.value = password.value = '';
		});
	const keyUser = select([]);
	const keyId = input({ required: true });
	const algorithm = select([...algorithmNames, 'aws4'].map((each) => [each, each]));
	const key = h('textarea', { rows: 2, required: true, spellcheck: 'false' });
	const addKey = () =>
		change(() => {
			const member = ['hmac-sha256', 'aws4'].includes(algorithm.value) ? 'secret' : 'publicKey';
			const content = { algorithm: algorithm.value, [member]: key.value };
			return api.call('PUT', userPath(keyUser.value, 'keys', keyId.value), content);
		});

	const holder = select([]);
	const user = select([]);
	const scope = input({ placeholder: 'default' });
	const expiresIn = input({ placeholder: 'default' });
	const issue = () =>
		change(async () => {
			const [mechanism, id] = holder.value.split(/ (.*)/s);
			const wanted = { client: id, ...filled({ user, scope, expiresIn }) };
			const { accessToken, token = accessToken, tokenSecret } = await api.post(`/tokens/${mechanism}`, wanted);
			offer('A token was issued.', { 'the token': token, 'the token secret': tokenSecret });
		});

	const all = (label, path) => confirmed(label, `${label} tokens?`, () => change(() => api.post(path, {})));
	const ofAll = [h('span', all('Expire all', '/tokens/expire')), h('span', all('Revoke all', '/tokens/revoke'))];

	/** Loads everything, and shows it in its places. */
	const load = async () => {
		const paths = ['/users', '/clients', '/consumers', '/tokens', '/clock'];
		const loaded = paths.map((path) => api.get(path, signal));
		const [{ users }, { clients }, { consumers }, { tokens }, { time }] = await Promise.all(loaded);
		const { entries } = await api.post('/journal/list', {}, signal);
		showUsers(users);
		showClients(clients, consumers);
		showTokens(tokens, time);
		showConsent(tokens, entries);
		const names = users.map((each) => [each.name, each.name]);
		for (const each of [consentUser, keyUser]) setOptions(each, names);
		setOptions(user, [['', 'none: the client itself'], ...names]);
		setOptions(holder, [
			...clients.map(({ id }) => [`oauth2 ${id}`, `${id} (OAuth 2.0)`]),
			...consumers.map(({ key: id }) => [`oauth1 ${id}`, `${id} (OAuth 1.0a)`]),
		]);
	};

	const start = async () => {
		server = await context.server();
		const keyFields = [field('User', keyUser), field('Key id', keyId), field('Algorithm', algorithm)];
		const deny = button('Deny', () => consentUrl.reportValidity() && decide('deny'));
		await load();
		fill(
			root,
			h('h1', 'Access'),
			issued,
			panel('Users', places.users),
			memoryPanel(
				'Change users',
				server,
				form('Add user', [field('Name', name), field('Secret', secret), field('Password', password)], add),
				form('Add key', [...keyFields, field('Public key, or secret', key)], addKey),
			),
			panel(
				'Pending consent',
				places.consent,
				form('Allow', [field('URL of the consent page', consentUrl), field('As', consentUser), deny], () =>
					decide('allow'),
				),
			),
			panel(
				'Tokens and grants',
				h('div.actions', h('label.check', live, 'Live only'), ofAll),
				places.tokens,
				form(
					'Issue token',
					[
						field('To', holder),
						field('For', user),
						field('Scopes', scope),
						field('Lifetime', expiresIn, 'Such as 90s or 5m.'),
					],
					issue,
				),
			),
			panel('Clients and consumers', places.clients),
		);
	};
	void loadView(context, root, 'Access', 'users, clients and tokens', start);
}

/** Returns whether an exchange showed the consent page to which a ticket belongs. */
function isQuestion({ target, status, time }, { client, issued, mechanism }) {
	if (status !== 200 || Math.abs(time - issued) > 5000) return false;
	return (
		target.includes('authorize') &&
		(mechanism === 'oauth1' || target.includes(`client_id=${encodeURIComponent(client)}`))
	);
}
