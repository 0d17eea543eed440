import type { Socket } from "node:net";

const RESPONSES: Record<string, [status: number, reason: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The headers of the request are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request was not sent in time."],
};

/** Answers what is not HTTP, or not all of it: there is a connection, but no request to answer. */
export function answerClientError({ code }: { code?: string }, socket: Socket): void {
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason, message] = RESPONSES[code ?? ""] ?? [400, "Bad Request", "The request is not valid HTTP."];
  const body = JSON.stringify({ code: status, message });
  const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close`;
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${headers}\r\n\r\n${body}`);
}
