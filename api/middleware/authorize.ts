import { ApiError } from '../../infra/contract/errors.ts';
import { IDEMPOTENCY_KEY_PATTERN } from '../../infra/contract/limits.ts';
import type { Caller, RouteSpec } from '../route.ts';
import type { Context } from '../state.ts';
import { validationError } from '../validation/issues.ts';

/** Rows 15 to 18: what the route says about its callers, read from its own data. */
export async function authorize(ctx: Context, next: () => Promise<void>): Promise<void> {
  const route = ctx.state.route as RouteSpec;
  const caller = ctx.state.caller!;
  if (route.liveOnly === true && caller.mode === 'test') throw new ApiError('LIVE_KEY_REQUIRED', 'A test key cannot be used here; send a live key.');
  if (route.testOnly === true && caller.mode === 'live') throw new ApiError('TEST_KEY_REQUIRED', 'This acts on sandbox accounts only; send a test key.');
  requirePermission(route, caller);
  if (route.wholeOrganization === true && caller.workspaceScope !== 'all') {
    throw new ApiError('FORBIDDEN', 'This needs a credential for all workspaces of the organization.', { details: { reason: 'scope_all_required' } });
  }
  takeIdempotencyKey(ctx, route);
  await next();
}

function requirePermission(route: RouteSpec, caller: Caller): void {
  if (caller.permissions.includes(route.permission)) return;
  if (route.permission === 'write') throw new ApiError('FORBIDDEN', 'This credential may only read.', { details: { reason: 'read_only', required_permission: 'write' } });
  throw new ApiError('FORBIDDEN', `This credential has no permission ${route.permission}.`, { details: { reason: 'missing_permission', required_permission: route.permission } });
}

/** Row 18. An empty key is a wrong key, not an absent one. */
function takeIdempotencyKey(ctx: Context, route: RouteSpec): void {
  if (route.method === 'GET' || route.idempotencyKey === 'ignored') return;
  const key = ctx.req.headers['idempotency-key'] as string | undefined;
  if (key === undefined) {
    if (route.idempotencyKey !== 'required') return;
    throw validationError([{ code: 'required', message: 'Idempotency-Key is required here; send one key per logical operation', path: ['Idempotency-Key'], in: 'header' }]);
  }
  if (!IDEMPOTENCY_KEY_PATTERN.test(key)) throw new ApiError('INVALID_IDEMPOTENCY_KEY', 'Idempotency-Key must be 8 to 255 characters of letters, digits and . _ : -');
  ctx.state.idempotencyKey = key;
}
