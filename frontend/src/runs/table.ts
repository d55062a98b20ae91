// The table of runs, in the list and below a sweep: sorted, grouped and with the columns that a person chose.
import {
  type ColumnDef,
  createTable,
  getCoreRowModel,
  getExpandedRowModel,
  getGroupedRowModel,
  getSortedRowModel,
  type Row,
  type SortingState,
  type Table,
  type TableState,
} from "@tanstack/table-core";
import { shortNumber } from "../common/charts";
import { type Child, count, fill, h } from "../common/dom";
import type { ListedRun } from "./data";
import { shownDate, shownEnd, shownModel, shownPlayer } from "../common/words";

/** Two runs can be ticked: `ticked` holds their ids, and `changed` is called after each change. */
export interface Ticks {
  ticked: Set<string>;
  changed: () => void;
}

/** How the table is looked at; its address holds it. */
export interface TableView {
  /** A column; with "-" before it, from high to low. */
  sort: string;
  /** The column that groups the runs; empty for none. */
  group: string;
  columns: string[];
}

interface Shown {
  id: string;
  title: string;
  value: (run: ListedRun) => string | number | null | undefined;
  cell?: (run: ListedRun) => Child[];
  isNumber?: boolean;
  /** Of the rows of a group; left out where it means nothing. */
  summary?: "mean" | "won";
}

const fixed = (digits: number, value: number | null | undefined): Child[] => [value == null ? null : value.toFixed(digits)];

const COLUMNS: Shown[] = [
  { id: "game", title: "game", value: (run) => run.game || run.name },
  {
    id: "player",
    title: "player",
    value: (run) => shownPlayer(run.agent, run.module),
    cell: (run) => [
      shownPlayer(run.agent, run.module),
      run.attempt ? h("div", { class: "muted path" }, `attempt ${run.attempt}`) : null,
    ],
  },
  { id: "model", title: "model", value: (run) => shownModel(run.model) },
  { id: "seed", title: "seed", value: (run) => run.seed, isNumber: true },
  { id: "score", title: "score", value: (run) => share(run), cell: score, summary: "mean" },
  { id: "moves", title: "moves", value: (run) => run.moves, isNumber: true, summary: "mean" },
  { id: "decisions", title: "decisions", value: (run) => run.decisions, isNumber: true, summary: "mean" },
  { id: "end", title: "end", value: (run) => end(run), cell: (run) => [endBadge(run)], summary: "won" },
  {
    id: "precision",
    title: "precision",
    value: (run) => run.precision,
    cell: (run) => fixed(4, run.precision),
    isNumber: true,
    summary: "mean",
  },
  {
    id: "recall",
    title: "recall",
    value: (run) => run.recall,
    cell: (run) => fixed(4, run.recall),
    isNumber: true,
    summary: "mean",
  },
  {
    id: "tokens",
    title: "tokens",
    value: (run) => run.tokens,
    cell: (run) => [run.tokens ? run.tokens.toLocaleString("en") : null],
    isNumber: true,
    summary: "mean",
  },
  {
    id: "dollars",
    title: "dollars",
    value: (run) => run.cost_usd,
    cell: (run) => fixed(4, run.cost_usd),
    isNumber: true,
    summary: "mean",
  },
  {
    id: "seconds",
    title: "seconds",
    value: (run) => run.seconds,
    cell: (run) => fixed(2, run.seconds),
    isNumber: true,
    summary: "mean",
  },
  {
    id: "written",
    title: "written",
    value: (run) => run.changed,
    cell: (run) => [h("span", { class: "when" }, shownDate(run.changed))],
  },
];
const BY_ID = new Map(COLUMNS.map((column) => [column.id, column]));

export const USUAL: TableView = {
  sort: "-written",
  group: "",
  columns: ["game", "player", "seed", "score", "moves", "end", "written"],
};
export const GROUPS = ["game", "player", "model", "end"];
export const columnTitles = (): { id: string; title: string }[] => COLUMNS.map(({ id, title }) => ({ id, title }));

