import { request } from "node:http";

/** Event that a test triggers or awaits. */
interface Signal {
  promise: Promise<void>;
  trigger(): void;
}

export function createSignal(): Signal {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise: promise, trigger: resolve };
}

export async function* streamOf(...chunks: string[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

export interface RequestInit {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
}

/** Sends one request on its own connection, with only the given headers. */
export function send(url: string, { method = "GET", path = "/", headers, body }: RequestInit): Promise<Received> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, path, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, text: bytes.toString() });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Sends the body after 100 Continue. The headers must request it. */
export function sendAfterContinue(url: string, method: string, headers: Record<string, string>, body: string) {
  return new Promise<{ status: number; wasTold: boolean; connection: string | undefined }>((resolve, reject) => {
    let wasTold = false;
    const outgoing = request(url, { method, headers, agent: false }, (incoming) => {
      incoming.resume();
      resolve({ status: incoming.statusCode ?? 0, wasTold, connection: incoming.headers.connection });
      outgoing.destroy();
    });
    outgoing.on("continue", () => {
      wasTold = true;
      outgoing.end(body);
    });
    outgoing.on("error", reject);
    outgoing.flushHeaders();
  });
}
