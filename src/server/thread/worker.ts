// Runs in a worker thread. It loads the servers and nothing else of the node, so that it needs neither preset nor configuration.
import { parentPort, workerData } from "node:worker_threads";
import { pinTickObjectShape } from "../../runtime/tick-object-shape.ts";
import { ThreadInbox } from "./inbox.ts";
import { ThreadOutbox } from "./outbox.ts";
import type { ToMain, ToThread } from "./protocol.ts";
import type { ThreadData } from "./servers-thread.ts";
import { loadRestServer, Serving } from "./serving.ts";

if (parentPort === null) throw new Error("The servers are started in a thread of their own.");
pinTickObjectShape();
// Before the order to serve comes.
if ((workerData as ThreadData).servesRest) void loadRestServer();
const serving = new Serving(new ThreadOutbox<ToMain>(parentPort));
const inbox = new ThreadInbox(serving.handlers);
parentPort.on("message", (messages: ToThread[]) => inbox.receive(messages));
