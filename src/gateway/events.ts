import type { Feed } from "../server/events/feed.ts";

/** What happens on the chain, of all upstreams together: in order, once, without gaps. */
export interface GatewayEvents {
  /** Throws nothing: whether there are such topics is decided before. */
  feed(topics: readonly string[]): Feed;
  /** Its first number is another one whenever answers about the head may be other ones, its second also when those about the status may. */
  readonly revision: Int32Array;
}
