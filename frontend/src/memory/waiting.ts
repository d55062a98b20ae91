// What a person sees of work that takes long: what is done, for how long it goes on, and a button that ends it.
import { get, post } from "../common/api";
import { count, fill, h } from "../common/dom";

interface WorkTold {
  work: { what: string; done: number; total: number | null; seconds: number }[];
}

const QUICK = 400; // milliseconds before anything is said: most answers are there by then
const OFTEN = 500; // milliseconds between two looks

export class Waiting {
  readonly element = h("div", { class: "waiting", role: "status" });
  private readonly control = new AbortController();
  private readonly begun = performance.now();
  private timer: number;

  /**
   * @param path where the server tells of the work, and takes its end
   * @param cancelled called after a person ended it; `null` where the answer tells what was done until then
   */
  constructor(
    private readonly path: string,
    private readonly cancelled: (() => void) | null,
  ) {
    this.timer = window.setTimeout(() => void this.look(), QUICK);
  }

  /** Ends the request of the page. */
  get signal(): AbortSignal {
    return this.control.signal;
  }

  end(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
  }

  private async look(): Promise<void> {
    let told: WorkTold["work"][number] | undefined;
    try {
      told = (await get<WorkTold>(this.path)).work[0];
    } catch {
      // the request itself says what is wrong
    }
    if (this.timer === 0) return;
    const seconds = Math.round((performance.now() - this.begun) / 1000);
    fill(
      this.element,
      h("p", {}, told === undefined ? `Working for ${count(seconds, "second")} …` : workSaid(told)),
      told?.total ? h("progress", { max: told.total, value: told.done, "aria-label": "done" }) : null,
      h("button", { type: "button", class: "cancel", click: () => void this.cancel() }, "Cancel"),
    );
    this.timer = window.setTimeout(() => void this.look(), OFTEN);
  }

  private async cancel(): Promise<void> {
    this.end();
    fill(this.element, h("p", {}, "Ending …"));
    if (this.cancelled !== null) {
      this.control.abort();
      this.cancelled();
    }
    await post(this.path, {}).catch(() => undefined);
  }
}

function workSaid({ what, done, total, seconds }: WorkTold["work"][number]): string {
  const begin =
    what === "indexing" ? "Reading the memory for its first question" : "Reading the texts";
  const part = total === null ? count(done, "text") : `${done.toLocaleString("en")} of ${count(total, "text")}`;
  const left = total !== null && done > 0 ? (seconds * (total - done)) / done : null;
  const told = left === null ? "" : left < 90 ? `, about ${count(Math.ceil(left), "second")} left` : `, about ${count(Math.ceil(left / 60), "minute")} left`;
  return `${begin}: ${part}${told}. What is done is kept.`;
}
