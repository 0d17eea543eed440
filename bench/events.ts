/**
 * Measures the cost of live events. Many subscribers, half over SSE and half over WebSocket, must receive every head in
 * order. The node and the subscribers run in separate processes.
 *
 *     npm run bench -- events [subscribers] [slots] [idle seconds]
 *
 * The exit code is 1 if a subscriber misses an event or receives one out of order.
 */
import { benchEvents } from "./events/run.ts";

const isComplete = await benchEvents({
  subscribers: Number(process.argv[2] ?? 1000),
  slots: Number(process.argv[3] ?? 50),
  idleSeconds: Number(process.argv[4] ?? 20),
});
process.exitCode = isComplete ? 0 : 1;
