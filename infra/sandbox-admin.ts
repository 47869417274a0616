import { createHash } from 'node:crypto';
import { ApiError } from './contract/errors.ts';
import type { SandboxBehaviour } from './contract/statuses.ts';
import type { Config } from './config/config.ts';
import type { Secrets } from './config/secrets.ts';

export interface SandboxAccount {
  id: string;
  organization_id: string;
  platform: string;
  platform_account_id: string;
  username: string;
  display_name: string | null;
  behaviour: SandboxBehaviour;
  generation: number;
  accessToken: string;
  refreshToken: string | null;
}

const TIMEOUT_MS = 5_000;

/** Our side of the sandbox's administration: it is a program of its own, reached over HTTP with a shared secret. */
export function sandboxAdmin(infra: { config: Pick<Config, 'sandbox'>; secrets: Pick<Secrets, 'sandboxSecret'> }) {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${infra.config.sandbox.url}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${infra.secrets.sandboxSecret}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    }).catch((cause: unknown) => {
      throw new ApiError('SERVICE_UNAVAILABLE', 'The sandbox is not reachable. Send the request again in a moment.', { headers: { 'Retry-After': '2' }, cause });
    });
    if (response.status === 404) return null as T;
    if (!response.ok) throw new ApiError('SERVICE_UNAVAILABLE', 'The sandbox could not do that now. Send the request again in a moment.', { headers: { 'Retry-After': '2' } });
    const text = await response.text();
    return (text === '' ? null : JSON.parse(text)) as T;
  };
  return {
    putAccount: ({ accessToken, refreshToken, id, ...rest }: SandboxAccount) =>
      call<void>('PUT', `/accounts/${id}`, { ...rest, access_token_sha256: sha256(accessToken), refresh_token_sha256: refreshToken === null ? null : sha256(refreshToken) }),
    setBehaviour: (id: string, behaviour: SandboxBehaviour) => call<void>('PATCH', `/accounts/${id}`, { behaviour }),
    removeAccount: (id: string) => call<void>('DELETE', `/accounts/${id}`),
    read: <T>(path: string) => call<T | null>('GET', path),
    reset: <T>(body: unknown) => call<T>('POST', '/reset', body),
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
