import type { Credential, Endpoints, ProviderRequest } from '../provider.ts';

/** A request to the account's own instance. `path` begins with a slash. */
export function onInstance(work: { credential: Credential; endpoints: Endpoints }, path: string, more: Omit<ProviderRequest, 'method' | 'url'> & { method?: ProviderRequest['method'] } = {}): ProviderRequest {
  const { method = 'GET', headers, ...rest } = more;
  return { method, url: `${work.endpoints['instance'] ?? ''}${path}`, ...rest, headers: { ...headers, authorization: `Bearer ${work.credential['accessToken'] ?? ''}`, accept: 'application/json' } };
}