/** What an address says of the table; what it does not know is left out. */
export function readView(told: URLSearchParams): TableView {
  const sort = told.get("sort") ?? "";
  const columns = told.get("columns")?.split(",").filter((id) => BY_ID.has(id)) ?? [];
  const group = told.get("group") ?? "";
  return {
    sort: BY_ID.has(sort.replace(/^-/, "")) ? sort : USUAL.sort,
    group: GROUPS.includes(group) ? group : "",
    columns: columns.length ? columns : [...USUAL.columns],
  };
}

export function writeView(view: TableView, told: URLSearchParams): void {
  if (view.sort !== USUAL.sort) told.set("sort", view.sort);
  if (view.group) told.set("group", view.group);
  if (view.columns.join() !== USUAL.columns.join()) told.set("columns", view.columns.join());
}

export class RunTable {
  readonly element = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs" });
  private readonly table: Table<ListedRun>;
  private readonly isOpen = new Map<string, boolean>();

  /**
   * @param view how it is looked at first
   * @param parts `ticks` puts a box before each run; `changed` is called when a person sorts otherwise
   */
  constructor(
    private view: TableView,
    private readonly parts: { ticks?: Ticks; changed?: (view: TableView) => void } = {},
  ) {
    const definitions = COLUMNS.map(
      (column): ColumnDef<ListedRun> => ({
        id: column.id,
        accessorFn: (run) => column.value(run) ?? undefined,
        sortUndefined: "last",
        aggregationFn: column.summary === "mean" ? "mean" : "unique",
        sortDescFirst: Boolean(column.isNumber) || column.id === "score" || column.id === "written",
      }),
    );
    this.table = createTable<ListedRun>({
      data: [],
      columns: definitions,
      state: {},
      onStateChange: () => undefined,
      renderFallbackValue: null,
      getRowId: (run) => run.id,
      getCoreRowModel: getCoreRowModel(),
      getSortedRowModel: getSortedRowModel(),
      getGroupedRowModel: getGroupedRowModel(),
      getExpandedRowModel: getExpandedRowModel(),
      autoResetExpanded: false,
      enableSortingRemoval: false,
    });
  }

  /** Draws some runs, at most `most` lines; returns how many are left out. */
  draw(runs: ListedRun[], most: number, view = this.view): number {
    this.view = view;
    const id = view.sort.replace(/^-/, "");
    const sorting: SortingState = [{ id, desc: view.sort.startsWith("-") }];
    const grouping = view.group ? [view.group] : [];
    const state: Partial<TableState> = { sorting, grouping, expanded: true };
    this.table.setOptions((before) => ({ ...before, data: runs, state: { ...this.table.initialState, ...state } }));
    const { rows } = this.table.getSortedRowModel();
    const shown = view.group ? this.groupRows(rows, most) : rows.slice(0, most).map((row) => this.row(row.original));
    fill(
      this.element,
      h(
        "table",
        { class: "list" },
        h("thead", {}, this.head()),
        ...(view.group ? shown : [h("tbody", {}, ...shown)]),
      ),
    );
    if (!view.group) return Math.max(rows.length - most, 0);
    return Math.max(0, ...rows.map((row) => row.subRows.length - most));
  }

  private get columns(): Shown[] {
    return COLUMNS.filter(({ id }) => this.view.columns.includes(id));
  }

  private head(): HTMLElement {
    const id = this.view.sort.replace(/^-/, "");
    const isDown = this.view.sort.startsWith("-");
    return h(
      "tr",
      {},
      this.parts.ticks ? h("th", {}, h("span", { class: "unseen" }, "compare")) : null,
      ...this.columns.map((column) => {
        const isSorted = column.id === id;
        const direction = isSorted ? (isDown ? "descending" : "ascending") : "none";
        const mark = h("span", { "aria-hidden": "true" }, isSorted ? (isDown ? " ↓" : " ↑") : "");
        return h(
          "th",
          { class: column.isNumber ? "number" : null, "aria-sort": direction },
          this.parts.changed === undefined
            ? column.title
            : h("button", { type: "button", class: "sort", click: () => this.sortBy(column.id) }, column.title, mark),
        );
      }),
    );
  }

