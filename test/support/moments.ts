import type { System } from './system.ts';
import type { Tap, Tapped, Verdict } from './tcp-proxy.ts';
import type { WholeSystem } from './whole-system.ts';

/** The windows in which a process may die, between acceptance and the end of the workflow. */
export type Window = 'before the claim' | 'after the claim' | 'after the send' | 'with the answer' | 'before the settling' | 'after the settling';

interface Hold {
  window: Window;
  reached: (connection: Tapped) => void;
}

/** The scope that every transaction takes first. Not `begin`: the length before it on the wire may read as a letter of its word. */
const OPENING = /select set_config\('role',/;

/** Statements that only the claim, and only the settling, of an operation has. */
const CLAIM = /update "?operation"? set [^;]*"claim_token" = /;
const SETTLE = /update "?operation"? set [^;]*?"settled_by" = /;

/**
 * Stops carriers of operations at exact moments: what PostgreSQL is asked to commit is read on the wire, and so is what
 * the platform answers. Whoever is held stays so until its process dies or it is released.
 */
export class Moments {
  readonly #holds = new Map<string, Hold>();
  readonly #seen: Tapped[] = [];
  readonly #answered = new Set<string>();

  constructor(system: System) {
    system.databaseProxy.tap = this.#database;
    system.sandboxProxy.tap = this.#sandbox;
  }

  /** Resolves when the carrier of this operation stands in the window. */
  hold(operationId: string, window: Window): Promise<Tapped> {
    return new Promise((resolve) => {
      this.#holds.set(operationId, { window, reached: resolve });
    });
  }

  /** Lets everybody go who is still connected. */
  release(): void {
    this.#holds.clear();
    for (const connection of this.#seen.splice(0)) connection.release();
  }

  readonly #stop = (operationId: string, connection: Tapped): Verdict => {
    const hold = this.#holds.get(operationId);
    if (hold === undefined) return 'pass';
    this.#holds.delete(operationId);
    this.#seen.push(connection);
    hold.reached(connection);
    return 'hold';
  };

  readonly #database: Tap = ({ direction, bytes, connection }) => {
    const { notes } = connection;
    if (direction === 'to_client') return typeof notes.committing === 'string' ? this.#stop(notes.committing, connection) : 'pass';
    const text = bytes.toString('latin1');
    if (OPENING.test(text)) Object.assign(notes, { said: '', committing: undefined });
    const said = `${typeof notes.said === 'string' ? notes.said : ''}${text}`.slice(-200_000);
    notes.said = said;
    // The answer is in the carrier's hands, and it has not asked for a lock yet.
    const answered = [...this.#answered].find((id) => text.includes(id) && this.#holds.get(id)?.window === 'with the answer');
    if (answered !== undefined) return this.#stop(answered, connection);
    if (!/\bcommit\b/i.test(text)) return 'pass';
    const held = [...this.#holds].find(([id, hold]) => said.includes(id) && (hold.window.endsWith('claim') ? CLAIM : SETTLE).test(said));
    if (held === undefined) return 'pass';
    const [id, { window }] = held;
    if (window === 'before the claim' || window === 'before the settling') return this.#stop(id, connection);
    if (window === 'after the claim' || window === 'after the settling') notes.committing = id;
    return 'pass';
  };

  readonly #sandbox: Tap = ({ direction, bytes, connection }) => {
    const { notes } = connection;
    if (direction === 'to_server') {
      const trace = /x-oncepost-trace: (op_[0-9a-f]{32});publish;/i.exec(bytes.toString('latin1'))?.[1];
      if (trace !== undefined) notes.operation = trace;
      return 'pass';
    }
    const id = notes.operation;
    if (typeof id === 'string') this.#answered.add(id);
    return typeof id === 'string' && this.#holds.get(id)?.window === 'after the send' ? this.#stop(id, connection) : 'pass';
  };
}

/** A post whose carrier on the account was caught in the window. The worker stands still until it is known which one to catch. */
export async function caught({ system, caller }: Pick<WholeSystem, 'system' | 'caller'>, accountId: string, window: Window, body: { content: string; targets?: string[] }): Promise<{ post: any; operationId: string; held: Tapped }> {
  const moments = new Moments(system);
  system.worker.signal('SIGSTOP');
  const post = await caller.publish({ targets: [accountId], ...body });
  const operationId: string = post.targets[accountId].accounts[0].operation_id;
  const reached = moments.hold(operationId, window);
  system.worker.signal('SIGCONT');
  return { post, operationId, held: await reached };
}
