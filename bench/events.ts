/**
 * What live events cost: many subscribers, half of them over SSE and half over WebSocket, must receive every head of a
 * number of slots, in order, none missing. The node and the subscribers are processes of their own.
 *
 *     npm run bench -- events [subscribers] [slots] [idle seconds]
 *
 * The exit code is 1 when a subscriber missed an event or got one out of order.
 */
import { benchEvents } from "./events/run.ts";

const isComplete = await benchEvents({
  subscribers: Number(process.argv[2] ?? 1000),
  slots: Number(process.argv[3] ?? 50),
  idleSeconds: Number(process.argv[4] ?? 20),
});
process.exitCode = isComplete ? 0 : 1;
