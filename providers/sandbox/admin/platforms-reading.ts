import { PLAYED } from '../platforms/index.ts';
import { json } from '../reply.ts';
import type { AdminHandler } from './admin-call.ts';

/** The platforms that are played, with what connecting an account would have yielded. */
export const playedPlatforms: AdminHandler = ({ sandbox }) => json(200, {
  data: [...PLAYED.values()].map((platform) => ({ platform: platform.name, ...platform.connected(sandbox.settings.url) })),
});
