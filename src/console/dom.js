/**
 * Creates an element: `h('button.primary', { onclick: send }, 'Send')`. Text becomes text nodes, never markup. An attribute that is a
 * function is a listener; false and undefined are omitted.
 *
 * @param {string} selector
 * @param {any} [attributes] may be left out
 * @param {...any} children
 * @returns {any}
 */
export function h(selector, attributes, ...children) {
	const [name = '', ...classes] = selector.split('.');
	const element = document.createElement(name);
	if (classes.length > 0) element.className = classes.join(' ');
	if (attributes?.constructor === Object) setAttributes(element, attributes);
	else children.unshift(attributes);
	element.append(...nodesOf(children));
	return element;
}

/** Replaces the content of an element. */
export function fill(element, ...children) {
	element.replaceChildren(...nodesOf(children));
}

/** Creates a labelled form control: `label` is its accessible name, and `hint` a description below it. */
export function field(label, control, hint) {
	control.id ||= newId();
	if (hint !== undefined) control.setAttribute('aria-describedby', `${control.id}-hint`);
	return h(
		'div.field',
		h('label', { for: control.id }, label),
		control,
		hint !== undefined && h('p', { id: `${control.id}-hint`, class: 'hint' }, hint),
	);
}

/** Creates a select element. The options are pairs of a value and a label. */
export function select(options, attributes = {}, value = '') {
	const element = h('select', attributes);
	setOptions(element, options, value);
	return element;
}

/** Replaces the options of a select element, and keeps its value if there is still such an option. */
export function setOptions(element, options, value = element.value) {
	fill(element, ...options.map(([each, label]) => h('option', { value: each }, label)));
	element.value = options.some(([each]) => each === value) ? value : (options[0]?.[0] ?? '');
}

/** Creates a button. */
export function button(label, onclick, attributes = {}) {
	return h('button', { type: 'button', onclick, ...attributes }, label);
}

let ids = 0;

/** Returns an id that no other element has. */
export function newId() {
	ids += 1;
	return `id-${ids}`;
}

function setAttributes(element, attributes) {
	for (const [name, value] of Object.entries(attributes)) {
		if (value === undefined || value === false) continue;
		if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
		else element.setAttribute(name, value === true ? '' : String(value));
	}
}

function nodesOf(children) {
	return children.flat(3).filter((child) => child !== undefined && child !== false);
}
