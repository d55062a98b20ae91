// The table of runs, in the list and below a sweep.
import { type Child, h } from "../common/dom";
import type { ListedRun } from "./data";
import { shownDate, shownEnd, shownPlayer } from "./words";

/** Two runs can be ticked: `ticked` holds their ids, and `changed` is called after each change. */
export interface Ticks {
  ticked: Set<string>;
  changed: () => void;
}

export function runTable(runs: ListedRun[], ticks: Ticks | null = null): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs" },
    h(
      "table",
      { class: "list" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ticks ? h("th", {}, h("span", { class: "unseen" }, "compare")) : null,
          h("th", {}, "game"),
          h("th", {}, "player"),
          h("th", { class: "number" }, "seed"),
          h("th", {}, "score"),
          h("th", { class: "number" }, "moves"),
          h("th", {}, "end"),
          h("th", {}, "written"),
        ),
      ),
      h("tbody", {}, ...runs.map((run) => row(run, ticks))),
    ),
  );
}

function row(run: ListedRun, ticks: Ticks | null): HTMLElement {
  const path = h("div", { class: "muted path" }, run.name);
  if (run.error !== null) {
    return h(
      "tr",
      {},
      ticks ? h("td") : null,
      h("td", {}, path),
      h("td", { class: "error", colspan: 5 }, run.error),
      h("td", { class: "when" }, shownDate(run.changed)),
    );
  }
  return h(
    "tr",
    {},
    ticks ? h("td", {}, tick(run, ticks)) : null,
    h("td", {}, h("a", { href: `#run=${run.id}` }, run.game || run.name), path),
    h(
      "td",
      {},
      shownPlayer(run.agent, run.module),
      run.model ? h("div", { class: "muted path" }, run.model) : null,
      run.attempt ? h("div", { class: "muted path" }, `attempt ${run.attempt}`) : null,
    ),
    h("td", { class: "number" }, run.seed),
    h("td", { class: "score" }, ...score(run)),
    h("td", { class: "number" }, run.moves),
    h(
      "td",
      {},
      h(
        "span",
        { class: run.won ? "badge good" : "badge" },
        run.is_complete ? shownEnd(run.won, run.ended_by) : "not finished",
      ),
    ),
    h("td", { class: "when" }, shownDate(run.changed)),
  );
}

function tick(run: ListedRun, { ticked, changed }: Ticks): HTMLInputElement {
  const box = h("input", {
    type: "checkbox",
    "aria-label": `Compare ${run.name}`,
    "data-run": run.id,
    change: () => {
      if (box.checked) ticked.add(run.id);
      else ticked.delete(run.id);
      changed();
    },
  });
  box.checked = ticked.has(run.id);
  return box;
}

function score(run: ListedRun): Child[] {
  if (run.score === null || run.score === undefined) return [];
  if (!run.max_score) return [run.score];
  return [
    // the words beside it say the same
    h("meter", { min: 0, max: run.max_score, value: Math.max(run.score, 0), "aria-hidden": "true" }),
    ` ${run.score}/${run.max_score}`,
  ];
}
