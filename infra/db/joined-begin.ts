/** A connection as the driver makes it. */
interface Connection {
  query(...given: unknown[]): unknown;
}

const IS_BEGIN = /^(?:begin|start transaction\b[^;]*)$/i;
const IS_SCOPE = /^select set_config\('role',/;
const IS_END = /^(?:commit|rollback)$/i;

/** Begins a statement after which its transaction has nothing more to say: the end travels with it. */
export const ALONE = '/* alone */';

/**
 * Sends the words that open every transaction, `begin` and its scope, together with its first statement: one round trip
 * in place of three. What the first statement answers is the answer of all; if one of them fails, the transaction has failed.
 */
export function joinBegin(connection: Connection): void {
  const send = connection.query.bind(connection);
  let opening: string[] = [];
  let hasEnded = false;
  connection.query = (...given: unknown[]) => {
    const [text, values] = given;
    const isAwaited = typeof given.at(-1) !== 'function';
    const isOpening = typeof text === 'string' && isAwaited && (opening.length === 0 ? IS_BEGIN.test(text) : IS_SCOPE.test(text));
    if (isOpening) {
      opening.push(text);
      return Promise.resolve({ command: 'BEGIN', rowCount: null, rows: [] });
    }
    if (hasEnded && typeof text === 'string' && IS_END.test(text)) {
      hasEnded = false;
      return Promise.resolve({ command: 'COMMIT', rowCount: null, rows: [] });
    }
    if (opening.length === 0) return send(...given);
    const first = opening.join('; ');
    opening = [];
    if (typeof text === 'string' && IS_END.test(text)) return Promise.resolve({ command: 'COMMIT', rowCount: null, rows: [] });
    // With values, or as a cursor, a statement travels alone.
    const travelsAlone = typeof text !== 'string' || (Array.isArray(values) && values.length > 0);
    if (travelsAlone) return (send(first) as Promise<unknown>).then(() => send(...given));
    if (!text.startsWith(ALONE)) return (send(`${first}; ${text}`) as Promise<unknown[]>).then((results) => results.at(-1));
    return (send(`${first}; ${text}; commit`) as Promise<unknown[]>).then((results) => {
      hasEnded = true;
      return results.at(-2);
    });
  };
}