  private sortBy(id: string): void {
    const isDescendingFirst = this.table.getColumn(id)?.columnDef.sortDescFirst === true;
    const wasThis = this.view.sort.replace(/^-/, "") === id;
    const isDown = wasThis ? !this.view.sort.startsWith("-") : isDescendingFirst;
    this.parts.changed?.({ ...this.view, sort: isDown ? `-${id}` : id });
    this.element.querySelector<HTMLElement>(`[aria-sort]:not([aria-sort=none]) button`)?.focus();
  }

  /** A part of the table for each group, with what its runs have in common; it opens and closes. */
  private groupRows(groups: Row<ListedRun>[], most: number): HTMLElement[] {
    return groups.map((group) => {
      const runs = group.subRows.map((row) => row.original);
      const name = String(group.getGroupingValue(this.view.group) ?? "");
      const isOpen = this.isOpen.get(name) ?? groups.length < 2;
      const body = h("tbody", { class: "group" });
      const fillBody = (isShown: boolean): void => {
        const toggle = h(
          "button",
          {
            type: "button",
            class: "sort",
            "aria-expanded": String(isShown),
            click: () => {
              this.isOpen.set(name, !isShown);
              fillBody(!isShown);
              body.querySelector("button")?.focus();
            },
          },
          h("span", { "aria-hidden": "true" }, isShown ? "▾ " : "▸ "),
          name || "none",
          h("span", { class: "muted" }, ` ${count(runs.length, "run")}`),
        );
        fill(body, this.summary(toggle, runs), ...(isShown ? runs.slice(0, most).map((run) => this.row(run)) : []));
        this.parts.ticks?.changed();
      };
      fillBody(isOpen);
      return body;
    });
  }

  private summary(toggle: HTMLElement, runs: ListedRun[]): HTMLElement {
    const cells = this.columns.map((column, place) =>
      h("td", { class: column.isNumber ? "number" : null }, place === 0 ? toggle : summaryOf(column, runs)),
    );
    return h("tr", { class: "summary" }, this.parts.ticks ? h("td") : null, ...cells);
  }

  private row(run: ListedRun): HTMLElement {
    const { ticks } = this.parts;
    const path = h("div", { class: "muted path" }, run.name);
    if (run.error !== null) {
      return h(
        "tr",
        {},
        ticks ? h("td") : null,
        h("td", {}, path),
        h("td", { class: "error", colspan: Math.max(this.columns.length - 1, 1) }, run.error),
      );
    }
    return h(
      "tr",
      {},
      ticks ? h("td", {}, tick(run, ticks)) : null,
      ...this.columns.map((column, place) =>
        h(
          "td",
          { class: column.isNumber ? "number" : column.id === "score" ? "score" : null },
          // the first column leads to the run, whichever it is
          ...(place === 0
            ? [h("a", { href: `#run=${run.id}` }, plain(column, run)), path]
            : (column.cell?.(run) ?? [plain(column, run)])),
        ),
      ),
    );
  }
}

function plain(column: Shown, run: ListedRun): string {
  if (column.id === "written") return shownDate(run.changed);
  const value = column.value(run);
  return value === null || value === undefined ? "" : String(value);
}

function summaryOf(column: Shown, runs: ListedRun[]): Child {
  if (column.summary === "won") return `${runs.filter((run) => run.won).length} of ${runs.length} won`;
  if (column.summary !== "mean") return null;
  const values = runs.map((run) => column.value(run)).filter((value) => typeof value === "number");
  if (!values.length) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return `${column.id === "score" ? mean.toFixed(3) : shortNumber(mean)} mean`;
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

/** The share of the highest score, so that runs of different games can be sorted; not known of one that goes on. */
function share(run: ListedRun): number | null {
  if (run.score === null || run.score === undefined || !run.is_complete) return null;
  return run.max_score ? run.score / run.max_score : run.score;
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

const end = (run: ListedRun): string => (run.is_complete ? shownEnd(run.won, run.ended_by) : "not finished");

const endBadge = (run: ListedRun): HTMLElement => h("span", { class: run.won ? "badge good" : "badge" }, end(run));
