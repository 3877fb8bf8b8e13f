import { button, field, fill, h, select, setOptions } from './dom.js';
import { ExchangePane } from './exchange.js';
import { Feed } from './feed.js';
import { clockTime, duration, statusBadge, stepNames, visible } from './format.js';
import { Grid } from './grid.js';

/** Shows the table of exchanges, and beside it one exchange if the address has its number. */
export function mount(root, context) {
	const view = new ExchangesView(root, context);
	view.open(context);
	return {
		update(changed) {
			view.open(changed);
			return true;
		},
	};
}

const any = ['', 'Any'];
const statusChoices = [any, ['2', '2xx'], ['3', '3xx'], ['4', '4xx'], ['5', '5xx'], ['0', 'No response']];
/** The numbers of the pinned exchanges. They stay pinned while other views are open. */
const pinnedNumbers = new Set();
const endless = Number.POSITIVE_INFINITY;
const clearHint = 'Empties this table. Pinned exchanges stay, and so does the journal.';

class ExchangesView {
	#context;
	#root;
	#feed;
	#grid;
	#pane;
	/** Entries up to this number are not shown, because the table was cleared. */
	#cleared = 0;
	/** The latest number when the table was paused. */
	#paused = endless;
	/** The texts of the entries in which the filter searches. */
	#texts = new WeakMap();
	#count = h('p.count', { role: 'status' });
	#empty = h('div.empty');
	#pause = button('Pause', () => this.#togglePause(), { 'aria-pressed': 'false' });
	#filters = {
		search: h('input', { type: 'search', placeholder: 'Press / to search', 'aria-keyshortcuts': '/' }),
		method: select([any]),
		path: h('input', { type: 'search', placeholder: '/tea/{id}' }),
		user: select([any]),
		status: select(statusChoices),
		problem: select([any]),
	};

	constructor(root, context) {
		this.#root = root;
		this.#context = context;
		this.#feed = new Feed(context.api, context.signal, () => this.#changed());
		this.#grid = new Grid('Exchanges, the latest first', this.#columns(), {
			open: ({ number }) => context.go(`/exchanges/${number}`),
			// Without an entry in the history for each exchange that the selection passes.
			select: ({ number }) => this.#isOpen && location.replace(`#/exchanges/${number}`),
			key: (key, entry) => this.#onRowKey(key, entry),
		});
		this.#pane = new ExchangePane(context, () => this.#close());
		root.classList.add('exchanges');
		fill(
			root,
			h('h1.visually-hidden', 'Exchanges'),
			h('section.list', { 'aria-label': 'All exchanges' }, this.#toolbar(), this.#grid.element, this.#empty),
			this.#pane.element,
		);
		document.addEventListener('keydown', (event) => this.#onKey(event), { signal: context.signal });
		context.api.observe(() => this.#feed.entries.length === 0 && this.#showEmpty([]), context.signal);
		this.#grid.element.classList.add('no-rows');
		this.#showEmpty([]);
		this.#feed.follow();
	}

	async open({ parameters: { number, tab } }) {
		const chosen = number === undefined ? undefined : Number(number);
		this.#root.classList.toggle('opened', chosen !== undefined);
		this.#grid.select(chosen);
		await this.#pane.show(chosen, tab);
		// The exchange covers the table where there is no room for both.
		if (this.#isOpen && getComputedStyle(this.#grid.element).visibility === 'hidden') this.#pane.focus();
	}

	get #isOpen() {
		return this.#root.classList.contains('opened');
	}

	#close() {
		this.#context.go('/exchanges');
		this.#root.classList.remove('opened');
		this.#grid.element.focus();
	}

	/** Returns the columns: the class of their cells, the heading, and the content for an entry. */
	#columns() {
		return [
			['pin', 'Pin', ({ number }) => this.#pinButton(number)],
			['number', '#', ({ number }) => number],
			['time', 'Time', ({ time }) => clockTime(time)],
			['method', 'Method', ({ method }) => visible(method || '(unparsable)')],
			['target', 'Target', ({ target }) => h('span', { title: target.slice(0, 2000) }, visible(target.slice(0, 300)))],
			['user', 'User', ({ user = '' }) => visible(user.slice(0, 100))],
			['scheme', 'Scheme', ({ scheme = '' }) => visible(scheme)],
			['status', 'Status', ({ status, aborted }) => [statusBadge(status), aborted && ' ⚡']],
			['step', 'Step', ({ step = -1 }) => h('span', { title: stepNames[step] }, step < 0 ? 'fault' : step)],
			['problem', 'Likely cause, problem', problemOf],
			['duration', 'Duration', (entry) => duration(entry.duration)],
		];
	}

	#pinButton(number) {
		const pinned = pinnedNumbers.has(number);
		const label = pinned ? `Unpin #${number}` : `Pin #${number} to the top`;
		return button(pinned ? '★' : '☆', () => {}, {
			class: pinned ? 'pinned' : '',
			tabindex: -1,
			'data-key': 'p',
			'aria-label': label,
			title: `${label} (p)`,
		});
	}

	#toolbar() {
		const fields = Object.entries(this.#filters).map(([name, control]) => {
			control.addEventListener('input', () => this.#apply());
			return field(`${name[0]?.toUpperCase()}${name.slice(1)}`, control);
		});
		const bar = h('div.filters', { role: 'search' }, ...fields);
		const toggle = button('Filters', () => toggle.setAttribute('aria-expanded', bar.classList.toggle('open')), {
			class: 'filters-toggle',
			'aria-expanded': 'false',
		});
		const clear = button('Clear', () => this.#clear(), { title: clearHint });
		return h('div.toolbar', bar, h('div.actions', this.#count, toggle, this.#pause, clear, this.#menu()));
	}

	/** Returns the menu of what concerns the journal itself. */
	#menu() {
		const { attempt, api } = this.#context;
		const ask = 'Delete all entries…';
		const sure = 'Delete them for everyone?';
		const remove = button(ask, () => {
			if (remove.textContent === ask) remove.textContent = sure;
			else {
				menu.open = false;
				attempt(() => api.call('DELETE', '/journal').then(() => this.#feed.empty()), 'The journal is empty.');
			}
		});
		remove.className = 'danger';
		const download = (path, name) => attempt(async () => save(name, await api.get(path)));
		const items = [
			button('Download as JSON', () => download('/journal', 'journal.json')),
			button('Download as HAR', () => download('/journal.har', 'journal.har')),
			remove,
		];
		const summary = h('summary', 'Journal');
		const onkeydown = (event) => {
			if (event.key !== 'Escape' || !menu.open) return;
			event.stopPropagation();
			menu.open = false;
			summary.focus();
		};
		const ontoggle = () => {
			remove.textContent = ask;
		};
		const menu = h('details.menu', { onkeydown, ontoggle }, summary, h('div.items', ...items));
		return menu;
	}

	#togglePause() {
		const pauses = this.#paused === endless;
		this.#paused = pauses ? (this.#feed.entries.at(-1)?.number ?? 0) : endless;
		this.#pause.setAttribute('aria-pressed', pauses);
		this.#pause.textContent = pauses ? 'Resume' : 'Pause';
		this.#apply();
	}

	#clear() {
		this.#cleared = this.#feed.entries.at(-1)?.number ?? 0;
		this.#apply();
	}

	#onRowKey(key, { number }) {
		if (key !== 'p') return false;
		if (!pinnedNumbers.delete(number)) pinnedNumbers.add(number);
		this.#apply();
		return true;
	}

	#onKey(event) {
		const { search } = this.#filters;
		const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
		if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
			event.preventDefault();
			search.select();
		} else if (event.key === 'Escape' && event.target === search) this.#grid.element.focus();
		else if (event.key === 'Escape' && this.#isOpen) this.#close();
	}

	#changed() {
		const { entries } = this.#feed;
		// The numbers begin again after a reset.
		if ((entries.at(-1)?.number ?? 0) < this.#cleared) this.#cleared = 0;
		for (const name of ['method', 'user', 'problem']) {
			const control = this.#filters[name];
			const values = [...new Set(entries.map((entry) => entry[name] ?? ''))].filter(Boolean).sort();
			if (control.dataset.values === values.join('\n')) continue;
			control.dataset.values = values.join('\n');
			setOptions(control, [any, ...values.map((value) => [value, value.slice(0, 40)])]);
		}
		this.#apply();
	}

	/** Shows the entries that the filters accept: pinned ones first, then the latest first. */
	#apply() {
		const { entries } = this.#feed;
		const accepts = this.#filter();
		const pinned = entries.filter(({ number }) => pinnedNumbers.has(number));
		const others = entries.filter(
			(entry) =>
				entry.number > this.#cleared && entry.number <= this.#paused && !pinned.includes(entry) && accepts(entry),
		);
		const shown = [...pinned.reverse(), ...others.reverse()];
		// The table has its height before it scrolls to the selected row.
		this.#grid.element.classList.toggle('no-rows', shown.length === 0);
		this.#grid.show(shown);
		const waiting = entries.filter(({ number }) => number > this.#paused).length;
		const part = shown.length === entries.length ? '' : `${shown.length} of `;
		const paused = this.#paused === endless ? '' : ` · ${waiting} new`;
		fill(this.#count, `${part}${entries.length} ${entries.length === 1 ? 'exchange' : 'exchanges'}${paused}`);
		this.#showEmpty(shown);
	}

	#filter() {
		const { search, method, path, user, status, problem } = this.#filters;
		const text = search.value.trim().toLowerCase();
		const fits = pathTest(path.value.trim());
		return (entry) =>
			(method.value === '' || entry.method === method.value) &&
			(user.value === '' || entry.user === user.value) &&
			(problem.value === '' || entry.problem === problem.value) &&
			(status.value === '' || Math.floor(entry.status / 100) === Number(status.value)) &&
			fits(entry.target.replace(/[?#].*$/s, '')) &&
			(text === '' || this.#textOf(entry).includes(text));
	}

	#textOf(entry) {
		const known = this.#texts.get(entry);
		if (known !== undefined) return known;
		const { number, method, target, user, scheme, status, problem, hint, detail } = entry;
		const text = [`#${number}`, method, target, user, scheme, status, problem, hint ?? detail].join(' ').toLowerCase();
		this.#texts.set(entry, text);
		return text;
	}

	#showEmpty(shown) {
		this.#empty.hidden = shown.length > 0;
		if (shown.length > 0) return;
		const { loaded, entries } = this.#feed;
		const isFiltered = entries.some(({ number }) => number > this.#cleared);
		if (this.#context.api.state === 'disconnected')
			fill(this.#empty, h('p', 'The server cannot be reached. Its exchanges appear here as soon as it can.'));
		else if (!loaded) fill(this.#empty, h('p', 'Loading the journal…'));
		else if (entries.length > 0 && !isFiltered)
			fill(this.#empty, h('p', 'The table was cleared. New exchanges appear here; the journal has all of them.'));
		else if (isFiltered)
			fill(
				this.#empty,
				h('p', 'No exchange matches the filters.'),
				button('Reset the filters', () => this.#reset()),
			);
		else {
			fill(this.#empty, h('p', 'No requests yet. They appear here as the server responds to them.'));
			const example = ({ url }) => url !== undefined && this.#empty.append(h('code', `curl ${url}/`));
			this.#context.server().then(example, () => {});
		}
	}

	#reset() {
		for (const control of Object.values(this.#filters)) control.value = '';
		this.#apply();
		this.#filters.search.focus();
	}
}

/** Returns the likely cause of a refusal or, if it is not known, what the problem says, and its problem type. */
function problemOf({ problem = '', hint, detail, fault }) {
	const cause = hint ?? detail;
	const type = h(cause ? 'span.type' : 'span', problem);
	const content = [fault && h('span.tag', 'fault'), cause && [h('strong', visible(cause.slice(0, 300))), ' '], type];
	return h('span', { title: [cause, problem].filter(Boolean).join(' · ').slice(0, 400) || undefined }, content);
}

/** Returns a test of a path: a template such as `/articles/{id}` matches as a whole, other text is searched for. */
function pathTest(wanted) {
	if (!wanted.includes('{')) return (path) => path.includes(wanted);
	const parts = wanted.split(/\{[^{}]*\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
	const pattern = new RegExp(`^${parts.join('[^/]+')}$`);
	return (path) => pattern.test(path);
}

/** Offers JSON as a download. */
function save(name, content) {
	const blob = new Blob([JSON.stringify(content, null, 1)], { type: 'application/json' });
	const url = URL.createObjectURL(blob);
	h('a', { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}
