import type { Infra } from '../infra/context.ts';
import type { Outbound } from '../infra/http/outbound.ts';
import type { Provider } from '../providers/provider.ts';
import type { Platform } from '../infra/contract/platforms.ts';

/** What activities stand on; handed in once, when the worker is made. */
export interface ActivityDeps {
  infra: Infra;
  outbound: Outbound;
  providers: Partial<Record<Platform, Provider>>;
}
