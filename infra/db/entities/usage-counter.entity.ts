import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { integer, mode, text } from './columns.ts';

/** Units used in one UTC calendar month (`2026-11`): the sum of its shards. */
export const UsageCounterEntity = defineEntity({
  name: 'UsageCounter',
  tableName: 'usage_counter',
  properties: {
    organizationId: text().primary(),
    mode: mode().primary(),
    period: text().primary(),
    shard: integer().primary(),
    units: integer(),
  },
});
export type UsageCounter = InferEntity<typeof UsageCounterEntity>;
