import { parseForm } from '../../body.ts';
import { json, type Reply } from '../../reply.ts';
import type { Call } from '../platform.ts';

export const ACCESS_TOKEN_SECONDS = 7_200;
export const SCOPES = ['tweet.read', 'tweet.write', 'users.read', 'media.write', 'offline.access'];

const refusal = (status: number, error: string, error_description: string): Reply => json(status, { error, error_description });

/**
 * POST /2/oauth2/token with `grant_type=refresh_token`. A refresh token works once and is replaced. The pair is committed before the
 * answer, and `refresh_lost` then breaks the connection, which is how the rotated token gets lost in life.
 */
export async function refreshToken(call: Call): Promise<Reply> {
  const form = new Map(parseForm(call.body) ?? []);
  if (form.get('grant_type') !== 'refresh_token') return refusal(400, 'unsupported_grant_type', 'Only refresh_token is offered here.');
  if (!/^basic /i.test(call.headers.authorization ?? '') && !form.has('client_id')) return refusal(401, 'unauthorized_client', 'Missing valid authorization header');
  const invalid = refusal(400, 'invalid_request', 'Value passed for the token was invalid.');
  const given = form.get('refresh_token') ?? '';
  const account = await call.sandbox.accounts.byRefreshToken('twitter', given);
  if (account === null || account.behaviour === 'token_revoked') return invalid;
  const pair = await call.sandbox.accounts.rotate(account, given);
  if (pair === null) return invalid;
  if (account.behaviour === 'refresh_lost') return { ...json(200, {}), lost: true };
  return json(200, { token_type: 'bearer', expires_in: ACCESS_TOKEN_SECONDS, access_token: pair.access, scope: SCOPES.join(' '), refresh_token: pair.refresh });
}
