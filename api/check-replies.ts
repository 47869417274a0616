import type { AnyRoute } from './route.ts';
import type { RenderedReply } from './rendered-reply.ts';

/** In tests every reply is held against its own schema, so that OpenAPI cannot say something else than the service does. */
export function assertReply(route: AnyRoute, reply: RenderedReply): void {
  const expected = route.replies[reply.status];
  if (expected === undefined) throw new Error(`${route.operationId} answered ${reply.status}, which it does not document`);
  if (reply.fileType !== undefined) {
    if (!('file' in expected)) throw new Error(`${route.operationId} ${reply.status} documents no file and sent one`);
    return;
  }
  if (expected.schema === undefined) {
    if (reply.body !== null) throw new Error(`${route.operationId} ${reply.status} documents no body and sent one`);
    return;
  }
  const { error } = expected.schema.validate(reply.body === null ? undefined : JSON.parse(reply.body.toString()), { abortEarly: false, convert: false, presence: 'required' });
  if (error !== undefined) throw new ReplyMismatch(`${route.operationId} ${reply.status} differs from its schema: ${error.message}`);
}

/** A reply that is not what its route promises. */
export class ReplyMismatch extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReplyMismatch';
  }
}
