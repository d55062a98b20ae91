// What a person sees of work that takes long: what is done, for how long it goes on, and a button that ends it.
import { get, post } from "../common/api";
import { count, h } from "../common/dom";

interface WorkTold {
  work: { what: string; done: number; total: number | null; seconds: number }[];
}

const QUICK = 400; // milliseconds before anything is said: most answers are there by then
const OFTEN = 500; // milliseconds between two looks
const PATIENCE = 10_000; // milliseconds for the answer to a look: a server that works answers at once

export class Waiting {
  // made once: a click on a button that is replaced between its press and its release is lost
  private readonly words = h("p");
  private readonly progress = h("progress", { "aria-label": "done", hidden: true });
  private readonly cancelButton = h("button", { type: "button", class: "cancel", hidden: true, click: () => void this.cancel() }, "Cancel");
  private readonly againButton = h("button", { type: "button", class: "again", hidden: true, click: () => this.askAgain() }, "Ask again");
  readonly element = h("div", { class: "waiting", role: "status" }, this.words, this.progress, this.cancelButton, this.againButton);
  private readonly control = new AbortController();
  private readonly begun = performance.now();
  private timer: number;
  private silentSince: number | null = null;
  private wasGone = false;
  private hasEnded = false;

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
    this.hasEnded = true;
    this.pause();
  }

  private pause(): void {
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
    this.say(message, { again: this.again !== null });
  }

  private askAgain(): void {
    this.end();
    this.control.abort();
    this.again?.();
  }

  private sayWork(told: WorkTold["work"][number] | undefined): void {
    delete this.element.dataset["line"];
    const seconds = Math.round((performance.now() - this.begun) / 1000);
    const hasTotal = told !== undefined && told.total !== null && told.total > 0;
    if (hasTotal) [this.progress.max, this.progress.value] = [told.total ?? 0, told.done];
    this.say(told === undefined ? `Working for ${count(seconds, "second")} …` : workSaid(told), { progress: hasTotal, cancel: true });
  }

  private say(words: string, { progress = false, cancel = false, again = false } = {}): void {
    this.words.textContent = words;
    this.words.classList.toggle("error", this.element.dataset["line"] === "lost");
    this.progress.hidden = !progress;
    this.cancelButton.hidden = !cancel;
    this.againButton.hidden = !again;
  }

  private async cancel(): Promise<void> {
    this.pause();
    this.say("Cancelling …");
    if (this.cancelled !== null) {
      this.control.abort();
      this.cancelled();
    }
    try {
      await post(this.path, {});
    } catch {
      // the server did not hear of it: the work goes on, and so does the look at it
      if (this.cancelled === null && !this.hasEnded) this.timer = window.setTimeout(() => void this.look(), 0);
    }
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
