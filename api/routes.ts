import { accountRoutes } from './resources/accounts/accounts.routes.ts';
import { operationRoutes } from './resources/operations/operations.routes.ts';
import { postRoutes } from './resources/posts/posts.routes.ts';
import { sandboxRoutes } from './resources/sandbox/sandbox.routes.ts';
import type { AnyRoute } from './route.ts';

/** The resources of the service. */
export const ROUTES: readonly AnyRoute[] = [...accountRoutes, ...postRoutes, ...operationRoutes, ...sandboxRoutes];
