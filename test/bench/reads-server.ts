import Koa from 'koa';
import { createServer, type Server } from 'node:http';
import { createApp } from '../../api/app.ts';
import { createHttpServer } from '../../api/http-server.ts';
import { Infra } from '../../infra/context.ts';
import { recorderOf, type Recorder } from './reads-recorder.ts';

/*
 * Process entry: the product, and beside it a bare Koa handler on the same pool. For each address the bare one runs exactly
 * the statements that the product ran for it, and sends their rows as JSON: what the same SQL costs without guards, checks,
 * presentation and log.
 */

const env = process.env;
const infra = await Infra.open('bench', env);
const recorder = await recorderOf(infra.db);
const product = createHttpServer(createApp(infra).callback());
const bare = createServer(bareApp(recorder).callback());
await listening(product, Number(env.PRODUCT_PORT));
await listening(bare, Number(env.BARE_PORT));

process.once('SIGTERM', () => {
  for (const server of [product, bare]) {
    server.close();
    server.closeAllConnections();
  }
  infra.close().finally(() => process.exit(0));
});

function bareApp({ record, replay }: Recorder): Koa {
  const app = new Koa();
  app.use(async (ctx) => {
    if (ctx.method === 'POST') {
      await record(ctx.url, async () => {
        const answer = await fetch(`http://127.0.0.1:${env.PRODUCT_PORT}${ctx.url}`, { headers: { authorization: ctx.get('authorization') } });
        if (answer.status !== 200) throw new Error(`${ctx.url} answered ${answer.status}: ${await answer.text()}`);
        await answer.text();
      });
      ctx.status = 204;
      return;
    }
    ctx.body = JSON.stringify({ data: await replay(ctx.url) });
    ctx.type = 'application/json';
  });
  return app;
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
}
