// Runs in a worker thread. It loads the servers and nothing else of the node, so that it needs neither preset nor configuration.
import { parentPort } from "node:worker_threads";
import { ThreadOutbox } from "./outbox.ts";
import { handle, type ToMain, type ToThread } from "./protocol.ts";
import { Serving } from "./serving.ts";

if (parentPort === null) throw new Error("The servers are started in a thread of their own.");
const serving = new Serving(new ThreadOutbox<ToMain>(parentPort));
parentPort.on("message", (messages: ToThread[]) => handle(serving.handlers, messages));
