import { afterAll, beforeAll } from '@jest/globals';
import { Caller } from './caller.ts';
import { System, type Tenant } from './system.ts';

export interface WholeSystem {
  system: System;
  tenant: Tenant;
  caller: Caller;
}

/** Starts the whole system before the tests of a file, with an organization and a client of it, and stops it after them. */
export function useWholeSystem(take: (whole: WholeSystem) => void, settings: Record<string, string> = {}): void {
  let system: System | undefined;
  beforeAll(async () => {
    system = await System.start(settings);
    const tenant = await system.tenant();
    take({ system, tenant, caller: new Caller(system.baseUrl, tenant.testKey) });
  }, 120_000);
  afterAll(() => system?.stop());
}
