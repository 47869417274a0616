import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { RequestProgress } from '../contract/statuses.ts';
import type { Trip } from './types.ts';

/** Notes how far one request went. Every moment is set by what happened on its connection, none by assumption. */
export class TripRecorder {
  #connecting = false;
  #connectedAt: Date | null = null;
  #begunAt: Date | null = null;
  #headersSentAt: Date | null = null;
  #bodySentAt: Date | null = null;
  #answerStartedAt: Date | null = null;
  #answeredAt: Date | null = null;
  #socket: Socket | null = null;
  #writtenBefore = 0;
  #readBefore = 0;

  connecting(): void {
    this.#connecting = true;
  }

  connected(): void {
    this.#connectedAt ??= new Date();
  }

  /** undici is about to write. A net beneath `headersSent`: should that signal ever go missing, the request still counts as sent. */
  begun(): void {
    this.#begunAt = new Date();
    this.connected();
  }

  headersSent(socket: Socket): void {
    this.#headersSentAt = new Date();
    this.#socket = socket;
    this.#writtenBefore = socket.bytesWritten;
    this.#readBefore = socket.bytesRead;
  }

  bodySent(): void {
    this.#bodySentAt = new Date();
  }

  answerStarted(): void {
    this.#answerStartedAt = new Date();
  }

  answered(): void {
    this.#answeredAt = new Date();
  }

  trip(): Trip {
    const headersSentAt = this.#headersSentAt ?? this.#begunAt;
    return {
      progress: this.#progress(headersSentAt),
      connectedAt: this.#connectedAt,
      headersSentAt,
      bodySentAt: this.#bodySentAt,
      answerStartedAt: this.#answerStartedAt,
      answeredAt: this.#answeredAt,
      bytesSent: this.#socket === null ? this.#none() : this.#socket.bytesWritten - this.#writtenBefore,
      bytesReceived: this.#socket === null ? this.#none() : this.#socket.bytesRead - this.#readBefore,
    };
  }

  #progress(headersSentAt: Date | null): RequestProgress {
    if (this.#answeredAt !== null) return 'answered';
    if (this.#answerStartedAt !== null) return 'answer_started';
    if (this.#bodySentAt !== null) return 'body_sent';
    if (headersSentAt !== null) return 'headers_sent';
    return this.#connecting ? 'connecting' : 'not_started';
  }

  #none(): number | null {
    return this.#connectedAt === null || this.#begunAt !== null ? null : 0;
  }
}

const recorders = new WeakMap<object, TripRecorder>();
let dispatching: TripRecorder | null = null;
let subscribed = false;

/** Ties the request that `dispatch` makes (undici makes it before it returns) to its recorder. */
export function recordDispatch(recorder: TripRecorder, dispatch: () => void): void {
  listen();
  dispatching = recorder;
  try {
    dispatch();
  } finally {
    dispatching = null;
  }
}

function listen(): void {
  if (subscribed) return;
  subscribed = true;
  subscribe('undici:request:create', (message) => {
    if (dispatching !== null) recorders.set((message as { request: object }).request, dispatching);
  });
  subscribe('undici:client:sendHeaders', (message) => {
    const { request, socket } = message as { request: object; socket: Socket };
    recorders.get(request)?.headersSent(socket);
  });
  subscribe('undici:request:bodySent', (message) => {
    recorders.get((message as { request: object }).request)?.bodySent();
  });
}
