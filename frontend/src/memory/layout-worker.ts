// The forces, away from the page's own thread.
import { Forces, type Task } from "./forces";

export interface Progress {
  run: number;
  positions: Float32Array;
  done: boolean;
}

const ROUND = 80; // milliseconds between two pictures
let current = 0;

self.onmessage = async (event: MessageEvent<Task>): Promise<void> => {
  const task = event.data;
  current = task.run;
  const forces = new Forces(task);
  const end = performance.now() + task.milliseconds;
  let iterations = 1;
  for (;;) {
    const begun = performance.now();
    const positions = forces.work(iterations);
    const took = performance.now() - begun;
    iterations = Math.max(1, Math.min(200, Math.round((iterations * ROUND) / Math.max(took, 1))));
    const progress: Progress = { run: task.run, positions, done: performance.now() >= end };
    self.postMessage(progress, { transfer: [positions.buffer] });
    if (progress.done) return;
    await new Promise((resolve) => setTimeout(resolve)); // a newer task may have come
    if (current !== task.run) return;
  }
};
