import { counted, eth, grouped, short } from "./format.ts";

interface Position {
  slot: string;
  head_slot: string;
  head_block_root: string;
  speed: number;
}

interface BlockAt {
  slot: string;
  root: string;
}

/** What happened, with a link to the page that shows the details. */
export interface Notice {
  text: string;
  link?: { label: string; href: string };
}

const block = ({ slot, root }: BlockAt): NonNullable<Notice["link"]> => ({
  label: `block ${short(root)} of slot ${grouped(slot)}`,
  href: `#/block/${root}`,
});

const headOf = ({ head_slot: slot, head_block_root: root }: Position) => block({ slot, root });

const validator = (id: unknown) => ({ label: `validator ${id}`, href: `#/validator/${id}` });

type Params = Readonly<Record<string, unknown>>;

/** Summarizes the outcome of a control method in a sentence. */
export function noticeOf(method: string, params: Params, result: unknown): Notice {
  const position = result as Position;
  switch (method) {
    case "dev_advance":
      return { text: `Advanced to slot ${grouped(position.slot)}. Head:`, link: headOf(position) };
    case "dev_skip":
      return { text: `Skipped to slot ${grouped(position.slot)}. Head:`, link: headOf(position) };
    case "dev_pause":
      return { text: `Paused in slot ${grouped(position.slot)}` };
    case "dev_resume":
    case "dev_setSpeed":
      return { text: position.speed === 0 ? "Paused" : `Time runs at ${position.speed} × real time` };
    case "dev_setValidators": {
      const { online, offline } = result as { online: string[]; offline: string[] };
      return { text: `${counted(online.length, "validator")} online, ${grouped(offline.length)} offline` };
    }
    case "dev_reorg": {
      const { old_head: before, new_head: after } = result as { old_head: BlockAt; new_head: BlockAt };
      return { text: `Replaced the head of slot ${grouped(before.slot)} by`, link: block(after) };
    }
    case "dev_fork": {
      const { old_branch: old, new_branch: other } = result as Record<string, { head: BlockAt; weight: string }>;
      return {
        text: `Grew two branches, with votes of ${eth(old!.weight)} and ${eth(other!.weight)}. The second:`,
        link: block(other!.head),
      };
    }
    case "dev_delayBlocks": {
      const { from_slot: from, until_slot: until } = result as { from_slot: string; until_slot: string };
      return {
        text:
          from === until
            ? "Blocks are on time"
            : `Blocks from slot ${grouped(from)} to ${grouped(Number(until) - 1)} will be late`,
      };
    }
    case "dev_withholdPayloads":
    case "dev_delayPayloads":
    case "dev_falsifyPayloads":
    case "dev_withholdBlobs":
    case "dev_setPayloadVotes": {
      const { from_slot: from, until_slot: until } = result as { from_slot: string; until_slot: string };
      const what = method === "dev_setPayloadVotes" ? "Votes on payloads" : "Payloads";
      return {
        text:
          from === until
            ? `${what} are honest from slot ${grouped(from)} on`
            : `${what} will be faulty from slot ${grouped(from)} to ${grouped(Number(until) - 1)}`,
      };
    }
    case "dev_bid":
    case "dev_withholdBuilderPayloads": {
      const { from_slot: from, until_slot: until } = result as { from_slot: string; until_slot: string | null };
      const [ended, does] =
        method === "dev_bid" ? ["bids no more", "bids"] : ["reveals its payloads", "withholds its payloads"];
      const builder = `Builder ${params.builder}`;
      return {
        text:
          from === until
            ? `${builder} ${ended} from slot ${grouped(from)} on`
            : until === null
              ? `${builder} ${does} from slot ${grouped(from)} on`
              : `${builder} ${does} from slot ${grouped(from)} to ${grouped(Number(until) - 1)}`,
      };
    }
    case "dev_topUpBuilder":
      return { text: `The next payload contains a deposit of builder ${params.builder}` };
    case "dev_exitBuilder":
      return { text: `The next payload contains an exit request of builder ${params.builder}` };
    case "dev_revealPayload": {
      const { slot, block_root: root, payload_status: status } = result as Record<string, string>;
      return { text: `Revealed a payload. Now ${status}:`, link: block({ slot: slot!, root: root! }) };
    }
    case "dev_slash":
      return {
        text: `The next block contains ${params.kind === "attester" ? "an attester" : "a proposer"} slashing of`,
        link: validator(params.validators),
      };
    case "dev_exit":
      return { text: "The next block contains a voluntary exit of", link: validator(params.validator) };
    case "dev_withdraw":
      return { text: "The next block contains a withdrawal request of", link: validator(params.validator) };
    case "dev_deposit":
      return { text: `The next block contains ${counted((result as unknown[]).length, "deposit")}` };
    case "dev_snapshot":
      return { text: `Took snapshot ${result}` };
    case "dev_revert":
      return { text: `Reverted to snapshot ${params.id}` };
    default:
      return { text: `Called ${method}` };
  }
}
