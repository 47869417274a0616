/** Where a process stands between its start and its end, and how many requests it holds. */
export class Lifecycle {
  #phase: 'serving' | 'leaving' | 'closing' = 'serving';
  #open = 0;
  #idle: (() => void)[] = [];

  /** `/ready` is 503 and kept connections are told to close, but requests are served as before. */
  leave(): void {
    if (this.#phase === 'serving') this.#phase = 'leaving';
  }

  /** New requests are refused; those under way go on. */
  close(): void {
    this.#phase = 'closing';
  }

  get isLeaving(): boolean {
    return this.#phase !== 'serving';
  }

  get isClosing(): boolean {
    return this.#phase === 'closing';
  }

  get openRequests(): number {
    return this.#open;
  }

  requestBegan(): void {
    this.#open += 1;
  }

  requestEnded(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#idle.splice(0).forEach((resolve) => resolve());
  }

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
