/** Longer texts are not aligned character by character: rows times columns of the table. */
const mostCells = 1_000_000;
/** Fewer equal characters between differences are a coincidence. */
const shortest = 3;

/** Aligns two texts. Returns the segments of each: `same`, `changed`, or a `gap` where it lacks characters of the other. */
export function differ(one, other) {
	const runs = aligned(one, other);
	const segment = (text, same) => ({ kind: same ? 'same' : text === '' ? 'gap' : 'changed', text });
	return {
		one: runs.map(([same, left]) => segment(left, same)),
		other: runs.map(([same, , right]) => segment(right, same)),
	};
}

/** Returns runs of characters: whether they are equal, and those of each text. */
function aligned(left, right) {
	let start = 0;
	while (start < left.length && left[start] === right[start]) start += 1;
	let [leftEnd, rightEnd] = [left.length, right.length];
	while (leftEnd > start && rightEnd > start && left[leftEnd - 1] === right[rightEnd - 1]) {
		leftEnd -= 1;
		rightEnd -= 1;
	}
	const runs = [];
	add(runs, true, left.slice(0, start), left.slice(0, start));
	alignMiddle(runs, left.slice(start, leftEnd), right.slice(start, rightEnd));
	add(runs, true, left.slice(leftEnd), left.slice(leftEnd));
	const joined = [];
	for (const [at, [same, one, other]] of runs.entries())
		add(joined, same && (one.length >= shortest || at === 0 || at === runs.length - 1), one, other);
	return joined;
}

/** Adds the runs of a longest common subsequence. */
function alignMiddle(runs, left, right) {
	const [rows, columns] = [left.length, right.length];
	if (rows * columns > mostCells) return add(runs, false, left, right);
	const lengths = new Uint16Array((rows + 1) * (columns + 1));
	const index = (row, column) => row * (columns + 1) + column;
	const skipsLeft = (row, column) => lengths[index(row + 1, column)] >= lengths[index(row, column + 1)];
	for (let row = rows - 1; row >= 0; row -= 1)
		for (let column = columns - 1; column >= 0; column -= 1) {
			const [down, aside] = [lengths[index(row + 1, column)], lengths[index(row, column + 1)]];
			const isSame = left[row] === right[column];
			lengths[index(row, column)] = isSame ? lengths[index(row + 1, column + 1)] + 1 : Math.max(down, aside);
		}
	let [row, column] = [0, 0];
	while (row < rows && column < columns)
		if (left[row] === right[column]) add(runs, true, left[row++], right[column++]);
		else if (skipsLeft(row, column)) add(runs, false, left[row++], '');
		else add(runs, false, '', right[column++]);
	add(runs, false, left.slice(row), right.slice(column));
}

function add(runs, same, left, right) {
	if (left === '' && right === '') return;
	const last = runs.at(-1);
	if (last?.[0] === same) runs.splice(-1, 1, [same, last[1] + left, last[2] + right]);
	else runs.push([same, left, right]);
}
