/** @typedef {{ kind: 'same' | 'changed' | 'gap', text: string }} Segment */

/** The most cells of the table by which characters are aligned. Longer texts differ as a whole between their ends. */
const mostCells = 1_000_000;
/** Equal characters between differences that are too few to be more than a coincidence. */
const shortest = 3;

/**
 * Aligns two texts. Returns the segments of each: equal characters, characters that the other does not have there, and gaps where
 * it lacks characters of the other.
 */
export function differ(one, other) {
	/** @type {{ one: object[], other: object[] }} */
	const segments = { one: [], other: [] };
	for (const { same, left, right } of aligned(one, other)) {
		if (same) {
			segments.one.push({ kind: 'same', text: left });
			segments.other.push({ kind: 'same', text: right });
		} else {
			segments.one.push({ kind: left === '' ? 'gap' : 'changed', text: left });
			segments.other.push({ kind: right === '' ? 'gap' : 'changed', text: right });
		}
	}
	return segments;
}

/** Cuts `text` where the pieces of `model` end, as far as the two correspond. */
export function splitLike(text, model, pieces) {
	const runs = aligned(text, model);
	const cuts = [];
	let end = 0;
	for (const piece of pieces) {
		end += piece.length;
		cuts.push(positionOf(end, runs));
	}
	cuts[cuts.length - 1] = text.length;
	return cuts.map((cut, at) => text.slice(at === 0 ? 0 : (cuts[at - 1] ?? 0), cut));
}

/** Returns the position in the left text that corresponds to `end` in the right one. */
function positionOf(end, runs) {
	let [leftAt, rightAt] = [0, 0];
	for (const { same, left, right } of runs) {
		if (rightAt + right.length > end) return leftAt + (same ? end - rightAt : Math.min(end - rightAt, left.length));
		leftAt += left.length;
		rightAt += right.length;
		// Equal characters end here; a difference that follows belongs to this piece only if it adds characters.
		if (rightAt === end && same) return leftAt;
	}
	return leftAt;
}

/** @typedef {{ same: boolean, left: string, right: string }} Run */

function aligned(left, right) {
	let start = 0;
	while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
	let tail = 0;
	const room = Math.min(left.length, right.length) - start;
	while (tail < room && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail += 1;
	const between = middle(left.slice(start, left.length - tail), right.slice(start, right.length - tail));
	const head = { same: true, left: left.slice(0, start), right: left.slice(0, start) };
	const end = left.slice(left.length - tail);
	return joined([head, ...between, { same: true, left: end, right: end }]);
}

/** Aligns by a longest common subsequence. */
function middle(left, right) {
	const [rows, columns] = [left.length, right.length];
	if (rows === 0 || columns === 0 || rows * columns > mostCells) return [{ same: false, left, right }];
	const width = columns + 1;
	const lengths = new Uint16Array((rows + 1) * width);
	const at = (row, column) => lengths[row * width + column] ?? 0;
	for (let row = rows - 1; row >= 0; row -= 1)
		for (let column = columns - 1; column >= 0; column -= 1)
			lengths[row * width + column] =
				left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
	const runs = [];
	let [row, column] = [0, 0];
	while (row < rows || column < columns) {
		const [one = '', other = ''] = [left[row], right[column]];
		if (row < rows && column < columns && one === other) {
			runs.push({ same: true, left: one, right: other });
			row += 1;
			column += 1;
		} else if (column >= columns || (row < rows && at(row + 1, column) >= at(row, column + 1))) {
			runs.push({ same: false, left: one, right: '' });
			row += 1;
		} else {
			runs.push({ same: false, left: '', right: other });
			column += 1;
		}
	}
	return runs;
}

/** Joins neighbouring runs, and takes a few equal characters between differences as different. */
function joined(runs) {
	const merged = merge(runs);
	const last = merged.length - 1;
	return merge(
		merged.map((run, at) =>
			run.same && at > 0 && at < last && run.left.length < shortest ? { ...run, same: false } : run,
		),
	);
}

function merge(runs) {
	const merged = [];
	for (const run of runs) {
		const last = merged.at(-1);
		if (run.left === '' && run.right === '') continue;
		if (last?.same === run.same)
			merged[merged.length - 1] = {
				same: run.same,
				left: last.left + run.left,
				right: last.right + run.right,
			};
		else merged.push(run);
	}
	return merged;
}
