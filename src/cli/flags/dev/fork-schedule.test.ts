import { describe, expect, it } from "vitest";
import { DEV_FORKS, type DevFork } from "../../../dev/forks.ts";
import { StartupError } from "../../exit.ts";
import { forkSchedule, parseForkActivation } from "./fork-schedule.ts";

const schedule = (genesis: DevFork, ...activations: string[]) =>
  forkSchedule(genesis, activations.map(parseForkActivation))
    .map(({ fork, epoch }) => `${fork}=${epoch}`)
    .join(" ");

describe("fork schedule", () => {
  it("starts in the genesis fork, with all earlier forks at epoch 0", () => {
    expect(schedule("phase0")).toBe("phase0=0");
    expect(schedule("capella")).toBe("phase0=0 altair=0 bellatrix=0 capella=0");
  });

  it("sorts later forks by epoch", () => {
    expect(schedule("phase0", "bellatrix=4", "altair=2")).toBe("phase0=0 altair=2 bellatrix=4");
    expect(schedule("altair", "bellatrix=3", "capella=4")).toBe("phase0=0 altair=0 bellatrix=3 capella=4");
  });

  it("accepts activations that repeat --fork", () => {
    expect(schedule("bellatrix", "altair=0", "capella=2", "capella=2")).toBe("phase0=0 altair=0 bellatrix=0 capella=2");
  });

  const refused: [genesis: DevFork, activations: string[], complaint: string][] = [
    ["phase0", ["altair=5", "bellatrix=4"], "The epoch of bellatrix must be 6 or later"],
    ["phase0", ["altair=5", "bellatrix=5"], "The epoch of bellatrix must be 6 or later"],
    ["phase0", ["altair=1", "deneb=4"], "skips bellatrix, capella"],
    ["deneb", ["altair=5"], "contradicts --fork deneb"],
    ["phase0", ["altair=0"], "give --fork altair"],
    [
      "phase0",
      ["altair=1", "altair=2"],
      "--fork-at altair=2 contradicts --fork-at altair=1. Give altair one epoch, 1 or 2.",
    ],
  ];
  for (const [genesis, activations, complaint] of refused) {
    it(`rejects --fork ${genesis} with ${activations.join(" ")}`, () => {
      expect(() => schedule(genesis, ...activations)).toThrow(StartupError);
      expect(() => schedule(genesis, ...activations)).toThrow(complaint);
    });
  }

  it("rejects anything but NAME=EPOCH", () => {
    for (const text of ["altair", "altair=", "altair=x", "altair=-1", "altair=1.5", "=1", "heze=1", "altair=1=2", ""]) {
      expect(() => parseForkActivation(text), text).toThrow("such as altair=2");
    }
  });

  it("has the forks of the consensus library in order", async () => {
    const { forkAll } = await import("@lodestar/params");
    expect(forkAll.slice(0, DEV_FORKS.length)).toEqual(DEV_FORKS);
  });
});
