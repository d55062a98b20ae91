// The page of a memory.
import { get, said } from "../common/api";
import { at, count, fill, h, tell, whenQuiet } from "../common/dom";
import {
  type EdgeKind,
  type Entity,
  type Episode,
  type EpisodeHit,
  Filters,
  type FirstPicture,
  type Hit,
  type Neighbourhood,
  type Statement,
  Store,
  type Summary,
} from "./data";
import { type Chosen, Drawing } from "./drawing";
import { Panel } from "./panel";
import { type Found, Search } from "./search";
import { Slider } from "./slider";

const NEIGHBOURS = 40; // asked for at a time
const STATEMENTS = 100; // shown of a name at first
const MOST_DRAWN = 1500; // vertices of neighbourhoods: with more, the next one is drawn alone

interface Listed {
  key: string;
  label: string;
  exists: boolean;
}

const store = new Store();
const filters = new Filters();
const loaded = new Map<string, { shown: number; total: number }>();
const address = new URLSearchParams(location.hash.slice(1));
let memory = address.get("memory") ?? "file";
let summary: Summary | null = null;
let chosen: { kind: "name" | "statement" | "episode"; id: string } | null = null;
let entity: Entity | null = null;
let whole = true;

const path = (tail = ""): string => `/api/memories/${encodeURIComponent(memory)}${tail}`;
const askPicture = (): Promise<FirstPicture> =>
  get<FirstPicture>(path("/graph"), { episodes: filters.kinds.has("episode") });

// asked for first of all: it takes a browser a while to make ready for drawing
const begun = askPicture();
begun.catch(() => undefined);

const panel = new Panel(at("panel", HTMLElement), {
  choose: (name) => void show(name),
  expand: (name) => void expand(name),
  only: (name) => void only(name),
  longer: (name) => void showEntity(name, 1000),
  episode: (id) => get<Episode>(path("/episode"), { id }),
});
const slider = new Slider(
  {
    range: at("moment", HTMLInputElement),
    shown: at("moment-shown", HTMLOutputElement),
    first: at("moment-first", HTMLElement),
    play: at("moment-play", HTMLButtonElement),
    now: at("moment-now", HTMLButtonElement),
    changes: at("changes", SVGSVGElement as unknown as new () => SVGSVGElement),
  },
  store,
  (moment) => {
    filters.moment = moment;
    redraw();
    if (entity !== null && chosen?.kind === "name") panel.entity(entity, moment, loaded.get(entity.name) ?? null);
    remember();
  },
);
new Search(at("search", HTMLInputElement), at("found", HTMLElement), {
  names: async (q) => {
    try {
      return (await get<{ names: Found[] }>(path("/names"), { q })).names;
    } catch {
      return [];
    }
  },
  choose: (name) => void show(name),
  recall: (question) => void recall(question),
});
const drawing = makeDrawing();

function makeDrawing(): Drawing | null {
  const container = at("graph", HTMLElement);
  try {
    return new Drawing(
      container,
      store,
      filters,
      (picked) => void pick(picked),
      (id) => {
        const name = store.vertices.get(id)?.name;
        if (name !== undefined) void expand(name);
      },
    );
  } catch {
    fill(
      container,
      h(
        "p",
        { class: "empty" },
        "This browser does not draw graphs (WebGL is off). Search, and what is known about a name, work without.",
      ),
    );
    return null;
  }
}

async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    tell(null);
    await work();
  } catch (error) {
    tell(said(error));
  }
}

// -- what is on the page ------------------------------------------------------------------------------------------

async function open(asked = askPicture()): Promise<void> {
  summary = null;
  await guarded(async () => {
    const first = await asked;
    whole = first.whole;
    drawing?.clear();
    store.clear();
    loaded.clear();
    drawing?.grow(store.add(first), null);
    if (first.centre !== null && first.total !== null) {
      loaded.set(first.centre, { shown: Math.min(NEIGHBOURS, first.total), total: first.total });
    }
    if (first.whole && filters.kinds.has("episode") && !first.episodes)
      tell("With its episodes this memory is too large to be drawn whole: choose a name to see them.");
    changed();
    at("nothing", HTMLElement).hidden = store.vertices.size > 0;
    void guarded(welcome);
  });
  document.body.dataset["ready"] = "yes";
}

async function welcome(): Promise<void> {
  const about = await get<Summary>(path());
  summary = about;
  document.title = `${about.file.split("/").at(-1) ?? "memory"} · worldthread`;
  if (chosen === null) panel.welcome(about);
  redraw();
}

