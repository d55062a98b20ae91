// All runs, sweeps and read texts of the folder.
import { get } from "../common/api";
import { count, fill, h, whenQuiet } from "../common/dom";
import type { ListedMemory, Listing, ListedRun, ListedSweep } from "./data";
import { columnTitles, GROUPS, readView, RunTable, type TableView, writeView } from "./table";
import { shownModel } from "../common/words";

const SHOWN = 300; // runs in the table, until more are asked for

export function drawList(place: HTMLElement, { folder, runs, sweeps }: Listing): void {
  const heading = [h("h1", {}, "Runs"), h("p", { class: "muted path" }, `in the folder ${folder}`)];
  const read = h("section", { id: "readings" });
  void showReadings(read);
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
      read,
    );
    return;
  }
  fill(place, ...heading, ...(sweeps.length ? [sweepCards(sweeps)] : []), new RunList(runs).element, read);
}

function sweepCards(sweeps: ListedSweep[]): HTMLElement {
  return cards(
    "Sweeps",
    sweeps.map((sweep) => ({
      href: `#sweep=${sweep.id}`,
      name: sweep.name,
      about: sweep.error ?? count(sweep.finished, "finished run"),
      isError: sweep.error !== null,
    })),
  );
}

/** Texts that were read are a run too: what was taken from each, one after the other. A large memory opens later. */
async function showReadings(place: HTMLElement): Promise<void> {
  const { memories } = await get<{ memories: ListedMemory[] }>("/api/memories");
  const readings = memories.filter(({ key, exists }) => exists && !key.startsWith("run-"));
  if (!readings.length) return;
  fill(
    place,
    ...cards(
      "Texts that were read",
      readings.map(({ key, label }) => ({
        href: `#read=${encodeURIComponent(key)}`,
        name: label,
        about: "text by text: what was taken from which sentence",
        isError: false,
      })),
    ).childNodes,
  );
}

function cards(title: string, all: { href: string; name: string; about: string; isError: boolean }[]): HTMLElement {
  return h(
    "section",
    {},
    h("h2", { class: "small" }, title),
    h(
      "div",
      { class: "cards" },
      ...all.map(({ href, name, about, isError }) =>
        h(
          "a",
          { class: "card link", href },
          h("strong", {}, name),
          h("span", { class: isError ? "error" : "muted" }, about),
        ),
      ),
    ),
  );
}

/** The runs, with a field that filters them, what they are sorted and grouped by, and ticks to compare two. */
class RunList {
  readonly element = h("section");
  private readonly ticked = new Set<string>();
  private shown = SHOWN;
  private view: TableView;
  private readonly place = h("div");
  private readonly table: RunTable;
  private readonly search = h("input", {
    id: "find",
    type: "search",
    autocomplete: "off",
    placeholder: "Find a game, an agent, a name",
    "aria-label": "Find a game, an agent, a name",
    value: new URLSearchParams(location.hash.slice(1)).get("find"),
    input: whenQuiet(100, () => {
      this.draw();
      this.keep();
    }),
  });
  private readonly group: HTMLSelectElement;
  private readonly compare = h(
    "button",
    { id: "compare", click: () => (location.hash = `compare=${[...this.ticked].join(",")}`) },
    "Compare two",
  );

  constructor(private readonly runs: ListedRun[]) {
    this.view = readView(new URLSearchParams(location.hash.slice(1)));
    this.table = new RunTable(this.view, {
      ticks: { ticked: this.ticked, changed: () => this.showTicks() },
      changed: (view) => this.look(view),
    });
    this.group = h(
      "select",
      { id: "group", "aria-label": "Group by", change: () => this.look({ ...this.view, group: this.group.value }) },
      h("option", { value: "" }, "not grouped"),
      ...GROUPS.map((id) => h("option", { value: id, selected: id === this.view.group }, `by ${id}`)),
    );
    fill(
      this.element,
      h("div", { class: "row tools" }, this.search, this.group, this.columnChoice(), this.compare),
      this.place,
    );
    this.draw();
  }

  private columnChoice(): HTMLElement {
    const boxes = columnTitles().map(({ id, title }) => {
      const box = h("input", {
        type: "checkbox",
        "data-column": id,
        checked: this.view.columns.includes(id),
        change: () => {
          const wanted = boxes.filter(([, one]) => one.checked).map(([each]) => each);
          if (wanted.length) this.look({ ...this.view, columns: wanted });
          else box.checked = true; // a table needs one
        },
      });
      return [id, box, title] as const;
    });
    return h(
      "details",
      { class: "columns" },
      h("summary", {}, "Columns"),
      h("div", { class: "card" }, ...boxes.map(([, box, title]) => h("label", { class: "choice" }, box, ` ${title}`))),
    );
  }

  private look(view: TableView): void {
    this.view = view;
    this.draw();
    this.keep();
  }

  private keep(): void {
    if (!this.search.isConnected) return; // a run is shown by now
    const told = new URLSearchParams();
    if (this.search.value) told.set("find", this.search.value);
    writeView(this.view, told);
    history.replaceState(null, "", told.size ? `#${told}` : location.pathname);
  }

  private draw(): void {
    const wanted = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.runs.filter((run) => {
      const text = [run.game, run.agent, run.module, shownModel(run.model), run.name].join(" ").toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    const left = found.length ? this.table.draw(found, this.shown, this.view) : 0;
    fill(
      this.place,
      found.length ? this.table.element : h("p", { class: "muted" }, "No run matches."),
      left > 0
        ? h(
            "div",
            { class: "buttons" },
            h("button", { click: () => this.showMore() }, `Show ${Math.min(left, SHOWN)} of ${count(left, "more run")}`),
          )
        : null,
    );
    this.showTicks();
  }

  private showMore(): void {
    this.shown += SHOWN;
    this.draw();
  }

  /** No third run can be ticked. */
  private showTicks(): void {
    const isFull = this.ticked.size === 2;
    this.compare.disabled = !isFull;
    this.compare.title = isFull ? "" : "Tick two runs first";
    for (const box of this.place.querySelectorAll<HTMLInputElement>("input[data-run]")) {
      box.disabled = isFull && !box.checked;
    }
  }
}
