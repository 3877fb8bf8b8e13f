import { h, newId } from './dom.js';

/**
 * @template Item
 * @typedef {object} Column
 * @property {string} name the class of its cells
 * @property {string} label
 * @property {(item: Item) => import('./dom.js').Child | import('./dom.js').Child[]} content
 */

/** The rows that are rendered above and below the visible ones. */
const margin = 8;

/**
 * A table of which only the visible rows are rendered. It is one tab stop: the arrow keys move the selection.
 *
 * @template {{ number: number }} Item
 */
export class Grid {
  /** @type {HTMLElement} */
  element;
  /** @type {readonly Item[]} */
  #items = [];
  #columns;
  #events;
  #body;
  /** @type {Map<number, HTMLElement>} the rendered rows by the number of their item */
  #rows = new Map();
  #rowHeight = 0;
  #id = newId();
  /** @type {number | undefined} the number of the selected item */
  #selected;
  #scheduled = false;

  /**
   * @param {string} label
   * @param {readonly Column<Item>[]} columns
   * @param {{ open: (item: Item) => void, select: (item: Item) => void, key: (key: string, item: Item) => boolean, classOf: (item: Item) => string, nameOf: (item: Item) => string }} events
   */
  constructor(label, columns, events) {
    this.#columns = columns;
    this.#events = events;
    const headings = columns.map((column) =>
      h('div', { role: 'columnheader', class: column.name }, column.label),
    );
    const head = h(
      'div',
      { role: 'rowgroup', class: 'head' },
      h('div', { role: 'row', class: 'row' }, ...headings),
    );
    this.#body = h('div', { role: 'rowgroup', class: 'rows' });
    this.element = h(
      'div',
      { role: 'grid', class: 'grid', tabindex: 0, 'aria-label': label },
      head,
      this.#body,
    );
    this.element.addEventListener('scroll', () => this.#schedule(), { passive: true });
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.#body.addEventListener('click', (event) => this.#onClick(event));
    new ResizeObserver(() => this.#resized()).observe(this.element);
  }

  /** The selected item. */
  get selected() {
    return this.#items.find(({ number }) => number === this.#selected);
  }

  /**
   * Shows other items. Unless the table is scrolled to its top, the visible rows stay where they are.
   *
   * @param {readonly Item[]} items
   */
  show(items) {
    const { scrollTop } = this.element;
    const top = this.#items[Math.floor(scrollTop / (this.#rowHeight || 1))];
    const before = top === undefined ? -1 : this.#indexOf(top.number);
    this.#items = items;
    this.#measure();
    this.element.setAttribute('aria-rowcount', String(items.length + 1));
    this.#body.style.height = `${items.length * this.#rowHeight}px`;
    const after = top === undefined ? -1 : this.#indexOf(top.number);
    if (scrollTop > 0 && after >= 0 && after !== before)
      this.element.scrollTop = scrollTop + (after - before) * this.#rowHeight;
    this.#render(true);
  }

  /** Renders the rows again, because what is shown of an item has changed. */
  refresh() {
    this.#render(true);
  }

  /**
   * Selects an item and scrolls to it.
   *
   * @param {number | undefined} number
   */
  select(number) {
    this.#selected = number;
    const at = number === undefined ? -1 : this.#indexOf(number);
    if (at >= 0) this.#reveal(at);
    this.#render(false);
  }

  /** @param {number} number */
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

  /**
   * Renders the rows that are visible now.
   *
   * @param {boolean} again whether rows that are rendered already may have changed
   */
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
      row.setAttribute('aria-rowindex', String(from + offset + 2));
      row.setAttribute('aria-selected', String(item.number === this.#selected));
    }
    this.#body.append(...added);
    const active = this.#selected !== undefined && this.#rows.get(this.#selected);
    if (active) this.element.setAttribute('aria-activedescendant', active.id);
    else this.element.removeAttribute('aria-activedescendant');
  }

  /** @param {Item} item */
  #rowOf(item) {
    const cells = this.#columns.map(({ name, content }) =>
      h('div', { role: 'gridcell', class: name }, content(item)),
    );
    const row = h(
      'div',
      { role: 'row', class: `row ${this.#events.classOf(item)}`, id: `${this.#id}-${item.number}` },
      ...cells,
    );
    row.dataset['number'] = String(item.number);
    row.setAttribute('aria-label', this.#events.nameOf(item));
    return row;
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const target = /** @type {Element} */ (event.target);
    const row = /** @type {HTMLElement | null} */ (target.closest('.row'));
    const item = this.#items.find(({ number }) => String(number) === row?.dataset['number']);
    if (item === undefined) return;
    const key = /** @type {HTMLElement | null} */ (target.closest('[data-key]'))?.dataset['key'];
    if (key !== undefined) {
      this.#events.key(key, item);
      return;
    }
    this.select(item.number);
    this.#events.open(item);
  }

  /** @param {KeyboardEvent} event */
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

  /**
   * Returns the index to which a key moves the selection.
   *
   * @param {string} key
   * @param {number} at
   */
  #moved(key, at) {
    const pageSize = Math.max(1, Math.floor(this.element.clientHeight / (this.#rowHeight || 1)) - 2);
    /** @type {Record<string, number>} */
    const moves = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? 0 : at - 1,
      PageDown: at + pageSize,
      PageUp: at - pageSize,
    };
    return { ...moves, Home: 0, End: this.#items.length - 1 }[key];
  }

  /** @param {number} at */
  #reveal(at) {
    const head = /** @type {HTMLElement} */ (this.element.firstElementChild).offsetHeight;
    const top = at * this.#rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.#rowHeight + head > scrollTop + clientHeight)
      this.element.scrollTop = top + this.#rowHeight + head - clientHeight;
  }
}
