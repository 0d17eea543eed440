// Entry point of the server thread, which loads only the servers and neither a preset nor a configuration.
import { parentPort, workerData } from "node:worker_threads";
import { pinTickObjectShape } from "../../../runtime/tick-object-shape.ts";
import { ThreadOutbox } from "../../../threads/outbox.ts";
import type { ThreadData } from "../main/servers-thread.ts";
import { ThreadInbox } from "../messages/inbox.ts";
import type { ToMain, ToThread } from "../messages/protocol.ts";
import { loadRestServer, ServerHost } from "./server-host.ts";

if (parentPort === null) throw new Error("This module must run in a worker thread");
pinTickObjectShape();
// Preloaded before the "serve" message arrives.
if ((workerData as ThreadData).servesRest) void loadRestServer();
const serving = new ServerHost(new ThreadOutbox<ToMain>(parentPort));
const inbox = new ThreadInbox(serving.handlers);
parentPort.on("message", (messages: ToThread[]) => inbox.receive(messages));
