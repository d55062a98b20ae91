// All runs and sweeps of the folder.
import { count, fill, h, whenQuiet } from "../common/dom";
import type { Listing, ListedRun, ListedSweep } from "./data";
import { runTable } from "./table";

const SHOWN = 300; // runs in the table, until more are asked for

export function drawList(place: HTMLElement, { folder, runs, sweeps }: Listing): void {
  const heading = [h("h1", {}, "Runs"), h("p", { class: "muted path" }, folder)];
  if (!runs.length && !sweeps.length) {
    fill(
      place,
      ...heading,
      h(
        "p",
        { class: "hint" },
        "There are no runs in this folder yet. ",
        h("a", { href: "/play" }, "Play a game"),
        ", or run `worldthread play treasure-hunt`.",
      ),
    );
    return;
  }
  fill(place, ...heading, ...(sweeps.length ? [sweepCards(sweeps)] : []), new RunList(runs).element);
}

function sweepCards(sweeps: ListedSweep[]): HTMLElement {
  return h(
    "section",
    {},
    h("h2", { class: "small" }, "Sweeps"),
    h(
      "div",
      { class: "cards" },
      ...sweeps.map((sweep) =>
        h(
          "a",
          { class: "card link", href: `#sweep=${sweep.id}` },
          h("strong", {}, sweep.name),
          sweep.error === null
            ? h("span", { class: "muted" }, count(sweep.finished, "finished run"))
            : h("span", { class: "error" }, sweep.error),
        ),
      ),
    ),
  );
}

/** The runs, with a field that filters them, and ticks to compare two. */
class RunList {
  readonly element = h("section");
  private readonly ticked = new Set<string>();
  private shown = SHOWN;
  private readonly place = h("div");
  private readonly search = h("input", {
    id: "find",
    type: "search",
    autocomplete: "off",
    placeholder: "Find a game, an agent, a name",
    "aria-label": "Find a game, an agent, a name",
    value: new URLSearchParams(location.hash.slice(1)).get("find"),
    input: whenQuiet(100, () => {
      this.drawTable();
      if (!this.search.isConnected) return; // a run is shown by now
      const find = new URLSearchParams({ find: this.search.value });
      history.replaceState(null, "", this.search.value ? `#${find}` : location.pathname);
    }),
  });
  private readonly compare = h(
    "button",
    { id: "compare", click: () => (location.hash = `compare=${[...this.ticked].join(",")}`) },
    "Compare two",
  );

  constructor(private readonly runs: ListedRun[]) {
    fill(this.element, h("div", { class: "row tools" }, this.search, this.compare), this.place);
    this.drawTable();
  }

  private drawTable(): void {
    const wanted = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.runs.filter((run) => {
      const text = [run.game, run.agent, run.module, run.model, run.name].join(" ").toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    const more = found.length - this.shown;
    fill(
      this.place,
      found.length
        ? runTable(found.slice(0, this.shown), { ticked: this.ticked, changed: () => this.showTicks() })
        : h("p", { class: "muted" }, "No run matches."),
      more > 0
        ? h(
            "div",
            { class: "buttons" },
            h("button", { click: () => this.showMore() }, `Show ${Math.min(more, SHOWN)} of ${count(more, "more run")}`),
          )
        : null,
    );
    this.showTicks();
  }

  private showMore(): void {
    this.shown += SHOWN;
    this.drawTable();
  }

  /** No third run can be ticked. */
  private showTicks(): void {
    const isFull = this.ticked.size === 2;
    this.compare.disabled = !isFull;
    for (const box of this.place.querySelectorAll<HTMLInputElement>("input[data-run]")) {
      box.disabled = isFull && !box.checked;
    }
  }
}
