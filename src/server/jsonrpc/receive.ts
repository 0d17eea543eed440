import type { IncomingMessage } from "node:http";

const EMPTY_BODY = Buffer.alloc(0);

/**
 * Reads the body of a request and hands it on, or says that it is larger than `limit` bytes. A body that breaks off is
 * handed to nobody: its sender is gone.
 */
export function receiveBody(
  req: IncomingMessage,
  limit: number,
  onBody: (body: Buffer) => void,
  onTooLarge: () => void,
): void {
  // What is left of a refused body is read and dropped: closing at once would reset the connection, and the client, still
  // sending, would never see the answer.
  if (Number(req.headers["content-length"] ?? 0) > limit) {
    req.resume();
    onTooLarge();
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  req.on("data", (chunk: Buffer) => {
    if (length > limit) return;
    length += chunk.length;
    if (length <= limit) {
      chunks.push(chunk);
    } else {
      chunks.length = 0;
      onTooLarge();
    }
  });
  req.on("end", () => {
    // Most bodies come in one piece.
    if (length <= limit) onBody(chunks.length === 1 ? chunks[0]! : joined(chunks));
  });
}

function joined(chunks: Buffer[]): Buffer {
  return chunks.length === 0 ? EMPTY_BODY : Buffer.concat(chunks);
}
