/** What the processes of the benchmark have in common: they talk to their parent, and end with it. */

export function report(message: object): void {
  process.send?.(message);
}

export function parentGone(): Promise<void> {
  return new Promise((resolve) => {
    process.once("disconnect", resolve);
  });
}

/** Tells on request how much processor time the process has used up. */
export function answerCpuQuestions(): void {
  process.on("message", (message: { cpu?: true }) => {
    if (!message.cpu) return;
    const { user, system } = process.cpuUsage();
    report({ cpuMicroseconds: user + system });
  });
}
