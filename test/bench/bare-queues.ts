/** As many queues as the product has on the path of a post. */
export const BARE_QUEUES = { workflows: 'bench-core', activities: 'bench-providers' } as const;
