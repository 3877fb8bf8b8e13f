import { fill, h } from './dom.js';

/**
 * @param {HTMLElement} root
 * @param {import('./router.js').Context} _context
 */
export function mount(root, _context) {
  fill(root, h('h1', {}, 'Resources'), h('p', { class: 'empty' }, 'This view is not implemented yet.'));
}