function changed(): void {
  slider.update();
  filters.moment = slider.moment;
  drawRelations();
  redraw();
}

function redraw(): void {
  drawing?.redraw();
  const shown = drawing?.shown() ?? { vertices: 0, edges: 0 };
  const known = whole || summary === null ? "" : ` of ${count(summary.names, "name")}`;
  at("shown", HTMLElement).textContent = store.vertices.size
    ? `${count(shown.vertices, "vertex", "vertices")}${known}, ${count(shown.edges, "edge")}`
    : "";
  document.body.dataset["shownEdges"] = String(shown.edges);
}

// -- choosing -----------------------------------------------------------------------------------------------------

async function pick(picked: Chosen | null): Promise<void> {
  if (picked === null) {
    clearChoice();
    return;
  }
  if (picked.kind === "edge") {
    const edge = store.edges.get(picked.id);
    if (edge?.number != null) await showStatement(edge.number, picked.id);
    else if (edge?.episode != null) await showEpisode(edge.episode, edge.from);
    return;
  }
  const vertex = store.vertices.get(picked.id);
  if (vertex?.name !== undefined) await show(vertex.name);
  else if (vertex?.number !== undefined) await showStatement(vertex.number, vertex.id);
  else if (vertex?.episode !== undefined) await showEpisode(vertex.episode, vertex.id);
}

function clearChoice(): void {
  chosen = null;
  entity = null;
  drawing?.choose(null);
  if (summary !== null) panel.welcome(summary);
  remember();
}

/** A name: its neighbourhood in the light, and what is known about it in the panel. */
async function show(name: string): Promise<void> {
  await guarded(async () => {
    const vertex = `e:${name}`;
    const needed = !whole && !loaded.has(name);
    const isFar = !whole && (!store.vertices.has(vertex) || store.vertices.size > MOST_DRAWN);
    const [about] = await Promise.all([
      get<Entity>(path("/entity"), { name, limit: STATEMENTS }),
      needed ? load(name, isFar) : Promise.resolve(),
    ]);
    entity = about;
    chosen = { kind: "name", id: about.name };
    drawing?.choose({ kind: "vertex", id: `e:${about.name}` });
    panel.entity(about, slider.moment, loaded.get(about.name) ?? null);
    remember();
    await drawing?.lookAt(vertex);
  });
}

async function showEntity(name: string, limit: number): Promise<void> {
  await guarded(async () => {
    entity = await get<Entity>(path("/entity"), { name, limit });
    panel.entity(entity, slider.moment, loaded.get(name) ?? null);
  });
}

async function showStatement(number: number, id: string): Promise<void> {
  await guarded(async () => {
    const statement = await get<Statement>(path("/statement"), { number });
    entity = null;
    chosen = { kind: "statement", id };
    drawing?.choose({ kind: store.vertices.has(id) ? "vertex" : "edge", id });
    panel.statement(statement);
  });
}

async function showEpisode(episode: string, vertex: string): Promise<void> {
  await guarded(async () => {
    const told = await get<Episode>(path("/episode"), { id: episode });
    entity = null;
    chosen = { kind: "episode", id: episode };
    drawing?.choose({ kind: "vertex", id: vertex });
    panel.episode(told);
  });
}

async function recall(question: string): Promise<void> {
  panel.waiting(question);
  try {
    const at = slider.moment;
    const found = await get<{ hits: (Hit | EpisodeHit)[]; method: string }>(path("/recall"), { q: question, at });
    panel.hits(question, found.hits, found.method);
  } catch (error) {
    panel.failed(question, said(error));
  }
}

/** Loads a part of the neighbourhood of a name: what follows on what was loaded before, or it alone. */
async function load(name: string, alone = false): Promise<void> {
  const before = loaded.get(name)?.shown ?? 0;
  const found = await get<Neighbourhood>(path("/neighbours"), {
    name,
    offset: before,
    limit: NEIGHBOURS,
    episodes: filters.kinds.has("episode"),
  });
  if (alone) {
    drawing?.clear();
    store.clear();
    loaded.clear();
  }
  loaded.set(found.centre, { shown: Math.min(before + NEIGHBOURS, found.total), total: found.total });
  drawing?.grow(store.add(found), `e:${found.centre}`);
  changed();
}

async function expand(name: string): Promise<void> {
  await guarded(async () => {
    const known = loaded.get(name);
    if (known === undefined || known.shown < known.total) await load(name);
    await show(name);
  });
}

