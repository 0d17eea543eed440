import { isReadOnly } from "../../server/access-class.ts";
import { type Question, UpstreamError, type UpstreamResponse } from "../exchange.ts";
import { discard } from "./ask.ts";
import type { UpstreamClient } from "./upstream-client.ts";
import { isNotTaken } from "./verdict.ts";

/** What every upstream has to know, since any of them may be asked for the duty later. */
const FOR_ALL =
  /^\/eth\/v\d+\/validator\/(?:beacon_committee_subscriptions|sync_committee_subscriptions|prepare_beacon_proposer|register_validator)$/;

/** Whether it is submitted to all upstreams, however many get other things. So is what changes how a node runs. */
export function isForAll({ method, request }: Pick<Question, "method" | "request">): boolean {
  return method.access === "admin" || FOR_ALL.test(request.url);
}

/** Sends it to one upstream. Rejects with an `UpstreamError`. */
type Send = (client: UpstreamClient) => Promise<UpstreamResponse>;

/**
 * Submits to the first `count` of the upstreams at once, the best first. Others come in for those that certainly have not taken
 * it; what may have arrived is not sent again. The answer is the first success, else that of who has only sent it on, else the
 * first refusal, else the error is thrown. Nobody is given up when another has answered.
 */
export async function submitTo(
  clients: readonly UpstreamClient[],
  count: number,
  send: Send,
): Promise<UpstreamResponse> {
  const spares = clients.slice(count);
  const lanes = clients.slice(0, count).map((client) => submitToOneOf(client, spares, send));
  const taken = await Promise.any(lanes.map(requireTaken)).catch(({ errors }: AggregateError) => best(errors));
  for (const lane of lanes) {
    lane.then(
      (response) => {
        if (response !== taken) discard(response);
      },
      () => {},
    );
  }
  return taken;
}

async function submitToOneOf(first: UpstreamClient, spares: UpstreamClient[], send: Send): Promise<UpstreamResponse> {
  let refusal: UpstreamResponse | undefined;
  for (let client: UpstreamClient | undefined = first; ; ) {
    let problem: UpstreamError | undefined;
    try {
      const response = await send(client);
      if (!isNotTaken(response)) return response;
      if (refusal) discard(response);
      else refusal = response;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      if (error.mayHaveArrived) throw outcomeUnknown(error);
      problem = error;
    }
    client = spares.shift();
    if (client !== undefined) continue;
    if (refusal) return refusal;
    throw problem;
  }
}

/** The status of a block that an upstream has sent on, but not taken itself. */
export const ONLY_BROADCAST = 202;

/** An answer by which the submission was not taken, or not wholly. */
class Refusal extends Error {
  readonly response: UpstreamResponse;

  constructor(response: UpstreamResponse) {
    super("The submission was refused.");
    this.response = response;
  }
}

async function requireTaken(lane: Promise<UpstreamResponse>): Promise<UpstreamResponse> {
  const response = await lane;
  if (response.status >= 300 || response.status === ONLY_BROADCAST) throw new Refusal(response);
  return response;
}

function best(errors: readonly unknown[]): UpstreamResponse {
  const refusals = errors.flatMap((error) => (error instanceof Refusal ? error.response : []));
  const refusal = refusals.find(({ status }) => status === ONLY_BROADCAST) ?? refusals[0];
  if (refusal) return refusal;
  throw errors.find((error) => error instanceof UpstreamError && error.mayHaveArrived) ?? errors[0];
}

export const OUTCOME_UNKNOWN = "Whether it has taken what was submitted is not known, and it is not sent again.";

function outcomeUnknown({ upstream, message, cause }: UpstreamError): UpstreamError {
  return new UpstreamError(upstream, `${message} ${OUTCOME_UNKNOWN}`, { mayHaveArrived: true, cause });
}

/** Whether an answer leaves open what has become of a submission: something on the way, or the node itself, has failed. */
export function mayHaveBeenTaken({ access }: Question["method"], response: UpstreamResponse): boolean {
  return !isReadOnly(access) && response.status >= 500 && !isNotTaken(response);
}
