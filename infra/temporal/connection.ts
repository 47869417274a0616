import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

export interface TemporalSettings {
  address: string;
  namespace: string;
  connectionOptions: Record<string, unknown>;
}

/** Names as the Temporal tools know them: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_… */
export function readTemporalSettings(source: NodeJS.ProcessEnv): TemporalSettings {
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: source as Record<string, string> });
  return { address: connectionOptions.address ?? '127.0.0.1:7233', namespace: namespace ?? 'default', connectionOptions: connectionOptions as Record<string, unknown> };
}

/**
 * Lazy: a process starts and accepts work while Temporal is away. No retries of the library's own: the outbox repeats what
 * matters, and a retry's timer that outlives the connection throws where nobody can catch it, which ends the process.
 */
export function connectTemporal(settings: TemporalSettings): { client: Client; connection: Connection } {
  const connection = Connection.lazy({ ...settings.connectionOptions, address: settings.address, interceptors: [] });
  return { connection, client: new Client({ connection, namespace: settings.namespace }) };
}
