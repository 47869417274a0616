import type { Credential, ProviderRequest } from '../provider.ts';

export function authorized(work: { credential: Credential }, request: ProviderRequest): ProviderRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${work.credential['accessToken'] ?? ''}`, accept: 'application/json' } };
}

/** `media_upload_2` → 2 */
export function mediaNumber(stepName: string): number {
  return Number(stepName.slice(stepName.lastIndexOf('_') + 1));
}
