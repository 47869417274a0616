import type { Infra } from '../../../infra/context.ts';
import { ApiError } from '../../../infra/contract/errors.ts';
import { sandboxAdmin } from '../../../infra/sandbox-admin.ts';

/** Asks the sandbox for something that is always there. Not found then means that it is another program, or away. */
export async function ask<T>(infra: Infra, path: string, query?: URLSearchParams): Promise<T> {
  const answer = await sandboxAdmin(infra).read<T>(query === undefined ? path : `${path}?${query.toString()}`);
  if (answer === null) throw sandboxAway();
  return answer;
}

export function sandboxAway(cause?: unknown): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', 'The sandbox is not reachable. Send the request again in a moment.', { headers: { 'Retry-After': '2' }, cause });
}
