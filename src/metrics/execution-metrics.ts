import type { EngineState, ExecutionEngine } from "../execution/engine.ts";
import type { Instruments } from "./instruments.ts";

const STATES: readonly EngineState[] = ["online", "syncing", "synced", "offline", "unauthorized"];

export function addExecutionMetrics(instruments: Instruments, engine: ExecutionEngine): void {
  instruments.gauges(
    "fanal_execution_state",
    "1 for the current state of the execution client: online, syncing, synced, offline or unauthorized; else 0",
    ["state"],
    () => STATES.map((state) => [{ state }, Number(state === engine.state)] as const),
  );
  instruments.totals(
    "fanal_execution_calls_total",
    "Calls to execution clients by method and outcome: answered, refused, timed_out or failed",
    ["method", "outcome"],
    () => engine.callCounts?.() ?? [],
  );
}
