import type { ForkName } from "@lodestar/params";
import { onTestFinished } from "vitest";
import { RandomChoices } from "../../support/random/random-choices.ts";
import { FUNDED, RECEIVERS, VAULTS } from "./accounts.ts";
import { BRANCH_ACTIONS } from "./actions/branches.ts";
import { HISTORY_ACTIONS } from "./actions/history.ts";
import { OVERRIDE_ACTIONS, restoreSystemContract } from "./actions/overrides.ts";
import { PAYLOAD_ACTIONS } from "./actions/payloads.ts";
import { READ_ACTIONS } from "./actions/reads.ts";
import { TIME_ACTIONS } from "./actions/time.ts";
import { noteContracts, TRANSACTION_ACTIONS } from "./actions/transactions.ts";
import { VALIDATOR_ACTIONS } from "./actions/validators.ts";
import { CanonicalChain } from "./canonical-chain.ts";
import {
  BEACON_ROOTS,
  CONSOLIDATION_REQUESTS,
  DEPOSIT_CONTRACT,
  HISTORY_STORAGE,
  WITHDRAWAL_REQUESTS,
} from "./contracts.ts";
import { EtherLedger } from "./ether-ledger.ts";
import { Invariants } from "./invariants.ts";
import type { Action, Scenario } from "./scenario.ts";
import { SentTransactions } from "./sent-transactions.ts";
import { StateOverrides } from "./state-overrides.ts";
import { type ForkSchedule, LibraryChain, ProgramChain } from "./tested-chain.ts";

const ACTIONS: readonly Action[] = [
  ...TRANSACTION_ACTIONS,
  ...TIME_ACTIONS,
  ...BRANCH_ACTIONS,
  ...VALIDATOR_ACTIONS,
  ...PAYLOAD_ACTIONS,
  ...OVERRIDE_ACTIONS,
  ...HISTORY_ACTIONS,
  ...READ_ACTIONS,
];
const SLOTS_PER_EPOCH = 8;
const SLOT_SECONDS = 2;
const STEPS_SHOWN = 40;
const RESTORE: Action = { name: "restore system contract", weight: 0, run: restoreSystemContract };
/** A chain whose payloads are impossible is soon boring. */
const RESTORED_PER_STEP = 0.25;
const STEPS_PER_THOROUGH_CHECK = 25;

/** Runs random steps on a chain, and checks it after each. */
export async function runScenario(seed: number, steps: number): Promise<void> {
  const history: string[] = [];
  try {
    const scenario = await openScenario(seed);
    const invariants = new Invariants(scenario);
    await invariants.check();
    for (let step = 1; step <= steps; step++) {
      const action = nextAction(scenario);
      history.push(`${step} ${action.name}`);
      history[history.length - 1] += `: ${await action.run(scenario)}`;
      await invariants.check();
      noteContracts(scenario);
      if (step % STEPS_PER_THOROUGH_CHECK === 0 || step === steps) await invariants.checkThoroughly();
    }
    console.info(`Seed ${seed}: ${invariants.summary}`);
  } catch (error) {
    const shown = history.slice(-STEPS_SHOWN).join("\n  ");
    const again = `FANAL_TEST_SEED=${seed} FANAL_TEST_STEPS=${history.length} npm run test:full -- random-control`;
    (error as Error).message +=
      `\n\nIn step ${history.length} of seed ${seed}. To repeat it:\n  ${again}\nSteps:\n  ${shown}`;
    throw error;
  }
}

function nextAction({ choices, replaced }: Scenario): Action {
  const isRestored = replaced.size > 0 && choices.chance(RESTORED_PER_STEP);
  return isRestored ? RESTORE : choices.weighted(ACTIONS.map((each) => [each.weight, each]));
}

async function openScenario(seed: number): Promise<Scenario> {
  const choices = new RandomChoices(seed);
  const forks = scheduleOf(seed, choices);
  const chain = seed % 3 === 0 ? await ProgramChain.start(forks) : await LibraryChain.start(forks, onTestFinished);
  const { genesis_time } = await chain.call<{ genesis_time: string }>("get_v1_beacon_genesis");
  const canonical = new CanonicalChain({
    chain,
    genesisTime: Number(genesis_time),
    slotSeconds: SLOT_SECONDS,
    forkAt: (slot) => forkOf(forks, Math.floor(slot / SLOTS_PER_EPOCH)),
  });
  const system = [DEPOSIT_CONTRACT, WITHDRAWAL_REQUESTS, CONSOLIDATION_REQUESTS, BEACON_ROOTS, HISTORY_STORAGE];
  return {
    choices,
    chain,
    canonical,
    forks,
    validators: 32,
    ledger: new EtherLedger(chain, [...FUNDED, ...VAULTS, ...RECEIVERS, ...system, `0x${"00".repeat(20)}`]),
    overrides: new StateOverrides(),
    sent: new SentTransactions(),
    contracts: [],
    replaced: new Map(),
    snapshots: [],
    departed: 0,
    contestedUntil: -1,
    hasOffline: false,
    expectedComplaints: [],
  };
}

/** Odd seeds get to gloas. */
function scheduleOf(seed: number, choices: RandomChoices): ForkSchedule {
  const isGloas = seed % 2 === 1;
  if (seed % 3 === 0) {
    return isGloas
      ? { fork: "fulu", forkAt: { gloas: choices.integer(2, 6) } }
      : { fork: "electra", forkAt: { fulu: choices.integer(3, 12) } };
  }
  if (seed % 3 === 1) return { fork: isGloas ? "gloas" : "fulu", forkAt: {} };
  const electra = choices.integer(4, 10);
  const fulu = electra + choices.integer(1, 12);
  if (isGloas) return { fork: "deneb", forkAt: { electra, fulu, gloas: fulu + choices.integer(1, 4) } };
  return choices.chance(0.5)
    ? { fork: "deneb", forkAt: { electra, fulu } }
    : { fork: "capella", forkAt: { deneb: choices.integer(1, 3), electra, fulu } };
}

function forkOf({ fork, forkAt }: ForkSchedule, epoch: number): ForkName {
  const reached = Object.entries(forkAt).filter(([, first]) => first <= epoch);
  return (reached.at(-1)?.[0] ?? fork) as ForkName;
}
