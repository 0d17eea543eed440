import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import type { Kzg } from "../../../../src/data/kzg/kzg.ts";

interface Question {
  name: keyof Kzg;
  args: unknown[];
}

type Reply = { answer: unknown } | { failure: string };

/** Serves a KZG backend to other processes. */
export async function serveKzg(kzg: Kzg): Promise<{ url: string; close(): void }> {
  const server = createServer(async (asked, response) => {
    response.end(serialize(await replyTo(kzg, deserialize(await buffer(asked)))));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

async function replyTo(kzg: Kzg, { name, args }: Question): Promise<Reply> {
  try {
    return { answer: await (kzg[name] as (...args: unknown[]) => unknown)(...args) };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}

/** Client of a served KZG backend. */
export function kzgAt(url: string): Kzg {
  const ask = async <Answer>(name: keyof Kzg, ...args: unknown[]): Promise<Answer> => {
    // A new connection: the server may close an idle one while the next request is sent.
    const asking = request(url, { method: "POST", agent: false }).end(serialize({ name, args } satisfies Question));
    const [response] = await once(asking, "response");
    const reply: Reply = deserialize(await buffer(response));
    if ("failure" in reply) throw new Error(reply.failure);
    return reply.answer as Answer;
  };
  return {
    commitmentOf: (blob) => ask("commitmentOf", blob),
    blobProofOf: (blob, commitment) => ask("blobProofOf", blob, commitment),
    verifyBlobs: (batch) => ask("verifyBlobs", batch),
    cellsOf: (blob) => ask("cellsOf", blob),
    cellsAndProofsOf: (blob) => ask("cellsAndProofsOf", blob),
    verifyCells: (batch) => ask("verifyCells", batch),
    recover: (cellIndices, cells) => ask("recover", cellIndices, cells),
    prepare: () => void ask("prepare"),
    async close() {},
  };
}
