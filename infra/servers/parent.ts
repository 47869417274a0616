/** Runs `stop` when the process that started us vanishes, even by SIGKILL. Does nothing in a process that was started without a channel. */
export function stopWithParent(stop: () => void): void {
  if (process.channel === undefined) return;
  process.once('disconnect', stop);
  // The channel alone must not keep a process alive that has finished its work.
  process.channel?.unref();
}
