import { expect, it } from "vitest";
import { Revision } from "../revision.ts";
import { SyncStatus } from "./sync-status.ts";

/** A source of change notifications that the test triggers. */
class Source {
  readonly listeners = new Set<() => void>();

  readonly on = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  tell(): void {
    for (const listener of this.listeners) listener();
  }
}

it("publishes status changes to other threads, without head changes", () => {
  const revision = new Revision();
  const [slots, engine, judge] = [new Source(), new Source(), new Source()];
  const parts = { clock: { onSlot: slots.on, secondsPerSlot: 12 }, engine: { onStateChange: engine.on }, revision };
  const status = new SyncStatus(parts as unknown as ConstructorParameters<typeof SyncStatus>[0]);
  status.setSource({ isSyncing: true, onChange: judge.on });
  const stop = status.follow();
  for (const source of [slots, engine, judge]) {
    const [head, before] = revision.memory;
    source.tell();
    expect(Array.from(revision.memory)).toEqual([head, before! + 1, 0]);
  }
  stop();
  expect([slots.listeners.size, engine.listeners.size]).toEqual([0, 0]);
  const [head, before] = revision.memory;
  revision.raise();
  expect(Array.from(revision.memory)).toEqual([head! + 1, before! + 1, 0]);
});
