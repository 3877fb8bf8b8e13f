import { h, newId } from './dom.js';

/** The number of rows that are rendered above and below the visible ones. */
const margin = 8;

/**
 * A table of which only the visible rows are rendered. It is one tab stop: the arrow keys move the selection. A column is its class,
 * its heading, and a function that returns the content of a cell. Items have a unique `number`.
 */
export class Grid {
	element;
	#items = [];
	#columns;
	#events;
	#body;
	#rows = new Map();
	#rowHeight = 0;
	#id = newId();
	#selected;
	/** Whether the selected item has not been shown yet, because it was not loaded. */
	#isAwaited = false;
	#scheduled = false;

	constructor(label, columns, events) {
		this.#columns = columns;
		this.#events = events;
		const headings = columns.map(([name, label]) => h(`div.${name}`, { role: 'columnheader' }, label));
		const head = h('div.head', { role: 'rowgroup' }, h('div.row', { role: 'row' }, ...headings));
		this.#body = h('div.rows', { role: 'rowgroup' });
		this.element = h('div.grid', { role: 'grid', tabindex: 0, 'aria-label': label }, head, this.#body);
		this.element.addEventListener('scroll', () => this.#schedule(), { passive: true });
		this.element.addEventListener('keydown', (event) => this.#onKey(event));
		this.#body.addEventListener('click', (event) => this.#onClick(event));
		new ResizeObserver(() => this.#resized()).observe(this.element);
	}

	/** Shows other items. Unless the table is scrolled to its top, the visible rows stay where they are. */
	show(items) {
		const { scrollTop } = this.element;
		const top = this.#items[Math.floor(scrollTop / (this.#rowHeight || 1))];
		const before = top === undefined ? -1 : this.#indexOf(top.number);
		this.#items = items;
		this.#measure();
		this.element.setAttribute('aria-rowcount', items.length + 1);
		this.#body.style.height = `${items.length * this.#rowHeight}px`;
		const after = top === undefined ? -1 : this.#indexOf(top.number);
		if (scrollTop > 0 && after >= 0 && after !== before)
			this.element.scrollTop = scrollTop + (after - before) * this.#rowHeight;
		if (this.#isAwaited) this.#reveal();
		this.#render(true);
	}

	/** Selects an item and scrolls to it. */
	select(number) {
		this.#selected = number;
		this.#isAwaited = number !== undefined;
		this.#reveal();
		this.#render(false);
	}

	#indexOf(number) {
		return this.#items.findIndex((item) => item.number === number);
	}

	#measure() {
		this.#rowHeight = Number.parseFloat(getComputedStyle(this.element).getPropertyValue('--row')) || 32;
	}

	#resized() {
		const before = this.#rowHeight;
		this.#measure();
		if (before !== this.#rowHeight) this.#body.style.height = `${this.#items.length * this.#rowHeight}px`;
		this.#render(before !== this.#rowHeight);
	}

	#schedule() {
		if (this.#scheduled) return;
		this.#scheduled = true;
		requestAnimationFrame(() => {
			this.#scheduled = false;
			this.#render(false);
		});
	}

	/** Renders the rows that are visible now. */
	#render(again) {
		const height = this.#rowHeight || 1;
		const from = Math.max(0, Math.floor(this.element.scrollTop / height) - margin);
		const to = Math.ceil((this.element.scrollTop + this.element.clientHeight) / height) + margin;
		const visible = this.#items.slice(from, to);
		const wanted = new Set(visible.map(({ number }) => number));
		for (const [number, row] of this.#rows) {
			if (wanted.has(number) && !again) continue;
			row.remove();
			this.#rows.delete(number);
		}
		const added = [];
		for (const [offset, item] of visible.entries()) {
			const row = this.#rows.get(item.number) ?? this.#rowOf(item);
			if (!this.#rows.has(item.number)) added.push(row);
			this.#rows.set(item.number, row);
			row.style.transform = `translateY(${(from + offset) * height}px)`;
			row.setAttribute('aria-rowindex', from + offset + 2);
			row.setAttribute('aria-selected', item.number === this.#selected);
		}
		this.#body.append(...added);
		const active = this.#selected !== undefined && this.#rows.get(this.#selected);
		if (active) this.element.setAttribute('aria-activedescendant', active.id);
		else this.element.removeAttribute('aria-activedescendant');
	}

	#rowOf(item) {
		const cells = this.#columns.map(([name, , content]) => h(`div.${name}`, { role: 'gridcell' }, content(item)));
		return h('div.row', { role: 'row', id: `${this.#id}-${item.number}`, 'data-number': item.number }, ...cells);
	}

	#onClick(event) {
		const target = event.target;
		const row = target.closest('.row');
		const item = this.#items.find(({ number }) => String(number) === row?.dataset.number);
		if (item === undefined) return;
		const key = target.closest('[data-key]')?.dataset.key;
		this.select(item.number);
		if (key === undefined) this.#events.open(item);
		else this.#events.key(key, item);
	}

	#onKey(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.element) return;
		const at = this.#selected === undefined ? -1 : this.#indexOf(this.#selected);
		const next = this.#moved(event.key, at);
		if (next !== undefined) {
			event.preventDefault();
			const item = this.#items[Math.min(Math.max(next, 0), this.#items.length - 1)];
			if (item === undefined) return;
			this.select(item.number);
			this.#events.select(item);
			return;
		}
		const item = this.#items[at];
		if (item === undefined) return;
		if (event.key === 'Enter') this.#events.open(item);
		else if (!this.#events.key(event.key, item)) return;
		event.preventDefault();
	}

	/** Returns the index to which a key moves the selection. */
	#moved(key, at) {
		const pageSize = Math.max(1, Math.floor(this.element.clientHeight / (this.#rowHeight || 1)) - 2);
		const pages = { PageDown: at + pageSize, PageUp: at - pageSize };
		const lines = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.#items.length - 1 };
		return { ...pages, ...lines }[key];
	}

	/** Scrolls to the selected item: if it is far away, to the middle. */
	#reveal() {
		const at = this.#indexOf(this.#selected);
		if (at < 0) return;
		this.#isAwaited = false;
		const height = this.element.clientHeight - this.element.firstElementChild.offsetHeight;
		const top = at * this.#rowHeight;
		const { scrollTop } = this.element;
		const outside = Math.max(scrollTop - top, top + this.#rowHeight - scrollTop - height);
		if (outside > 2 * this.#rowHeight) this.element.scrollTop = top - height / 2;
		else if (top < scrollTop) this.element.scrollTop = top;
		else if (outside > 0) this.element.scrollTop = scrollTop + outside;
	}
}
