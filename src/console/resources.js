import { button, field, fill, h, select, setOptions } from './dom.js';
import { attemptIn, form, input, loadView, moment, panel, table } from './form.js';
import { indented, longShown } from './format.js';

/** The number of items of a page. */
const page = 20;

export function mount(root, context) {
	const { api, signal } = context;
	const attempt = attemptIn(context);
	const collection = select([]);
	const parameters = h('div.controls');
	const schema = h('div');
	const items = h('div.items', { 'aria-live': 'polite' });
	let collections = [];
	let users = [];

	const chosen = () => collections.find(({ path }) => path === collection.value);

	const showCollection = async () => {
		const { path, access, fields, createWithPut, schemes } = chosen();
		const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name);
		const given = names.map((name) =>
			field(name, input({ name, list: 'names', required: true, value: users[0]?.name })),
		);
		fill(parameters, ...given);
		const rules = Object.entries(access).map(([method, rule]) =>
			h('li', h('strong', method), ' ', [rule].flat().join(', ')),
		);
		const facts = [
			`PUT ${createWithPut ? 'creates' : 'does not create'} items`,
			schemes && `accepts ${schemes.join(', ')}`,
		];
		const rows = rowsOf(fields, '');
		fill(
			schema,
			h(
				'ul.facts',
				...rules,
				facts.filter(Boolean).map((fact) => h('li', fact)),
			),
			table('fields', ['Field', 'Type', 'Required', 'Rules'], rows, 'The items have no fields.'),
		);
		fill(items);
		await showItems(0);
	};

	const showItems = (after) =>
		attempt(async () => {
			const values = Object.fromEntries(
				[...parameters.querySelectorAll('input')].map(({ name, value }) => [name, value]),
			);
			const path = chosen().path.replace(/\{([^{}]*)\}/g, (_, name) => encodeURIComponent(values[name]));
			const listed = await api.post('/items', { collection: path, after, limit: page }, signal);
			if (after === 0) fill(items);
			items.querySelector('.more-items')?.remove();
			items.append(...listed.items.map(cardOf));
			if (listed.items.length === 0) fill(items, h('p.hint', `${path} has no items.`));
			const last = listed.items.at(-1)?.sequence;
			if (listed.more) items.append(button('Show more items', () => showItems(last), { class: 'more-items' }));
		});

	const load = async () => {
		const [listed, known] = await Promise.all([api.get('/collections', signal), api.get('/users', signal)]);
		collections = listed.collections;
		users = known.users;
		setOptions(
			collection,
			collections.map(({ path }) => [path, path]),
		);
		fill(
			root,
			h('h1', 'Resources'),
			h(
				'datalist',
				{ id: 'names' },
				users.map(({ name }) => h('option', { value: name })),
			),
			panel(
				'Collections',
				collections.length === 0
					? h('p.hint', 'This server has no collections.')
					: form('Show items', [field('Collection', collection), parameters], () => showItems(0)),
				schema,
				h('h3', 'Items'),
				items,
			),
		);
		collection.addEventListener('change', showCollection);
		if (collections.length > 0) await showCollection();
	};
	void loadView(context, root, 'Resources', 'the collections', load);
}

/** Returns a row for each field, its attributes and its own fields. */
function rowsOf(fields, prefix) {
	return fields.flatMap(({ name, type, required, rules, attributes = [], fields: inner = [] }) => {
		const texts = Object.entries(rules).map(([rule, value]) => `${rule} ${[value].flat().join(' | ')}`);
		const row = [h('code', prefix + name), type, required ? 'yes' : 'no', texts.join(', ')];
		return [row, ...rowsOf(attributes, `${prefix}${name} @`), ...rowsOf(inner, `${prefix}${name} / `)];
	});
}

/** Returns an item in both formats, side by side. */
function cardOf({ path, revision, modified, xml, json, tags }) {
	const formatted = (label, text, type, tag) =>
		h(
			'figure',
			h('figcaption', h('strong', label), ' ETag: ', h('code', tag)),
			h(
				'pre.wire',
				{ tabindex: 0, role: 'region', 'aria-label': `${label} of ${path}` },
				longShown(indented(text, type)),
			),
		);
	return h(
		'article.item',
		h('h4', longShown(path)),
		h('ul.facts', h('li', `revision ${revision}`), h('li', `modified ${moment(modified)}`)),
		h(
			'div.pair',
			formatted('XML', xml, 'application/xml', tags.xml),
			formatted('JSON', json, 'application/json', tags.json),
		),
	);
}
