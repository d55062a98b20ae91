// Work of which only the newest matters, such as pictures of a step while a person holds a key down.

/**
 * A function that does the work for the value it was given last. One piece of work runs at a time: values that come in
 * the meantime replace each other, so that the newest is always worked on in the end, and no flood of requests starts.
 */
export function latestOnly<T>(work: (value: T) => Promise<void>): (value: T) => void {
  let isRunning = false;
  let waiting: { value: T } | null = null;
  return (given) => {
    waiting = { value: given };
    if (isRunning) return;
    isRunning = true;
    void (async () => {
      while (waiting !== null) {
        const { value } = waiting;
        waiting = null;
        await work(value);
      }
      isRunning = false;
    })();
  };
}
