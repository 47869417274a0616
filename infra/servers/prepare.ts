import { postgresBinaries } from './postgres-cluster.ts';
import { temporalBinary } from './temporal-binary.ts';

/** Entry of `npm test` before the tests: gets the servers, so that no test waits for a build. */
try {
  await postgresBinaries();
  await temporalBinary(process.env);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
