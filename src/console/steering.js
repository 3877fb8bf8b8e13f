import { fill, h } from './dom.js';

export function mount(root, _context) {
	fill(root, h('h1', 'Steering'), h('p.empty', 'This view is not implemented yet.'));
}
