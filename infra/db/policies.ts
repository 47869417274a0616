const OF_MODE = `organization_id = current_setting('app.org', true) and mode = current_setting('app.mode', true)`;

/** Rows of one organization and mode. */
export const tenantPolicies = (tables: readonly string[]): string => tables.map((table) => tenantPolicy(table, OF_MODE)).join('\n');

export const tenantPolicy = (table: string, condition: string): string => `
  grant select, insert, update, delete on ${table} to oncepost_tenant;
  create policy tenant on ${table} to oncepost_tenant using (${condition}) with check (${condition});
  ${systemPolicy(table)}`;

export const systemPolicy = (table: string): string => `
  alter table ${table} enable row level security;
  alter table ${table} force row level security;
  grant select, insert, update, delete on ${table} to oncepost_system;
  create policy system on ${table} to oncepost_system using (true) with check (true);`;
