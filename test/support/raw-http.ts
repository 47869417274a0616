import { connect } from 'node:net';

/** What a server wrote on a connection, and whether it closed it. */
export interface RawAnswer {
  text: string;
  status: number;
  isClosed: boolean;
}

/** Writes bytes as they are and waits until the server closes, or is silent for a while after its first answer. */
export async function sendRaw(port: number, parts: string | Buffer | (string | Buffer)[], options: { silenceMs?: number; waitMs?: number } = {}): Promise<RawAnswer> {
  const { silenceMs = 250, waitMs = 5_000 } = options;
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let isClosed = false;
  await new Promise<void>((resolve) => {
    let silence: NodeJS.Timeout | undefined;
    const limit = setTimeout(resolve, waitMs);
    const done = () => {
      clearTimeout(limit);
      clearTimeout(silence);
      resolve();
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      clearTimeout(silence);
      silence = setTimeout(done, silenceMs);
    });
    socket.on('end', () => {
      isClosed = true;
      done();
    });
    socket.on('close', () => {
      isClosed = true;
      done();
    });
    socket.on('error', () => {});
    for (const part of Array.isArray(parts) ? parts : [parts]) socket.write(part);
  });
  socket.destroy();
  return { text, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), isClosed };
}
