import { nearestUriDifference } from '../../http/uri-difference.ts';
import type { OAuth2Settings } from '../oauth2-options.ts';
import type { Reason } from '../reasons.ts';
import { formatScope } from '../scopes.ts';
import { OAuthError } from './oauth-error.ts';

/** The parameters that name the audience of a token: that of RFC 8707, and the one that older servers use. */
export const resourceParameters: readonly string[] = ['resource', 'audience'];

type ResourceSettings = Pick<OAuth2Settings, 'resources' | 'ignoresResources'>;

/** The error of an unknown audience (RFC 8707 §2). */
export const unknownTarget = 'The resource is not one that this service issues tokens for.';

/** Returns why the requested audience is refused; undefined if it is known, or none is requested. */
export function audienceReason(
  values: ReadonlyMap<string, string>,
  { resources, ignoresResources }: ResourceSettings,
): Reason | undefined {
  const requested = requestedAudience(values);
  if (ignoresResources || requested === undefined || resources.includes(requested)) return undefined;
  const known = resources.length === 0 ? 'none is known' : `known: ${formatScope(resources)}`;
  return {
    check: 'resource',
    hint: `the resource ${requested} is not known; ${known}${nearestUriDifference(requested, resources)}`,
  };
}

/** Returns the requested audience; undefined if none is. Throws an OAuthError (invalid_target) if it is unknown. */
export function readAudience(
  values: ReadonlyMap<string, string>,
  settings: ResourceSettings,
): readonly string[] | undefined {
  const reason = audienceReason(values, settings);
  if (reason !== undefined) throw new OAuthError('invalid_target', unknownTarget, [], reason);
  const requested = requestedAudience(values);
  return requested === undefined || settings.ignoresResources ? undefined : [requested];
}

function requestedAudience(values: ReadonlyMap<string, string>): string | undefined {
  return values.get('resource') ?? values.get('audience');
}
