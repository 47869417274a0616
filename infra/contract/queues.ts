/** `core`: workflows and database activities. `providers`: calls out. */
export const QUEUES = { core: 'core', providers: 'providers' } as const;

/** The fairness key is the organization; a lower number goes first. */
export const PRIORITY = { now: 2, scheduled: 3, bulk: 4 } as const;
