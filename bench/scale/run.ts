import { join } from "node:path";
import { printSetting } from "../support/table.ts";
import { benchAnswers } from "./answers.ts";
import { benchEpochsOnDisk } from "./epochs-on-disk.ts";
import { keptState } from "./kept-state.ts";
import { benchLiveChain } from "./live-chain.ts";
import { benchPageLists } from "./page.ts";
import { benchStarts } from "./starts.ts";
import type { Subject } from "./subject.ts";

interface Options {
  validators: number;
  /** Selects subjects by name, or else answers by title. */
  only: string | undefined;
  /** Another checkout to measure too. */
  beside: string | undefined;
  rounds: number;
  /** Slot duration of the live chain. */
  slotSeconds: number;
  /** The default suits an idle machine. */
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
  printSetting(`a fulu state of ${validators} validators, mainnet preset; rounds: ${rounds}`);
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
