import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { flag, id, instant, integer, json, mode, text } from './columns.ts';

export interface QueueSlot {
  /** 0 = Sunday. */
  day_of_week: number;
  /** `HH:MM`. */
  time: string;
  timezone: string;
}

export const QueueScheduleEntity = defineEntity({
  name: 'QueueSchedule',
  tableName: 'queue_schedule',
  properties: {
    id: id(),
    organizationId: text(),
    mode: mode(),
    /** null = the organization's. */
    workspaceId: text().nullable(),
    name: text().nullable(),
    slots: json<QueueSlot[]>(),
    isDefault: flag(),
    revision: integer(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
export type QueueSchedule = InferEntity<typeof QueueScheduleEntity>;