async function only(name: string): Promise<void> {
  await guarded(async () => {
    whole = false;
    loaded.delete(name);
    await load(name, true);
    await show(name);
    drawing?.fit();
  });
  at("all", HTMLElement).hidden = false;
}

// -- filters ------------------------------------------------------------------------------------------------------

for (const kind of ["fact", "thesis", "episode"] as EdgeKind[]) {
  at(`kind-${kind}`, HTMLInputElement).addEventListener("change", (event) => {
    if ((event.target as HTMLInputElement).checked) filters.kinds.add(kind);
    else filters.kinds.delete(kind);
    if (kind === "episode" && filters.kinds.has(kind)) void open();
    else redraw();
  });
}
at("show-ended", HTMLInputElement).addEventListener("change", (event) => {
  filters.showEnded = (event.target as HTMLInputElement).checked;
  redraw();
});
const relationFilter = at("relation-filter", HTMLInputElement);
relationFilter.addEventListener("input", whenQuiet(80, drawRelations));
for (const [id, hide] of [
  ["relations-all", false],
  ["relations-none", true],
] as const) {
  at(id, HTMLButtonElement).addEventListener("click", () => {
    for (const [relation] of listedRelations()) {
      if (hide) filters.hidden.add(relation);
      else filters.hidden.delete(relation);
    }
    drawRelations();
    redraw();
  });
}

function listedRelations(): [string, number][] {
  const text = relationFilter.value.trim().toLowerCase();
  return store.relations().filter(([relation]) => relation.toLowerCase().includes(text));
}

function drawRelations(): void {
  const listed = listedRelations();
  const rows = listed.slice(0, 200).map(([relation, number]) => {
    const dot = h("span", { class: "dot", "aria-hidden": "true" });
    dot.style.background = drawing?.relationColour(relation) ?? "";
    return h(
      "li",
      {},
      h(
        "label",
        {},
        h("input", {
          type: "checkbox",
          checked: !filters.hidden.has(relation),
          change: (event) => {
            if ((event.target as HTMLInputElement).checked) filters.hidden.delete(relation);
            else filters.hidden.add(relation);
            redraw();
          },
        }),
        dot,
        h("span", { class: "name" }, relation),
        h("span", { class: "muted" }, number),
      ),
    );
  });
  fill(
    at("relations", HTMLElement),
    ...rows,
    listed.length > rows.length ? h("li", { class: "muted" }, `and ${listed.length - rows.length} more`) : null,
  );
}

at("zoom-in", HTMLButtonElement).addEventListener("click", () => drawing?.zoom(1 / 1.5));
at("zoom-out", HTMLButtonElement).addEventListener("click", () => drawing?.zoom(1.5));
at("fit", HTMLButtonElement).addEventListener("click", () => drawing?.fit());
at("all", HTMLButtonElement).addEventListener("click", () => {
  at("all", HTMLElement).hidden = true;
  clearChoice();
  void open();
});
document.addEventListener("keydown", (event) => {
  const typing =
    event.target instanceof HTMLInputElement && event.target.type !== "range" && event.target.type !== "checkbox";
  if (event.key === "/" && !typing) {
    event.preventDefault();
    at("search", HTMLInputElement).focus();
  } else if (event.key === "Escape" && chosen !== null) {
    clearChoice();
  }
});

// -- the address --------------------------------------------------------------------------------------------------

/** Keeps what is shown in the address, so that it can be given to others. */
function remember(): void {
  const state = new URLSearchParams();
  if (memory !== "file") state.set("memory", memory);
  if (chosen?.kind === "name") state.set("name", chosen.id);
  if (slider.moment !== null) state.set("at", String(slider.moment));
  history.replaceState(null, "", state.size ? `#${state}` : location.pathname);
}

async function start(): Promise<void> {
  const drawn = open(begun);
  void listMemories();
  await drawn;
  const moment = address.get("at");
  if (moment !== null && Number.isFinite(Number(moment))) slider.set(Number(moment));
  const name = address.get("name");
  if (name !== null) await show(name);
}

async function listMemories(): Promise<void> {
  const select = at("memories", HTMLSelectElement);
  try {
    const { memories } = await get<{ memories: Listed[] }>("/api/memories");
    fill(
      select,
      ...memories.map(({ key, label, exists }) =>
        h("option", { value: key, selected: key === memory }, exists ? label : `${label} (not there yet)`),
      ),
    );
    select.hidden = memories.length < 2;
  } catch (error) {
    tell(said(error));
  }
  select.addEventListener("change", () => {
    memory = select.value;
    clearChoice();
    void open();
  });
}

void start();
