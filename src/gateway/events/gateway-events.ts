import type { Feed } from "../../server/events/feed.ts";

/** Merged events of all upstreams: in order, deduplicated and without gaps. */
export interface GatewayEvents {
  /** Never throws. Unknown topics are rejected earlier. */
  feed(topics: readonly string[]): Feed;
  /**
   * Revision counters. The first is incremented when answers about the head may change, the second also when answers
   * about the node status may.
   */
  readonly revision: Int32Array;
}
