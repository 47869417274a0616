import { complaintOf } from './replies.ts';
import type { AccountView, ApplicationCredential, Credential, Endpoints, ProviderHttp, RefreshAnswer } from '../provider.ts';

export interface RefreshWork {
  account: AccountView;
  credential: Credential;
  endpoints: Endpoints;
  application: ApplicationCredential | null;
}

/**
 * The refresh token is used up by its use, and the answer carries the next one. So a lost answer may lose the connection:
 * the old token may be tried once more, by whoever calls, and then a person must connect again.
 */
export async function refresh({ credential, endpoints, application }: RefreshWork, http: ProviderHttp): Promise<RefreshAnswer> {
  const token = credential['refreshToken'];
  if (token === undefined) return { kind: 'refused', error: { code: 'TOKEN_EXPIRED', platformCode: null, platformMessage: null } };
  const form: Record<string, string> = { grant_type: 'refresh_token', refresh_token: token };
  const headers: Record<string, string> = { accept: 'application/json' };
  if (application !== null && application.clientSecret !== null) headers['authorization'] = `Basic ${basic(application.clientId, application.clientSecret)}`;
  else if (application !== null) form['client_id'] = application.clientId;
  const answer = await http.request({ method: 'POST', url: `${endpoints['api'] ?? ''}/2/oauth2/token`, headers, form });
  const { status, json } = answer;
  if (status === 200 && typeof json?.access_token === 'string' && json.access_token !== '') {
    const next = typeof json.refresh_token === 'string' ? json.refresh_token : token;
    return { kind: 'renewed', credential: { ...credential, accessToken: json.access_token, refreshToken: next }, expiresAt: expiryOf(json.expires_in) };
  }
  const code = typeof json?.error === 'string' ? json.error : (complaintOf(answer)?.platformCode ?? null);
  if (![400, 401, 403].includes(status) || code === null) return { kind: 'unclear' };
  const message = typeof json?.error_description === 'string' ? json.error_description : null;
  return { kind: 'refused', error: { code: 'TOKEN_EXPIRED', platformCode: code, platformMessage: message } };
}

function expiryOf(seconds: unknown): Date | null {
  return typeof seconds === 'number' && seconds > 0 ? new Date(Date.now() + seconds * 1_000) : null;
}

function basic(id: string, secret: string): string {
  return Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64');
}
