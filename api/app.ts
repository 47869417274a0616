import Koa from 'koa';
import type { Infra } from '../infra/context.ts';
import { Lifecycle } from './lifecycle.ts';
import { authenticate } from './middleware/authenticate.ts';
import { authorize } from './middleware/authorize.ts';
import { readBody } from './middleware/body-limit.ts';
import { delivery } from './middleware/delivery.ts';
import { errorBoundary } from './middleware/error-boundary.ts';
import { refuseAmbiguous, refuseBrokenPath, refuseLongTarget, refuseWhileDraining } from './middleware/framing.ts';
import { corsHeaders, preflight, securityHeaders } from './middleware/headers.ts';
import { publicReply } from './middleware/public-reply.ts';
import { requestId } from './middleware/request-id.ts';
import { unitOfWork } from './middleware/unit-of-work.ts';
import { validate } from './middleware/validate.ts';
import { mount } from './mount.ts';
import { documentRoute } from './openapi.ts';
import { metaRoutes } from './resources/meta/meta.routes.ts';
import type { AnyRoute } from './route.ts';
import { ROUTES } from './routes.ts';
import type { RequestState } from './state.ts';

export interface AppOptions {
  lifecycle?: Lifecycle;
  /** Holds every reply against its schema; a difference is a 500. On in tests. */
  checkReplies?: boolean;
  /** Of a buffered body. */
  bodyTimeoutMs?: number;
}

/** The order of checks that the contract gives (decisions.md 0.1), from the outside in; the numbers are its rows. Rows 1 and 2 are the HTTP server's. */
export function createApp(infra: Infra, routes: readonly AnyRoute[] = ROUTES, options: AppOptions = {}): Koa<RequestState> {
  const { lifecycle = new Lifecycle(), checkReplies = infra.config.checkReplies } = options;
  const all = [...metaRoutes(infra, lifecycle), documentRoute(routes), ...routes];
  const app = new Koa<RequestState>();
  app.use(requestId({ log: infra.log, lifecycle })); //          4
  app.use(delivery);
  app.use(securityHeaders(infra.config)); //                     4
  app.use(corsHeaders(infra.config)); //                         4
  app.use(errorBoundary({ log: infra.log }));
  app.use(refuseAmbiguous); //                                   3
  app.use(refuseWhileDraining(lifecycle)); //                    5
  app.use(refuseLongTarget); //                                  6
  app.use(preflight(infra.config)); //                           7
  app.use(refuseBrokenPath); //                                  8
  app.use(mount(all, { //                                        9, 10
    public: [publicReply({ infra, checkReplies })],
    credential: [
      authenticate(infra), //                                   11–14
      authorize, //                                             15–18
      readBody({ timeoutMs: options.bodyTimeoutMs }), //        19–24
      validate(infra), //                                       27, answered after 25
      unitOfWork({ infra, checkReplies }), //                   25, and 26 to 35 in the handler
    ],
  }));
  return app;
}
