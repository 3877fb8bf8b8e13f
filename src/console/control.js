import { button, field, fill, h, select } from './dom.js';
import { attemptIn, confirmed, filled, form, input, loadView, memoryPanel, moment, panel, table } from './form.js';
import { longShown, span } from './format.js';

/** The kinds of faults: the label of the kind, that of its value, and an example. */
const kinds = {
	status: ['Respond with a status', 'Status', 503],
	delay: ['Delay the response', 'Milliseconds', 2000],
	dribble: ['Send the content slowly', 'Bytes per second', 10],
	truncate: ['Close within the content', 'Bytes sent', 10],
	reset: ['Reset the connection', 'before, amid, or bytes sent', 'before'],
	close: ['Close the connection without a response'],
	lostAfterActing: ['Response lost after a change'],
	wrongLength: ['Wrong Content-Length', 'Bytes by which it is wrong', 1],
	badChunk: ['Malformed chunk'],
	malformedXml: ['Malformed XML'],
	staleCertificate: ['Expired certificate'],
	rotatedSecret: ['Secret was rotated'],
	expiredToken: ['Token has expired'],
	nonceSeen: ['Nonce was used'],
	skewedDate: ['Clock is ahead', 'Milliseconds', 720_000],
};

/** The time in ms after which the state is read again. */
const pollTime = 5000;

