import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { ConnectFailed, Stopped, transportErrorOf } from './failure.ts';
import { recordDispatch, TripRecorder } from './trip.ts';
import { ClaimLost, GuardRefusal, TransportFailure, type PartialAnswer, type Trip } from './types.ts';

export type Claim = () => Promise<boolean | Date>;
type Controller = Dispatcher.DispatchController;

export interface Wire {
  origin: string;
  path: string;
  method: string;
  headers: Record<string, string>;
  body: Buffer | AsyncIterable<Buffer> | null;
}

/** Takes the answer as it comes. May throw `Stopped`. */
export interface Reader {
  start(status: number, headers: Record<string, string>): void;
  data(chunk: Buffer): void | Promise<void>;
  partial(): PartialAnswer | null;
}

/** One request and its answer: the deadline over all of it, the gate before the first byte, the trip. Used once. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #recorder = new TripRecorder();
  readonly #done = Promise.withResolvers<Trip>();
  readonly #reader: Reader;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.#stop(new Stopped('aborted'));
  #deadline: Date;
  #timer: NodeJS.Timeout | undefined;
  #controller: Controller | null = null;
  #stopped: Error | null = null;
  #claiming = false;
  #finished = false;

  constructor(options: { reader: Reader; deadline: Date; signal?: AbortSignal }) {
    this.#reader = options.reader;
    this.#signal = options.signal;
    this.#deadline = options.deadline;
  }

  run(dispatcher: Dispatcher, wire: Wire): Promise<Trip> {
    this.#signal?.addEventListener('abort', this.#onAbort);
    this.#arm();
    if (this.#signal?.aborted) this.#stop(new Stopped('aborted'));
    else if (this.#isLate()) this.#stop(this.#lateness());
    if (this.#finished) return this.#done.promise;
    this.#recorder.connecting();
    recordDispatch(this.#recorder, () => dispatcher.dispatch({ ...wire, body: wire.body as Buffer | null, method: wire.method as Dispatcher.HttpMethod }, this));
    return this.#done.promise;
  }

  /** The connection stands and nothing is written. Leaves a claim behind only if it was granted; the error says so by `sent: false`. */
  async pass(claim: Claim, socket: Socket): Promise<Error | null> {
    this.#recorder.connected();
    const refusal = this.#stopped ?? (await this.#ask(claim)) ?? (await unfit(socket)) ?? this.#stopped ?? (this.#isLate() ? this.#lateness() : null);
    if (refusal !== null) this.#finish(refusal);
    return refusal;
  }

  async #ask(claim: Claim): Promise<Error | null> {
    this.#claiming = true;
    try {
      const granted = await claim();
      if (granted === false) return new ClaimLost(this.#recorder.trip());
      if (granted instanceof Date) this.#deadline = granted;
      this.#arm();
      return null;
    } catch (error) {
      return new ClaimFailed(error);
    } finally {
      this.#claiming = false;
    }
  }

  /** Called by undici right before it writes: the last moment to say no. */
  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#stopped !== null) return controller.abort(this.#stopped);
    if (this.#isLate()) return controller.abort(this.#lateness());
    this.#recorder.begun();
  }

  onResponseStart(controller: Controller, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    this.#recorder.answerStarted();
    const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]));
    this.#reading(controller, () => this.#reader.start(status, flat));
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#reading(controller, () => {
      const taken = this.#reader.data(chunk);
      if (taken === undefined) return;
      controller.pause();
      void taken.then(() => controller.resume(), (error: unknown) => controller.abort(error instanceof Stopped ? error : new ReaderFailed(error)));
    });
  }

  onResponseEnd(): void {
    this.#recorder.answered();
    this.#finish(null);
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#finish(this.#stopped ?? error);
  }

  #reading(controller: Controller, read: () => void): void {
    try {
      read();
    } catch (error) {
      controller.abort(error instanceof Stopped ? error : new ReaderFailed(error));
    }
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop(this.#lateness()), Math.max(0, this.#deadline.getTime() - Date.now()));
  }

  #isLate(): boolean {
    return Date.now() >= this.#deadline.getTime();
  }

  #lateness(): Stopped {
    const { headersSentAt, answerStartedAt } = this.#recorder.trip();
    if (headersSentAt === null) return new Stopped('timeout_connect');
    return new Stopped(answerStartedAt === null ? 'timeout_headers' : 'timeout_body');
  }

  #stop(reason: Stopped): void {
    if (this.#finished) return;
    this.#stopped ??= reason;
    // A claim under way must end first: whoever waits for this exchange has to know whether it was taken.
    if (this.#claiming) return;
    if (this.#controller === null) this.#finish(this.#stopped);
    else this.#controller.abort(this.#stopped);
  }

  #finish(error: Error | null): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#stopped ??= error;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    const trip = this.#recorder.trip();
    if (error === null) this.#done.resolve(trip);
    else this.#done.reject(this.#failure(error, trip));
  }

  #failure(error: Error, trip: Trip): unknown {
    if (error instanceof ClaimFailed || error instanceof ReaderFailed) return error.original;
    if (error instanceof ClaimLost) return error;
    if (error instanceof ConnectFailed && error.refused) return new GuardRefusal('address', trip);
    return new TransportFailure(transportErrorOf(error), trip, this.#reader.partial());
  }
}

/** Carries what a callback threw through undici, to be thrown again as it was. */
class ClaimFailed extends Error {
  readonly original: unknown;

  constructor(original: unknown) {
    super('the claim failed');
    this.original = original;
  }
}

class ReaderFailed extends ClaimFailed {}

/**
 * A claim takes time, and a server may hang up or talk meanwhile. One turn of the event loop brings that to light,
 * so that nothing is written into a connection that is known to be dead.
 */
async function unfit(socket: Socket): Promise<Error | null> {
  const early: Buffer | null = socket.read();
  await nextTurn();
  if (early !== null || socket.readableLength > 0) return new Stopped('malformed');
  return socket.destroyed || socket.readableEnded || !socket.writable ? new Stopped('closed') : null;
}
