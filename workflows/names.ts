/** All that other processes may import of workflows. */
export * from '../infra/contract/workflows.ts';
export { PRIORITY, QUEUES } from '../infra/contract/queues.ts';
