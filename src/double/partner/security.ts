// Turns the security schemes of a document into schemes that are verified, and the requirements of its operations into access rules.

import { DeclarationError } from '../../collections/fields/error.ts';
import { isToken } from '../../http/syntax/token.ts';
import type { GrantType } from '../../oauth/clients.ts';
import { type OAuth2Paths, oauth2Paths } from '../../oauth/paths.ts';
import type { Access } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import { builtInSchemes, namedSchemes } from '../../schemes/configured-schemes.ts';
import type { SchemeDeclaration, SchemeDeclarations } from '../../schemes/scheme-declarations.ts';
import type { AcceptedSchemes } from '../../schemes/verifier.ts';
import { describeKind } from '../../shape/fault.ts';
import type { Operation, PartnerDocument, Requirement } from './document.ts';
import { formatPlace, isObject, type Located } from './located.ts';

/** What an operation requires of the sender. */
export interface OperationAccess {
  readonly access: Access;
  /** The schemes that are accepted, by alternative; an empty one for no credentials, which comes last. */
  readonly schemes: AcceptedSchemes;
  /** The scopes that a token needs: all of one of these lists. */
  readonly scopes?: readonly (readonly Scope[])[];
}

/** The security of a document. */
export interface PartnerSecurity {
  /** The schemes of the option, and those of the document that are not built in. */
  readonly schemes: SchemeDeclarations;
  /** The scopes that the document names. */
  readonly scopes: readonly Scope[];
  /** The paths of endpoints of OAuth 2.0 in the document, each with that of the double. */
  readonly endpoints: ReadonlyMap<string, string>;
  /** What is not verified as the document says, one sentence each. */
  readonly warnings: readonly string[];
  /** Why operations cannot be served: nothing verifies what they require. */
  readonly faults: ReadonlyMap<Operation, DeclarationError>;
  /** Why no request can be accepted by some operations, one sentence each. */
  readonly unreachable: readonly string[];
  /** The client that has to be registered, so that these operations can be called; undefined if none has to. */
  readonly neededClient: NeededClient | undefined;
  /** The schemes that verify what the document declares, by its names. */
  readonly schemeNames: ReadonlyMap<string, string>;
  /** Returns what an operation requires. */
  accessOf(operation: Operation): OperationAccess;
}

/** The registration of a client that can obtain the tokens that a document requires, apart from its secret. */
export interface NeededClient {
  readonly grants: readonly GrantType[];
  readonly redirectUris?: readonly string[];
  readonly scopes?: readonly Scope[];
}

/** The options of a double that decide about security. */
export interface SecurityOptions {
  readonly schemes?: SchemeDeclarations | undefined;
  /** Whether clients of OAuth 2.0 are registered. Bearer tokens are then theirs. */
  readonly hasClients: boolean;
  /** The paths of the endpoints of OAuth 2.0. Default: those below `/oauth2`. */
  readonly paths?: Partial<OAuth2Paths> | undefined;
}

/**
 * Reads the security of a document. An operation with a scheme that cannot be verified has a fault with the place.
 */
export function readSecurity(
  document: PartnerDocument,
  { schemes: given = {}, hasClients, paths = {} }: SecurityOptions,
): PartnerSecurity {
  const security = new Security(document, given, hasClients);
  const access = new Map<Operation, OperationAccess>();
  const faults = new Map<Operation, DeclarationError>();
  for (const operation of document.operations)
    try {
      access.set(operation, security.accessOf(operation));
    } catch (error) {
      if (!(error instanceof DeclarationError)) throw error;
      faults.set(operation, error);
    }
  const neededClient = security.neededClient();
  return {
    schemes: { ...given, ...Object.fromEntries(security.declared) },
    scopes: [...security.scopes],
    endpoints: listEndpoints(document, { ...oauth2Paths, ...paths }),
    faults,
    warnings: security.warnings,
    unreachable: [...security.unreachable].map((names) => describeMissingClient(names, neededClient)),
    neededClient,
    schemeNames: security.schemeNames,
    accessOf: (operation) => access.get(operation) ?? { access: 'nobody', schemes: [] },
  };
}

class Security {
  /** The schemes that were made from the document, by their names in the configuration. */
  readonly declared = new Map<string, SchemeDeclaration>();
  readonly scopes = new Set<Scope>();
  readonly warnings: string[] = [];
  /** The names of the schemes, in quotes, whose tokens nobody can obtain. */
  readonly unreachable = new Set<string>();
  readonly schemeNames = new Map<string, string>();
  readonly #document: PartnerDocument;
  readonly #given: SchemeDeclarations;
  readonly #hasClients: boolean;
  /** The names by what they declare: two schemes of a document with the same credentials are one. */
  readonly #names = new Map<string, string>();

  constructor(document: PartnerDocument, given: SchemeDeclarations, hasClients: boolean) {
    this.#document = document;
    this.#given = given;
    this.#hasClients = hasClients;
  }

