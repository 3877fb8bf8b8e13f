import { fill, h } from './dom.js';

/**
 * @param {HTMLElement} root
 * @param {import('./router.js').Context} _context
 */
export function mount(root, _context) {
  fill(root, h('h1', {}, 'Exchanges'), h('p', { class: 'empty' }, 'No requests yet.'));
}
