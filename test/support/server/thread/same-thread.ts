import { MessageChannel } from "node:worker_threads";
import type { ServerWorker } from "../../../../src/server/thread/main/servers-thread.ts";
import { ThreadInbox } from "../../../../src/server/thread/messages/inbox.ts";
import type { ToMain, ToThread } from "../../../../src/server/thread/messages/protocol.ts";
import { ServerHost } from "../../../../src/server/thread/worker/server-host.ts";
import { ThreadOutbox } from "../../../../src/threads/outbox.ts";

/** Runs the servers in the thread of the test with the same messages, since starting a thread is slow. */
export function serveInSameThread(): ServerWorker {
  const { port1, port2 } = new MessageChannel();
  const serving = new ServerHost(new ThreadOutbox<ToMain>(port2));
  const inbox = new ThreadInbox(serving.handlers);
  port2.on("message", (messages: ToThread[]) => inbox.receive(messages));
  return {
    postMessage: (messages, transferred) => port1.postMessage(messages, [...transferred]),
    on: (event: string, listener: (value: never) => void) => port1.on(event, listener as (value: unknown) => void),
    terminate: async () => port1.close(),
  };
}
