import { join } from "node:path";
import { describeMachine } from "../support/machine.ts";
import { benchAnswers } from "./answers.ts";
import { benchEpochsOnDisk } from "./epochs-on-disk.ts";
import { keptState } from "./kept-state.ts";
import { benchLiveChain } from "./live-chain.ts";
import { benchPageLists } from "./page.ts";
import { benchStarts } from "./starts.ts";
import type { Subject } from "./subject.ts";

interface Options {
  validators: number;
  /** Only the subjects with this in their name, or else the answers with this in their title. */
  only: string | undefined;
  /** Another checkout, which is measured as well. */
  beside: string | undefined;
  rounds: number;
  /** Of the live chain. */
  slotSeconds: number;
  /** By default what a machine with little else to do needs. */
  leadSeconds: number | undefined;
}

/** For a million validators. */
const DEFAULT_LEAD_SECONDS = 60;

const SUBJECTS: Readonly<Record<string, Subject>> = {
  starts: benchStarts,
  answers: benchAnswers,
  "live chain": benchLiveChain,
  "epochs on disk": benchEpochsOnDisk,
  page: benchPageLists,
};

export async function benchScale(options: Options): Promise<void> {
  const { validators, only, beside, rounds, slotSeconds, leadSeconds } = options;
  console.log(`${describeMachine()}; a fulu state of ${validators} validators, mainnet preset; rounds: ${rounds}`);
  const kept = await keptState(validators);
  const programs = [{ title: "this checkout", directory: join(import.meta.dirname, "../..") }];
  if (beside !== undefined) programs.push({ title: `checkout ${beside}`, directory: beside });
  const named = Object.keys(SUBJECTS).filter((name) => only === undefined || name.includes(only));
  const wanted = named.length > 0 ? named : ["answers"];
  const isWanted = (title: string) => named.length > 0 || only === undefined || title.includes(only);
  const lead = leadSeconds ?? (DEFAULT_LEAD_SECONDS * validators) / 1_000_000;
  for (const name of wanted)
    await SUBJECTS[name]!({ kept, programs, rounds, slotSeconds, leadSeconds: lead, isWanted });
}
