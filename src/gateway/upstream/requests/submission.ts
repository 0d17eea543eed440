import { isReadOnly } from "../../../server/access-class.ts";
import { discardBody } from "../client/fetch.ts";
import type { UpstreamClient } from "../client/upstream-client.ts";
import { type UpstreamCall, UpstreamError, type UpstreamResponse } from "../upstream-call.ts";
import { isNotAccepted } from "./response-verdict.ts";

/** Submissions that every upstream must know, because any of them may serve the duty later. */
const FOR_ALL_UPSTREAMS =
  /^\/eth\/v\d+\/validator\/(?:beacon_committee_subscriptions|sync_committee_subscriptions|prepare_beacon_proposer|register_validator)$/;

/** True if a submission goes to all upstreams regardless of the broadcast count. So do admin methods. */
export function goesToAllUpstreams({ method, request }: Pick<UpstreamCall, "method" | "request">): boolean {
  return method.access === "admin" || FOR_ALL_UPSTREAMS.test(request.url);
}

/** A signed block has the same effect however often and wherever it is published. */
const PUBLISHED_BLOCK = /^\/eth\/v\d+\/beacon\/blocks(?:\?|$)/;

/** True if a submission that may have arrived can be sent to another upstream. */
export function mayResend({ request }: Pick<UpstreamCall, "request">): boolean {
  return PUBLISHED_BLOCK.test(request.url);
}

/** Sends the submission to one upstream. Rejects with an `UpstreamError`. */
type Send = (client: UpstreamClient) => Promise<UpstreamResponse>;

/**
 * Submits to the first `count` upstreams in parallel. Fails over to the remaining ones if an upstream certainly did not
 * accept the submission, or may have accepted one that can be resent. Returns the first success, otherwise a broadcast-only
 * response, otherwise the first rejection, and throws if there is none. No request is cancelled.
 */
export async function submitToUpstreams(
  clients: readonly UpstreamClient[],
  count: number,
  send: Send,
  isResendable = false,
): Promise<UpstreamResponse> {
  const spares = clients.slice(count);
  const lanes = clients.slice(0, count).map((client) => submitWithFailover(client, spares, send, isResendable));
  const accepted = await Promise.any(lanes.map(requireAccepted)).catch(({ errors }: AggregateError) =>
    pickResponse(errors),
  );
  for (const lane of lanes) {
    lane.then(
      (response) => {
        if (response !== accepted) discardBody(response);
      },
      () => {},
    );
  }
  return accepted;
}

async function submitWithFailover(
  first: UpstreamClient,
  spares: UpstreamClient[],
  send: Send,
  isResendable: boolean,
): Promise<UpstreamResponse> {
  let rejection: UpstreamResponse | undefined;
  let unknown: UpstreamError | undefined;
  for (let client: UpstreamClient | undefined = first; ; ) {
    let problem: UpstreamError | undefined;
    try {
      const response = await send(client);
      if (!isNotAccepted(response)) return requireKnownOutcome(response, unknown);
      if (rejection) discardBody(response);
      else rejection = response;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      if (error.mayHaveArrived) {
        if (!isResendable) throw outcomeUnknownError(error);
        unknown ??= error;
      }
      problem = error;
    }
    client = spares.shift();
    if (client !== undefined) continue;
    if (unknown) throw outcomeUnknownError(unknown);
    if (rejection) return rejection;
    throw problem;
  }
}

/** Throws if another upstream may have accepted what this one rejects, perhaps as a duplicate. */
function requireKnownOutcome(response: UpstreamResponse, unknown: UpstreamError | undefined): UpstreamResponse {
  if (unknown === undefined || response.status < 300) return response;
  discardBody(response);
  throw outcomeUnknownError(unknown);
}

/** Status of a block that was broadcast but not imported. */
export const BROADCAST_ONLY_STATUS = 202;

/** The submission was rejected, fully or in part. */
class RejectedSubmission extends Error {
  readonly response: UpstreamResponse;

  constructor(response: UpstreamResponse) {
    super("The submission was rejected.");
    this.response = response;
  }
}

async function requireAccepted(lane: Promise<UpstreamResponse>): Promise<UpstreamResponse> {
  const response = await lane;
  if (response.status >= 300 || response.status === BROADCAST_ONLY_STATUS) throw new RejectedSubmission(response);
  return response;
}

function pickResponse(errors: readonly unknown[]): UpstreamResponse {
  const fallbacks = errors.flatMap((error) => (error instanceof RejectedSubmission ? error.response : []));
  const rejection = fallbacks.find(({ status }) => status === BROADCAST_ONLY_STATUS) ?? fallbacks[0];
  if (rejection) return rejection;
  throw errors.find((error) => error instanceof UpstreamError && error.mayHaveArrived) ?? errors[0];
}

const OUTCOME_UNKNOWN = "It is unknown whether it accepted the submission, which is not retried.";
const OUTCOMES_UNKNOWN = "It is unknown whether they accepted the submission, which is not retried.";

/** Adds to a message about a failed submission that its outcome is unknown. */
export function withUnknownOutcome(message: string): string {
  return `${message.replace(/[^.!?]$/, "$&.")} ${OUTCOME_UNKNOWN}`;
}

function outcomeUnknownError({ upstream, message, cause }: UpstreamError): UpstreamError {
  return new UpstreamError(upstream, withUnknownOutcome(message), { mayHaveArrived: true, cause });
}

/** Returns the error of a submission whose call ends before these upstreams have answered. */
export function submissionTimeoutError(upstreams: readonly string[], millis: number): UpstreamError {
  const names = upstreams.join(" and ");
  const problem = `${names} did not answer the submission within ${millis / 1000} s.`;
  const message = upstreams.length > 1 ? `${problem} ${OUTCOMES_UNKNOWN}` : withUnknownOutcome(problem);
  return new UpstreamError(names, message, { mayHaveArrived: true });
}

/** True if the response leaves open whether the submission was accepted: a proxy or the node itself failed. */
export function hasUnknownOutcome({ access }: UpstreamCall["method"], response: UpstreamResponse): boolean {
  return !isReadOnly(access) && response.status >= 500 && !isNotAccepted(response);
}
