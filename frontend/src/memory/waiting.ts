// What a person sees of work that takes long: what is done, for how long it goes on, and a button that ends it.
import { get, post } from "../common/api";
import { count, fill, h } from "../common/dom";

interface WorkTold {
  work: { what: string; done: number; total: number | null; seconds: number }[];
}

const QUICK = 400; // milliseconds before anything is said: most answers are there by then
const OFTEN = 500; // milliseconds between two looks
const PATIENCE = 10_000; // milliseconds for the answer to a look: a server that works answers at once

export class Waiting {
  readonly element = h("div", { class: "waiting", role: "status" });
  private readonly control = new AbortController();
  private readonly begun = performance.now();
  private timer: number;
  private silentSince: number | null = null;
  private wasGone = false;

  /**
   * @param path where the server tells of the work, and takes its end
   * @param cancelled called after a person ended it; `null` where the answer tells what was done until then
   * @param again asks once more, where that does no harm: offered when the server was gone in the meantime
   */
  constructor(
    private readonly path: string,
    private readonly cancelled: (() => void) | null,
    private readonly again: (() => void) | null = null,
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
    const asking = new AbortController();
    const patience = window.setTimeout(() => asking.abort(), PATIENCE);
    const begun = Date.now();
    try {
      told = (await get<WorkTold>(this.path, {}, asking.signal)).work[0];
      this.wasGone ||= this.silentSince !== null && Date.now() - this.silentSince > PATIENCE;
      this.silentSince = null;
    } catch {
      this.silentSince ??= begun;
    }
    window.clearTimeout(patience);
    if (this.timer === 0) return;
    if (this.silentSince !== null) this.sayGone(`The server has not answered for ${count(Math.round((Date.now() - this.silentSince) / 1000), "second")}. Is “worldthread web” still running, and the network there?`);
    else if (this.wasGone && told === undefined) {
      // the line on which the answer was to come may be dead for many minutes before the browser says so
      this.sayGone("The connection was lost for a while, and the answer may be lost with it.");
    } else this.sayWork(told);
    this.timer = window.setTimeout(() => void this.look(), OFTEN);
  }

  private sayGone(message: string): void {
    this.element.dataset["line"] = "lost";
    fill(
      this.element,
      h("p", { class: "error" }, message),
      this.again === null
        ? null
        : h("button", { type: "button", class: "again", click: () => this.askAgain() }, "Ask again"),
    );
  }

  private askAgain(): void {
    this.end();
    this.control.abort();
    this.again?.();
  }

  private sayWork(told: WorkTold["work"][number] | undefined): void {
    delete this.element.dataset["line"];
    const seconds = Math.round((performance.now() - this.begun) / 1000);
    fill(
      this.element,
      h("p", {}, told === undefined ? `Working for ${count(seconds, "second")} …` : workSaid(told)),
      told?.total ? h("progress", { max: told.total, value: told.done, "aria-label": "done" }) : null,
      h("button", { type: "button", class: "cancel", click: () => void this.cancel() }, "Cancel"),
    );
  }

  private async cancel(): Promise<void> {
    this.end();
    fill(this.element, h("p", {}, "Cancelling …"));
    if (this.cancelled !== null) {
      this.control.abort();
      this.cancelled();
    }
    await post(this.path, {}).catch(() => undefined);
  }
}

function workSaid({ what, done, total, seconds }: WorkTold["work"][number]): string {
  const begin =
    what === "indexing" ? "Preparing the memory for its first question" : "Reading the texts";
  const part = total === null ? count(done, "text") : `${done.toLocaleString("en")} of ${count(total, "text")}`;
  const left = total !== null && done > 0 ? (seconds * (total - done)) / done : null;
  const told = left === null ? "" : left < 90 ? `, about ${count(Math.ceil(left), "second")} left` : `, about ${count(Math.ceil(left / 60), "minute")} left`;
  return `${begin}: ${part}${told}. Cancel keeps what is done.`;
}
