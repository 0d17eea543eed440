import { describe, expect, it } from "vitest";
import { StartupError } from "./exit.ts";
import { DEV_FORKS, type DevFork, forkSchedule, parseForkActivation } from "./fork-schedule.ts";

const schedule = (genesis: DevFork, ...activations: string[]) =>
  forkSchedule(genesis, activations.map(parseForkActivation))
    .map(({ fork, epoch }) => `${fork}=${epoch}`)
    .join(" ");

describe("fork schedule", () => {
  it("starts in the genesis fork, with everything before it from epoch 0", () => {
    expect(schedule("phase0")).toBe("phase0=0");
    expect(schedule("capella")).toBe("phase0=0 altair=0 bellatrix=0 capella=0");
  });

  it("adds forks at their epochs, in whatever order they are given", () => {
    expect(schedule("phase0", "bellatrix=4", "altair=2")).toBe("phase0=0 altair=2 bellatrix=4");
    expect(schedule("altair", "bellatrix=3", "capella=3")).toBe("phase0=0 altair=0 bellatrix=3 capella=3");
  });

  it("lets a fork that is left out begin together with the next one named", () => {
    expect(schedule("phase0", "altair=1", "deneb=5")).toBe("phase0=0 altair=1 bellatrix=5 capella=5 deneb=5");
  });

  it("accepts what only repeats --fork", () => {
    expect(schedule("bellatrix", "altair=0", "capella=2", "capella=2")).toBe("phase0=0 altair=0 bellatrix=0 capella=2");
  });

  const refused: [genesis: DevFork, activations: string[], complaint: string][] = [
    ["phase0", ["altair=5", "bellatrix=4"], "bellatrix follows altair, so its epoch must be 5 or later"],
    ["phase0", ["altair=5", "deneb=4"], "deneb follows altair, so its epoch must be 5 or later"],
    ["deneb", ["altair=5"], "contradicts --fork deneb"],
    ["phase0", ["altair=0"], "say --fork altair"],
    ["phase0", ["altair=1", "altair=2"], "two epochs, 1 and 2"],
  ];
  for (const [genesis, activations, complaint] of refused) {
    it(`refuses --fork ${genesis} with ${activations.join(" ")}`, () => {
      expect(() => schedule(genesis, ...activations)).toThrow(StartupError);
      expect(() => schedule(genesis, ...activations)).toThrow(complaint);
    });
  }

  it("refuses what is not NAME=EPOCH", () => {
    for (const text of [
      "altair",
      "altair=",
      "altair=x",
      "altair=-1",
      "altair=1.5",
      "=1",
      "gloas=1",
      "altair=1=2",
      "",
    ]) {
      expect(() => parseForkActivation(text), text).toThrow("such as altair=2");
    }
  });

  it("has the forks of the consensus library, in its order", async () => {
    const { forkAll } = await import("@lodestar/params");
    expect(forkAll.slice(0, DEV_FORKS.length)).toEqual(DEV_FORKS);
  });
});
