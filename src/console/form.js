import { button, fill, h, newId } from './dom.js';
import { dateTime } from './format.js';

/** Creates a section with a heading. */
export function panel(title, ...children) {
	const id = newId();
	return h('section.panel', { 'aria-labelledby': id }, h('h2', { id }, title), ...children);
}

/** Creates a section whose controls require a server in memory. On another server they are disabled, with the reason. */
export function memoryPanel(title, { keeps }, ...children) {
	const reason = 'Requires a server in memory. This one has a data directory: start it with --memory.';
	const disabled = keeps !== 'memory';
	return panel(title, disabled && h('p.reason', reason), h('fieldset', { disabled }, ...children));
}

/**
 * Shows the title of a view and that its subject is loading, until `load` resolves, which fills the view. If the server cannot be
 * reached, it is loaded as soon as it can be; after another error, on request.
 */
export async function loadView({ api, signal }, root, title, subject, load) {
	while (!signal.aborted) {
		const show = (...children) => fill(root, h('h1', title), h('div.empty', ...children));
		show(h('p', `Loading ${subject}…`));
		try {
			await load();
			return;
		} catch (error) {
			if (signal.aborted) return;
			if (error.status === 0) {
				show(h('p', `The server cannot be reached. It is asked for ${subject} again as soon as it can.`));
				await api.reached(signal);
			} else {
				await new Promise((resolve) => {
					const text = `The server did not return ${subject}: ${error.message}`;
					show(h('p', text), button('Try again', resolve));
				});
			}
		}
	}
}

/** Creates a form in one row, whose last control submits it. */
export function form(label, controls, act, attributes = {}) {
	const onsubmit = (event) => {
		event.preventDefault();
		act();
	};
	return h('form.controls', { onsubmit }, ...controls, h('button', { type: 'submit', ...attributes }, label));
}

/** Creates a text field without corrections. */
export function input(attributes = {}) {
	return h('input', { autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', ...attributes });
}

/** Creates a table that scrolls by itself. The first cell of each row is its heading. */
export function table(label, heads, rows, empty) {
	if (rows.length === 0) return h('p.hint', empty);
	const head = heads.map((each) => h('th', { scope: 'col' }, each || h('span.visually-hidden', 'Actions')));
	const cell = (content, at) =>
		at === 0 ? h('th', { scope: 'row' }, content) : h('td', { 'data-label': heads[at] || undefined }, content);
	const body = rows.map((cells) => h('tr', cells.map(cell)));
	const content = h('table', h('thead', h('tr', head)), h('tbody', body));
	return h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': `Table of ${label}` }, content);
}

/** Creates a button of what cannot be undone. It asks, in its place, before it acts. `details` are controls that belong to the question. */
export function confirmed(label, question, act, attributes = {}, details = []) {
	const ask = button(
		label,
		() => {
			const back = () => {
				asked.replaceWith(ask);
				ask.focus();
			};
			const yes = () => {
				back();
				act();
			};
			const onkeydown = ({ key }) => key === 'Escape' && back();
			const choices = [button('Confirm', yes, { class: 'danger sure' }), button('Cancel', back)];
			const asked = h('div.asked', { role: 'group', 'aria-label': question, onkeydown }, question, details, choices);
			ask.replaceWith(asked);
			choices[0].focus();
		},
		{ class: 'danger', ...attributes },
	);
	return ask;
}

/** Returns the values of the controls that are not empty. */
export function filled(controls) {
	return Object.fromEntries(
		Object.entries(controls).flatMap(([name, { value }]) => (value === '' ? [] : [[name, value]])),
	);
}

/** Returns the function that attempts a change and reports errors, except after the view was left. */
export function attemptIn({ attempt, signal }) {
	return (act, note) =>
		attempt(async () => {
			await Promise.resolve(act()).catch((error) => {
				if (!signal.aborted) throw error;
			});
		}, note);
}

/** Formats a time (ms) to the second. */
export function moment(time) {
	return dateTime(Math.floor(time / 1000) * 1000);
}
