import { expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import { assertPortsFree, freePort, readPorts } from '../../infra/servers/ports.ts';

test('all ports follow from ONCEPOST_PORT', () => {
  expect(readPorts({ ONCEPOST_PORT: '5000' })).toEqual({
    api: 5000, sandbox: 5001, postgres: 5002, temporal: 5003, temporalUi: 5004, temporalHttp: 5005, temporalMetrics: 5006, worker: 5007,
  });
});

test('each port has a setting of its own', () => {
  expect(readPorts({ ONCEPOST_PORT: '5000', ONCEPOST_TEMPORAL_UI_PORT: '8233' })).toMatchObject({ temporal: 5003, temporalUi: 8233 });
});

test.each(['0', '65536', '12.5', 'many'])('%s is refused as a port', (text) => {
  expect(() => readPorts({ ONCEPOST_WORKER_PORT: text })).toThrow('ONCEPOST_WORKER_PORT must be a port');
});

test('one port for two users is refused', async () => {
  const port = String(await freePort());
  const ports = readPorts({ ONCEPOST_PORT: port, ONCEPOST_WORKER_PORT: port });
  await expect(assertPortsFree(ports, ['api', 'worker'], '127.0.0.1')).rejects.toThrow('ONCEPOST_WORKER_PORT');
});

test('every busy port is named with its setting, and a port that is not needed may be busy', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const ports = readPorts({ ONCEPOST_PORT: String(port), ONCEPOST_POSTGRES_PORT: String(port) });
  await expect(assertPortsFree(ports, ['api'], '127.0.0.1')).rejects.toThrow(new RegExp(`Port ${port}.*ONCEPOST_PORT`));
  await expect(assertPortsFree(ports, [], '127.0.0.1')).resolves.toBeUndefined();
  await new Promise((resolve) => server.close(resolve));
});
