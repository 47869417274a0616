/**
 * Runs `stop` when the process that started us vanishes, even by SIGKILL, and at once when it already has.
 * Does nothing in a process that was started without a channel.
 */
export function stopWithParent(stop: () => void): void {
  if (process.connected === undefined) return;
  if (!process.connected) {
    stop();
    return;
  }
  process.once('disconnect', stop);
  // The channel alone must not keep a process alive that has finished its work.
  process.channel?.unref();
}
