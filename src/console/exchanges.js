import { button, field, fill, h, select, setOptions } from './dom.js';
import { ExchangePane } from './exchange.js';
import { Feed } from './feed.js';
import { clockTime, duration, statusClass, stepNames, visible } from './format.js';
import { Grid } from './grid.js';

/**
 * @typedef {import('./router.js').Context} Context
 * @typedef {import('./feed.js').Summary} Summary
 */

/**
 * Shows the table of exchanges, and beside it one exchange if the address has its number.
 *
 * @param {HTMLElement} root
 * @param {Context} context
 * @returns {import('./router.js').MountedView}
 */
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

const statusChoices = [
  ['', 'Any'],
  ['2', '2xx'],
  ['3', '3xx'],
  ['4', '4xx'],
  ['5', '5xx'],
  ['0', 'No response'],
];

/** Filters that offer the values that occur: their label, and the value of an entry. */
const valueFilters = /** @type {const} */ ([
  ['method', 'Method'],
  ['user', 'User'],
  ['problem', 'Problem'],
]);

class ExchangesView {
  #context;
  #feed;
  #grid;
  #pane;
  #root;
  /** Entries up to this number are not shown, because the table was cleared. */
  #cleared = 0;
  /** The latest number when the table was paused. */
  #paused = Number.POSITIVE_INFINITY;
  /** @type {Set<number>} */
  #pinned = new Set();
  /** @type {Map<Summary, string>} the text in which a filter searches */
  #texts = new Map();
  #status = h('p', { class: 'count', role: 'status' });
  #empty = h('div', { class: 'empty' });
  #text = /** @type {HTMLInputElement} */ (
    h('input', { type: 'search', placeholder: 'Search', 'aria-keyshortcuts': '/' })
  );
  #path = /** @type {HTMLInputElement} */ (
    h('input', { type: 'search', placeholder: '/articles/{id}', size: 14 })
  );
  #statusFilter = select(/** @type {[string, string][]} */ (statusChoices));
  /** @type {Record<string, HTMLSelectElement>} */
  #selects = {};
  #pause = button('Pause', () => this.#togglePause(), { 'aria-pressed': 'false' });

  /**
   * @param {HTMLElement} root
   * @param {Context} context
   */
  constructor(root, context) {
    this.#root = root;
    this.#context = context;
    for (const [name] of valueFilters) this.#selects[name] = select([['', 'Any']]);
    this.#feed = new Feed(context.api, context.signal, () => this.#changed());
    this.#grid = new Grid('Exchanges, the latest first', this.#columns(), {
      open: ({ number }) => context.go(`/exchanges/${number}`),
      select: ({ number }) => this.#follow(number),
      key: (key, entry) => this.#onRowKey(key, entry),
      classOf: (entry) => (this.#pinned.has(entry.number) ? 'pinned' : ''),
      nameOf,
    });
    this.#pane = new ExchangePane(context, () => this.#close());
    root.classList.add('exchanges');
    fill(
      root,
      h('h1', { class: 'visually-hidden' }, 'Exchanges'),
      h(
        'section',
        { class: 'list', 'aria-label': 'All exchanges' },
        this.#toolbar(),
        this.#grid.element,
        this.#empty,
      ),
      this.#pane.element,
    );
    document.addEventListener('keydown', (event) => this.#onKey(event), { signal: context.signal });
    this.#showEmpty([]);
    void this.#feed.follow();
  }

  /** @param {Context} context */
  open({ parameters: { number, tab } }) {
    const chosen = number === undefined ? undefined : Number(number);
    this.#root.classList.toggle('opened', chosen !== undefined);
    this.#grid.select(chosen);
    this.#pane.show(chosen, tab);
    if (chosen !== undefined && this.#isStacked()) this.#pane.focus();
  }

  /** Whether the exchange covers the table. */
  #isStacked() {
    return getComputedStyle(this.#grid.element).visibility === 'hidden';
  }

  #close() {
    this.#context.go('/exchanges');
    this.#root.classList.remove('opened');
    this.#grid.element.focus();
  }

  /**
   * Shows another exchange while the selection moves, without an entry in the history for each.
   *
   * @param {number} number
   */
  #follow(number) {
    if (this.#root.classList.contains('opened')) location.replace(`#/exchanges/${number}`);
  }

  #columns() {
    /** @param {import('./grid.js').Column<Summary>} column */
    const column = (column) => column;
    return [
      column({ name: 'pin', label: '', content: ({ number }) => this.#pinButton(number) }),
      column({ name: 'number', label: '#', content: ({ number }) => number }),
      column({ name: 'time', label: 'Time', content: ({ time }) => clockTime(time) }),
      column({ name: 'method', label: 'Method', content: ({ method }) => visible(method || '(unparsable)') }),
      column({ name: 'target', label: 'Target', content: ({ target }) => visible(target.slice(0, 300)) }),
      column({ name: 'user', label: 'User', content: ({ user }) => visible((user ?? '').slice(0, 100)) }),
      column({ name: 'scheme', label: 'Scheme', content: ({ scheme }) => visible(scheme ?? '') }),
      column({ name: 'status', label: 'Status', content: (entry) => statusBadge(entry) }),
      column({
        name: 'step',
        label: 'Step',
        content: ({ step }) =>
          h('span', { title: step === undefined ? 'A fault' : stepNames[step] }, step ?? 'fault'),
      }),
      column({ name: 'problem', label: 'Problem', content: problemOf }),
      column({ name: 'duration', label: 'Duration', content: ({ duration: ms }) => duration(ms) }),
    ];
  }

  /** @param {number} number */
  #pinButton(number) {
    const pinned = this.#pinned.has(number);
    const label = pinned ? `Unpin #${number}` : `Pin #${number} to the top`;
    const element = button(pinned ? '★' : '☆', () => {}, {
      tabindex: -1,
      'aria-label': label,
      title: `${label} (p)`,
    });
    element.dataset['key'] = 'p';
    return element;
  }

  #toolbar() {
    const filters = valueFilters.map(([name, label]) =>
      field(label, /** @type {HTMLElement} */ (this.#selects[name])),
    );
    const all = [
      field('Search', this.#text),
      filters[0],
      field('Path', this.#path),
      filters[1],
      field('Status', this.#statusFilter),
      filters[2],
    ];
    const controls = [this.#text, this.#path, this.#statusFilter, ...Object.values(this.#selects)];
    for (const control of controls) control.addEventListener('input', () => this.#apply());
    const filterBar = h('div', { class: 'filters', role: 'search' }, ...all);
    const toggle = button(
      'Filters',
      () => toggle.setAttribute('aria-expanded', String(filterBar.classList.toggle('open'))),
      { class: 'filters-toggle', 'aria-expanded': 'false' },
    );
    return h(
      'div',
      { class: 'toolbar' },
      filterBar,
      h(
        'div',
        { class: 'actions' },
        this.#status,
        toggle,
        this.#pause,
        button('Clear', () => this.#clear(), {
          title: 'Empties this table. Pinned exchanges stay, and so does the journal.',
        }),
        this.#menu(),
      ),
    );
  }

  /** The menu of what concerns the journal itself. */
  #menu() {
    const { api } = this.#context;
    const remove = button('Delete all entries…', () => {
      if (remove.dataset['sure'] === undefined) {
        remove.dataset['sure'] = '';
        remove.textContent = 'Delete them for everyone?';
        return;
      }
      void this.#attempt(async () => {
        await api.call('DELETE', '/journal');
        this.#context.notify('The journal is empty.');
      });
      menu.removeAttribute('open');
    });
    const items = [
      button('Download as JSON', () => this.#download('/journal', 'journal.json')),
      button('Download as HAR', () => this.#download('/journal.har', 'journal.har')),
      remove,
    ];
    const menu = h(
      'details',
      { class: 'menu' },
      h('summary', {}, 'Journal'),
      h('div', { class: 'items' }, ...items),
    );
    menu.addEventListener('toggle', () => {
      delete remove.dataset['sure'];
      remove.textContent = 'Delete all entries…';
    });
    menu.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !menu.hasAttribute('open')) return;
      event.stopPropagation();
      menu.removeAttribute('open');
      menu.querySelector('summary')?.focus();
    });
    return menu;
  }

  /**
   * @param {string} path
   * @param {string} name
   */
  #download(path, name) {
    return this.#attempt(async () => {
      const content = await this.#context.api.get(path);
      const url = URL.createObjectURL(
        new Blob([JSON.stringify(content, null, 1)], { type: 'application/json' }),
      );
      h('a', { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    });
  }

  /** @param {() => Promise<void>} act */
  async #attempt(act) {
    try {
      await act();
    } catch (error) {
      this.#context.notify(error instanceof Error ? error.message : String(error), 'error');
    }
  }

  #togglePause() {
    const isPaused = this.#paused !== Number.POSITIVE_INFINITY;
    this.#paused = isPaused ? Number.POSITIVE_INFINITY : (this.#feed.entries.at(-1)?.number ?? 0);
    this.#pause.setAttribute('aria-pressed', String(!isPaused));
    this.#pause.textContent = isPaused ? 'Pause' : 'Resume';
    this.#apply();
  }

  #clear() {
    this.#cleared = this.#feed.entries.at(-1)?.number ?? 0;
    this.#apply();
  }

  /**
   * @param {string} key
   * @param {Summary} entry
   */
  #onRowKey(key, { number }) {
    if (key !== 'p') return false;
    if (!this.#pinned.delete(number)) this.#pinned.add(number);
    this.#apply();
    return true;
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(/** @type {Element} */ (event.target).tagName);
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.#text.focus();
      this.#text.select();
    } else if (event.key === 'Escape' && event.target === this.#text) this.#grid.element.focus();
    else if (event.key === 'Escape' && this.#root.classList.contains('opened')) this.#close();
  }

  #changed() {
    const { entries } = this.#feed;
    const latest = entries.at(-1)?.number ?? 0;
    // The numbers begin again after a reset.
    if (latest < this.#cleared) this.#cleared = 0;
    if (this.#texts.size > 2 * entries.length + 1000) this.#texts.clear();
    for (const [name] of valueFilters) {
      const element = this.#selects[name];
      const values = [...new Set(entries.map((entry) => entry[name] ?? ''))]
        .filter((value) => value !== '')
        .sort();
      if (element === undefined || element.dataset['values'] === values.join('\n')) continue;
      element.dataset['values'] = values.join('\n');
      setOptions(element, [
        ['', 'Any'],
        ...values.map((value) => /** @type {const} */ ([value, value.slice(0, 40)])),
      ]);
    }
    this.#apply();
  }

  /** Shows the entries that the filters accept: pinned ones first, then the latest first. */
  #apply() {
    const accepts = this.#filter();
    const pinned = [];
    const others = [];
    for (const entry of this.#feed.entries) {
      if (this.#pinned.has(entry.number)) pinned.push(entry);
      else if (entry.number > this.#cleared && entry.number <= this.#paused && accepts(entry))
        others.push(entry);
    }
    const shown = [...pinned.reverse(), ...others.reverse()];
    this.#grid.show(shown);
    const waiting = this.#feed.entries.filter(({ number }) => number > this.#paused).length;
    const total = this.#feed.entries.length;
    const counted = `${shown.length === total ? '' : `${shown.length} of `}${total} exchange${total === 1 ? '' : 's'}`;
    fill(this.#status, `${counted}${this.#paused === Number.POSITIVE_INFINITY ? '' : ` · ${waiting} new`}`);
    this.#showEmpty(shown);
  }

  /** @returns {(entry: Summary) => boolean} */
  #filter() {
    const text = this.#text.value.trim().toLowerCase();
    const path = pathTest(this.#path.value.trim());
    const status = this.#statusFilter.value;
    const values = valueFilters.map(
      ([name]) => /** @type {const} */ ([name, this.#selects[name]?.value ?? '']),
    );
    return (entry) =>
      values.every(([name, value]) => value === '' || entry[name] === value) &&
      (status === '' || Math.floor((entry.status ?? 0) / 100) === Number(status)) &&
      path(entry.target) &&
      (text === '' || this.#textOf(entry).includes(text));
  }

  /** @param {Summary} entry */
  #textOf(entry) {
    let text = this.#texts.get(entry);
    if (text === undefined) {
      const { number, method, target, user, scheme, status, problem } = entry;
      text = [`#${number}`, method, target, user, scheme, status, problem].join(' ').toLowerCase();
      this.#texts.set(entry, text);
    }
    return text;
  }

  /** @param {readonly Summary[]} shown */
  #showEmpty(shown) {
    this.#empty.hidden = shown.length > 0;
    if (shown.length > 0) return;
    if (!this.#feed.loaded) fill(this.#empty, h('p', {}, 'Loading…'));
    else if (this.#feed.entries.some(({ number }) => number > this.#cleared))
      fill(
        this.#empty,
        h('p', {}, 'No exchange matches.'),
        button('Reset the filters', () => this.#resetFilters()),
      );
    else {
      fill(this.#empty, h('p', {}, 'No requests yet. They appear here as the server responds to them.'));
      void this.#context.server().then(
        ({ url }) => url !== undefined && this.#empty.append(h('code', {}, `curl ${url}/`)),
        () => {},
      );
    }
  }

  #resetFilters() {
    for (const element of [this.#text, this.#path, this.#statusFilter, ...Object.values(this.#selects)])
      element.value = '';
    this.#apply();
    this.#text.focus();
  }
}

/**
 * Returns a test of a target: a template such as `/articles/{id}` is compared with the path, other text is searched for.
 *
 * @param {string} wanted
 * @returns {(target: string) => boolean}
 */
function pathTest(wanted) {
  if (wanted === '') return () => true;
  const pathOf = (/** @type {string} */ target) => target.replace(/[?#].*$/s, '');
  if (!wanted.includes('{')) return (target) => pathOf(target).includes(wanted);
  const parts = wanted.split(/\{[^}]*\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = new RegExp(`^${parts.join('[^/]+')}$`);
  return (target) => pattern.test(pathOf(target));
}

/** @param {Summary} entry */
function statusBadge({ status, aborted }) {
  const title = aborted ? 'The client disconnected before the response was sent' : undefined;
  return h('span', { class: `badge ${statusClass(status)}`, title }, status ?? 'none', aborted && ' ⚡');
}

/** @param {Summary} entry */
function problemOf({ problem, fault }) {
  return [fault && h('span', { class: 'tag' }, 'fault'), problem ?? ''];
}

/** @param {Summary} entry */
function nameOf({ number, method, target, user, status, problem }) {
  const parts = [
    `#${number}`,
    method || 'unparsable request',
    target.slice(0, 200),
    user && `by ${user}`,
    status ?? 'no response',
    problem,
  ];
  return parts.filter(Boolean).join(', ');
}