  accessOf({ security, at }: Operation): OperationAccess {
    const alternatives: (readonly string[])[] = [];
    const scopes: (readonly Scope[])[] = [];
    const faults: DeclarationError[] = [];
    for (const requirement of security) {
      for (const list of requirement.values()) for (const scope of list) this.scopes.add(scope);
      if (requirement.size === 0) continue;
      try {
        const names = this.#schemesFor(requirement, at);
        alternatives.push(names);
        if (names.includes('bearer')) scopes.push([...requirement.values()].flat());
      } catch (error) {
        if (!(error instanceof DeclarationError)) throw error;
        faults.push(error);
      }
    }
    const [fault] = faults;
    const isOptional = security.length === 0 || security.some(({ size }) => size === 0);
    if (fault !== undefined && alternatives.length === 0 && !isOptional) throw fault;
    for (const { message } of faults) if (!this.warnings.includes(message)) this.warnings.push(message);
    const needsToken = alternatives.every((names) => names.includes('bearer'));
    if (!this.#hasClients && !isOptional && needsToken) this.unreachable.add(quoteNames(security));
    return {
      access: isOptional ? 'anyone' : 'authenticated',
      schemes: isOptional ? [...alternatives, []] : alternatives,
      ...(scopes.length > 0 && { scopes }),
    };
  }

  /** Returns the names of the schemes that verify the credentials of a requirement, which are required together. */
  #schemesFor(requirement: Requirement, at: string): readonly string[] {
    const names = [...requirement.keys()];
    const joined = names.join('.');
    if (Object.hasOwn(this.#given, joined)) return [joined];
    const pair = this.#pairOf(names);
    if (pair !== undefined) return [this.#declare(joined, pair)];
    const verified = names.map((name) => [name, this.#named(name, at)] as const);
    for (const [name, scheme] of verified) this.schemeNames.set(name, scheme);
    const schemes = [...new Set(verified.map(([, scheme]) => scheme))];
    if (schemes.filter((name) => this.#isInAuthorization(name)).length < 2) return schemes;
    throw new DeclarationError(
      'value',
      formatPlace(at, 'security'),
      `requires ${names.join(' and ')} together, and a request has one field Authorization; define a scheme with the name ${JSON.stringify(joined)} in the option schemes`,
    );
  }

  #isInAuthorization(name: string): boolean {
    const { secret } = { secret: undefined, ...this.declared.get(name) };
    return ['basic', 'bearer', 'hmac'].includes(name) || isAuthorization(secret);
  }

  #isKey(name: string): boolean {
    return (
      !Object.hasOwn(this.#given, name) &&
      this.#document.securitySchemes.get(name)?.value['type'] === 'apiKey'
    );
  }

  /** Returns the client that is missing: for programs if the document has that flow, else for logins of users. */
  neededClient(): NeededClient | undefined {
    if (this.unreachable.size === 0) return undefined;
    const scopes = this.scopes.size > 0 && { scopes: [...this.scopes] };
    const flows = [...this.#document.securitySchemes.values()].flatMap(({ value }) =>
      isObject(value['flows']) ? Object.keys(value['flows']) : [],
    );
    if (flows.includes('clientCredentials')) return { grants: ['client_credentials'], ...scopes };
    return {
      grants: ['authorization_code', 'refresh_token'],
      redirectUris: ['http://localhost:3000/callback'],
      ...scopes,
    };
  }

  /** Returns the scheme of two keys of which one is in a field: that is the name of the user or of its key. */
  #pairOf(names: readonly string[]): SchemeDeclaration | undefined {
    if (names.length !== 2 || !names.every((name) => this.#isKey(name))) return undefined;
    const places = names.map((name) => this.#document.securitySchemes.get(name)?.value ?? {});
    const user = places.find((place) => place['in'] === 'header' && isField(place['name']));
    const other = places.find((place) => place !== user);
    const secret = other && placeOfKey(other);
    return user === undefined || secret === undefined || typeof user['name'] !== 'string'
      ? undefined
      : { user: { field: user['name'] }, secret };
  }

  #named(name: string, from: string): string {
    if (Object.hasOwn(this.#given, name)) return name;
    const scheme = this.#document.securitySchemes.get(name);
    if (scheme === undefined)
      throw new DeclarationError(
        'name',
        formatPlace(from, 'security'),
        `there is no security scheme ${JSON.stringify(name)}`,
      );
    const { type } = scheme.value;
    if (type === 'oauth2' || type === 'openIdConnect') {
      this.#addScopes(scheme);
      return 'bearer';
    }
    if (type === 'http') return this.#http(name, scheme);
    if (scheme.value['x-amazon-apigateway-authtype'] === 'awsSigv4') return this.#aws4(name, scheme);
    if (type !== 'apiKey') throw unsupported(name, scheme, `the type ${shown(type)}`);
    const secret = placeOfKey(scheme.value);
    if (secret === undefined) {
      const { in: place, name: key } = scheme.value;
      throw unsupported(name, scheme, `a key in ${shown(place)} with the name ${shown(key)}`);
    }
    return isAuthorization(secret) && this.#hasClients ? 'bearer' : this.#declare(name, { secret });
  }

  /** Returns the configured scheme of AWS, which documents of API Gateway describe as a key in Authorization. */
  #aws4(name: string, { at }: Located): string {
    if (Object.hasOwn(this.#given, 'aws4')) return 'aws4';
    throw new DeclarationError(
      'value',
      at,
      `${JSON.stringify(name)} is AWS Signature Version 4; configure its region and service: schemes: { aws4: { region, service } }`,
    );
  }

  #http(name: string, scheme: Located): string {
    const kind = String(scheme.value['scheme']).toLowerCase();
    if (kind === 'basic') return 'basic';
    if (kind === 'bearer') return this.#bearer(name);
    throw unsupported(name, scheme, `the HTTP scheme ${shown(scheme.value['scheme'])}`);
  }

  /** Returns the scheme of bearer tokens: those of OAuth 2.0 if there are clients, otherwise the secrets of users. */
  #bearer(name: string): string {
    return this.#hasClients ? 'bearer' : this.#declare(name, { secret: { authorization: 'Bearer' } });
  }

  #declare(name: string, declaration: SchemeDeclaration): string {
    const key = JSON.stringify(declaration);
    const existing = this.#names.get(key);
    if (existing !== undefined) return existing;
    const plain = name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 50) || 'key';
    const reserved = [...builtInSchemes, ...namedSchemes];
    const isTaken = (each: string): boolean =>
      reserved.includes(each.toLowerCase()) || Object.hasOwn(this.#given, each) || this.declared.has(each);
    const free = [
      plain,
      `partner-${plain}`,
      ...Array.from({ length: 100 }, (_, index) => `${plain}-${index + 2}`),
    ];
    const chosen = free.find((each) => !isTaken(each)) ?? plain;
    this.#names.set(key, chosen);
    this.declared.set(chosen, declaration);
    return chosen;
  }

  #addScopes({ value }: Located): void {
    const flows = isObject(value['flows']) ? Object.values(value['flows']) : [];
    for (const flow of flows)
      if (isObject(flow) && isObject(flow['scopes']))
        for (const scope of Object.keys(flow['scopes'])) this.scopes.add(scope);
  }
}

function quoteNames(security: readonly Requirement[]): string {
  const names = new Set(security.flatMap((requirement) => [...requirement.keys()]));
  return [...names].map((name) => JSON.stringify(name)).join(', ');
}

function describeMissingClient(names: string, client: NeededClient | undefined): string {
  const at = formatPlace('#/components', 'securitySchemes');
  const option = JSON.stringify({ app: { secret: 'a long secret of app', ...client } });
  return `${at}: ${names} requires tokens of OAuth 2.0, and no clients are registered, so nobody can call operations with it: add one, such as clients: ${option}, or a scheme with this name in schemes`;
}

function placeOfKey({ in: place, name }: Located['value']) {
  if (typeof name !== 'string' || !isToken(name)) return undefined;
  if (place === 'query') return /^[\w.~-]+$/.test(name) ? { query: name } : undefined;
  if (place === 'cookie') return { cookie: name };
  if (place !== 'header') return undefined;
  return /^(?:authentication|cookie|host)$/i.test(name) ? undefined : { field: name };
}

/** Returns whether a place is in Authorization: a scheme's, or the whole field. */
function isAuthorization(place: unknown): boolean {
  if (!isObject(place)) return false;
  const { field } = place;
  return 'authorization' in place || (typeof field === 'string' && field.toLowerCase() === 'authorization');
}

function isField(name: unknown): boolean {
  return (
    typeof name === 'string' && isToken(name) && !/^(?:authorization|authentication|cookie|host)$/i.test(name)
  );
}

function unsupported(name: string, { at }: Located, what: string): DeclarationError {
  return new DeclarationError(
    'value',
    at,
    `has ${what}, which the double does not verify; define a scheme with the name ${JSON.stringify(name)} in the option schemes`,
  );
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : describeKind(value);
}

/**
 * Returns the paths of the endpoints of OAuth 2.0 in the document, with those of the double. A path that is configured is served by the
 * double alone.
 */
function listEndpoints(
  { securitySchemes }: PartnerDocument,
  paths: OAuth2Paths,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (url: unknown, own: string): void => {
    if (typeof url !== 'string' || !URL.canParse(url, 'http://localhost')) return;
    const { pathname } = new URL(url, 'http://localhost');
    if (pathname !== '/' && (pathname !== own || Object.values(oauth2Paths).includes(own)))
      found.set(pathname, own);
  };
  for (const { value } of securitySchemes.values()) {
    if (value['type'] === 'openIdConnect') add(value['openIdConnectUrl'], paths.metadata);
    for (const flow of isObject(value['flows']) ? Object.values(value['flows']) : []) {
      if (!isObject(flow)) continue;
      add(flow['authorizationUrl'], paths.authorize);
      add(flow['tokenUrl'], paths.token);
      add(flow['refreshUrl'], paths.token);
    }
  }
  return found;
}
