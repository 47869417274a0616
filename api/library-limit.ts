import { ApiError } from '../infra/contract/errors.ts';

/** How many there may be. `count` is what there is under a lock, so that two requests cannot both take the last place. */
export function refuseBeyond({ resource, limit }: { resource: string; limit: number }, count: number): void {
  if (count < limit) return;
  throw new ApiError('LIMIT_REACHED', `There are ${limit} of these already, which is the most. Delete one that is not used any more.`, { details: { resource, limit } });
}
