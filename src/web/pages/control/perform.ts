import { signal } from "@preact/signals";
import { type Notice, noticeOf } from "../../control-notices.ts";
import { messageOf } from "../../format.ts";
import { refresh } from "../../live.ts";
import { node } from "../../node.ts";

interface TimedNotice extends Notice {
  number: number;
  time: Date;
  isError: boolean;
}

const MAX_NOTICES = 50;

/** Outcomes of actions, newest first. Kept while other pages are open. */
export const notices = signal<readonly TimedNotice[]>([]);

/** Number of finished actions. */
export const actionCount = signal(0);

function addNotice(notice: Notice, isError: boolean): void {
  const number = (notices.value[0]?.number ?? 0) + 1;
  notices.value = [{ ...notice, number, time: new Date(), isError }, ...notices.value].slice(0, MAX_NOTICES);
}

/** Calls a control method and records its outcome. */
export async function perform(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<void> {
  try {
    const result = await node.call(method, params);
    addNotice(noticeOf(method, params, result), false);
    await refresh();
  } catch (error) {
    addNotice({ text: messageOf(error) }, true);
  }
  actionCount.value++;
}
