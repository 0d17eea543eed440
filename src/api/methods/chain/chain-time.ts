import { SlotTime } from "../../../chain/clock/clock.ts";
import { defineMethod, get } from "../../definition.ts";
import { described, number, object, shape } from "../../schemas.ts";

const UNIX_TIME = { type: "string", pattern: "^(0|[1-9][0-9]*)\\.[0-9]{3}$" };
const SECONDS = { type: "string", pattern: "^-?(0|[1-9][0-9]*)\\.[0-9]{3}$" };

const getChainTime = defineMethod({
  name: "getChainTime",
  summary: "Chain time and wall-clock time. They are equal on a network; a dev chain has its own time.",
  result: {
    name: "chain_time",
    schema: object({
      chain_time: described(UNIX_TIME, "Unix seconds of the chain's clock, with milliseconds."),
      wall_time: described(UNIX_TIME, "Unix seconds of the system clock, with milliseconds."),
      offset: described(SECONDS, "Seconds by which chain time is ahead of the system clock; negative if it is behind."),
      speed: described(number, "Seconds of chain time per second of real time; 0 while the clock is paused."),
      slot: described(shape("Uint64"), "The current slot."),
      wall_slot: described(shape("Uint64"), "Slot computed from genesis time and the system clock; 0 before genesis."),
      seconds_to_next_slot: described(SECONDS, "In chain time. Before genesis: seconds to the first slot."),
    }),
  },
  failures: [],
  rest: [get("/fanal/v1/chain/time")],
  cost: "cheap",
  access: "read",
  example: {},
  handler({ chain: { clock } }) {
    const { genesisTime, secondsPerSlot, speed, isFlowing, currentSlot } = clock;
    const chainMs = milliseconds(clock.nowSeconds());
    const offsetMs = milliseconds(clock.offsetSeconds());
    const wallMs = chainMs - offsetMs;
    const nextSlot = chainMs < genesisTime * 1000 ? 0 : currentSlot + 1;
    const wallSlot = Math.max(0, new SlotTime(genesisTime, secondsPerSlot).slotAt(wallMs / 1000));
    return {
      chain_time: seconds(chainMs),
      wall_time: seconds(wallMs),
      offset: seconds(offsetMs),
      speed: isFlowing ? speed : 0,
      slot: String(currentSlot),
      wall_slot: String(wallSlot),
      seconds_to_next_slot: seconds(Math.max(0, milliseconds(clock.slotStartSeconds(nextSlot)) - chainMs)),
    };
  },
});

const milliseconds = (inSeconds: number) => Math.round(inSeconds * 1000);
const seconds = (inMilliseconds: number) => (inMilliseconds / 1000).toFixed(3);

export const chainTimeMethods = [getChainTime] as const;
