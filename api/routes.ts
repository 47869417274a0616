import { accountRoutes } from './resources/accounts/accounts.routes.ts';
import { contentTemplateRoutes } from './resources/content-templates/content-templates.routes.ts';
import { operationRoutes } from './resources/operations/operations.routes.ts';
import { postRoutes } from './resources/posts/posts.routes.ts';
import { postTagRoutes } from './resources/posts/tags.routes.ts';
import { queueRoutes } from './resources/queue/queue.routes.ts';
import { sandboxRoutes } from './resources/sandbox/sandbox.routes.ts';
import { signatureRoutes } from './resources/signatures/signatures.routes.ts';
import { tagRoutes } from './resources/tags/tags.routes.ts';
import type { AnyRoute } from './route.ts';

/** The resources of the service. */
export const ROUTES: readonly AnyRoute[] = [
  ...accountRoutes, ...postRoutes, ...postTagRoutes, ...operationRoutes, ...contentTemplateRoutes, ...signatureRoutes, ...tagRoutes, ...queueRoutes, ...sandboxRoutes,
];
