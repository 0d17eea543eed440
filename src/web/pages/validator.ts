import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { type Duty, listDuties } from "../duties.ts";
import { epochText, eth, grouped, messageOf } from "../format.ts";
import { placedBlocks, useChain } from "../live.ts";
import { node } from "../node.ts";
import { numeric } from "../parts/column.ts";
import { Fields, Table } from "../parts/fields.ts";
import { BlockLink, EpochLink, SlotLink } from "../parts/links.ts";
import { Problem, Show, useLoaded } from "../parts/loading.ts";
import { Plot } from "../parts/plot.ts";
import { BlockStatus } from "../parts/status.ts";

type Validator = Awaited<ReturnType<typeof node.get_v1_beacon_states_stateId_validators_validatorId>>;

/**
 * Number of epochs in the chart. Historical states are expensive, so only the states needed for these epochs are
 * requested, one at a time.
 */
const PLOTTED_EPOCHS = 16;
const JUDGED_EPOCHS = 4;

export function ValidatorPage({ subject }: { subject: string | undefined }) {
  const head = useChain().head.head_block_root;
  const validator = useLoaded(
    (signal) =>
      node.get_v1_beacon_states_stateId_validators_validatorId(
        { state_id: "head", validator_id: subject ?? "0" },
        { signal },
      ),
    [subject, head],
  );
  return html`<h1>Validator ${validator.value?.index ?? ""}</h1>
    <${Show} of=${validator}>${(value: Validator) => html`<${Details} key=${value.index} of=${value} />`}<//>`;
}

function Details({ of: { index, balance, status, validator } }: { of: Validator }) {
  const proposed = placedBlocks.value.filter(({ proposer }) => proposer === index).sort((a, b) => b.slot - a.slot);
  return html`
    <${Fields} of=${{
      Index: index,
      "Public key": html`<code>${validator.pubkey}</code>`,
      Status: `${status.replaceAll("_", " ")}${validator.slashed ? ", slashed" : ""}`,
      Balance: eth(balance),
      "Effective balance": eth(validator.effective_balance),
      "Withdrawal credentials": html`<code>${validator.withdrawal_credentials}</code>`,
      "Eligible in epoch": epochText(validator.activation_eligibility_epoch),
      "Active from epoch": epochText(validator.activation_epoch),
      "Exits in epoch": epochText(validator.exit_epoch),
      "Withdrawable from epoch": epochText(validator.withdrawable_epoch),
    }} />
    <h2>Balance</h2><${BalancePlot} index=${index} />
    <h2>Duties</h2><${Duties} index=${index} />
    <h2>Attestation rewards</h2><${Votes} index=${index} />
    <h2>Recent blocks</h2>
    <${Table} caption="Proposed blocks" empty="No recent proposals." head=${["slot", "block", "status"]}
      rows=${proposed.map(({ slot, root, lane }) => [
        html`<${SlotLink} slot=${slot} />`,
        html`<${BlockLink} root=${root} />`,
        html`<${BlockStatus} root=${root} slot=${slot} isCanonical=${lane === 0} />`,
      ])} />`;
}

/** Returns the epochs of the head and the current slot. */
function useEpochs() {
  const { head, time, slotsPerEpoch } = useChain();
  const epochOf = (slot: number) => Math.floor(slot / slotsPerEpoch);
  return { headEpoch: epochOf(Number(head.head_slot)), currentEpoch: epochOf(time.slot) };
}

interface Point {
  epoch: number;
  balance: number;
}

function BalancePlot({ index }: { index: string }) {
  const [points, setPoints] = useState<readonly Point[]>([]);
  const [error, setError] = useState("");
  const { headEpoch } = useEpochs();
  const { slotsPerEpoch } = useChain();
  useEffect(() => {
    const aborting = new AbortController();
    readBalances({ index, headEpoch, slotsPerEpoch }, aborting.signal, (point) => {
      setPoints((before) =>
        [...before.filter(({ epoch }) => epoch !== point.epoch), point].sort((a, b) => a.epoch - b.epoch),
      );
    }).catch((reason: unknown) => aborting.signal.aborted || setError(messageOf(reason)));
    return () => aborting.abort();
  }, [index, headEpoch]);
  if (error !== "" && points.length === 0) return html`<${Problem}>${error}<//>`;
  return html`<${Plot} label="Balance in ETH" xLabel="epoch" xs=${points.map(({ epoch }) => epoch)} ys=${points.map(({ balance }) => balance)} />`;
}