export function mount(root, context) {
	const { api, signal } = context;
	const attempt = attemptIn(context);
	const time = h('output');
	const state = h('p.hint');
	const faults = h('div');
	const removeFaults = () => change(() => api.call('DELETE', '/faults'));
	const removeAll = h('div', confirmed('Remove all faults', 'Remove all planned faults?', removeFaults));
	const snapshots = h('div');
	let clock;
	let read = 0;

	/** Performs a change, reports it, and shows the new state. */
	const change = (act, note) =>
		attempt(async () => {
			await act();
			await load();
		}, note);

	const showTime = () => {
		time.textContent = moment(clock.frozen ? clock.time : clock.time + performance.now() - read);
	};
	const showClock = async () => {
		clock = await api.get('/clock', signal);
		read = performance.now();
		const { skew, frozen } = clock;
		const skewed = skew !== 0 && ` Date is ${span(skew / 1000)} ${skew < 0 ? 'behind' : 'ahead'}.`;
		const isOwn = Math.abs(clock.time - Date.now()) < 1500;
		fill(state, frozen ? 'Frozen.' : `Running${isOwn ? ' with' : ', but not with'} the clock of this browser.`, skewed);
		showTime();
	};

	const showFaults = async () => {
		const { faults: planned } = await api.get('/faults', signal);
		const json = (value) => h('code', longShown(JSON.stringify(value)));
		const rows = planned.map(({ match, fault, remaining, count }) => [json(fault), json(match), remaining, count]);
		const isFocused = faults.contains(document.activeElement);
		fill(
			faults,
			table('planned faults', ['Fault', 'Requests', 'Remaining', 'Applied'], rows, 'No faults are planned.'),
		);
		removeAll.hidden = rows.length === 0;
		if (isFocused) faults.firstChild.focus();
	};

	const showSnapshots = async () => {
		const { snapshots: taken } = await api.get('/snapshot', signal);
		const rows = taken.reverse().map(({ snapshot, time: at }) => {
			const restore = () => change(() => api.post('/restore', { snapshot }), `Snapshot ${snapshot} was restored.`);
			const attributes = { 'aria-label': `Restore snapshot ${snapshot}` };
			return [
				`Snapshot ${snapshot}`,
				moment(at),
				confirmed('Restore', `Restore snapshot ${snapshot}?`, restore, attributes),
			];
		});
		fill(snapshots, table('snapshots', ['Name', 'Taken at', ''], rows, 'There are no snapshots.'));
	};

	const load = () => Promise.all([showClock(), showFaults(), showSnapshots()]);

	const clockPanel = () => {
		const steer = (operation, content) => change(() => api.post(`/clock/${operation}`, content));
		const by = input({ value: '11m', required: true, class: 'short' });
		const to = input({ placeholder: '2026-03-01T12:00:00Z', required: true });
		const skew = input({ value: '-5m', required: true, class: 'short' });
		const quick = ['-1h', '-1m', '1m', '11m', '1h', '24h'].map((each) => {
			const length = each.replace('-', '');
			const isBack = each !== length;
			const label = `${isBack ? '−' : '+'}${length}`;
			const name = `${isBack ? 'Set back' : 'Advance'} by ${label}`;
			return button(label, () => steer('advance', { by: each }), { 'aria-label': name });
		});
		const skewBy = () => (Number(skew.value) === 0 ? 0 : skew.value);
		return panel(
			'Clock',
			h('p.clock-face', time),
			state,
			h(
				'div.actions',
				quick,
				button('Freeze', () => steer('freeze', {})),
				button('Follow the host', () => steer('follow')),
			),
			h(
				'div.forms',
				form('Advance', [field('By', by, 'Such as 90s, 11m or -24h.')], () => steer('advance', { by: by.value })),
				form('Set', [field('To', to)], () => steer('set', { to: to.value })),
				form('Skew', [field('Skew of Date', skew, '0 removes it.')], () => steer('skew', { by: skewBy() })),
			),
		);
	};

	const faultPanel = () => {
		const value = input({ required: true, class: 'short' });
		const valueField = field('Value', value);
		const adapt = () => {
			const [, label, initial = ''] = kinds[kind.value];
			valueField.hidden = value.disabled = label === undefined;
			valueField.firstChild.textContent = label;
			value.value = initial;
		};
		const options = Object.entries(kinds).map(([name, [label]]) => [name, label]);
		const kind = select(options, { onchange: adapt });
		const method = input({ placeholder: 'any', class: 'short' });
		const path = input({ placeholder: 'any' });
		const user = input({ placeholder: 'any' });
		const times = input({ value: '1', pattern: '[1-9][0-9]*|always', class: 'short' });
		adapt();
		const numberIn = (text) => (/^-?\d+$/.test(text) ? Number(text) : text);
		const plan = () => {
			const fault = { [kind.value]: value.disabled || numberIn(value.value) };
			const planned = { match: filled({ method, path, user }), fault, times: numberIn(times.value) };
			return change(() => api.post('/faults', planned), 'The fault is planned.');
		};
		const matched = [field('Method', method), field('Path', path, 'Such as /articles/{id}.'), field('User', user)];
		const controls = [field('Fault', kind), valueField, ...matched, field('Times', times, 'A number, or always.')];
		return panel('Faults', form('Plan fault', controls, plan, { class: 'primary' }), faults, removeAll);
	};

	const noncePanel = () => {
		const count = input({ type: 'number', min: 1, value: '1', required: true, class: 'short' });
		const burn = () =>
			attempt(() => api.post('/nonces/burn', { times: Number(count.value) }), `The next nonces count as used.`);
		return panel(
			'Nonces',
			h('p.hint', 'The next nonces count as used, so valid requests are refused as replays.'),
			form('Burn nonces', [field('Number', count)], burn),
		);
	};

	const statePanel = (server) => {
		const reset = () => change(() => api.post('/reset'), 'The server is as at its start.');
		return memoryPanel(
			'State',
			server,
			h(
				'p.hint',
				'A snapshot contains items, users, tokens, nonces, routes, faults, the journal and the clock. Reset restores all of them as at the start.',
			),
			h(
				'div.actions',
				button('Take snapshot', () => change(() => api.post('/snapshot'))),
				confirmed('Reset', 'Restore the state at the start?', reset),
			),
			snapshots,
		);
	};

	const seedPanel = (collections) => {
		const path = input({ list: 'collections', required: true, value: collections[0]?.path });
		const items = h('textarea', { rows: 5, required: true, spellcheck: 'false' }, '[\n  \n]');
		const seed = () =>
			attempt(async () => api.post('/seed', { [path.value]: JSON.parse(items.value) }), 'The items were added.');
		const paths = collections.map((each) => h('option', { value: each.path }));
		const itemsField = field('Items', items, 'A JSON array, as in the configuration.');
		const controls = [h('datalist', { id: 'collections' }, paths), field('Collection', path), itemsField];
		return panel('Seed', form('Add items', controls, seed));
	};

	const start = async () => {
		const [server, { collections }] = await Promise.all([context.server(), api.get('/collections', signal)]);
		const panels = [clockPanel(), faultPanel(), statePanel(server), seedPanel(collections), noncePanel()];
		for (const each of panels.slice(0, 2)) each.classList.add('wide');
		await load();
		fill(root, h('h1', 'Control'), h('div.panels', panels));
		const poll = () => void Promise.all([showClock(), showFaults()]).catch(() => {});
		const timers = [setInterval(showTime, 500), setInterval(poll, pollTime)];
		signal.addEventListener('abort', () => timers.forEach(clearInterval));
	};
	void loadView(context, root, 'Control', 'the clock, faults and snapshots', start);
}
