import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { resolve } = createRequire(import.meta.url);
const { resolve: resolveClient } = createRequire(new URL('../clients/package.json', import.meta.url));

/** Returns the reason for skipping a test if a package of test/package.json is not installed; false if it is. */
export function missingPackage(name: string): string | false {
  return isFound(name, resolve) ? false : `${name} is missing: npm ci --prefix test`;
}

/** Returns the reason for skipping a test if a client of test/clients/package.json is not installed; false if it is. */
export function missingClient(name: string): string | false {
  return isFound(name, resolveClient) ? false : `${name} is missing: npm ci --prefix test/clients`;
}

function isFound(name: string, find: (name: string) => string): boolean {
  try {
    find(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the path of a module of such a package. */
export function resolvePackage(specifier: string): string {
  return resolve(specifier);
}

/** Imports a module of such a package. TypeScript does not resolve it, so that the types do not require the package. */
export function importPackage(specifier: string) {
  return import(resolve(specifier));
}

/** Imports a client of test/clients/package.json. */
export function importClient(name: string) {
  return import(pathToFileURL(resolveClient(name)).href);
}