/** Reads balances at epoch starts, newest first. */
async function readBalances(
  { index, headEpoch, slotsPerEpoch }: { index: string; headEpoch: number; slotsPerEpoch: number },
  signal: AbortSignal,
  take: (point: Point) => void,
): Promise<void> {
  for (let epoch = headEpoch; epoch >= Math.max(0, headEpoch - PLOTTED_EPOCHS + 1); epoch--) {
    const query = { state_id: epoch * slotsPerEpoch, id: [index] };
    const [entry] = await node.get_v1_beacon_states_stateId_validator_balances(query, { signal });
    // The validator has no balance before it is registered.
    if (!entry) return;
    take({ epoch, balance: Number(entry.balance) / 1e9 });
  }
}

/** Shows the validator's duties in this epoch and the next. */
function Duties({ index }: { index: string }) {
  const epoch = useEpochs().currentEpoch;
  const { time, slotsPerEpoch } = useChain();
  const duties = useLoaded((signal) => readDuties(index, epoch, signal), [index, epoch]);
  const context = { blocks: placedBlocks.value, currentSlot: time.slot, slotsPerEpoch };
  return html`<${Show} of=${duties}>
    ${(
      of: NonNullable<typeof duties.value>,
    ) => html`<${Table} caption="Duties" empty=${`No duties ahead in epochs ${epoch} and ${epoch + 1}.`}
      head=${["epoch", "slot", "duty", "status"]}
      rows=${listDuties(of, context).map((each) => [
        html`<${EpochLink} epoch=${each.epoch} />`,
        html`<${SlotLink} slot=${each.slot} />`,
        each.duty,
        html`<span class=${OUTCOME_STYLES[each.outcome]}>${each.outcome}</span>`,
      ])} />`}
  <//>`;
}

const OUTCOME_STYLES: Partial<Record<Duty["outcome"], string>> = {
  done: "is-canonical",
  orphaned: "is-orphaned",
  missed: "is-orphaned",
};

/** Reads the duties for an epoch and the next one. Before fulu, the next epoch's proposers are unknown. */
async function readDuties(index: string, epoch: number, signal: AbortSignal) {
  const [attester, attesterNext, proposer, proposerNext] = await Promise.all([
    node.post_v1_validator_duties_attester({ epoch, validators: [index] }, { signal }),
    node.post_v1_validator_duties_attester({ epoch: epoch + 1, validators: [index] }, { signal }),
    node.get_v1_validator_duties_proposer({ epoch }, { signal }),
    node.get_v1_validator_duties_proposer({ epoch: epoch + 1 }, { signal }).catch(() => []),
  ]);
  return {
    attester: [...attester, ...attesterNext],
    proposer: [...proposer, ...proposerNext].filter((duty) => duty.validator_index === index),
  };
}

/** Shows attestation rewards, which indicate whether votes were correct and timely. */
function Votes({ index }: { index: string }) {
  const last = useEpochs().headEpoch - 2;
  const epochs = Array.from({ length: Math.min(JUDGED_EPOCHS, last + 1) }, (_, back) => last - back);
  const votes = useLoaded(
    (signal) =>
      Promise.all(
        epochs.map(async (epoch) => {
          const { total_rewards: rewards } = await node.post_v1_beacon_rewards_attestations_epoch(
            { epoch, validator_ids: [index] },
            { signal },
          );
          return { epoch, reward: rewards[0] };
        }),
      ),
    [index, last],
  );
  if (last < 0) return html`<p class="waiting">No completed epoch has rewards yet.</p>`;
  return html`<${Show} of=${votes}>
    ${(
      rows: NonNullable<typeof votes.value>,
    ) => html`<${Table} caption="Attestation rewards" empty="" head=${["epoch", numeric("source (Gwei)"), numeric("target (Gwei)"), numeric("head (Gwei)")]}
      rows=${rows.map(({ epoch, reward }) => [
        html`<${EpochLink} epoch=${epoch} />`,
        ...(reward ? [reward.source, reward.target, reward.head].map((gwei) => grouped(gwei)) : ["not active", "", ""]),
      ])} />`}
  <//>`;
}
