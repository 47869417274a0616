export { publishPost } from './publish-post.ts';
export { reconcileOperation } from './reconcile-operation.ts';
