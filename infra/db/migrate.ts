import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { pathToFileURL } from 'node:url';
import { Migration20261121090000 } from './migrations/Migration20261121090000.ts';
import { Migration20261121130000 } from './migrations/Migration20261121130000.ts';

const MIGRATIONS = [
  { name: 'Migration20261121090000', class: Migration20261121090000 },
  { name: 'Migration20261121130000', class: Migration20261121130000 },
];

/** The roles that own and use the tables. The login role inherits none of them, so a query outside `inScope()` may touch nothing. */
const ROLES = ['oncepost_owner', 'oncepost_tenant', 'oncepost_system'];
const SCHEMA = 'oncepost';

/**
 * Brings the database to the current schema and returns the names of the migrations that ran.
 * The login role of the URL needs CREATEROLE (or the roles made beforehand) and CREATE on the database. May be repeated and raced.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const orm = await MikroORM.init({
    clientUrl: databaseUrl,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    // What ran is the return value; the library's own progress lines are for nobody.
    logger: () => {},
    pool: { min: 1, max: 1 },
    migrations: { migrationsList: MIGRATIONS, schema: SCHEMA, snapshot: false, allOrNothing: true, transactional: true } as never,
  });
  try {
    const connection = orm.em.getConnection();
    await connection.execute('select pg_advisory_lock(4400, 1)');
    await connection.execute(prepareRoles());
    await connection.execute(`set role oncepost_owner; set search_path to ${SCHEMA}; grant usage on schema ${SCHEMA} to oncepost_tenant, oncepost_system`);
    const ran = await orm.migrator.up();
    return ran.map((one) => one.name);
  } finally {
    await orm.close(true);
  }
}

function prepareRoles(): string {
  const roles = ROLES.map((role) => `
    if not exists (select from pg_roles where rolname = '${role}') then create role ${role} nologin; end if;
    if not pg_has_role(current_user, '${role}', 'SET') then execute format('grant ${role} to %I with inherit false, set true', current_user); end if;`);
  return `do $$ begin ${roles.join('')}
    execute format('grant create on database %I to oncepost_owner', current_database());
    execute format('alter role %I in database %I set search_path to ${SCHEMA}', current_user, current_database());
  end $$;
  grant oncepost_owner to current_user with inherit false, set true;
  create schema if not exists ${SCHEMA} authorization oncepost_owner`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const url = process.env.DATABASE_URL;
  if (url === undefined) throw new Error('DATABASE_URL is required');
  const ran = await migrate(url);
  process.stdout.write(ran.length === 0 ? 'The database is up to date.\n' : `Ran ${ran.join(', ')}.\n`);
}
