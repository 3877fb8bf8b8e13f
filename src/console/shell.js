// Opens the view of an address (router.js). feed.js follows the journal by long polling, and grid.js renders only the visible
// rows. All elements are created by `h()` in dom.js, which makes text nodes only. There is no build step: the control port
// serves the modules as they are, with the security fields of double/control/guard.ts.
import { Api, keepToken, takeToken } from './api.js';
import { button, field, fill, h } from './dom.js';
import { resolve, routes } from './router.js';

const stateTexts = {
	connecting: 'Connecting…',
	live: 'Connected',
	disconnected: 'Disconnected. Reconnecting…',
	unauthorised: 'Not authorised',
};

/** The time in ms for which a notice of success is shown. */
const noticeTime = 8000;

/** Starts the console. */
export function start() {
	const main = byId('main');
	const token = takeToken();
	showNavigation();
	if (token === '') {
		askForToken(main, '');
		return;
	}

	const api = new Api(token);
	api.observe((state) => {
		showState(state);
		if (state === 'disconnected') void api.reconnect();
		if (state === 'unauthorised') askForToken(main, 'The server did not accept this token.');
	});
	showState(api.state);
	const shell = new Shell(api, main);
	addEventListener('hashchange', () => void shell.show());
	void shell.show();
}

/** Shows the view of the current address. */
class Shell {
	#api;
	#main;
	#server;
	#shown;
	#sequence = 0;

	constructor(api, main) {
		this.#api = api;
		this.#main = main;
	}

	async show() {
		if (this.#api.state === 'unauthorised') return;
		const { route, parameters, query } = resolve(location.hash);
		const sequence = ++this.#sequence;
		const module = await route.load();
		if (sequence !== this.#sequence) return;
		markCurrent(route.pattern, parameters.number);
		const shown = this.#shown;
		if (shown?.module === module) {
			const context = this.#context(parameters, query, shown.controller.signal);
			if (shown.view?.update?.(context) === true) return;
		}
		shown?.controller.abort();
		const controller = new AbortController();
		const root = h('div.view');
		fill(this.#main, root);
		const view = module.mount(root, this.#context(parameters, query, controller.signal));
		this.#shown = { module, view, controller };
	}

	#context(parameters, query, signal) {
		return {
			api: this.#api,
			parameters,
			query,
			signal,
			notify,
			attempt,
			go: (path) => {
				location.hash = path;
			},
			server: () => {
				this.#server ??= this.#api.get('/server').catch((error) => {
					this.#server = undefined;
					throw error;
				});
				return this.#server;
			},
		};
	}
}

function byId(id) {
	return document.getElementById(id);
}

function showNavigation() {
	const links = routes.flatMap(({ pattern, label }) => (label ? [h('a', { href: `#${pattern}` }, label)] : []));
	fill(byId('views'), ...links);
}

/** Marks the link of the current view, and sets the title of the document. */
function markCurrent(pattern, number) {
	const root = `#/${pattern.split('/')[1]}`;
	let label = '';
	for (const link of byId('views').querySelectorAll('a')) {
		if (link.getAttribute('href') === root) {
			link.setAttribute('aria-current', 'page');
			label = link.textContent ?? '';
		} else link.removeAttribute('aria-current');
	}
	document.title = `${number === undefined ? '' : `#${number} · `}${label} · Countersign`;
}

function showState(state) {
	const place = byId('connection');
	place.dataset.state = state;
	const banner = byId('banner');
	banner.hidden = state !== 'disconnected';
	fill(banner, 'The server cannot be reached. What is shown can be out of date.');
	fill(place, h('span.dot', { 'aria-hidden': 'true' }), h('span', stateTexts[state]));
}

/** Shows a form that asks for the token, instead of a view. */
function askForToken(main, problem) {
	showState('unauthorised');
	const input = h('input', { type: 'password', autocomplete: 'off', spellcheck: 'false', required: true });
	const submit = (event) => {
		event.preventDefault();
		keepToken(input.value.trim());
		location.reload();
	};
	fill(
		main,
		h(
			'form.token',
			{ onsubmit: submit },
			h('h1', 'Token required'),
			problem !== '' && h('p.error', { role: 'alert' }, problem),
			field(
				'Control token',
				input,
				'The server printed it at its start, unless COUNTERSIGN_CONTROL_TOKEN sets it. It stays in this tab.',
			),
			h('button', { type: 'submit', class: 'primary' }, 'Open the console'),
		),
	);
	input.focus();
}

/** Performs an action of the user, and shows a notice that it succeeded, if given, or why it failed. */
async function attempt(act, note) {
	try {
		await act();
		if (note !== undefined) notify(note);
	} catch (error) {
		notify(error.message, 'error');
	}
}

/**
 * Shows a notice in place of an earlier one: an error until it is dismissed, another one for some seconds. Screen readers announce it.
 */
function notify(text, kind = 'information') {
	fill(byId('notices'));
	const notice = h('div', { class: `notice ${kind}` }, h('span', text));
	const remove = () => notice.remove();
	notice.append(button('Dismiss', remove, { class: 'quiet' }));
	byId('notices').append(notice);
	if (kind !== 'error') setTimeout(remove, noticeTime);
}
